"""Every exception ascendfa raises on purpose.

The classes also derive from the built-in a Python user expects (``ValueError``, ``TypeError``,
``RuntimeError``, ``OSError``), so ``except ValueError`` keeps working around attention calls.
"""

from __future__ import annotations

__all__ = [
    "AclError",
    "ArgumentTypeError",
    "AscendFAError",
    "BackendError",
    "ConfigError",
    "DTypeError",
    "DeviceMismatchError",
    "InvalidArgumentError",
    "LibraryNotFoundError",
    "NotSupportedError",
    "ShapeError",
    "SymbolNotFoundError",
    "TileError",
    "ToolkitError",
    "UnknownChipError",
]


class AscendFAError(Exception):
    """Base of all errors raised by ascendfa."""


def _sentence(argument: str, received: object, allowed: str) -> str:
    return f"{argument}: got {received}; allowed: {allowed}"


class InvalidArgumentError(AscendFAError, ValueError):
    """An argument has a value that attention cannot be computed with.

    Parameters
    ----------
    argument
        Name of the argument as the caller wrote it.
    received
        What was passed, or the part of it that is wrong.
    allowed
        What would have been accepted.
    """

    def __init__(self, argument: str, received: object, allowed: str) -> None:
        super().__init__(_sentence(argument, received, allowed))
        self.argument = argument
        self.received = received
        self.allowed = allowed


class ShapeError(InvalidArgumentError):
    """Ranks, extents or strides do not fit together."""


class DeviceMismatchError(InvalidArgumentError):
    """Tensors of one call live on different devices, or on one ascendfa cannot reach."""


class NotSupportedError(InvalidArgumentError):
    """The value is meaningful, but this version or this chip has no implementation for it."""


class ArgumentTypeError(AscendFAError, TypeError):
    """An argument has the wrong Python type. Attributes as in `InvalidArgumentError`."""

    def __init__(self, argument: str, received: object, allowed: str) -> None:
        super().__init__(_sentence(argument, received, allowed))
        self.argument = argument
        self.received = received
        self.allowed = allowed


class DTypeError(ArgumentTypeError):
    """The element type is not one the kernels compute with, or differs between q, k and v."""


class TileError(InvalidArgumentError):
    """A block size does not fit into a buffer of the chip.

    Parameters
    ----------
    chip
        Compute unit, such as ``ascend910b``.
    buffer
        The on-chip buffer that overflows: ``L1``, ``L0A``, ``L0B``, ``L0C`` or ``UB``.
    needed, limit
        Bytes the tile needs there, and bytes there are.
    tile
        The tile, as ``block_m=..., block_n=..., head_dim=...``.
    """

    def __init__(self, chip: str, buffer: str, needed: int, limit: int, tile: str) -> None:
        super().__init__(
            "block_m, block_n",
            f"{tile}, which needs {needed} bytes of {buffer} on {chip}",
            f"at most {limit} bytes of {buffer}; use smaller blocks, or 0 to let the plan choose",
        )
        self.chip = chip
        self.buffer = buffer
        self.needed = needed
        self.limit = limit


class ConfigError(AscendFAError, ValueError):
    """A configuration file or environment variable is wrong.

    Parameters
    ----------
    message
        What is wrong and what is allowed.
    file, line
        Where, if it came from a file; lines count from 1.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + message)
        self.file = file
        self.line = line


class UnknownChipError(AscendFAError, ValueError):
    """A SoC name is unknown, or could mean several chips."""


class ToolkitError(AscendFAError, OSError):
    """The libraries of a toolkit (CANN, or the emulator in its shape) cannot be used."""


class BackendError(ToolkitError):
    """The chosen backend cannot run, or differs from the one this process already uses."""


class LibraryNotFoundError(ToolkitError):
    """A shared library is missing or cannot be opened."""


class SymbolNotFoundError(ToolkitError):
    """A library opened, but lacks a function that ascendfa calls."""


class AclError(AscendFAError, RuntimeError):
    """An ACL or aclnn function returned an error code.

    Parameters
    ----------
    function
        The C function that failed.
    code, meaning
        Its return value and what the value stands for.
    recent
        What ``aclGetRecentErrMsg`` said, empty if nothing.
    hint
        What to try, empty if there is nothing specific.
    """

    def __init__(self, function: str, code: int, meaning: str, recent: str, hint: str) -> None:
        lines = [f"{function} failed with {code} ({meaning})"]
        if recent:
            lines.append(f"message: {recent}")
        if hint:
            lines.append(f"hint: {hint}")
        super().__init__("\n".join(lines))
        self.function = function
        self.code = code
        self.meaning = meaning
        self.recent = recent
        self.hint = hint
