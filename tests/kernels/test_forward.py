"""The forward kernel against float64, through the public function, per chip and mode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendfa import FlashAttentionConfig

pytestmark = pytest.mark.device


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize(
    ("seq_q", "seq_k"),
    [
        *[(1, 1), (1, 2), (2, 1), (15, 15), (16, 16), (17, 17), (1, 130), (130, 1)],
        *[(127, 129), (128, 128), (129, 127), (77, 300), (300, 77), (260, 530)],
    ],
)
def test_lengths_around_tile_edges(check_mode, rng, draw, run, seq_q, seq_k, dim, causal):
    run(check_mode, draw(rng, 1, 2, (seq_q, seq_k), dim), causal=causal)


@settings(max_examples=25)
@given(
    seq_q=st.integers(1, 200),
    seq_k=st.integers(1, 700),
    batch=st.integers(1, 2),
    heads=st.integers(1, 3),
    dim=st.sampled_from([64, 128]),
    causal=st.booleans(),
    scale=st.none() | st.floats(0.01, 0.5),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape(check_mode, draw, run, seq_q, seq_k, batch, heads, dim, causal, scale, seed):
    arrays = draw(np.random.default_rng(seed), batch, heads, (seq_q, seq_k), dim)
    run(check_mode, arrays, causal=causal, scale=scale)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize("seq", [1, 3, 31, 64, 255, 512, 777, 1024, 1500, 2048])
def test_lengths_up_to_2048(fast_mode, rng, draw, run, seq, dim, causal):
    run(fast_mode, draw(rng, 1, 2, (seq, seq), dim), causal=causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("seq_q", "seq_k"), [(1, 2048), (2048, 100), (640, 2047), (2047, 640)])
def test_lengths_that_differ_a_lot(fast_mode, rng, draw, run, seq_q, seq_k, causal):
    run(fast_mode, draw(rng, 1, 2, (seq_q, seq_k), 128), causal=causal)


@pytest.mark.parametrize("heads", [(1, 1), (1, 41), (3, 20), (5, 1)])
@pytest.mark.parametrize("causal", [False, True])
def test_more_and_fewer_heads_than_cores(fast_mode, rng, draw, run, heads, causal):
    run(fast_mode, draw(rng, *heads, 150, 64), causal=causal)


def test_queries_without_keys_are_exactly_zero(check_mode, rng, draw):
    arrays = draw(rng, 1, 2, (200, 50), 64)
    out, lse = check_mode.attention(*arrays, causal=True, return_lse=True)
    assert not out[:, :, :150].any()
    assert np.isneginf(lse[:, :, :150]).all()
    assert np.isfinite(lse[:, :, 150:]).all()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("factor", [3.0, 0.01])
def test_large_and_small_inputs(check_mode, rng, draw, run, factor, causal):
    run(check_mode, draw(rng, 1, 2, (140, 270), 128, factor=factor), causal=causal)


@pytest.mark.parametrize("scale", [0.0, -0.2, 1e-6, 1.0])
def test_unusual_scales(check_mode, rng, draw, run, scale):
    run(check_mode, draw(rng, 1, 1, (40, 300), 64), scale=scale)


def test_scores_beyond_the_range_of_fp16_overflow_nowhere(check_mode, rng, draw):
    q, k, v = draw(rng, 1, 1, (20, 300), 64)
    q, k = q + np.float16(60), k + np.float16(60)
    out, lse = check_mode.attention(q, k, v, scale=1.0, return_lse=True)
    # Scores are near 60 * 60 * 64 = 230400, more than fp16's largest number, 65504.
    assert (lse > 65504).all()
    assert np.isfinite(out).all()
    assert (np.abs(out) <= np.abs(v).max()).all()


def test_scores_that_all_are_very_negative(check_mode, rng, draw):
    q, k, v = draw(rng, 1, 1, (20, 300), 64)
    q, k = q + np.float16(60), k - np.float16(60)
    out, lse = check_mode.attention(q, k, v, scale=1.0, return_lse=True)
    assert (lse < -65504).all()
    assert (np.abs(out) <= np.abs(v).max()).all()


def test_identical_keys_give_the_mean_of_the_values(check_mode, rng, draw, run):
    q, k, v = draw(rng, 1, 2, (33, 257), 64)
    k[:] = k[:, :, :1]
    run(check_mode, (q, k, v))


def test_one_key_gives_its_value(check_mode, rng, draw):
    q, k, v = draw(rng, 1, 2, (70, 1), 64)
    np.testing.assert_array_equal(check_mode.attention(q, k, v), np.broadcast_to(v, q.shape))


@pytest.mark.parametrize("position", [0, 127, 128, 299])
def test_one_key_that_outweighs_all_others_is_found_wherever_it_is(check_mode, rng, draw, position):
    q, k, v = draw(rng, 1, 1, (20, 300), 64)
    q[:] = 1
    k[:] = 0
    k[:, :, position] = 8
    out = check_mode.attention(q, k, v, scale=1.0)
    np.testing.assert_array_equal(out, np.broadcast_to(v[:, :, position : position + 1], q.shape))


@pytest.mark.parametrize("block_m", [0, 16, 64, 128])
@pytest.mark.parametrize("block_n", [0, 128, 256, 512])
def test_block_sizes_do_not_change_the_result(check_mode, rng, draw, run, block_m, block_n):
    config = FlashAttentionConfig(block_m=block_m, block_n=block_n)
    run(check_mode, draw(rng, 1, 1, (150, 600), 64), causal=True, config=config)


def test_two_runs_agree_to_the_last_bit(fast_mode, rng, draw):
    arrays = draw(rng, 2, 8, (300, 300), 128)
    first, first_lse = fast_mode.attention(*arrays, causal=True, return_lse=True)
    second, second_lse = fast_mode.attention(*arrays, causal=True, return_lse=True)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first_lse, second_lse)


def test_check_and_fast_mode_agree_to_the_last_bit(check_mode, fast_mode, rng, draw):
    arrays = draw(rng, 1, 2, (200, 333), 128)
    checked = check_mode.attention(*arrays, causal=True, return_lse=True)
    fast = fast_mode.attention(*arrays, causal=True, return_lse=True)
    for one, other in zip(checked, fast, strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_batch_and_head_is_its_own(check_mode, rng, draw):
    q, k, v = draw(rng, 2, 3, (40, 50), 64)
    whole = check_mode.attention(q, k, v)
    for b in range(2):
        for h in range(3):
            pick = np.s_[b : b + 1, h : h + 1]
            np.testing.assert_array_equal(
                check_mode.attention(q[pick], k[pick], v[pick]), whole[pick]
            )
