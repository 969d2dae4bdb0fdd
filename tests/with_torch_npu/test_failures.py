"""What fails is an exception that says why, and the next call works."""

from __future__ import annotations

import pytest
import torch
from reference import attend, check

import ascendfa
from ascendfa import errors, npu_tensors


@pytest.fixture
def given(draw) -> list[torch.Tensor]:
    return [x.to("npu") for x in draw()]


@pytest.fixture(autouse=True)
def _the_next_call_works(draw) -> object:
    yield
    inputs = draw()
    check(ascendfa.flash_attention(*(x.to("npu") for x in inputs)), attend(*inputs))


def test_a_result_that_does_not_fit_is_torchs_out_of_memory(draw):
    row = torch.zeros(1, 1, 1, 128, dtype=torch.float16, device="npu")
    with pytest.raises(torch.OutOfMemoryError):
        ascendfa.flash_attention(row.expand(1, 64, 65536, 128), row, row)


def test_a_workspace_that_does_not_fit_is_torchs_out_of_memory(given, monkeypatch, spy):
    true_empty = npu_tensors.empty

    def empty(shape, dtype, device):
        # Beyond what the device has, as if the plan had asked for so much.
        return true_empty((1 << 40,) if dtype == "uint8" else shape, dtype, device)

    with monkeypatch.context() as patch:
        patch.setattr(npu_tensors, "empty", empty)
        with pytest.raises(torch.OutOfMemoryError):
            ascendfa.flash_attention(*given)
    assert not spy.count("aclnnFlashAttention")
    assert spy.count("aclDestroyAclOpExecutor") == 1
    assert spy.count("aclDestroyTensor") == spy.count("aclCreateTensor") == 5


def test_a_code_of_the_first_phase_is_an_exception(given, monkeypatch, spy):
    true_view = npu_tensors.view

    def shifted(name, tensor, dtype):
        array = true_view(name, tensor, dtype)
        return array if name != "q" else type(array)(**{**vars(array), "base": array.base + 2})

    with monkeypatch.context() as patch:
        patch.setattr(npu_tensors, "view", shifted)
        with pytest.raises(errors.AclError, match="'q' is not aligned to 32 bytes") as caught:
            ascendfa.flash_attention(*given)
    assert caught.value.function == "aclnnFlashAttentionGetWorkspaceSize"
    assert caught.value.code == 161002
    assert not spy.count("aclnnFlashAttention")
    assert spy.count("aclDestroyTensor") == spy.count("aclCreateTensor") == 5


def test_a_code_of_the_second_phase_is_an_exception(given, monkeypatch, spy):
    with monkeypatch.context() as patch:
        patch.setattr(npu_tensors, "current_stream", lambda _: given[0].data_ptr())
        with pytest.raises(errors.AclError, match="no live stream") as caught:
            ascendfa.flash_attention(*given)
    assert (caught.value.function, caught.value.code) == ("aclnnFlashAttention", 107000)
    assert spy.count("aclDestroyTensor") == spy.count("aclCreateTensor") == 5


def test_a_failure_on_the_device_is_an_exception_at_the_synchronisation(given, monkeypatch):
    with monkeypatch.context() as patch:
        # Read when a kernel starts; too few instructions for one to end.
        patch.setenv("ASCENDFA_EMULATOR_BUDGET", "100")
        ascendfa.flash_attention(*given)
        with pytest.raises(RuntimeError, match="ASCENDFA_EMULATOR_BUDGET"):
            torch.npu.synchronize()
