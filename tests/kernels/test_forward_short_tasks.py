"""Tasks too short for both vector cores of a group, or for what their steps look ahead."""

from __future__ import annotations

import numpy as np
import pytest

from ascendfa.config import FlashAttentionConfig

pytestmark = pytest.mark.device

GROUPS = 25  # of the largest chips


@pytest.fixture(autouse=True)
def _seed(request: pytest.FixtureRequest) -> None:
    print("seed", request.config.getoption("--seed"), request.node.name)


@pytest.mark.parametrize(
    ("dtype", "seq", "blocks"),
    [
        # A few rows behind a whole block, with more tiles than scores are ahead of outputs.
        ("float16", (50, 1279), (48, 384)),
        ("bfloat16", (66, 1279), (64, 384)),
        ("float32", (129, 1100), (128, 512)),
        ("float32", (129, 3000), (128, 512)),
    ],
)
def test_tasks_between_which_a_vector_core_has_no_queries(
    fast_mode, rng, draw, run, dtype, seq, blocks
):
    config = FlashAttentionConfig(block_m=blocks[0], block_n=blocks[1])
    heads = 2 * GROUPS
    run(fast_mode, draw(rng, 1, (heads, 1), seq, 8, dtype=dtype), config=config)


def test_more_than_a_block_of_queries_with_terms(fast_mode, rng, draw, run):
    arrays = draw(rng, 1, (2 * GROUPS, 1), (258, 2100), 8)
    bias = rng.standard_normal((1, 1, 1, 2100)).astype(np.float16)
    run(fast_mode, arrays, bias=bias)


@pytest.mark.parametrize("keys", [1025, 1049, 1088])
def test_a_bad_verdict_between_tasks_that_end_with_few_keys(fast_mode, rng, draw, run, keys):
    # A vector core asks for a task's first scores while the cube core is at a step of one slice.
    arrays = draw(rng, 1, (10 * GROUPS, 1), (17, keys), 16, factor=3.0)
    run(fast_mode, arrays)
