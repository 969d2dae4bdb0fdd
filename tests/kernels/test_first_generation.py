"""The 910A: what its kernel refuses by name, the tasks it computes twice, its terms of scores."""

from __future__ import annotations

import json
import os
import subprocess
import sys

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


TERMS = {
    "bias": lambda rng, shape: rng.standard_normal(shape).astype(np.float16),
    "mask": lambda rng, shape: rng.random(shape) < 0.6,
    "alibi_slopes": lambda rng, shape: rng.random(shape[1]).astype(np.float32),
    "softcap": lambda _rng, _shape: 4.0,
}


# Copies take whole blocks of 16 numbers, or 32 truth values: the last row must not take one that
# ends beyond the tensor. A row may be shorter than a block, and several of them.
@pytest.mark.parametrize("seq_k", [1, 2, 15, 17, 31, 33, 64, 95, 100, 129])
@pytest.mark.parametrize("term", ["bias", "mask"])
def test_tiles_of_terms_end_with_the_tensor(checked, rng, draw, run, seq_k, term):
    arrays = draw(rng, 1, 2, (21, seq_k), 32)
    run(checked, arrays, **{term: TERMS[term](rng, (1, 2, 21, seq_k))})


@pytest.mark.parametrize("terms", [["bias"], ["mask"], ["alibi_slopes"], ["softcap"], [*TERMS]])
def test_terms_of_one_task_while_the_next_is_opened(checked, rng, draw, run, terms):
    arrays = draw(rng, 1, 70, (40, 150), 64)  # on 32 cores
    run(checked, arrays, **{term: TERMS[term](rng, (1, 70, 40, 150)) for term in terms})


@pytest.mark.parametrize("window", [(-1, -1), (70, 30)])
@pytest.mark.parametrize("terms", [["bias"], ["mask"], ["alibi_slopes", "bias"], [*TERMS]])
def test_terms_of_tasks_that_are_computed_twice(checked, rng, draw, run, terms, window):
    q, k, v = draw(rng, 1, 3, (140, 400), 64)
    options = {term: TERMS[term](rng, (1, 3, 140, 400)) for term in terms}
    if "bias" in terms:  # rises far above what the first keys have
        options["bias"] += (np.arange(400) / 5).astype(np.float16)
    if "mask" in terms:  # of the first keys, most rows see none
        options["mask"][..., :64] &= (np.arange(140) % 7 == 0)[:, None]
    run(checked, (q, k, v), window_size=window, **options)


def test_terms_of_scores_that_no_half_holds(checked, rng, draw, run):
    q, k, v = draw(rng, 1, 2, (70, 200), 128)
    q, k = (500 * q).astype(np.float16), (500 * k).astype(np.float16)
    run(checked, (q, k, v), mask=rng.random((70, 200)) < 0.5)


# Results shorter than a copy go through the data cache, whose lines no two cores may share.
@pytest.mark.parametrize(("seq_q", "dims"), [(1, (64, 64)), (7, (24, 64)), (96, (24, 8)), (5, 8)])
def test_short_results_of_many_heads(checked, rng, draw, run, seq_q, dims):
    run(checked, draw(rng, 3, 37, (seq_q, 70), dims))


# Rows see no key in common with others far enough away; where there is one, its scores will do.
@pytest.mark.parametrize("left", [700, 512, 300, 200, 128, 64, 20])
@pytest.mark.parametrize("causal", [False, True])
def test_windows_of_all_widths(checked, rng, draw, run, left, causal):
    run(checked, draw(rng, 1, 1, (400, 900), 64), window_size=(left, 100), causal=causal)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_query_that_is_no_number_spoils_its_own_row_only(checked, rng, draw, bad):
    q, k, v = draw(rng, 1, 2, (70, 200), 64)
    out, lse = checked.attention(q, k, v, return_lse=True)
    q[0, 1, 37, 5] = bad
    spoilt_out, spoilt_lse = checked.attention(q, k, v, return_lse=True)
    rest = np.ones((1, 2, 70), bool)
    rest[0, 1, 37] = False
    np.testing.assert_allclose(spoilt_out[rest], out[rest], atol=2e-3)
    np.testing.assert_allclose(spoilt_lse[rest], lse[rest], atol=1e-3)
    assert np.isnan(spoilt_lse[0, 1, 37])


_LOADED = """
import json, sys, numpy as np, ascendfa
array = np.zeros((1, 1, 512, 64), np.float16)
with ascendfa.emulator.profile() as seen:
    ascendfa.flash_attention(array, array, array, **json.loads(sys.argv[1]))
print(seen.bytes["GM->UB"] + seen.bytes["GM->L1"])
"""


@pytest.mark.parametrize(
    ("options", "left", "right"),
    [
        ({}, 512, 512),
        ({"causal": True}, 512, 0),
        ({"window_size": [111, 0]}, 111, 0),
        ({"window_size": [-1, 47]}, 512, 47),
    ],
)
def test_only_keys_that_some_query_sees_are_loaded(request, options, left, right):
    if request.config.getoption("--backend") == "npu":
        pytest.skip("a device does not count")
    rows = 512  # of queries, once; of keys and values, those the 128 rows of a task see
    for row in range(0, 512, 128):
        rows += 2 * (min(511, row + 127 + right) - max(0, row - left) + 1)
    environment = os.environ | {"ASCENDFA_EMULATOR_SOC": SOC}
    command = [sys.executable, "-c", _LOADED, json.dumps(options)]
    loaded = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert int(loaded.stdout) == rows * 64 * 2
