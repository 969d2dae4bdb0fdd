"""Where the verbs print, and how they fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console

from ascendfa.errors import AscendFAError

__all__ = ["USAGE", "err", "fails_clearly", "out", "usage"]

USAGE = 2

P = ParamSpec("P")
R = TypeVar("R")


def out() -> Console:
    """Return a console on standard output; made anew because tests replace the stream."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def err() -> Console:
    """Return a console on standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def usage(message: str) -> typer.Exit:
    """Print what is wrong with the command line and return the exception to raise."""
    err().print(f"error: {message}", markup=False)
    return typer.Exit(USAGE)


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except AscendFAError as error:
        err().print(f"error: {error}", markup=False)
        raise typer.Exit(1) from None


def fails_clearly(verb: Callable[P, R]) -> Callable[P, R]:
    """Make a verb print ascendfa's errors instead of a traceback, and exit with 1."""

    @wraps(verb)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with _clear_errors():
            return verb(*args, **kwargs)

    return wrapped
