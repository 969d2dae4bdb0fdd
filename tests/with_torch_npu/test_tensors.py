"""What is read and what comes back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch_npu
from reference import attend, check

import ascendfa
from ascendfa import errors


def on_npu(*tensors: torch.Tensor, device: str = "npu") -> list[torch.Tensor]:
    return [t.to(device) for t in tensors]


def test_tensors_are_read_where_they_are_and_nothing_is_copied(draw, spy):
    q, k, v = draw(1, 4, 64, 64)
    given = on_npu(q, k, v)
    torch.npu.synchronize()
    out, lse = ascendfa.flash_attention(*given, return_lse=True)
    assert spy.arguments("aclCreateTensor", 8) == [t.data_ptr() for t in (*given, out, lse)]
    assert not spy.count("aclrtMemcpy", "aclrtMalloc", "aclrtSynchronizeStream")
    check(out, attend(q, k, v))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_result_is_that_of_cpu_tensors_to_the_last_bit(draw, dtype, causal):
    inputs = draw(2, 4, 37, 64, seq_k=50, dtype=dtype)
    expected = ascendfa.flash_attention(*inputs, causal=causal, return_lse=True)
    result = ascendfa.flash_attention(*on_npu(*inputs), causal=causal, return_lse=True)
    for mine, other in zip(result, expected, strict=True):
        assert (mine.device, mine.dtype) == (torch.device("npu:0"), other.dtype)
        assert torch.equal(mine.cpu(), other)


def test_terms_of_the_scores_are_read_on_the_device_too(draw):
    q, k, v = draw()
    terms = {
        "bias": torch.randn(33, 33).half(),
        "mask": torch.rand(1, 1, 33, 33) > 0.3,
        "alibi_slopes": torch.tensor([0.5, 0.25]),
    }
    expected = ascendfa.flash_attention(q, k, v, **terms)
    moved = {name: term.to("npu") for name, term in terms.items()}
    assert torch.equal(ascendfa.flash_attention(*on_npu(q, k, v), **moved).cpu(), expected)


class TestViews:
    def same(self, views: list[torch.Tensor], spy, **options) -> None:
        expected = attend(*(x.cpu() for x in views))
        spy.calls.clear()
        check(ascendfa.flash_attention(*views, **options), expected)
        bases = [x.untyped_storage().data_ptr() for x in views]
        assert spy.arguments("aclCreateTensor", 8)[:3] == bases

    def test_a_slice_of_the_sequence_with_an_offset(self, draw, spy):
        self.same([x[:, :, 3:20:2] for x in on_npu(*draw())], spy)

    def test_a_slice_of_the_heads(self, draw, spy):
        self.same([x[:, 1:3] for x in on_npu(*draw(2, 4, 19, 64))], spy)

    def test_transposed_axes(self, draw, spy):
        self.same([x.transpose(1, 2) for x in on_npu(*draw(1, 21, 2, 64))], spy)

    def test_parts_of_one_projection(self, spy):
        packed = torch.randn(2, 17, 3, 2, 64).half().to("npu")
        self.same([x.transpose(1, 2) for x in packed.unbind(2)], spy)

    def test_expanded_heads(self, draw, spy):
        q, k, v = on_npu(*draw(1, 1, 23, 64))
        self.same([q.expand(1, 4, 23, 64), k, v], spy)

    def test_the_other_layout(self, draw):
        q, k, v = draw()
        given = [x.transpose(1, 2).contiguous() for x in on_npu(q, k, v)]
        out = ascendfa.flash_attention(*given, layout="BSND")
        check(out.transpose(1, 2), attend(q, k, v))


class TestDevices:
    def test_the_result_is_on_the_tensors_device_whichever_is_current(self, draw):
        inputs = draw()
        assert torch.npu.current_device() == 0
        out = ascendfa.flash_attention(*on_npu(*inputs, device="npu:1"))
        assert out.device == torch.device("npu:1")
        assert torch.npu.current_device() == 0
        check(out, attend(*inputs))

    def test_work_is_queued_on_the_tensors_device(self, draw):
        inputs = [x.pin_memory() for x in draw()]
        given = [torch.zeros(x.shape, dtype=x.dtype, device="npu:1") for x in inputs]
        torch.npu.synchronize(1)
        for target, source in zip(given, inputs, strict=True):
            target.copy_(source, non_blocking=True)
        out = ascendfa.flash_attention(*given)
        torch.npu.synchronize(1)
        check(out, attend(*inputs))

    def test_both_devices_at_once(self, draw):
        problems = [draw(), draw()]
        outs = [
            ascendfa.flash_attention(*on_npu(*inputs, device=f"npu:{i}"))
            for i, inputs in enumerate(problems)
        ]
        for inputs, out in zip(problems, outs, strict=True):
            check(out, attend(*inputs))

    def test_arrays_in_the_same_process_run_on_the_same_toolkit(self, draw):
        inputs = draw()
        out = ascendfa.flash_attention(*(x.numpy() for x in inputs))
        check(torch.from_numpy(out), attend(*inputs))
        assert isinstance(out, np.ndarray)
        backend = ascendfa.backend()
        assert (backend.name, backend.reason) == ("emulator", "torch_npu has loaded it")


class TestEmpty:
    def test_without_keys_the_result_is_known(self, draw, spy):
        q, k, v = on_npu(*draw())
        out, lse = ascendfa.flash_attention(q, k[:, :, :0], v[:, :, :0], return_lse=True)
        assert not spy.count("aclnnFlashAttention")
        assert (out.device, lse.device) == (q.device, q.device)
        assert torch.equal(out.cpu(), torch.zeros(1, 2, 33, 64, dtype=torch.float16))
        assert torch.equal(lse.cpu(), torch.full((1, 2, 33), float("-inf")))

    def test_without_queries_there_is_no_result(self, draw, spy):
        q, k, v = on_npu(*draw())
        out = ascendfa.flash_attention(q[:, :, :0], k, v)
        assert (out.shape, out.device) == ((1, 2, 0, 64), q.device)
        assert not spy.count("aclnnFlashAttention")


class TestRefusals:
    def test_a_tensor_on_another_device(self, draw):
        q, k, v = on_npu(*draw())
        with pytest.raises(errors.DeviceMismatchError, match="v: got device npu:1 beside q on n"):
            ascendfa.flash_attention(q, k, v.to("npu:1"))

    def test_a_cpu_tensor_beside_npu_tensors(self, draw):
        q, k, v = on_npu(*draw())
        with pytest.raises(errors.DeviceMismatchError, match="k: got device cpu beside q on npu:0"):
            ascendfa.flash_attention(q, k.cpu(), v)

    def test_a_mask_on_the_cpu(self, draw):
        mask = torch.ones(33, 33, dtype=torch.bool)
        with pytest.raises(errors.DeviceMismatchError, match="mask: got device cpu"):
            ascendfa.flash_attention(*on_npu(*draw()), mask=mask)

    def test_an_array_beside_npu_tensors(self, draw):
        q, k, v = on_npu(*draw())
        with pytest.raises(errors.ArgumentTypeError, match="v: got a numpy array beside q"):
            ascendfa.flash_attention(q, k, v.cpu().numpy())

    def test_a_private_format(self, draw, monkeypatch):
        given = on_npu(*draw())
        monkeypatch.setattr(torch_npu, "get_npu_format", lambda _: 29)
        with pytest.raises(errors.NotSupportedError, match="npu_format_cast"):
            ascendfa.flash_attention(*given)

    def test_another_backend_than_torch_npus(self, draw, monkeypatch):
        given = on_npu(*draw())
        monkeypatch.setenv("ASCENDFA_BACKEND", "npu")
        with pytest.raises(errors.BackendError, match="torch_npu has loaded"):
            ascendfa.flash_attention(*given)
