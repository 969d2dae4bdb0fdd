"""Shapes and records of sweeps that never ran."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ascendfa.tuning.space import Candidate, Shape
from ascendfa.tuning.store import Origin, Record

ORIGIN = Origin("ascend910b", "Ascend910B3", "9.0.0", "abc", "predicted")


def shape(seq: int = 1024, **changes: Any) -> Shape:
    plain = Shape("float16", 1, 8, 8, seq, seq, 128, False)
    return replace(plain, **changes)


def record(
    blocks: tuple[int, int], us: float, problem: str = "", origin: Origin = ORIGIN, **of: Any
) -> Record:
    return Record(origin, Candidate(shape(**of), *blocks), us, 0.3, problem=problem)
