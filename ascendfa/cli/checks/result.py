"""What a check answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ascendfa.cli.checks.context import Context

__all__ = ["Check", "Result", "Status", "fail", "ok", "skip", "warn"]


class Status(str, Enum):
    """Outcome of one line; SKIP means that nothing is known, never that it passed."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"
    SKIP = "SKIP"


@dataclass(frozen=True)
class Result:
    """One line of the report.

    Attributes
    ----------
    name
        What was looked at, such as ``vendor.registered``; stable, for scripts.
    status, message
        The outcome, and what was found.
    fix
        What to do, usually a command; empty if there is nothing to do.
    """

    name: str
    status: Status
    message: str
    fix: str = ""


Check = Callable[["Context"], Iterator[Result]]


def ok(name: str, message: str) -> Result:
    """Return a line for what is as it should be."""
    return Result(name, Status.OK, message)


def warn(name: str, message: str, fix: str = "") -> Result:
    """Return a line for what may be wrong, or limits what can be done."""
    return Result(name, Status.WARN, message, fix)


def fail(name: str, message: str, fix: str) -> Result:
    """Return a line for what keeps attention from working."""
    return Result(name, Status.FAIL, message, fix)


def skip(name: str, message: str, fix: str = "") -> Result:
    """Return a line for what could not be looked at."""
    return Result(name, Status.SKIP, message, fix)
