"""Masks, windows, biases and caps, alone and together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendfa import FlashAttentionConfig

pytestmark = pytest.mark.device

SMALL = FlashAttentionConfig(block_m=32, block_n=64)


def term_shape(form: str, batch: int, heads: int, seq_q: int, seq_k: int) -> tuple[int, ...]:
    return {
        "[Sq, Sk]": (seq_q, seq_k),
        "[B, 1, 1, Sk]": (batch, 1, 1, seq_k),
        "[B, 1, Sq, Sk]": (batch, 1, seq_q, seq_k),
        "[B, H, Sq, Sk]": (batch, heads, seq_q, seq_k),
        "[1, H, 1, Sk]": (1, heads, 1, seq_k),
    }[form]


FORMS = ["[Sq, Sk]", "[B, 1, 1, Sk]", "[B, 1, Sq, Sk]", "[B, H, Sq, Sk]", "[1, H, 1, Sk]"]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "window", [(0, 0), (5, 0), (0, 5), (63, 64), (200, -1), (-1, 30), (1000, 1000)]
)
@pytest.mark.parametrize(("seq_q", "seq_k"), [(150, 300), (300, 150)])
def test_windows(check_mode, rng, draw, run, seq_q, seq_k, window, causal):
    arrays = draw(rng, 1, 1, (seq_q, seq_k), 64)
    run(check_mode, arrays, window_size=window, causal=causal, config=SMALL)


@pytest.mark.parametrize("window", [(100, 0), (100, 300)])
def test_windows_in_large_tiles(check_mode, rng, draw, run, window):
    run(check_mode, draw(rng, 1, 2, (200, 900), 64), window_size=window)


def test_huge_windows_hide_nothing(check_mode, rng, draw):
    arrays = draw(rng, 1, 1, (40, 50), 64)
    want = check_mode.attention(*arrays)
    out = check_mode.attention(*arrays, window_size=(2**62, 2**62))
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["bias", "mask"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_terms_broadcast_over_the_scores(check_mode, rng, draw, run, form, kind, dtype):
    q, k, v = draw(rng, 2, (4, 2), (45, 210), 40, dtype=dtype)
    shape = term_shape(form, 2, 4, 45, 210)
    if kind == "mask":
        run(check_mode, [q, k, v], mask=rng.random(shape) < 0.6)
    else:
        run(check_mode, [q, k, v], bias=(2 * rng.standard_normal(shape)).astype(q.dtype))


@pytest.mark.parametrize("kind", ["bias", "mask"])
def test_terms_may_be_views(check_mode, rng, draw, kind):
    arrays = draw(rng, 2, 2, (45, 90), 64)
    whole = rng.standard_normal((2, 2, 60, 200)).astype(np.float16)
    whole = whole > 0 if kind == "mask" else whole
    for view in (whole[:, :, 7:52, 3:93], whole[:, 1:, 4:49, 91:181], whole[1, 0, :45, 1:91]):
        want = check_mode.attention(*arrays, **{kind: view.copy()})
        np.testing.assert_array_equal(check_mode.attention(*arrays, **{kind: view}), want)


def test_queries_whose_keys_are_all_masked(check_mode, rng, draw, run):
    q, k, v = draw(rng, 1, 2, (70, 140), 64)
    mask = rng.random((70, 140)) < 0.5
    mask[::3] = False
    out, lse = check_mode.attention(q, k, v, mask=mask, return_lse=True)
    assert not out[:, :, ::3].any()
    assert np.isneginf(lse[:, :, ::3]).all()
    run(check_mode, [q, k, v], mask=mask)


def test_a_bias_of_minus_infinity_hides_keys(check_mode, rng, draw, run):
    arrays = draw(rng, 1, 2, (70, 140), 64)
    mask = rng.random((70, 140)) < 0.5
    mask[5] = False
    bias = np.where(mask, 0.0, -np.inf).astype(np.float16)
    run(check_mode, arrays, bias=bias)
    out = check_mode.attention(*arrays, bias=bias)
    np.testing.assert_array_equal(out, check_mode.attention(*arrays, mask=mask))


@pytest.mark.parametrize(("dtype", "low"), [("float16", -65504.0), ("bfloat16", -3.3895314e38)])
def test_the_most_negative_bias_is_still_a_number(check_mode, rng, draw, dtype, low):
    q, k, v = draw(rng, 1, 1, (20, 90), 64, dtype=dtype)
    bias = np.zeros((20, 90), q.dtype)
    bias[:, 40:] = low
    bias[3] = low  # nothing but the lowest number: what remains is the mean, not nothing
    out, lse = check_mode.attention(q, k, v, bias=bias, return_lse=True)
    assert np.isfinite(lse).all()
    if dtype == "bfloat16":  # there, scores vanish beside the bias
        mean = v.astype(np.float64).mean(axis=2)[0, 0]
        np.testing.assert_allclose(out[0, 0, 3].astype(np.float64), mean, atol=4e-3)
    kept = np.s_[:, :, :40]
    want = check_mode.attention(q, k[kept], v[kept])
    rows = [i for i in range(20) if i != 3]
    np.testing.assert_allclose(
        out[:, :, rows].astype(np.float64), want[:, :, rows].astype(np.float64), atol=1e-2
    )


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
@pytest.mark.parametrize("causal", [False, True])
def test_alibi(check_mode, rng, draw, run, shape, causal):
    slopes = (0.5 * rng.random(shape)).astype(np.float32)
    arrays = draw(rng, 2, 3, (90, 200), 64)
    run(check_mode, arrays, alibi_slopes=slopes, causal=causal, config=SMALL)


def test_alibi_is_worth_slope_times_distance(check_mode):
    # Equal scores: weights fall by half per key of distance from the query's own.
    q = np.zeros((1, 1, 3, 64), np.float16)
    k = np.zeros((1, 1, 3, 64), np.float16)
    v = np.zeros((1, 1, 3, 64), np.float16)
    v[0, 0, :, 0] = [1, 10, 100]
    slopes = np.full(1, np.log(2.0), np.float32)
    out = check_mode.attention(q, k, v, alibi_slopes=slopes)
    want = [
        (1 + 10 / 2 + 100 / 4) / 1.75,
        (1 / 2 + 10 + 100 / 2) / 2,
        (1 / 4 + 10 / 2 + 100) / 1.75,
    ]
    np.testing.assert_allclose(out[0, 0, :, 0], want, rtol=1e-3)


@pytest.mark.parametrize("cap", [0.5, 30.0, 1000.0])
@pytest.mark.parametrize("factor", [1.0, 6.0])
def test_softcap(check_mode, rng, draw, run, cap, factor):
    run(check_mode, draw(rng, 1, 2, (40, 150), 64, factor=factor), softcap=cap, causal=True)


def test_softcap_holds_for_scores_whose_exponential_overflows(check_mode, rng, draw):
    q, k, v = draw(rng, 1, 1, (20, 90), 64, factor=30)
    _, lse = check_mode.attention(q, k, v, softcap=2.0, scale=1.0, return_lse=True)
    assert (lse <= 2 + np.log(90) + 1e-4).all()
    assert (lse >= -2).all()


@settings(max_examples=30)
@given(
    seq_q=st.integers(1, 160),
    seq_k=st.integers(1, 400),
    causal=st.booleans(),
    left=st.integers(-1, 100),
    right=st.integers(-1, 100),
    softcap=st.sampled_from([0.0, 5.0, 50.0]),
    bias=st.none() | st.sampled_from(FORMS),
    mask=st.none() | st.sampled_from(FORMS),
    alibi=st.none() | st.sampled_from(["[H]", "[B, H]"]),
    dtype=st.sampled_from(["float16", "bfloat16", "float32"]),
    small=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_combination(
    check_mode, draw, run, seq_q, seq_k, causal, left, right, softcap, bias, mask, alibi, dtype,
    small, seed,
):  # fmt: skip
    rng = np.random.default_rng(seed)
    arrays = draw(rng, 2, (2, 1), (seq_q, seq_k), 24, dtype=dtype)
    options = {"causal": causal, "window_size": (left, right), "softcap": softcap}
    if bias is not None:
        shape = term_shape(bias, 2, 2, seq_q, seq_k)
        options["bias"] = rng.standard_normal(shape).astype(arrays[0].dtype)
    if mask is not None:
        options["mask"] = rng.random(term_shape(mask, 2, 2, seq_q, seq_k)) < 0.7
    if alibi is not None:
        options["alibi_slopes"] = rng.random(2 if alibi == "[H]" else (2, 2)).astype(np.float32)
    run(check_mode, arrays, **options, config=SMALL if small else None)
