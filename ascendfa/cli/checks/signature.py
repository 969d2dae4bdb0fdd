"""Whether the package's functions take what this version of the front end passes.

A C library cannot refuse wrong arguments: a package of another version crashes, or computes with
shifted ones.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from typing import Any, Final

from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok, skip
from ascendfa.cli.packages import Package
from ascendfa.native.symbols import OP_API, SYMBOLS

__all__ = ["check_signature", "declared"]

_POINTER: Final = "pointer"
_SCALARS: Final = {
    "double": "double",
    "float": "float",
    "bool": "bool",
    "_Bool": "bool",
    "int64_t": "int64",
    "uint64_t": "uint64",
    "size_t": "uint64",
    "int32_t": "int32",
    "int": "int32",
}


def _of_ctypes(kind: Any) -> str:
    simple = {
        ctypes.c_double: "double",
        ctypes.c_float: "float",
        ctypes.c_bool: "bool",
        ctypes.c_int64: "int64",
        ctypes.c_uint64: "uint64",
        ctypes.c_int32: "int32",
    }
    return simple.get(kind, _POINTER)


def _of_c(argument: str) -> str:
    if "*" in argument or "aclrtStream" in argument:
        return _POINTER
    words = [w for w in argument.split() if w != "const"]
    return _SCALARS.get(words[0], words[0]) if words else ""


def declared(package: Package) -> dict[str, list[str]]:
    """Return the argument types of each aclnn function in the package's headers."""
    found: dict[str, list[str]] = {}
    for header in (package.folder / "op_api" / "include").glob("aclnn_*.h"):
        text = header.read_text(encoding="utf-8", errors="replace")
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
        for name, arguments in re.findall(r"\b(aclnn\w+)\s*\(([^)]*)\)", text):
            found[name] = [_of_c(a.strip()) for a in arguments.split(",") if a.strip()]
    return found


def check_signature(context: Context) -> Iterator[Result]:
    """Compare the package's header with the front end's table."""
    name = "libraries.signature"
    if context.package is None:
        yield skip(name, "no package")
        return
    try:
        headers = declared(context.package)
    except OSError as error:
        headers = {}
        yield fail(name, str(error), f"chmod -R a+rX {context.package.folder}")
    compared = 0
    for function, symbol in SYMBOLS.items():
        if symbol.library != OP_API or function not in headers:
            continue
        compared += 1
        ours = [_of_ctypes(kind) for kind in symbol.argtypes]
        theirs = headers[function]
        if ours == theirs:
            continue
        place = next(
            (i for i, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
            min(len(ours), len(theirs)),
        )
        context.usable = False
        yield fail(
            name,
            f"{function} of {context.package.folder} takes {len(theirs)} arguments, ascendfa "
            f"passes {len(ours)}; the first difference is argument {place + 1}: they are of "
            "different versions",
            "build and install the op package of this version of ascendfa "
            "(scripts/build_op_package), or take the other off ASCEND_CUSTOM_OPP_PATH",
        )
        return
    if compared:
        yield ok(name, f"{compared} functions take what ascendfa passes")
    else:
        yield skip(name, f"{context.package.folder}/op_api/include has no headers")
