from __future__ import annotations

import pytest

from ascendfa.chips import CHIPS, check_tile, chip_for_soc
from ascendfa.errors import TileError, UnknownChipError


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


def test_buffer_sizes_of_the_910b():
    kib = {name: size // 1024 for name, size in CHIPS["ascend910b"].buffers.items()}
    assert kib == {"L1": 512, "L0A": 64, "L0B": 64, "L0C": 128, "UB": 192}


@pytest.mark.parametrize(("block_m", "block_n"), [(0, 0), (16, 16), (128, 512), (128, 0)])
def test_possible_tiles_pass(block_m, block_n):
    check_tile(CHIPS["ascend910b"], block_m, block_n, 128)


def test_an_impossible_tile_names_buffer_bytes_and_limit():
    with pytest.raises(TileError) as caught:
        check_tile(CHIPS["ascend910b"], 128, 4096, 128)
    error = caught.value
    assert error.buffer == "L1"
    # At least one K and one V tile of 4096 x 128 fp16 have to be there: 2 MiB.
    assert error.needed >= 2 * 4096 * 128 * 2 > error.limit == 512 * 1024
    assert str(error.needed) in str(error)
    assert str(error.limit) in str(error)
    assert "L1" in str(error)
    assert isinstance(error, ValueError)
