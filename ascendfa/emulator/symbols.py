"""The emulator library's profiling functions: result type and argument types."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32
from functools import cache
from pathlib import Path
from typing import Any, Final

from ascendfa.errors import BackendError, LibraryNotFoundError, SymbolNotFoundError
from ascendfa.native.backend import choose
from ascendfa.native.symbols import Symbol

__all__ = ["EMULATOR", "SYMBOLS", "bind", "functions"]

EMULATOR: Final = "libdavinci_emulator.so"

_text: Final = POINTER(c_char)

SYMBOLS: Final[dict[str, Symbol]] = {
    "davProfileBegin": Symbol(EMULATOR, c_int, (c_char_p,)),
    "davProfileEnd": Symbol(EMULATOR, c_int, ()),
    "davProfileKernelCount": Symbol(EMULATOR, c_uint32, ()),
    "davProfileSummaryJson": Symbol(EMULATOR, c_size_t, (_text, c_size_t)),
    "davProfileParametersJson": Symbol(EMULATOR, c_size_t, (_text, c_size_t)),
    # path, kernel (negative: all), core groups (0: all)
    "davProfileWriteChromeTrace": Symbol(EMULATOR, c_int, (c_char_p, c_int64, c_uint32)),
    "davProfileLastError": Symbol(EMULATOR, c_size_t, (_text, c_size_t)),
}


@cache
def bind(path: Path) -> dict[str, Callable[..., Any]]:
    """Open the emulator library and return its profiling functions.

    Raises
    ------
    LibraryNotFoundError, SymbolNotFoundError
        If it is not there, or no such library.
    """
    if not path.is_file():
        raise LibraryNotFoundError(
            f"{path.name} was not found at {path}; the emulator is built by 'pip install .', or "
            "set ASCENDFA_EMULATOR_HOME to a toolkit folder"
        )
    try:
        handle = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise LibraryNotFoundError(f"{path} cannot be opened: {error}") from error
    bound: dict[str, Callable[..., Any]] = {}
    for name, symbol in SYMBOLS.items():
        try:
            function = getattr(handle, name)
        except AttributeError:
            raise SymbolNotFoundError(f"{path} has no function {name}") from None
        function.restype = symbol.restype
        function.argtypes = symbol.argtypes
        bound[name] = function
    return bound


def functions() -> dict[str, Callable[..., Any]]:
    """Return the profiling functions of the toolkit that attention runs on.

    Raises
    ------
    BackendError
        If that is CANN: a device is measured, not predicted.
    """
    backend = choose()
    if backend.name != "emulator":
        raise BackendError(
            f"the cycle model predicts the emulated device only, and attention runs on {backend}; "
            "set ASCENDFA_BACKEND=emulator"
        )
    return bind(backend.root / "lib64" / EMULATOR)
