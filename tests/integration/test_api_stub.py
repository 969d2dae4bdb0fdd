"""The call sequence against a library that counts: marshalling, failures, and releases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support.stub_toolkit import NOTHING, arrays

import ascendfa
from ascendfa import FlashAttentionConfig, errors
from ascendfa.native.acl import Acl
from ascendfa.native.backend import Backend
from ascendfa.native.loader import Toolkit


def test_arguments_arrive_in_the_order_of_the_op_definition(stub, rng):
    config = FlashAttentionConfig(block_m=64, block_n=128)
    out, lse = ascendfa.flash_attention(
        *arrays(rng), causal=True, scale=0.25, config=config, return_lse=True
    )
    call = stub.call()
    assert (call.scale, call.causal, call.block_m, call.block_n) == (0.25, True, 64, 128)
    assert list(call.shape)[:4] == [2, 4, 5, 64]
    assert list(call.strides)[:4] == [4 * 5 * 64, 5 * 64, 64, 1]
    assert list(call.dtypes) == [1, 1, 1, -1, -1, -1, 1, 0]
    assert (call.window_left, call.window_right, call.softcap) == (-1, -1, 0.0)
    assert (call.fp32_scores, call.layout, call.strided_inputs) == (False, b"BNSD", 0)
    assert (out.shape, out.dtype) == ((2, 4, 3, 64), np.float16)
    assert (lse.shape, lse.dtype) == ((2, 4, 3), np.float32)
    assert (lse == 1).all()


def test_fp32_scores_of_the_config_reach_the_operator(stub, rng):
    ascendfa.flash_attention(*arrays(rng), config=FlashAttentionConfig(fp32_scores=True))
    assert stub.call().fp32_scores is True
    assert stub.call().layout == b"BNSD"


def test_options_arrive_in_the_order_of_the_op_definition(stub, rng):
    bias = np.zeros((3, 5), np.float16)
    mask = np.ones((2, 1, 1, 5), np.bool_)
    slopes = np.ones(4, np.float32)
    options = {"bias": bias, "mask": mask, "alibi_slopes": slopes}
    ascendfa.flash_attention(*arrays(rng), window_size=(7, 2), softcap=30.0, **options)
    call = stub.call()
    assert (call.window_left, call.window_right, call.softcap) == (7, 2, 30.0)
    assert list(call.dtypes) == [1, 1, 1, 1, 12, 0, 1, 0]
    assert list(call.shape)[:4] == [1, 1, 3, 5]
    assert list(call.strides)[2:4] == [5, 1]


def test_views_arrive_with_their_strides_and_are_announced(stub, rng):
    q, k, v = arrays(rng)
    swapped = k.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3)
    out = ascendfa.flash_attention(q[:, :1].repeat(4, 1), swapped, v)
    assert list(stub.call().strides)[:4] == [4 * 5 * 64, 64, 4 * 64, 1]
    assert stub.call().strided_inputs == 0b010
    assert out.shape == q.shape
    ascendfa.flash_attention(np.broadcast_to(q[:, :1], q.shape), k, v)
    assert stub.call().strided_inputs == 0b001


def test_defaults_leave_scale_to_the_head_dim_and_blocks_to_the_plan(
    stub, rng, monkeypatch, tmp_path
):
    monkeypatch.setenv("ASCENDFA_CONFIG_DIR", str(tmp_path))
    ascendfa.flash_attention(*arrays(rng))
    call = stub.call()
    assert (call.scale, call.causal, call.block_m, call.block_n) == (0.125, False, 0, 0)


def test_block_sizes_come_from_the_chips_yaml_file(stub, rng, monkeypatch, tmp_path):
    file = tmp_path / "ascend910b" / "flash_attention.yaml"
    file.parent.mkdir()
    file.write_text(
        "version: 1\nchip: ascend910b\nrules:\n"
        "  - {when: {head_dim: 64}, block_m: 48, block_n: 192, source: manual}\n"
    )
    monkeypatch.setenv("ASCENDFA_CONFIG_DIR", str(tmp_path))
    ascendfa.flash_attention(*arrays(rng))
    assert (stub.call().block_m, stub.call().block_n) == (48, 192)
    ascendfa.flash_attention(*arrays(rng), config=FlashAttentionConfig(block_n=64))
    assert (stub.call().block_m, stub.call().block_n) == (48, 64)


def test_config_and_call_arguments_combine(stub, rng):
    ascendfa.flash_attention(*arrays(rng), config=FlashAttentionConfig(causal=True, scale=0.5))
    assert (stub.call().scale, stub.call().causal) == (0.5, True)
    with pytest.raises(errors.InvalidArgumentError, match=r"config\.causal is False"):
        ascendfa.flash_attention(
            *arrays(rng), causal=True, config=FlashAttentionConfig(causal=False)
        )
    with pytest.raises(errors.InvalidArgumentError, match=r"config\.scale is 0\.5"):
        ascendfa.flash_attention(
            *arrays(rng), scale=np.float32(0.25), config=FlashAttentionConfig(scale=0.5)
        )


def test_a_config_of_another_type_is_refused(stub, rng):
    with pytest.raises(TypeError, match="^config: got a dict"):
        ascendfa.flash_attention(*arrays(rng), config={"block_m": 64})


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("layout", ["BNSD", "BSND"])
def test_the_result_has_kind_type_layout_and_order_of_q(stub, rng, kind, layout):
    q, k, v = arrays(rng)
    if layout == "BSND":
        q, k, v = (a.transpose(0, 2, 1, 3).copy() for a in (q, k, v))
    if kind == "torch":
        q, k, v = map(torch.from_numpy, (q, k, v))
    out, lse = ascendfa.flash_attention(q, k, v, layout=layout, return_lse=True)
    assert type(out) is type(lse) is type(q)
    assert out.dtype == q.dtype
    # The stub's attention is the identity on q, whatever the layout in between.
    np.testing.assert_array_equal(np.asarray(out), np.asarray(q))
    assert tuple(lse.shape) == (2, 4, 3)


def strided_views(q: np.ndarray) -> dict[str, np.ndarray]:
    batch, heads, seq, dim = q.shape
    wide = np.zeros((batch, heads, seq + 4, dim + 8), np.float16)
    wide[:, :, 2 : seq + 2, 8:] = q
    return {
        "slice": wide[:, :, 2 : seq + 2, 8:],
        "transposed": q.transpose(2, 1, 0, 3).copy().transpose(2, 1, 0, 3),
        "reversed": q[:, :, ::-1].copy()[:, :, ::-1],
        "expanded": np.broadcast_to(q[:, :1], q.shape),
        "read-only": np.frombuffer(q.tobytes(), np.float16).reshape(q.shape),
    }


@pytest.mark.parametrize("view", ["slice", "transposed", "reversed", "expanded", "read-only"])
def test_strided_inputs_are_read_right(stub, rng, view):
    q, k, v = arrays(rng)
    strided = strided_views(q)[view]
    np.testing.assert_array_equal(ascendfa.flash_attention(strided, k, v), strided)


def test_a_strided_tensor_with_an_offset_is_read_right(stub, rng):
    big = torch.from_numpy(rng.standard_normal((2, 7, 6, 64)).astype(np.float16))
    q = big[:, 1:4, 2:].transpose(1, 2)
    out = ascendfa.flash_attention(q, q, q)
    assert torch.equal(out, q)


def test_inputs_stay_unchanged_and_outputs_share_nothing_with_them(stub, rng):
    q, k, v = arrays(rng)
    before = q.copy()
    out = ascendfa.flash_attention(q, k, v)
    out[:] = 7
    np.testing.assert_array_equal(q, before)


def test_everything_is_released_after_success(stub, rng):
    stub.set_workspace(4096)
    ascendfa.flash_attention(*arrays(rng))
    assert stub.live() == NOTHING
    assert (stub.made("tensor"), stub.made("memory"), stub.made("stream")) == (5, 6, 1)
    assert stub.made("launch") == 1


def test_a_failing_first_phase_raises_allocates_nothing_and_releases_every_descriptor(stub, rng):
    stub.set_workspace(1 << 60)
    stub.fail("aclnnFlashAttentionGetWorkspaceSize", 161002, "q: head dim 64 is not to my taste")
    with pytest.raises(errors.AclError) as caught:
        ascendfa.flash_attention(*arrays(rng))
    error = caught.value
    assert (error.function, error.code) == ("aclnnFlashAttentionGetWorkspaceSize", 161002)
    assert error.meaning == "a parameter is invalid"
    assert error.recent == "q: head dim 64 is not to my taste"
    for part in (error.function, "161002", error.meaning, error.recent):
        assert part in str(error)
    assert stub.live() == NOTHING
    assert stub.made("tensor") == 5
    assert stub.made("launch") == 0
    assert stub.largest_allocation() <= 2 * 4 * 5 * 64 * 2


@pytest.mark.parametrize(
    ("function", "after"),
    [
        *[("aclCreateTensor", i) for i in range(5)],
        # Five arrays, then the workspace: by then there is an executor that nobody has consumed.
        *[("aclrtMalloc", i) for i in range(6)],
        *[("aclrtMemcpy", i) for i in range(5)],
        *[("aclDestroyTensor", i) for i in range(5)],
        *[("aclrtFree", i) for i in range(6)],
        ("aclrtGetDeviceCount", 0),
        ("aclrtSetDevice", 0),
        ("aclrtCreateStream", 0),
        ("aclnnFlashAttention", 0),
        ("aclrtSynchronizeStream", 0),
        ("aclrtDestroyStream", 0),
    ],
)
def test_whatever_fails_is_named_and_everything_is_released(stub, rng, function, after):
    stub.set_workspace(4096)
    stub.fail(function, 507015, "vector core of block 3", after=after)
    with pytest.raises(errors.AclError, match=f"^{function} failed with ") as caught:
        ascendfa.flash_attention(*arrays(rng))
    assert caught.value.recent == "vector core of block 3"
    assert stub.live() == NOTHING


def test_the_next_call_works_after_a_failure(stub, rng):
    stub.fail("aclnnFlashAttention", 507015)
    with pytest.raises(errors.AclError):
        ascendfa.flash_attention(*arrays(rng))
    stub.fail("", 0)
    q, k, v = arrays(rng)
    np.testing.assert_array_equal(ascendfa.flash_attention(q, k, v), q)


def test_an_unknown_code_is_reported_as_such(stub, rng):
    stub.fail("aclrtMalloc", -7)
    with pytest.raises(errors.AclError, match=r"aclrtMalloc failed with -7 \(unknown code\)"):
        ascendfa.flash_attention(*arrays(rng))


@pytest.mark.parametrize("code", [0, 100002])
def test_an_acl_that_others_initialised_is_no_error(stub, stub_root, code):
    stub.fail("aclInit", code)
    runtime = Acl(Toolkit(Backend("emulator", stub_root, "a test says so")))
    assert runtime.owns_init == (code == 0)


def test_a_failing_initialisation_is_an_error(stub, stub_root):
    stub.fail("aclInit", 500004, "no driver")
    with pytest.raises(errors.AclError, match="aclInit failed with 500004"):
        Acl(Toolkit(Backend("emulator", stub_root, "a test says so")))


def test_the_callers_context_is_current_again_afterwards(stub, rng):
    stub.set_context(0x1234)
    ascendfa.flash_attention(*arrays(rng))
    assert stub.context() == 0x1234
    stub.fail("aclnnFlashAttention", 507015)
    with pytest.raises(errors.AclError):
        ascendfa.flash_attention(*arrays(rng))
    assert stub.context() == 0x1234


def test_an_impossible_tile_is_refused_before_anything_is_created(stub, rng):
    with pytest.raises(errors.TileError, match=r"bytes of UB on ascend910b.*at most 196352 bytes"):
        ascendfa.flash_attention(*arrays(rng), config=FlashAttentionConfig(block_n=32768))
    assert [stub.made(kind) for kind in NOTHING] == [0, 0, 0, 0]


@pytest.mark.parametrize("soc", ["Ascend950PR_9599", "Ascend910_9599"])
def test_a_chip_without_kernels_is_refused_by_name(stub, rng, soc):
    stub.set_soc(soc)
    with pytest.raises(errors.NotSupportedError, match=soc):
        ascendfa.flash_attention(*arrays(rng))
    assert stub.made("tensor") == 0


@pytest.mark.parametrize(("name", "dims"), [("q", (257, 64)), ("v", (64, 257))])
def test_head_dims_the_chip_lacks_are_refused_by_name(stub, name, dims):
    stub.set_soc("Ascend910A")
    q, v = (np.zeros((1, 1, 3, dim), np.float16) for dim in dims)
    with pytest.raises(
        errors.NotSupportedError, match=f"^{name}: got head dim 257 on Ascend910A; .* 1 to 256"
    ):
        ascendfa.flash_attention(q, q, v)
    assert [stub.made(kind) for kind in NOTHING] == [0, 0, 0, 0]


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("layout", ["BNSD", "BSND"])
@pytest.mark.parametrize(("seq_q", "seq_k"), [(0, 5), (5, 0), (0, 0)])
def test_empty_sequences_return_at_once(stub, kind, layout, seq_q, seq_k):
    def make(seq: int):
        shape = (2, 4, seq, 64) if layout == "BNSD" else (2, seq, 4, 64)
        array = np.ones(shape, np.float16)
        return torch.from_numpy(array) if kind == "torch" else array

    q, k = make(seq_q), make(seq_k)
    out, lse = ascendfa.flash_attention(q, k, k, layout=layout, return_lse=True)
    assert type(out) is type(lse) is type(q)
    assert out.dtype == q.dtype
    assert out.shape == q.shape
    assert tuple(lse.shape) == (2, 4, seq_q)
    assert not np.asarray(out).any()
    assert np.isneginf(np.asarray(lse)).all()
    assert [stub.made(kind) for kind in NOTHING] == [0, 0, 0, 0]


def test_bfloat16_keeps_its_bits_in_numpy_and_torch(stub, rng):
    import ml_dtypes

    q, k, v = (a.astype(ml_dtypes.bfloat16) for a in arrays(rng))
    out = ascendfa.flash_attention(q, k, v)
    assert list(stub.call().dtypes)[:3] == [27, 27, 27]
    assert out.dtype == q.dtype
    np.testing.assert_array_equal(out.view(np.uint16), q.view(np.uint16))
    tensors = [torch.from_numpy(a).bfloat16() for a in arrays(rng)]
    result = ascendfa.flash_attention(*tensors)
    assert result.dtype == torch.bfloat16
    assert torch.equal(result, tensors[0])


@pytest.mark.parametrize("soc", ["Ascend910B4", "Ascend910_9391"])
def test_an_element_type_the_chip_lacks_is_refused_by_name(stub, rng, monkeypatch, soc):
    import ml_dtypes

    from ascendfa import chips

    stub.set_soc(soc)
    unit = chips.chip_for_soc(soc).unit
    older = replace(chips.CHIPS[unit], dtypes=("float16",))
    monkeypatch.setitem(chips.CHIPS, unit, older)
    with pytest.raises(errors.DTypeError, match=f"dtype bfloat16 on {soc}; allowed: float16"):
        ascendfa.flash_attention(*(a.astype(ml_dtypes.bfloat16) for a in arrays(rng)))
    assert stub.made("tensor") == 0


def test_gradients_are_no_obstacle_where_torch_does_not_record_them(stub, rng):
    q, k, v = (torch.from_numpy(a).requires_grad_() for a in arrays(rng))
    with torch.no_grad():
        out = ascendfa.flash_attention(q, k, v)
    assert torch.equal(out, q)
    assert not out.requires_grad
