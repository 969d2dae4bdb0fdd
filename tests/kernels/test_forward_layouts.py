"""Axis orders and strides: every view gives what its copy gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.device


def windowed(array: np.ndarray, *, rows: int, columns: int) -> np.ndarray:
    """The array as a slice of a larger one, whose other elements are NaN."""
    batch, heads, seq, dim = array.shape
    whole = np.full((batch + 1, heads + 1, seq + rows, dim + columns), np.nan, array.dtype)
    view = whole[1:, 1:, rows:, columns:]
    view[:] = array
    return view


def transposed(array: np.ndarray, order: tuple[int, int, int]) -> np.ndarray:
    """The array with its outer axes stored in another order."""
    back = [*np.argsort(order), 3]
    return array.transpose(*order, 3).copy().transpose(*back)


VIEWS = {
    "slice": lambda a: windowed(a, rows=3, columns=5),
    "slice from an odd element": lambda a: windowed(a, rows=1, columns=1),
    "rows first": lambda a: transposed(a, (0, 2, 1)),
    "batch last": lambda a: transposed(a, (2, 1, 0)),
    "reversed": lambda a: a[:, :, ::-1].copy()[:, :, ::-1],
    "every second row": lambda a: a.repeat(2, axis=2)[:, :, ::2],
}


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("view", VIEWS)
def test_views_of_each_input(check_mode, rng, draw, name, view):
    arrays = dict(zip("qkv", draw(rng, 2, (4, 2), (37, 90), 40), strict=True))
    want = check_mode.attention(**arrays, causal=True)
    arrays[name] = VIEWS[view](arrays[name])
    np.testing.assert_array_equal(check_mode.attention(**arrays, causal=True), want)


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1, 2)])
def test_expanded_axes(check_mode, rng, draw, axes):
    q, k, v = draw(rng, 2, 3, (20, 70), 64)
    for axis in axes:
        k, v = (np.take(a, [0], axis) for a in (k, v))
    k, v = (np.broadcast_to(a, (2, 3, 70, 64)) for a in (k, v))
    want = check_mode.attention(q, k.copy(), v.copy())
    np.testing.assert_array_equal(check_mode.attention(q, k, v), want)


def test_overlapping_rows(check_mode, rng, draw):
    q, _, _ = draw(rng, 1, 1, (20, 1), 64)
    line = rng.standard_normal(500).astype(np.float16)
    k = np.lib.stride_tricks.sliding_window_view(line, 64)[None, None, :90]
    want = check_mode.attention(q, k.copy(), k.copy())
    np.testing.assert_array_equal(check_mode.attention(q, k, k), want)


def test_rows_too_far_apart_for_one_copy(check_mode, rng, draw):
    # BSND with 600 heads of 128: rows of one head are 76800 elements apart, more than 16 bits hold.
    q, k, v = (a.transpose(0, 2, 1, 3).copy() for a in draw(rng, 1, 600, (2, 3), 128))
    out = check_mode.attention(q, k, v, layout="BSND")
    pick = np.s_[:, :, 7:8]
    one = check_mode.attention(q[pick].copy(), k[pick].copy(), v[pick].copy(), layout="BSND")
    np.testing.assert_array_equal(out[pick], one)


@pytest.mark.parametrize("causal", [False, True])
def test_bsnd_is_the_same_attention_with_other_axes(check_mode, rng, draw, causal):
    arrays = draw(rng, 2, (4, 2), (70, 130), 72)
    want, want_lse = check_mode.attention(*arrays, causal=causal, return_lse=True)
    for swapped in (
        [a.transpose(0, 2, 1, 3) for a in arrays],
        [a.transpose(0, 2, 1, 3).copy() for a in arrays],
    ):
        out, lse = check_mode.attention(*swapped, causal=causal, layout="BSND", return_lse=True)
        assert out.shape == (2, 70, 4, 72)
        np.testing.assert_array_equal(out.transpose(0, 2, 1, 3), want)
        np.testing.assert_array_equal(lse, want_lse)


def test_bsnd_queries_without_keys(check_mode, rng, draw):
    q, k, v = (a.transpose(0, 2, 1, 3) for a in draw(rng, 1, 2, (200, 50), 40))
    out = check_mode.attention(q, k, v, layout="BSND", causal=True)
    assert not out[:, :150].any()
    assert out[:, 150:].any(axis=-1).all()


@pytest.mark.parametrize("dims", [(64, 128), (128, 64), (192, 128), (1, 256), (256, 16), (40, 200)])
@pytest.mark.parametrize("layout", ["BNSD", "BSND"])
def test_values_with_a_head_dim_of_their_own(check_mode, rng, draw, run, dims, layout):
    arrays = draw(rng, 1, (2, 1), (50, 180), dims)
    if layout == "BNSD":
        run(check_mode, arrays, causal=True)
        return
    want = check_mode.attention(*arrays)
    swapped = [a.transpose(0, 2, 1, 3) for a in arrays]
    out = check_mode.attention(*swapped, layout=layout)
    np.testing.assert_array_equal(out.transpose(0, 2, 1, 3), want)


@settings(max_examples=10)
@given(
    dims=st.tuples(st.integers(1, 256), st.integers(1, 256)),
    view=st.sampled_from(list(VIEWS)),
    dtype=st.sampled_from(["float16", "bfloat16", "float32"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_dims_in_any_view(check_mode, draw, run, dims, view, dtype, seed):
    arrays = draw(np.random.default_rng(seed), 1, (2, 1), (40, 100), dims, dtype=dtype)
    run(check_mode, [VIEWS[view](a) for a in arrays], causal=True)
