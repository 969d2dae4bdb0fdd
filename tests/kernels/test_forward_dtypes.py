"""Element types other than fp16."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

pytestmark = pytest.mark.device


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize(("seq_q", "seq_k"), [(1, 1), (17, 33), (129, 127), (77, 600)])
def test_bfloat16(check_mode, rng, draw, run, seq_q, seq_k, dim, causal):
    arrays = draw(rng, 1, (2, 1), (seq_q, seq_k), dim, dtype="bfloat16")
    run(check_mode, arrays, causal=causal)


@pytest.mark.parametrize("factor", [3.0, 1e-3])
def test_large_and_small_bfloat16(check_mode, rng, draw, run, factor):
    run(check_mode, draw(rng, 1, 2, (70, 150), 80, dtype="bfloat16", factor=factor))


def test_bfloat16_reaches_beyond_the_range_of_fp16(check_mode, rng, draw):
    q, k, v = draw(rng, 1, 1, (20, 40), 64, dtype="bfloat16")
    v = (v.astype(np.float32) * 1e30).astype(ml_dtypes.bfloat16)
    out = check_mode.attention(q, k, v).astype(np.float64)
    assert np.isfinite(out).all()
    assert np.abs(out).max() > 1e29


def test_bfloat16_queries_without_keys(check_mode, rng, draw):
    out, lse = check_mode.attention(
        *draw(rng, 1, 2, (200, 50), 72, dtype="bfloat16"), causal=True, return_lse=True
    )
    assert not out[:, :, :150].astype(np.float32).any()
    assert np.isneginf(lse[:, :, :150]).all()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dim", [1, 8, 24, 64, 128])
@pytest.mark.parametrize(("seq_q", "seq_k"), [(1, 1), (17, 33), (129, 127), (40, 600)])
def test_float32(check_mode, rng, draw, run, seq_q, seq_k, dim, causal):
    arrays = draw(rng, 1, (2, 1), (seq_q, seq_k), dim, dtype="float32")
    errors = run(check_mode, arrays, causal=causal)
    # True fp32: numbers of 11 bits, as hf32 has, would be a thousand times worse.
    assert errors.out < 2e-6


@pytest.mark.parametrize("dims", [(72, 200), (192, 128), (256, 256), (129, 40), (130, 9)])
def test_float32_of_any_width(check_mode, rng, draw, run, dims):
    run(check_mode, draw(rng, 1, (2, 1), (70, 150), dims, dtype="float32"), causal=True)


def test_float32_takes_terms_and_strides(check_mode, rng, draw, run):
    arrays = draw(rng, 2, 2, (45, 90), 64, dtype="float32")
    bias = rng.standard_normal((2, 1, 45, 90)).astype(np.float32)
    row = rng.standard_normal((2, 1, 1, 90)).astype(np.float32)
    mask = rng.random((45, 90)) < 0.6
    run(check_mode, arrays, bias=bias, mask=mask, softcap=20.0, window_size=(60, 10))
    run(check_mode, arrays, bias=row, alibi_slopes=np.ones(2, np.float32))
    swapped = [a.transpose(0, 2, 1, 3).copy() for a in arrays]
    out = check_mode.attention(*swapped, layout="BSND")
    want = check_mode.attention(*arrays)
    np.testing.assert_array_equal(out.transpose(0, 2, 1, 3), want)


def test_float32_does_not_round_scores_beyond_16_bits(check_mode, rng, draw, run):
    run(check_mode, draw(rng, 1, 1, (40, 90), 64, dtype="float32", factor=3.0))


def test_the_lowest_float32_bias_is_still_a_number(check_mode, rng, draw):
    q, k, v = draw(rng, 1, 1, (5, 90), 64, dtype="float32")
    bias = np.full((5, 90), np.finfo(np.float32).min, np.float32)
    out, lse = check_mode.attention(q, k, v, bias=bias, return_lse=True)
    np.testing.assert_allclose(
        out, np.broadcast_to(v.mean(axis=2, keepdims=True), out.shape), atol=1e-5
    )
    assert np.isfinite(lse).all()
