"""FlashAttention for Ascend NPUs, on the device or on an emulated one.

Importing this package does no work: names are resolved on first use, no toolkit is opened, and
neither torch, typer nor matplotlib is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendfa import emulator as emulator
    from ascendfa import errors as errors
    from ascendfa.api import backend as backend
    from ascendfa.api import flash_attention as flash_attention
    from ascendfa.config import FlashAttentionConfig as FlashAttentionConfig
    from ascendfa.errors import AscendFAError as AscendFAError
    from ascendfa.merge import merge_attention as merge_attention

    __version__: str

_HOMES = {
    "AscendFAError": "ascendfa.errors",
    "FlashAttentionConfig": "ascendfa.config",
    "backend": "ascendfa.api",
    "flash_attention": "ascendfa.api",
    "merge_attention": "ascendfa.merge",
}
_MODULES = ("emulator", "errors")

__all__ = [
    "AscendFAError",
    "FlashAttentionConfig",
    "backend",
    "emulator",
    "errors",
    "flash_attention",
    "merge_attention",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value: object = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"ascendfa.{name}")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("ascendfa")
    else:
        raise AttributeError(f"module 'ascendfa' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
