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
