"""Chips by SoC name, the sizes of their buffers, and the tiles that cannot fit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ascendfa.errors import InvalidArgumentError, TileError, UnknownChipError

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
        Bytes of each on-chip buffer a kernel can use, per core (UB: per vector core).
    dtypes
        Element types the kernels have for this chip.
    has_kernels
        Whether this version ships kernels for it.
    head_dims
        Most head dimensions of queries and keys, and of values.
    """

    unit: str
    arch: int
    buffers: dict[str, int]
    dtypes: tuple[str, ...]
    has_kernels: bool
    head_dims: tuple[int, int] = (576, 512)


def _sizes(l1: int, l0a: int, l0b: int, l0c: int, ub: int) -> dict[str, int]:
    return {"L1": l1, "L0A": l0a, "L0B": l0b, "L0C": l0c, "UB": ub}


# L0 sizes: platform_config ini files of the CANN runtime. L1 and UB: less what PlatformAscendC, or
# the kernel library, keeps back, where that is known.
_FIRST: Final = _sizes(1024 * _KIB, 64 * _KIB, 64 * _KIB, 256 * _KIB, 248 * _KIB)
_SPLIT_3510: Final = _sizes(512 * _KIB, 64 * _KIB, 64 * _KIB, 256 * _KIB, 248 * _KIB)
_SPLIT_2201: Final = _sizes(524032, 64 * _KIB, 64 * _KIB, 128 * _KIB, 196352)
CHIPS: Final[dict[str, Chip]] = {
    chip.unit: chip
    for chip in (
        Chip(
            "ascend910",
            1001,
            _FIRST,
            ("float16",),
            True,
            head_dims=(256, 256),
        ),
        Chip("ascend910b", 2201, _SPLIT_2201, ("float16", "bfloat16", "float32"), True),
        Chip("ascend910_93", 2201, _SPLIT_2201, ("float16", "bfloat16", "float32"), True),
        Chip(
            "ascend950",
            3510,
            _SPLIT_3510,
            ("float16", "bfloat16"),
            False,
        ),
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


# Columns of a product, and what the vector cores work in: 64 fp32 lanes, 8 rows at least.
_CUBE_EDGE: Final = 128
_CUBE_DEPTH: Final = 256  # bytes of the axis it sums over
_LANES: Final = 64
_FRACTAL: Final = 16  # rows and columns of the cube's smallest operand
_FEWEST_ROWS: Final = 8
_MAX_BLOCK_N: Final = 8 * _LANES  # a row's maximum and sum fold eight groups of lanes


def _tile_needs(block_m: int, block_n: int, dims: tuple[int, int], itemsize: int) -> dict[str, int]:
    """Return the least bytes the forward kernel can do with, per buffer.

    The op package's plan adds what its pipeline depth takes and refuses as well, by name.
    """
    keys, values = (-(-dim // _FRACTAL) * _FRACTAL for dim in dims)
    # A larger block is worked on in bands of a product's rows, where a key tile fits L1.
    bands = itemsize == 2 and max(keys, values) <= _CUBE_EDGE and block_m <= 2 * _CUBE_EDGE
    rows = min(block_m, _CUBE_EDGE) if bands else block_m
    queries = 2 * rows * keys
    # Two chunks of keys, values and weights.
    chunk = _CUBE_DEPTH // itemsize // 2
    chunks = 2 * chunk * (keys + values + rows)
    products = 2 if values <= 2 * _CUBE_EDGE else 4
    slice_of_scores = _FEWEST_ROWS * -(-block_n // _LANES) * _LANES
    return {
        "L1": (queries + chunks) * itemsize,
        # fp32 products, one being computed while another is stored, or all parts of an output.
        "L0C": products * rows * _CUBE_EDGE * 4,
        # Two slices of scores in fp32, and their weights in the input type.
        "UB": 2 * slice_of_scores * (4 + itemsize),
    }


# Where one core is both: strips of so many keys, one at each of so many stages.
_STRIP: Final = 64
_STAGES: Final = 4
_MAX_COUPLED_BLOCK_M: Final = 128  # rows whose sums of weights are checked at once
_COUPLED_SLOTS: Final = 3  # of tiles in L1, and of pieces on their way there


def _coupled_needs(block_m: int, block_n: int, dims: tuple[int, int]) -> dict[str, int]:
    """Return the bytes the forward kernel takes on a core that is cube and vector unit in one.

    The op package's plan has the same sums, and adds what terms of the scores take.
    """
    keys, values = (-(-dim // _FRACTAL) * _FRACTAL for dim in dims)
    strips = max(1, -(-block_n // _STRIP))
    tile = block_m * keys + strips * _STRIP * (keys + values)
    scores = block_m * _STRIP
    outputs = _STRIP * values
    lanes = block_m * _FRACTAL
    fixed = 4 * 2 * _FRACTAL**2 + 4 * 16 + 2 * 4 * 129 + 24 + 4 * 3 * 8
    return {
        # Queries fill one half, weights and what is subtracted from the scores the other.
        "L0A": 2 * 2 * block_m * max(keys, values),
        "L1": 2 * (scores + _COUPLED_SLOTS * tile),
        "UB": 4 * max(_STAGES * scores, outputs)
        + 2 * 2 * max(scores, outputs)
        + (3 * 4 + 2) * lanes
        + 2 * -(-2 * block_m // 32) * 32
        + 4 * 3 * block_m
        + 2 * _COUPLED_SLOTS * _STRIP * max(keys, values)
        + fixed,
    }


def check_tile(
    chip: Chip, block_m: int, block_n: int, dims: tuple[int, int], itemsize: int = 2
) -> None:
    """Refuse block sizes that cannot work on a chip; 0 leaves a size to the plan.

    Parameters
    ----------
    chip
        Where the kernel is to run.
    block_m, block_n
        Queries and keys per tile.
    dims
        Head dimensions of the keys and of the values.
    itemsize
        Bytes per element.

    Raises
    ------
    TileError
        If a buffer is too small, naming it, the bytes needed and the limit.
    InvalidArgumentError
        If the kernel cannot divide its work that way.
    """
    coupled = chip.arch == 1001
    needs = (
        _coupled_needs(block_m, block_n, dims)
        if coupled
        else _tile_needs(block_m, block_n, dims, itemsize)
    )
    tile = f"block_m={block_m}, block_n={block_n}, head_dim={dims[0]}"
    if dims[1] != dims[0]:
        tile += f", head_dim_v={dims[1]}"
    for buffer, needed in needs.items():
        if needed > chip.buffers[buffer]:
            raise TileError(chip.unit, buffer, needed, chip.buffers[buffer], tile)
    if coupled and block_m > _MAX_COUPLED_BLOCK_M:
        allowed = f"multiples of {_FRACTAL} up to {_MAX_COUPLED_BLOCK_M} on {chip.unit}, or 0"
        raise InvalidArgumentError("block_m", block_m, f"{allowed} to let the plan choose")
    if block_n % _FRACTAL or block_n > _MAX_BLOCK_N:
        allowed = f"multiples of {_FRACTAL} up to {_MAX_BLOCK_N}, or 0 to let the plan choose"
        raise InvalidArgumentError("block_n", block_n, allowed)
