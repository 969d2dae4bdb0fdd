"""Records the C functions ascendfa calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from ascendfa.native.loader import Toolkit


class Spy:
    """Every call since it was made: name, arguments, result."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, toolkit: Toolkit) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], Any]] = []
        watched = {name: self._watch(name, f) for name, f in toolkit._functions.items()}
        monkeypatch.setattr(toolkit, "_functions", watched)

    def _watch(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            self.calls.append((name, arguments, result))
            return result

        return call

    def count(self, *names: str) -> int:
        return sum(name in names for name, _, _ in self.calls)

    def results(self, name: str) -> list[Any]:
        return [result for called, _, result in self.calls if called == name]

    def arguments(self, name: str, index: int) -> list[Any]:
        """Return one argument of every call, pointers as numbers."""
        values = [arguments[index] for called, arguments, _ in self.calls if called == name]
        return [v.value if isinstance(v, ctypes.c_void_p) else v for v in values]
