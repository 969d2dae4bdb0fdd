"""Extents as options spell them."""

from __future__ import annotations

from ascendfa.cli.console import usage
from ascendfa.tuning.space import ITEM_SIZES, Shape

__all__ = ["integers", "shape"]


def integers(option: str, text: str) -> list[int]:
    """Return the numbers of ``512,1024``."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise usage(f"{option} {text}: whole numbers with commas between them") from None
    if any(number < 1 for number in numbers):
        raise usage(f"{option} {text}: numbers of 1 or more")
    return numbers


def shape(text: str, seq_k: int | None, heads_k: int | None, dtype: str, causal: bool) -> Shape:
    """Return the problem of ``--shape B,H,S,D`` and the options beside it."""
    extents = integers("--shape", text)
    if len(extents) != 4:
        raise usage(f"--shape {text}: four numbers, batch,heads,seq,head_dim")
    if dtype not in ITEM_SIZES:
        raise usage(f"--dtype {dtype}: one of {', '.join(ITEM_SIZES)}")
    batch, heads, seq, dim = extents
    if heads % (heads_k or heads):
        raise usage(f"--heads-k {heads_k}: a divisor of {heads}")
    return Shape(dtype, batch, heads, heads_k or heads, seq, seq_k or seq, dim, causal)
