from __future__ import annotations

import numpy as np
import pytest
import torch

from ascendfa.reference import attention_reference, visible_keys


@pytest.mark.parametrize(
    ("seq_q", "seq_k", "expected"),
    [
        (2, 4, [[1, 1, 1, 0], [1, 1, 1, 1]]),
        (3, 3, [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        (4, 2, [[0, 0], [0, 0], [1, 0], [1, 1]]),
    ],
)
def test_causal_aligns_the_last_query_with_the_last_key(seq_q, seq_k, expected):
    assert visible_keys(seq_q, seq_k, causal=True).astype(int).tolist() == expected


def test_a_window_is_inclusive_and_bottom_right_aligned():
    seen = visible_keys(3, 5, window_size=(1, 1)).astype(int).tolist()
    assert seen == [[0, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]


def test_two_keys_worked_out_by_hand():
    # Scores 0 and ln 3 weigh the values 1/4 and 3/4; the denominator is 4.
    q = np.ones((1, 1, 1, 1))
    k = np.array([0.0, np.log(3.0)]).reshape(1, 1, 2, 1)
    v = np.array([4.0, 8.0]).reshape(1, 1, 2, 1)
    out, lse = attention_reference(q, k, v)
    np.testing.assert_allclose(out, [[[[7.0]]]], rtol=1e-14)
    np.testing.assert_allclose(lse, [[[np.log(4.0)]]], rtol=1e-14)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("group", [1, 3])
def test_agrees_with_torch_in_float64(causal, group, rng):
    q = rng.standard_normal((2, 6, 5, 8))
    k, v = (rng.standard_normal((2, 6 // group, 5, 8)) for _ in range(2))
    out, lse = attention_reference(q, k, v, causal=causal, scale=0.3)
    tq, tk, tv = map(torch.from_numpy, (q, k.repeat(group, 1), v.repeat(group, 1)))
    want = torch.nn.functional.scaled_dot_product_attention(tq, tk, tv, is_causal=causal, scale=0.3)
    np.testing.assert_allclose(out, want.numpy(), rtol=1e-12, atol=1e-14)
    scores = 0.3 * tq @ tk.mT
    if causal:
        scores = scores.masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), -torch.inf)
    np.testing.assert_allclose(lse, torch.logsumexp(scores, -1).numpy(), rtol=1e-12)


def test_queries_without_keys_get_zero_and_minus_infinity(rng):
    q = rng.standard_normal((1, 1, 5, 4))
    k = rng.standard_normal((1, 1, 2, 4))
    out, lse = attention_reference(q, k, k, causal=True)
    assert (out[0, 0, :3] == 0).all()
    assert np.isneginf(lse[0, 0, :3]).all()
    assert np.isfinite(lse[0, 0, 3:]).all()
    assert (out[0, 0, 3:] != 0).all()


def test_no_keys_at_all():
    out, lse = attention_reference(
        np.ones((1, 2, 3, 4)), np.ones((1, 2, 0, 4)), np.ones((1, 2, 0, 5))
    )
    assert out.shape == (1, 2, 3, 5)
    assert not out.any()
    assert np.isneginf(lse).all()
