"""The 910A: what its kernel refuses by name, and the tasks it computes twice."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.device

SOC = "Ascend910A"


@pytest.fixture(scope="module")
def checked(request, worker_pool):
    if request.config.getoption("--backend") == "npu":
        pytest.skip("needs an emulated 910A")
    return worker_pool(SOC, "check")


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_other_types_are_refused_naming_type_chip_and_what_to_use(checked, rng, draw, dtype):
    arrays = draw(rng, 1, 1, (3, 5), 16, dtype=dtype)
    with pytest.raises(RuntimeError, match=rf"DTypeError.*{dtype} on {SOC}; allowed: float16"):
        checked.attention(*arrays)


@pytest.mark.parametrize("term", ["bias", "mask", "alibi_slopes", "softcap"])
def test_terms_are_refused_by_name(checked, rng, draw, term):
    given = {
        "bias": np.zeros((3, 5), np.float16),
        "mask": np.ones((3, 5), bool),
        "alibi_slopes": np.ones(1, np.float32),
        "softcap": 5.0,
    }
    with pytest.raises(RuntimeError, match=rf"NotSupportedError: {term}: got one on {SOC}"):
        checked.attention(*draw(rng, 1, 1, (3, 5), 16), **{term: given[term]})


def test_wide_heads_are_refused(checked, rng, draw):
    with pytest.raises(
        RuntimeError, match=f"q: got head dim 257 on {SOC}; allowed: head dim 1 to 256"
    ):
        checked.attention(*draw(rng, 1, 1, (3, 5), (257, 64)))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("step", [4.0, 12.0, 40.0])
def test_scores_that_rise_far_above_those_of_the_first_keys(checked, rng, draw, run, step, causal):
    q, k, v = draw(rng, 1, 2, (140, 400), 64)
    # Query and key agree in one column, whose share of the score grows with the key.
    q[..., 0] = 8
    k[..., 0] = (np.arange(400) / 400 * step).astype(np.float16)
    run(checked, (q, k, v), causal=causal)


def test_scores_that_fall_far_below_those_of_the_first_keys(checked, rng, draw, run):
    q, k, v = draw(rng, 1, 2, (140, 400), 64)
    q[..., 0] = 8
    k[..., 0] = (-np.arange(400) / 10).astype(np.float16)
    run(checked, (q, k, v))


@pytest.mark.parametrize("seq_q", [*range(1, 18), 127, 129, 130, 135, 136, 137, 259])
def test_results_end_where_the_rows_end(checked, rng, draw, run, seq_q):
    run(checked, draw(rng, 1, 3, (seq_q, 40), 24))


# Beyond what two halves hold, or hold to within a weight: those rows are computed again.
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sign", [-1, 1, 0])
@pytest.mark.parametrize("size", [60.0, 500.0, 2e4])
def test_products_that_no_pair_of_halves_holds(checked, rng, draw, run, size, sign, causal):
    q, k, v = draw(rng, 1, 2, (140, 300), 256)
    q, k = (np.clip(size * a.astype(np.float32), -65504, 65504).astype(np.float16) for a in (q, k))
    if sign:
        q, k = sign * abs(q), abs(k)
    run(checked, (q, k, v), causal=causal)


@pytest.mark.parametrize("factor", [-6e4, 6e4])
def test_the_largest_products(checked, rng, draw, factor):
    q, k, v = draw(rng, 1, 1, (20, 300), 256)
    order = rng.permutation(300)
    q[:] = factor
    k[:] = np.linspace(3e4, 65504, 300)[order][None, None, :, None]
    winner = np.argmax(factor * k[0, 0, :, 0].astype(np.float64))
    out = checked.attention(q, k, v)
    np.testing.assert_array_equal(out, np.broadcast_to(v[:, :, winner], q.shape))


@pytest.mark.parametrize("window", [(-1, -1), (20, 5)])
@pytest.mark.parametrize("scale", [1e3, -1e3, 1e8, 1e20, -1e26])
@pytest.mark.parametrize("falling", [False, True])
def test_scales_that_magnify_what_is_lost(checked, rng, draw, run, scale, falling, window):
    q, k, v = draw(rng, 1, 2, (70, 300), 64)
    if falling:  # no score is above zero
        q, k = -np.sign(scale) * abs(q) - np.sign(scale), abs(k)
    run(checked, (q.astype(np.float16), k, v), scale=scale, window_size=window)


def test_rows_without_keys_beside_rows_whose_reference_is_lost(checked, rng, draw, run):
    q, k, v = draw(rng, 1, 2, (300, 100), 64)
    run(checked, (-500 * abs(q), 500 * abs(k), v), causal=True)
