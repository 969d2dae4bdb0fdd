"""Looking at what the checks of ``ascendfa validate`` say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, Status


def lines(check: Callable[[Context], Any], context: Context) -> dict[str, Result]:
    return {result.name: result for result in check(context)}


def expect(result: Result, status: Status, *words: str) -> None:
    assert result.status is status, result
    for word in words:
        assert word in result.message + result.fix, result
    if status is Status.FAIL:
        assert result.fix
