"""The public function in this process, on the toolkit the tests were started with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from support.numerics import check_attention

import ascendfa
from ascendfa import FlashAttentionConfig, api, errors

pytestmark = pytest.mark.device


def draw(rng, seq_q=37, seq_k=70, dim=64, heads=2):
    shapes = [(1, heads, seq, dim) for seq in (seq_q, seq_k, seq_k)]
    return [rng.standard_normal(s).astype(np.float16) for s in shapes]


def test_backend_says_which_and_why():
    which = ascendfa.backend()
    assert which.name in ("emulator", "npu")
    assert which.reason == f"ASCENDFA_BACKEND={which.name}"
    ascendfa.flash_attention(*[np.zeros((1, 1, 1, 64), np.float16)] * 3)
    assert ascendfa.backend() == which


@pytest.mark.parametrize("causal", [False, True])
def test_numpy_arrays(rng, causal):
    arrays = draw(rng)
    out, lse = ascendfa.flash_attention(*arrays, causal=causal, return_lse=True)
    check_attention(*arrays, out, lse, causal=causal)


def test_torch_tensors(rng):
    arrays = draw(rng, dim=128)
    tensors = [torch.from_numpy(a) for a in arrays]
    out, lse = ascendfa.flash_attention(*tensors, causal=True, scale=0.2, return_lse=True)
    assert (out.dtype, lse.dtype, out.device.type) == (torch.float16, torch.float32, "cpu")
    check_attention(*arrays, out.numpy(), lse.numpy(), causal=True, scale=0.2)


def test_bsnd_is_the_same_attention_with_other_axes(rng):
    arrays = draw(rng)
    want = ascendfa.flash_attention(*arrays, causal=True)
    swapped = [a.transpose(0, 2, 1, 3) for a in arrays]
    for inputs in (swapped, [a.copy() for a in swapped]):
        out = ascendfa.flash_attention(*inputs, causal=True, layout="BSND")
        np.testing.assert_array_equal(out.transpose(0, 2, 1, 3), want)


def test_strided_views_give_what_their_copies_give(rng):
    q, k, v = draw(rng)
    wide = np.full((1, 2, 90, 200), np.nan, np.float16)
    view = wide[:, :, 11:81, 100:164]
    view[:] = k
    want = ascendfa.flash_attention(q, k, v)
    np.testing.assert_array_equal(ascendfa.flash_attention(q, view, v), want)


def test_threads_do_not_disturb_each_other(rng):
    problems = [draw(rng, seq_q=20 + 7 * i, seq_k=50 + 11 * i) for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(lambda a: ascendfa.flash_attention(*a, causal=True, return_lse=True), problems)
        )
    for arrays, (out, lse) in zip(problems, results, strict=True):
        check_attention(*arrays, out, lse, causal=True)


def test_an_impossible_tile_is_refused_by_name(rng):
    with pytest.raises(errors.TileError, match=r"\d+ bytes of UB on \w+.*at most \d+ bytes"):
        ascendfa.flash_attention(*draw(rng), config=FlashAttentionConfig(block_n=8192))


@pytest.mark.parametrize("dim", [64, 128])
def test_the_op_package_refuses_the_same_tiles_as_the_front_end(rng, monkeypatch, dim):
    arrays = draw(rng, 3, 5, dim=dim, heads=1)
    tiles = [(m, n) for m in (0, 16, 112, 128, 144, 256) for n in (0, 64, 96, 448, 512, 576, 1024)]

    def accepted() -> list[tuple[int, int]]:
        passed = []
        for m, n in tiles:
            try:
                ascendfa.flash_attention(*arrays, config=FlashAttentionConfig(block_m=m, block_n=n))
            except (ValueError, errors.AclError):
                continue
            passed.append((m, n))
        return passed

    by_front_end = accepted()
    monkeypatch.setattr(api, "check_tile", lambda *_: None)
    assert by_front_end == accepted()
    assert (128, 512) in by_front_end


def test_a_refusal_of_the_op_package_says_why(rng, monkeypatch, capfd, pytestconfig):
    monkeypatch.setattr(api, "check_tile", lambda *_: None)
    with pytest.raises(errors.AclError) as caught:
        ascendfa.flash_attention(*draw(rng), config=FlashAttentionConfig(block_n=1024))
    assert caught.value.function == "aclnnFlashAttentionGetWorkspaceSize"
    assert "FlashAttention" in caught.value.recent
    # CANN gives a tiling function no way to hand its reason to ACL but the log.
    on_npu = pytestconfig.getoption("--backend") == "npu"
    said = caught.value.recent + (capfd.readouterr().err if on_npu else "")
    assert "block_n is 1024" in said


@pytest.mark.parametrize(
    ("soc", "mode", "words"),
    [
        ("Ascend310P3", "check", ["Ascend310P3", "aclInit"]),
        ("Ascend910", "check", ["Ascend910"]),
        ("Ascend910B3", "quick", ["quick", "ASCENDFA_EMULATOR_MODE"]),
        ("Ascend950PR_9599", "check", ["NotSupportedError", "Ascend950", "unit ascend910 or"]),
    ],
)
def test_an_unknown_chip_or_mode_is_a_clear_error(rng, worker_pool, request, soc, mode, words):
    if request.config.getoption("--backend") == "npu":
        pytest.skip("the device is what it is")
    with pytest.raises(RuntimeError) as caught:
        worker_pool(soc, mode).attention(*draw(rng))
    for word in words:
        assert word in str(caught.value)


def test_the_library_is_usable_after_a_refused_call(rng):
    arrays = draw(rng)
    with pytest.raises(errors.AscendFAError):
        ascendfa.flash_attention(*arrays, config=FlashAttentionConfig(block_n=65536))
    out, lse = ascendfa.flash_attention(*arrays, return_lse=True)
    check_attention(*arrays, out, lse)


def test_many_calls_leak_no_device_memory(rng):
    arrays = draw(rng, 5, 5)
    import resource

    def peak_kib() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(20):
        ascendfa.flash_attention(*arrays)
    before = peak_kib()
    for _ in range(60):
        ascendfa.flash_attention(*arrays)
    assert peak_kib() - before < 20 * 1024


@pytest.mark.parametrize("scale", [1e26, -1e26])
def test_the_largest_scale_gives_no_nan_on_the_largest_products(scale):
    q = np.full((1, 1, 2, 576), 65504, np.float16)
    k = np.array([[[[65504]], [[65472]]]], np.float16).repeat(576, 3).reshape(1, 1, 2, 576)
    v = np.array([1, 2], np.float16).reshape(1, 1, 2, 1)
    out = ascendfa.flash_attention(q, k, v, scale=scale)
    np.testing.assert_array_equal(out.ravel(), [1, 1] if scale > 0 else [2, 2])
