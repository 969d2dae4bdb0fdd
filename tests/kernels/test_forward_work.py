"""Tiles that no query sees cost nothing, counted in what the cube loads as its right operand."""

from __future__ import annotations

import numpy as np
import pytest

import ascendfa

pytestmark = pytest.mark.device

SEQ, DIM, BLOCK_M = 512, 64, 128


def right_operand_bytes(**options) -> int:
    array = np.zeros((1, 1, SEQ, DIM), np.float16)
    config = ascendfa.FlashAttentionConfig(block_m=BLOCK_M, block_n=512)
    with ascendfa.emulator.profile() as seen:
        ascendfa.flash_attention(array, array, array, config=config, **options)
    return seen.bytes["L1->L0B"]


def keys_and_values(*, left: int, right: int) -> int:
    """Bytes of the keys and values that some query of each block sees, in whole fractals."""
    total = 0
    for row in range(0, SEQ, BLOCK_M):
        first = max(0, row - left)
        last = min(SEQ - 1, row + BLOCK_M - 1 + right)
        total += -(-(last - first + 1) // 16) * 16
    return total * DIM * 2 * 2


@pytest.mark.parametrize(
    ("options", "left", "right"),
    [
        ({}, SEQ, SEQ),
        ({"causal": True}, SEQ, 0),
        ({"window_size": (63, 0)}, 63, 0),
        ({"window_size": (0, 100)}, 0, 100),
        ({"window_size": (20, 30), "causal": True}, 20, 0),
        ({"window_size": (-1, 40)}, SEQ, 40),
    ],
)
def test_only_what_some_query_sees_is_loaded(request, options, left, right):
    if request.config.getoption("--backend") == "npu":
        pytest.skip("a device does not count")
    assert right_operand_bytes(**options) == keys_and_values(left=left, right=right)
