"""Heads that share keys, and every head dimension."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.device


@pytest.mark.parametrize("heads", [(2, 1), (4, 2), (6, 2), (8, 1), (5, 5)])
@pytest.mark.parametrize("causal", [False, True])
def test_heads_in_groups_share_keys(check_mode, rng, draw, run, heads, causal):
    run(check_mode, draw(rng, 2, heads, (40, 90)), causal=causal)


def test_a_group_of_heads_reads_its_own_keys_only(check_mode, rng, draw):
    q, k, v = draw(rng, 1, (6, 3), (20, 30))
    whole = check_mode.attention(q, k, v)
    for kv in range(3):
        mine = np.s_[:, 2 * kv : 2 * kv + 2]
        one = check_mode.attention(q[mine], k[:, kv : kv + 1], v[:, kv : kv + 1])
        np.testing.assert_array_equal(one, whole[mine])


@pytest.mark.parametrize("dim", [1, 2, 15, 16, 17, 31, 40, 72, 80, 127, 129, 192, 200, 255, 256])
def test_head_dims(check_mode, rng, draw, run, dim):
    run(check_mode, draw(rng, 1, (2, 1), (37, 150), dim), causal=True)


@settings(max_examples=15)
@given(
    dim=st.integers(1, 256),
    kv_heads=st.integers(1, 3),
    group=st.integers(1, 4),
    seq_q=st.integers(1, 140),
    seq_k=st.integers(1, 300),
    causal=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_heads_and_dim(check_mode, draw, run, dim, kv_heads, group, seq_q, seq_k, causal, seed):
    heads = (kv_heads * group, kv_heads)
    arrays = draw(np.random.default_rng(seed), 1, heads, (seq_q, seq_k), dim)
    run(check_mode, arrays, causal=causal)
