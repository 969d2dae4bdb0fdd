"""Chips by SoC name, the sizes of their buffers, and the tiles that cannot fit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ascendfa.errors import TileError, UnknownChipError

__all__ = ["CHIPS", "Chip", "check_tile", "chip_for_soc"]

_KIB: Final = 1024


@dataclass(frozen=True)
class Chip:
    """What the front end needs to know of one compute unit.

    Attributes
    ----------
    unit
        Name the op package and ``op_configs`` use.
    arch
        Architecture number (``__NPU_ARCH__``).
    buffers
        Bytes of each on-chip buffer, per core (UB: per vector core).
    dtypes
        Element types the kernels have for this chip.
    has_kernels
        Whether this version ships kernels for it.
    """

    unit: str
    arch: int
    buffers: dict[str, int]
    dtypes: tuple[str, ...]
    has_kernels: bool


def _sizes(l1: int, l0a: int, l0b: int, l0c: int, ub: int) -> dict[str, int]:
    kib = {"L1": l1, "L0A": l0a, "L0B": l0b, "L0C": l0c, "UB": ub}
    return {name: size * _KIB for name, size in kib.items()}


# Sizes: platform_config ini files of the CANN runtime. 248 KiB of the 950's UB are usable.
CHIPS: Final[dict[str, Chip]] = {
    chip.unit: chip
    for chip in (
        Chip("ascend910", 1001, _sizes(1024, 64, 64, 256, 256), ("float16",), False),
        Chip("ascend910b", 2201, _sizes(512, 64, 64, 128, 192), ("float16",), True),
        Chip("ascend910_93", 2201, _sizes(512, 64, 64, 128, 192), ("float16",), True),
        Chip("ascend950", 3510, _sizes(512, 64, 64, 256, 248), ("float16",), False),
    )
}

# A bare Ascend910B is a first-generation chip: the second generation always has a digit.
_SOC_PATTERNS: Final = (
    (re.compile(r"Ascend910(A|B|ProA|ProB|PremiumA)"), "ascend910"),
    (re.compile(r"Ascend910B(\d(-\d)?|2C)"), "ascend910b"),
    (re.compile(r"Ascend910_93[678]\d|Ascend910_939[0-2]"), "ascend910_93"),
    (re.compile(r"Ascend950\w*|Ascend910_95\w*"), "ascend950"),
)


def chip_for_soc(soc: str) -> Chip:
    """Return the chip behind a SoC name as ``aclrtGetSocName`` spells it.

    Parameters
    ----------
    soc
        For example ``Ascend910B3``.

    Raises
    ------
    UnknownChipError
        If the name is unknown, or is the bare ``Ascend910`` that several chips share.
    """
    for pattern, unit in _SOC_PATTERNS:
        if pattern.fullmatch(soc):
            return CHIPS[unit]
    if soc == "Ascend910":
        raise UnknownChipError(
            "SoC 'Ascend910' is ambiguous: it may be a 910A or a 910_93; name the exact SoC, "
            "such as Ascend910A or Ascend910_9391"
        )
    raise UnknownChipError(
        f"SoC {soc!r} is unknown; known are Ascend910A/ProA/ProB/PremiumA, Ascend910B1 to B4, "
        "Ascend910_9361 to 9392 and Ascend950*"
    )


def _tile_needs(block_m: int, block_n: int, head_dim: int, itemsize: int) -> dict[str, int]:
    """Return the least bytes any order of work must hold at once, per buffer.

    The op package's plan is stricter; it also refuses before a launch.
    """
    granule = 16  # the cube multiplies fractals of 16 rows
    score_row = block_n * 4
    return {
        # Q stays while K and V tiles stream past it, each in two halves that alternate.
        "L1": (block_m + 2 * block_n) * head_dim * itemsize,
        # One fractal column of the scores in fp32 is the finest piece the cube can deliver.
        "L0C": block_m * granule * 4,
        # A row of scores in fp32 and its exponentials in the input type.
        "UB": score_row + block_n * itemsize,
    }


def check_tile(chip: Chip, block_m: int, block_n: int, head_dim: int, itemsize: int = 2) -> None:
    """Refuse block sizes that cannot fit on a chip; 0 leaves a size to the plan.

    Raises
    ------
    TileError
        Naming the buffer, the bytes needed and the limit.
    """
    smallest = 16
    needs = _tile_needs(block_m or smallest, block_n or smallest, head_dim, itemsize)
    tile = f"block_m={block_m}, block_n={block_n}, head_dim={head_dim}"
    for buffer, needed in needs.items():
        if needed > chip.buffers[buffer]:
            raise TileError(chip.unit, buffer, needed, chip.buffers[buffer], tile)
