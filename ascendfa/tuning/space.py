"""What a sweep file asks for, spelled out: problems, candidate blocks, and what cannot fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, field_validator

from ascendfa.chips import CHIPS, Chip, check_tile, chip_for_soc
from ascendfa.config import GRANULE, MAX_BLOCK
from ascendfa.errors import ConfigError, InvalidArgumentError, TileError
from ascendfa.yaml_files import load_yaml

__all__ = ["ITEM_SIZES", "Candidate", "Impossible", "Shape", "SweepFile", "expand", "load_sweep"]

ITEM_SIZES = {"float16": 2, "bfloat16": 2, "float32": 4}


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


Extent = Annotated[int, Field(gt=0, strict=True)]
Extents = Annotated[list[Extent], Field(min_length=1), BeforeValidator(_as_list)]
Block = Annotated[int, Field(ge=0, le=MAX_BLOCK, multiple_of=GRANULE, strict=True)]
Blocks = Annotated[list[Block], Field(min_length=1), BeforeValidator(_as_list)]


class Shapes(BaseModel):
    """Extents of problems; lists stand for every combination of their members.

    Attributes
    ----------
    batch, heads, heads_k
        heads_k None for as many as heads.
    seq_q, seq_k
        seq_k None for the length of seq_q.
    head_dim
        Of queries, keys and values.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    batch: Extents = [1]
    heads: Extents
    heads_k: Extent | None = None
    seq_q: Extents
    seq_k: Extents | None = None
    head_dim: Extents


class SweepFile(BaseModel):
    """A sweep, as its YAML file says it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    chip: str
    soc: str | None = None
    shapes: Annotated[list[Shapes], Field(min_length=1)]
    dtypes: Annotated[list[str], Field(min_length=1)] = ["float16"]
    causal: Annotated[list[StrictBool], Field(min_length=1)] = [False]
    block_m: Blocks
    block_n: Blocks
    warmup: Annotated[int, Field(ge=0, strict=True)] = 3
    repeats: Annotated[int, Field(gt=0, strict=True)] = 20

    @field_validator("chip")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in CHIPS:
            raise ValueError(f"must be one of {', '.join(CHIPS)}")
        return value

    @field_validator("dtypes")
    @classmethod
    def _types(cls, value: list[str]) -> list[str]:
        unknown = [name for name in value if name not in ITEM_SIZES]
        if unknown:
            raise ValueError(f"must be among {', '.join(ITEM_SIZES)}")
        return value


@dataclass(frozen=True)
class Shape:
    """One attention problem."""

    dtype: str
    batch: int
    heads_q: int
    heads_k: int
    seq_q: int
    seq_k: int
    head_dim: int
    causal: bool

    def __str__(self) -> str:
        heads = f"H{self.heads_q}" + ("" if self.heads_k == self.heads_q else f"/{self.heads_k}")
        seq = f"S{self.seq_q}" + ("" if self.seq_k == self.seq_q else f"x{self.seq_k}")
        mask = " causal" if self.causal else ""
        return f"B{self.batch} {heads} {seq} D{self.head_dim} {self.dtype}{mask}"

    @property
    def bucket(self) -> str:
        """Problems in one bucket take the same blocks: lengths count by their power of two."""
        low_q, low_k = (1 << (seq.bit_length() - 1) for seq in (self.seq_q, self.seq_k))
        mask = "causal" if self.causal else "full"
        return f"{self.dtype}-d{self.head_dim}-{mask}-q{low_q}-k{low_k}"

    def as_dict(self) -> dict[str, Any]:
        """Return the extents for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Candidate:
    """A problem with block sizes to try on it; 0 is the plan's choice."""

    shape: Shape
    block_m: int
    block_n: int


@dataclass(frozen=True)
class Impossible:
    """Block sizes that do not fit.

    Attributes
    ----------
    block_m, block_n, head_dim, dtype
        The tile.
    buffer, needed, limit
        The buffer that overflows, the bytes the tile takes there and the bytes there are; empty
        and 0 if it is refused for another reason.
    reason
        The error's text.
    """

    block_m: int
    block_n: int
    head_dim: int
    dtype: str
    buffer: str
    needed: int
    limit: int
    reason: str


def load_sweep(file: Path) -> SweepFile:
    """Read a sweep file.

    Raises
    ------
    ConfigError
        Naming file and line.
    """
    sweep = load_yaml(file, SweepFile)
    if sweep.soc is not None and chip_for_soc(sweep.soc).unit != sweep.chip:
        unit = chip_for_soc(sweep.soc).unit
        raise ConfigError(f"soc {sweep.soc} is of unit {unit}, not {sweep.chip}", str(file))
    for shapes in sweep.shapes:
        if shapes.heads_k is not None and any(h % shapes.heads_k for h in shapes.heads):
            raise ConfigError(
                f"heads {shapes.heads} must be multiples of heads_k {shapes.heads_k}", str(file)
            )
    return sweep


def _problems(sweep: SweepFile) -> Iterator[Shape]:
    for shapes in sweep.shapes:
        lengths = shapes.seq_k
        axes = (sweep.dtypes, shapes.head_dim, sweep.causal, shapes.batch, shapes.heads)
        for dtype, dim, causal, batch, heads in product(*axes):
            for seq_q in shapes.seq_q:
                for seq_k in lengths or [seq_q]:
                    heads_k = shapes.heads_k or heads
                    yield Shape(dtype, batch, heads, heads_k, seq_q, seq_k, dim, causal)


def expand(sweep: SweepFile) -> tuple[list[Candidate], list[Impossible]]:
    """Return what can be tried, problem by problem, and the tiles that cannot fit.

    Nothing is run for it: the sizes of the chip's buffers decide.
    """
    chip = CHIPS[sweep.chip]
    refused: dict[tuple[int, int, int, str], Impossible] = {}
    candidates: dict[Candidate, None] = {}
    for shape in _problems(sweep):
        for block_m, block_n in product(sweep.block_m, sweep.block_n):
            tile = (block_m, block_n, shape.head_dim, shape.dtype)
            if tile not in refused:
                found = _fit(chip, *tile)
                if found is None:
                    candidates[Candidate(shape, block_m, block_n)] = None
                else:
                    refused[tile] = found
    return list(candidates), list(refused.values())


def _fit(chip: Chip, block_m: int, block_n: int, head_dim: int, dtype: str) -> Impossible | None:
    tile = (block_m, block_n, head_dim, dtype)
    try:
        check_tile(chip, block_m, block_n, (head_dim, head_dim), ITEM_SIZES[dtype])
    except TileError as error:
        return Impossible(*tile, error.buffer, error.needed, error.limit, str(error))
    except InvalidArgumentError as error:
        return Impossible(*tile, "", 0, 0, str(error))
    return None
