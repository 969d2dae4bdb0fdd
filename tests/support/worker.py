"""Attention in a process of its own: chip and mode of the emulator are fixed per process."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.connection import Connection
from typing import Any


def _serve(connection: Connection, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    import ascendfa

    while True:
        try:
            arrays, options = connection.recv()
        except EOFError:
            return
        try:
            answer: object = ascendfa.flash_attention(*arrays, **options)
        except Exception as error:  # crosses to the parent, which raises it
            answer = RuntimeError(f"{type(error).__name__}: {error}")
        connection.send(answer)


class Worker:
    """A process that computes attention on one emulated chip in one mode."""

    def __init__(self, soc: str, mode: str) -> None:
        environment = {"ASCENDFA_EMULATOR_MODE": mode}
        if soc != "device":
            environment["ASCENDFA_EMULATOR_SOC"] = soc
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, environment), daemon=True)
        self._process.start()
        theirs.close()

    def attention(self, q: Any, k: Any, v: Any, *, timeout: float = 240, **options: Any) -> Any:
        """Call ascendfa.flash_attention there; its exceptions arrive as RuntimeError."""
        self._connection.send(((q, k, v), options))
        if not self._connection.poll(timeout):
            self._process.kill()
            raise TimeoutError(f"no answer within {timeout} s")
        try:
            answer = self._connection.recv()
        except EOFError:
            self._process.join()
            raise RuntimeError(f"the worker died with {self._process.exitcode}") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self._connection.close()
        self._process.join(timeout=20)
        if self._process.is_alive():
            self._process.kill()
