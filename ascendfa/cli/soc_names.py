"""From the names of chips that people type to the compute unit a package is built for."""

from __future__ import annotations

from typing import Final

from ascendfa.chips import CHIPS, chip_for_soc
from ascendfa.errors import UnknownChipError

__all__ = ["unit_for"]

# What data sheets and people say, in lower case.
_NICKNAMES: Final = {
    "910a": "ascend910",
    "910b": "ascend910b",
    "910c": "ascend910_93",
    "910_93": "ascend910_93",
    "950": "ascend950",
}

# Written as a SoC name; the units of the same letters are lower case.
_AMBIGUOUS: Final = {
    "ascend910": "a 910A, or a 910C as npu-smi shows it; say ascend910 or ascend910_93",
    "910": "a 910A, 910B or 910C; say 910a, 910b or 910c",
    "ascend910b": (
        "a first-generation chip, or any of Ascend910B1 to B4; say ascend910 or ascend910b"
    ),
}

# The spelling aclrtGetSocName uses, by lower case.
_SUFFIXES: Final = {"proa": "ProA", "prob": "ProB", "premiuma": "PremiumA"}


def _official(name: str) -> str:
    """Spell a name as ``aclrtGetSocName`` does."""
    rest = name.lower().removeprefix("ascend")
    number, tail = rest[:3], rest[3:]
    return f"Ascend{number}{_SUFFIXES.get(tail, tail.upper())}"


def unit_for(name: str) -> str:
    """Return the compute unit behind a chip's name, however it is written.

    Parameters
    ----------
    name
        Such as ``Ascend910B3``, ``910b``, ``ascend910_93``.

    Raises
    ------
    UnknownChipError
        If it is unknown, or several chips go by it; the message says what to write instead.
    """
    if name in CHIPS:
        return name
    if name.lower() in _AMBIGUOUS:
        raise UnknownChipError(f"'{name}' is ambiguous: it may be {_AMBIGUOUS[name.lower()]}")
    if name.lower() in _NICKNAMES:
        return _NICKNAMES[name.lower()]
    try:
        return chip_for_soc(_official(name)).unit
    except UnknownChipError:
        raise UnknownChipError(
            f"chip '{name}' is unknown; write a SoC name such as Ascend910B3, or a unit: "
            f"{', '.join(CHIPS)}"
        ) from None
