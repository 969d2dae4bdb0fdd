from __future__ import annotations

from dataclasses import replace

import pytest

from ascendfa.chips import CHIPS, check_tile, chip_for_soc
from ascendfa.errors import InvalidArgumentError, TileError, UnknownChipError


@pytest.mark.parametrize(
    ("soc", "unit"),
    [
        ("Ascend910A", "ascend910"),
        ("Ascend910ProA", "ascend910"),
        ("Ascend910ProB", "ascend910"),
        ("Ascend910PremiumA", "ascend910"),
        ("Ascend910B", "ascend910"),
        ("Ascend910B1", "ascend910b"),
        ("Ascend910B3", "ascend910b"),
        ("Ascend910B4", "ascend910b"),
        ("Ascend910B4-1", "ascend910b"),
        ("Ascend910B2C", "ascend910b"),
        ("Ascend910_9361", "ascend910_93"),
        ("Ascend910_9392", "ascend910_93"),
        ("Ascend950PR_9599", "ascend950"),
        ("Ascend910_9599", "ascend950"),
    ],
)
def test_soc_names_map_to_compute_units(soc, unit):
    assert chip_for_soc(soc).unit == unit


@pytest.mark.parametrize("soc", ["", "ascend910b3", "Ascend910B3x", "Ascend310P3", "Ascend910C"])
def test_unknown_socs_are_refused(soc):
    with pytest.raises(UnknownChipError, match="is unknown"):
        chip_for_soc(soc)


def test_the_bare_name_that_several_chips_share_is_never_guessed():
    with pytest.raises(UnknownChipError, match="ambiguous"):
        chip_for_soc("Ascend910")


def test_usable_buffer_sizes_of_the_910b():
    kib = 1024
    expected = {"L1": 524032, "L0A": 64 * kib, "L0B": 64 * kib, "L0C": 128 * kib, "UB": 196352}
    assert CHIPS["ascend910b"].buffers == expected


@pytest.mark.parametrize(
    ("block_m", "block_n"),
    [(0, 0), (16, 64), (128, 512), (128, 0), (0, 512), (64, 448), (32, 16), (48, 496)],
)
@pytest.mark.parametrize("head_dim", [64, 128])
def test_possible_tiles_pass(block_m, block_n, head_dim):
    check_tile(CHIPS["ascend910b"], block_m, block_n, (head_dim, head_dim))


@pytest.mark.parametrize(
    ("block_m", "block_n", "buffer", "at_least", "limit"),
    [
        # Two fp32 products of 512 rows and 128 columns; 256 rows are two bands, one at a time.
        (512, 512, "L0C", 2 * 512 * 128 * 4, 128 * 1024),
        # Query rows alone: 4096 x 128 fp16.
        (4096, 512, "L1", 4096 * 128 * 2, 524032),
        # Eight rows of scores in fp32.
        (128, 8192, "UB", 8 * 8192 * 4, 196352),
    ],
)
def test_an_impossible_tile_names_buffer_bytes_and_limit(block_m, block_n, buffer, at_least, limit):
    with pytest.raises(TileError) as caught:
        check_tile(CHIPS["ascend910b"], block_m, block_n, (128, 128))
    error = caught.value
    assert (error.buffer, error.limit) == (buffer, limit)
    assert error.needed >= at_least
    for part in (f"{error.needed} bytes of {buffer}", f"at most {limit} bytes of {buffer}"):
        assert part in str(error)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("block_m", "block_n", "dims"),
    [
        (0, 0, (256, 256)),
        (128, 512, (64, 64)),
        (64, 0, (256, 256)),
        (64, 128, (256, 256)),
        (128, 512, (128, 128)),
    ],
)
def test_possible_tiles_pass_on_the_910a(block_m, block_n, dims):
    check_tile(CHIPS["ascend910"], block_m, block_n, dims)


@pytest.mark.parametrize(
    ("block_m", "block_n", "dim", "l1", "ub"),
    [(128, 512, 128, 901120, 246976), (64, 128, 256, 499712, 248000)],
)
def test_bytes_of_the_910a_are_those_of_the_plan(block_m, block_n, dim, l1, ub):
    # Limits one byte short; the plan's tests have the same numbers.
    chip = CHIPS["ascend910"]
    for buffer, needed in (("L1", l1), ("UB", ub)):
        short = replace(chip, buffers=chip.buffers | {buffer: needed - 1})
        with pytest.raises(TileError) as caught:
            check_tile(short, block_m, block_n, (dim, dim))
        assert (caught.value.buffer, caught.value.needed) == (buffer, needed)


@pytest.mark.parametrize(
    ("block_m", "block_n", "dims", "buffer", "needed", "limit"),
    [
        # Queries of half of L0A's size at most.
        (128, 64, (256, 64), "L0A", 2 * 2 * 128 * 256, 64 * 1024),
        # A strip of weights, and three tiles of queries, keys and values.
        (64, 512, (256, 256), "L1", 2 * (64 * 64 + 3 * 256 * (64 + 2 * 512)), 1024 * 1024),
        # Four strips of scores alone are 256 KiB.
        (256, 64, (64, 64), "UB", None, 248 * 1024),
    ],
)
def test_an_impossible_tile_of_the_910a(block_m, block_n, dims, buffer, needed, limit):
    with pytest.raises(TileError) as caught:
        check_tile(CHIPS["ascend910"], block_m, block_n, dims)
    assert (caught.value.buffer, caught.value.limit) == (buffer, limit)
    assert needed is None or caught.value.needed == needed


def test_more_rows_than_the_910a_checks_are_refused_by_name():
    with pytest.raises(InvalidArgumentError, match="^block_m: got 144; allowed: .*up to 128 on"):
        check_tile(CHIPS["ascend910"], 144, 64, (64, 64))


@pytest.mark.parametrize("block_n", [8, 100, 528, 1024])
def test_widths_the_kernel_cannot_fold_are_refused(block_n):
    with pytest.raises(InvalidArgumentError, match="^block_n: got .*multiples of 16 up to 512"):
        check_tile(CHIPS["ascend910b"], 128, block_n, (128, 128))
