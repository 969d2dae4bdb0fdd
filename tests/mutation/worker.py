"""Processes that run mutants in check mode, one call of flash_attention at a time."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mutation.build import MutantPackage
from mutation.cases import Case

TIMEOUT = 120.0


@dataclass(frozen=True)
class Mutant:
    """Calls that stay silent: `places` all of them, and sets whose wait is one of `pairs`.

    Kinds: "call", a single one; "event", all calls that share flags, so that nothing is left
    unbalanced; "cross event", the same between cores; "pair", of an event the sets at one place
    whose wait is at another, and these waits.
    """

    kind: str
    places: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def touched(self) -> tuple[int, ...]:
        return self.places + tuple(place for pair in self.pairs for place in pair)


@dataclass
class Seen:
    """Which calls a run of the kernel made."""

    enters: set[int] = field(default_factory=set)
    visits: set[int] = field(default_factory=set)
    pairs: set[tuple[int, int]] = field(default_factory=set)
    # By "cross_set" or "cross_wait" and flag; of each the calls, and where the flag itself is used.
    cross: dict[tuple[str, int], set[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(set)
    )

    def add(self, text: str) -> None:
        for line in text.splitlines():
            what, *words = line.split()
            numbers = [int(word) for word in words]
            if what == "enter":
                self.enters.add(numbers[0])
            elif what == "visit":
                self.visits.add(numbers[0])
            elif what == "pair":
                self.pairs.add((numbers[0], numbers[1]))
            else:
                self.cross[what, numbers[0]].add((numbers[1], numbers[2]))

    def merge(self, other: Seen) -> None:
        self.enters |= other.enters
        self.visits |= other.visits
        self.pairs |= other.pairs
        for key, places in other.cross.items():
            self.cross[key] |= places


def _attend(case: Case, dtype: str) -> None:
    import ml_dtypes
    import numpy as np
    from support.numerics import check_attention

    import ascendfa

    element = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    rng = np.random.default_rng(case.seq_q * 1000 + case.seq_k)
    dims = (case.dim, case.dim, case.value_dim or case.dim)
    q, k, v = (
        rng.standard_normal((1, case.heads, seq, dim)).astype(element)
        for seq, dim in zip((case.seq_q, case.seq_k, case.seq_k), dims, strict=True)
    )
    if case.rise:
        # Queries and keys agree in one column, whose share of the score grows with the key.
        q[..., 0] = case.rise * (-1 if (case.scale or 1) < 0 else 1)
        k[..., 0] = np.linspace(0, case.dim**0.5, case.seq_k)
    q[:, : case.loud] *= 16
    scores = (1, case.heads, case.seq_q, case.seq_k)
    terms: dict[str, Any] = {
        "bias": ("bias", rng.standard_normal(scores).astype(element)),
        "mask": ("mask", rng.random(scores) < 0.7),
        "alibi": ("alibi_slopes", rng.random(case.heads).astype(np.float32)),
        "softcap": ("softcap", 3.0),
    }
    options = dict(terms[name] for name in case.terms)
    options |= {"causal": case.causal, "window_size": case.window}
    options["scale"] = case.scale
    config = ascendfa.FlashAttentionConfig(block_n=case.block_n)
    out, lse = ascendfa.flash_attention(q, k, v, config=config, return_lse=True, **options)
    check_attention(q, k, v, out, lse, **options)


def _answer(case: Case, dtype: str) -> tuple[str, str]:
    import ascendfa.errors

    try:
        _attend(case, dtype)
    except ascendfa.errors.AclError as error:
        kind = re.search(r"message: .*?(\w+) on Ascend", str(error), re.DOTALL)
        return (kind.group(1) if kind else "error"), str(error)
    except AssertionError as error:
        return "WRONG RESULT", str(error)
    return "SURVIVED", ""


def _serve(
    connection: Connection, environment: dict[str, str], objects: list[Path], dtype: str
) -> None:
    os.environ.update(environment)
    import ascendfa

    libraries: list[ctypes.CDLL] = []
    recorded: dict[Case, int] = {}

    def select(case: Case, mutant: Mutant) -> None:
        places = (ctypes.c_int * len(mutant.places))(*mutant.places)
        ends = [place for pair in mutant.pairs for place in pair]
        pairs = (ctypes.c_int * len(ends))(*ends)
        sizes = len(mutant.places), len(mutant.pairs)
        for library in libraries:
            library.sync_points_select(places, sizes[0], pairs, sizes[1], recorded.get(case, -1))

    while True:
        try:
            case, mutant = connection.recv()
        except EOFError:
            return
        if not libraries:
            # Loads the toolkit, which the kernels are linked against but do not find on their own.
            ascendfa.backend()
            _attend(Case(heads=1, seq_q=1, seq_k=1, dim=64, causal=False), dtype)
            libraries = [ctypes.CDLL(str(path)) for path in objects]
        if mutant.pairs and case not in recorded:
            recorded[case] = len(recorded)
            select(case, Mutant("none"))
            _answer(case, dtype)
        select(case, mutant)
        verdict, report = _answer(case, dtype)
        seen = b""
        for library in libraries:
            library.sync_points_seen.restype = ctypes.c_char_p
            seen += library.sync_points_seen()
        connection.send((verdict, report, seen.decode()))


class Worker:
    """A process that runs mutants; started again when one of them takes it down."""

    def __init__(self, package: MutantPackage, soc: str, dtype: str) -> None:
        self._package = package
        self._dtype = dtype
        self._environment = {
            "ASCEND_CUSTOM_OPP_PATH": str(package.vendor),
            "ASCENDFA_BACKEND": "emulator",
            "ASCENDFA_EMULATOR_MODE": "check",
            "ASCENDFA_EMULATOR_SOC": soc,
            "ASCENDFA_EMULATOR_THREADS": "1",
        }
        self._connection: Connection | None = None
        self._process: Any = None

    def run(self, case: Case, mutant: Mutant) -> tuple[str, str, str]:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            arguments = (theirs, self._environment, self._package.objects, self._dtype)
            self._process = context.Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
        connection = self._connection
        connection.send((case, mutant))
        if not connection.poll(TIMEOUT):
            self.close()
            return "HANG", f"no answer within {TIMEOUT} s", ""
        try:
            verdict, report, seen = connection.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            self.close()
            return "CRASH", f"the process died with {code}", ""
        return verdict, report, seen

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._process.join(timeout=2)
            if self._process.is_alive():
                self._process.kill()
