"""Heads that share keys, and every head dimension."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendfa import FlashAttentionConfig

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


@pytest.mark.parametrize("dims", [(257, 64), (320, 320), (384, 128), (576, 512), (64, 500)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_wide_heads(check_mode, rng, draw, run, dims, dtype):
    run(check_mode, draw(rng, 1, (4, 1), (37, 200), dims, dtype=dtype), causal=True)


def test_heads_too_wide_for_a_buffer_are_refused_by_its_name(check_mode, rng, draw):
    arrays = draw(rng, 1, 1, (3, 5), (576, 512), dtype="float32")
    with pytest.raises(RuntimeError, match=r"\d+ bytes of L1 "):
        check_mode.attention(*arrays, config=FlashAttentionConfig(block_m=64))
    arrays = draw(rng, 1, 1, (3, 5), (64, 512))
    with pytest.raises(RuntimeError, match=r"\d+ bytes of L0C "):
        check_mode.attention(*arrays, config=FlashAttentionConfig(block_m=128))
