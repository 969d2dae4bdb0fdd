"""Inputs that break careless arithmetic, in every element type."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.device

TYPES = ["float16", "bfloat16", "float32"]


@pytest.fixture(params=TYPES)
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("causal", [False, True])
def test_inputs_three_times_as_large(check_mode, rng, draw, run, dtype, causal):
    run(check_mode, draw(rng, 1, (4, 2), (90, 270), 128, dtype=dtype, factor=3.0), causal=causal)


def test_large_logits_in_the_later_tiles(check_mode, rng, draw, run, dtype):
    # Each tile raises the maximum far above the one before: all that was summed becomes nothing.
    q, k, v = draw(rng, 1, 1, (20, 600), 64, dtype=dtype)
    q[..., 0] = 8
    k[..., 0] = np.linspace(-60, 60, 600).astype(k.dtype)
    run(check_mode, [q, k, v])


def test_large_logits_in_the_first_tile(check_mode, rng, draw, run, dtype):
    q, k, v = draw(rng, 1, 1, (20, 600), 64, dtype=dtype)
    q[..., 0] = 8
    k[..., 0] = np.linspace(60, -60, 600).astype(k.dtype)
    run(check_mode, [q, k, v])


def test_identical_keys_give_the_mean_of_the_values(check_mode, rng, draw, run, dtype):
    q, k, v = draw(rng, 1, 2, (33, 257), 64, dtype=dtype)
    k[:] = k[:, :, :1]
    run(check_mode, [q, k, v])


def test_one_key_gives_its_value(check_mode, rng, draw, dtype):
    q, k, v = draw(rng, 1, 2, (70, 1), 64, dtype=dtype)
    np.testing.assert_array_equal(check_mode.attention(q, k, v), np.broadcast_to(v, q.shape))


def test_a_window_of_one_key_gives_its_value(check_mode, rng, draw, dtype):
    q, k, v = draw(rng, 1, 2, (150, 150), 64, dtype=dtype)
    np.testing.assert_array_equal(check_mode.attention(q, k, v, window_size=(0, 0)), v)


def test_zeros_everywhere(check_mode, dtype, draw, rng):
    q, k, v = (np.zeros_like(a) for a in draw(rng, 1, 1, (20, 70), 64, dtype=dtype))
    out, lse = check_mode.attention(q, k, v, return_lse=True)
    assert not out.astype(np.float32).any()
    np.testing.assert_allclose(lse, np.log(70), rtol=1e-6)


def test_a_mask_of_one_key_per_query(check_mode, rng, draw, dtype):
    q, k, v = draw(rng, 1, 1, (150, 600), 64, dtype=dtype)
    chosen = rng.integers(0, 600, 150)
    mask = np.arange(600)[None, :] == chosen[:, None]
    np.testing.assert_array_equal(check_mode.attention(q, k, v, mask=mask), v[:, :, chosen])


def test_bias_far_below_zero_in_whole_tiles(check_mode, rng, draw, run, dtype):
    q, k, v = draw(rng, 1, 1, (40, 600), 64, dtype=dtype)
    bias = rng.standard_normal((40, 600))
    bias[:, :513] = -6e4
    run(check_mode, [q, k, v], bias=bias.astype(q.dtype))
    bias[:, :513] = -np.inf
    run(check_mode, [q, k, v], bias=bias.astype(q.dtype))


def test_steep_slopes_leave_the_own_key(check_mode, rng, draw, dtype):
    q, k, v = draw(rng, 1, 1, (150, 300), 64, dtype=dtype)
    slopes = np.full(1, 1e6, np.float32)
    out = check_mode.attention(q, k, v, alibi_slopes=slopes)
    np.testing.assert_array_equal(out, v[:, :, 150:])
