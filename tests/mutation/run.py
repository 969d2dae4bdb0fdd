"""Runs mutants in check mode and says what became of them."""

from __future__ import annotations

import concurrent.futures
import ctypes
import multiprocessing
import os
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mutation.build import OP_KERNEL, MutantPackage, build
from mutation.cases import TARGETS, Case, Target
from mutation.instrument import Place

TIMEOUT = 120.0
KINDS = ("call", "cross event", "event", "pair")


@dataclass(frozen=True)
class Mutant:
    """Calls that stay silent: `places` all of them, and sets at pair[0] whose wait is pair[1].

    Kinds: "call", a single one; "event", all calls that share flags, so that nothing is left
    unbalanced; "cross event", the same between cores; "pair", of an event the sets at one place
    whose wait is at another, and these waits.
    """

    kind: str
    places: tuple[int, ...] = ()
    pair: tuple[int, int] = (-1, -1)

    @property
    def touched(self) -> tuple[int, ...]:
        return self.places + tuple(place for place in self.pair if place >= 0)


@dataclass
class Outcome:
    """What a mutant did: a trap's kind, "redundant", or one of those nothing noticed.

    "unexplained": nothing noticed, which is known and listed.
    """

    mutant: Mutant
    verdict: str
    report: str = ""
    case: Case | None = None

    @property
    def detected(self) -> bool:
        return self.verdict not in ("WRONG RESULT", "CRASH", "HANG", "SURVIVED")


@dataclass
class Seen:
    """Which calls a run of the kernel made."""

    enters: set[int] = field(default_factory=set)
    visits: set[int] = field(default_factory=set)
    pairs: set[tuple[int, int]] = field(default_factory=set)
    cross: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))

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
                self.cross[what, numbers[0]].add(numbers[1])

    def merge(self, other: Seen) -> None:
        self.enters |= other.enters
        self.visits |= other.visits
        self.pairs |= other.pairs
        for key, places in other.cross.items():
            self.cross[key] |= places


def _attend(case: Case) -> None:
    import numpy as np
    from support.numerics import check_attention

    import ascendfa

    rng = np.random.default_rng(case.seq_q * 1000 + case.seq_k)
    dims = (case.dim, case.dim, case.value_dim or case.dim)
    q, k, v = (
        rng.standard_normal((1, case.heads, seq, dim)).astype(np.float16)
        for seq, dim in zip((case.seq_q, case.seq_k, case.seq_k), dims, strict=True)
    )
    if case.rise:
        # Queries and keys agree in one column, whose share of the score grows with the key.
        q[..., 0] = case.rise * (-1 if (case.scale or 1) < 0 else 1)
        k[..., 0] = np.linspace(0, case.dim**0.5, case.seq_k)
    scores = (1, case.heads, case.seq_q, case.seq_k)
    terms: dict[str, Any] = {
        "bias": ("bias", rng.standard_normal(scores).astype(np.float16)),
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


def _answer(case: Case) -> tuple[str, str]:
    import ascendfa.errors

    try:
        _attend(case)
    except ascendfa.errors.AclError as error:
        kind = re.search(r"message: .*?(\w+) on Ascend", str(error), re.DOTALL)
        return (kind.group(1) if kind else "error"), str(error)
    except AssertionError as error:
        return "WRONG RESULT", str(error)
    return "SURVIVED", ""


def _serve(connection: Connection, environment: dict[str, str], objects: list[Path]) -> None:
    os.environ.update(environment)
    import ascendfa

    libraries: list[ctypes.CDLL] = []
    while True:
        try:
            case, places, pair = connection.recv()
        except EOFError:
            return
        if not libraries:
            # Loads the toolkit, which the kernels are linked against but do not find on their own.
            ascendfa.backend()
            _attend(Case(heads=1, seq_q=1, seq_k=1, dim=64, causal=False))
            libraries = [ctypes.CDLL(str(path)) for path in objects]
        numbers = (ctypes.c_int * max(1, len(places)))(*places)
        for library in libraries:
            library.sync_points_select(numbers, len(places), *pair)
        verdict, report = _answer(case)
        seen = b""
        for library in libraries:
            library.sync_points_seen.restype = ctypes.c_char_p
            seen += library.sync_points_seen()
        connection.send((verdict, report, seen.decode()))


class Worker:
    """A process that runs mutants; started again when one of them takes it down."""

    def __init__(self, package: MutantPackage, soc: str) -> None:
        self._package = package
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
            arguments = (theirs, self._environment, self._package.objects)
            self._process = context.Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
        connection = self._connection
        connection.send((case, mutant.places, mutant.pair))
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


class Laboratory:
    """Workers over one package, and what the untouched kernel does on each case."""

    def __init__(
        self,
        package: MutantPackage,
        target: Target,
        *,
        jobs: int = 2,
    ) -> None:
        self.package = package
        self._target = target
        self.cases = target.cases
        self._soc = target.soc
        self._jobs = jobs
        self._local = threading.local()
        self._workers: list[Worker] = []
        self._pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.baseline = dict(
            zip(self.cases, self._pool.map(self._observe, self.cases), strict=True)
        )

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()

    @property
    def _worker(self) -> Worker:
        if not hasattr(self._local, "worker"):
            self._local.worker = Worker(self.package, self._soc)
            self._workers.append(self._local.worker)
        worker: Worker = self._local.worker
        return worker

    def _observe(self, case: Case) -> Seen:
        verdict, report, text = self._worker.run(case, Mutant("none"))
        if verdict != "SURVIVED":
            raise RuntimeError(f"the untouched kernel fails on {case}: {verdict}\n{report}")
        seen = Seen()
        seen.add(text)
        return seen

    @property
    def seen(self) -> Seen:
        total = Seen()
        for one in self.baseline.values():
            total.merge(one)
        return total

    def unreached(self) -> list[Place]:
        """Calls in the kernel's objects that no case gets to."""
        reached = self.seen.visits | self.seen.enters
        return [
            place
            for place in self.package.places
            if place.number not in reached and place.file in self.package.compiled
        ]

    def _crossings(self) -> list[Mutant]:
        """Of each cross-core flag the calls of one run; the cube's loops never meet in one."""
        runs = {
            frozenset(places | seen.cross.get(("cross_wait", flag), set()))
            for seen in self.baseline.values()
            for (what, flag), places in seen.cross.items()
            if what == "cross_set"
        }
        widest = [run for run in runs if not any(run < other for other in runs)]
        return [Mutant("cross event", places) for places in sorted(map(tuple, map(sorted, widest)))]

    def mutants(self) -> list[Mutant]:
        """All of them, those that die in the smallest case in front."""
        seen = self.seen
        calls = [Mutant("call", (place,)) for place in sorted(seen.visits)]
        crossing = self._crossings()
        # A ring starts with all slots free: its first round waits for nothing.
        groups = [
            group
            for group in _components(seen.pairs)
            if len(group) > 2 or not any(".Open(" in self.package.places[p].text for p in group)
        ]
        events = [Mutant("event", tuple(sorted(group))) for group in groups]
        # Where an event is one pair, that is the same mutant. A ring starts with all slots free and
        # ends with none in use: its first round waits for nothing, nothing follows its last.
        places = self.package.places
        pairs = [
            Mutant("pair", pair=(set_place, wait_place))
            for set_place, wait_place in sorted(seen.pairs)
            if {set_place, wait_place} not in groups
            and ".Open(" not in places[set_place].text
            and ".Close(" not in places[wait_place].text
        ]
        return calls + crossing + events + pairs

    def redundant(self, mutant: Mutant) -> str | None:
        """Why nobody has to notice a mutant, if there is a reason."""
        return self._target.redundant.get(self.key(mutant))

    def key(self, mutant: Mutant) -> str:
        """A mutant's name in the lists of what may go without a report."""
        touched = (self.package.places[p] for p in mutant.touched)
        return " + ".join(f"{place.function}: {place.text}" for place in touched)

    def _try(self, mutant: Mutant) -> Outcome:
        for case in self.cases:
            if not self.baseline[case].visits.issuperset(mutant.touched):
                continue
            verdict, report, _ = self._worker.run(case, mutant)
            if verdict != "SURVIVED":
                return Outcome(mutant, verdict, report, case)
        reason = self.redundant(mutant)
        if reason:
            return Outcome(mutant, "redundant", reason)
        reason = self._target.unexplained.get(self.key(mutant))
        if reason:
            return Outcome(mutant, "unexplained", reason)
        return Outcome(mutant, "SURVIVED", self.key(mutant))

    def run(
        self, mutants: list[Mutant], progress: Callable[[Outcome], None] = lambda _: None
    ) -> Iterator[Outcome]:
        """Yield the outcomes in the order of the mutants."""
        for outcome in self._pool.map(self._try, mutants):
            progress(outcome)
            yield outcome

    def describe(self, mutant: Mutant) -> str:
        return " + ".join(str(self.package.places[p]) for p in mutant.touched)


def _components(pairs: set[tuple[int, int]]) -> list[set[int]]:
    """Group places that share flags, directly or through others."""
    groups: list[set[int]] = []
    for a, b in sorted(pairs):
        touching = [g for g in groups if a in g or b in g]
        merged = {a, b}.union(*touching)
        groups = [g for g in groups if g not in touching] + [merged]
    return groups


def main() -> int:
    """Run every mutant and print a table."""
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(prog="scripts/mutate_sync", description=main.__doc__)
    parser.add_argument("--arch", choices=sorted(TARGETS), default="2201", help="default: 2201")
    parser.add_argument("--kernel", type=Path, default=OP_KERNEL, help="folder of the sources")
    parser.add_argument("--quick", action="store_true", help="leave out single pairs of events")
    parser.add_argument("--verbose", action="store_true", help="print each mutant's report")
    parser.add_argument("--only", default="", help="mutants whose description contains this")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (default: 2)")
    arguments = parser.parse_args()
    target = TARGETS[arguments.arch]
    with tempfile.TemporaryDirectory() as folder:
        print("compiling", file=sys.stderr)
        package = build(Path(folder), arguments.kernel, unit=target.unit)
        with Laboratory(package, target, jobs=arguments.jobs) as laboratory:
            kinds = KINDS[:-1] if arguments.quick else KINDS
            return _report(laboratory, kinds, arguments.only, arguments.verbose)


def _report(laboratory: Laboratory, kinds: tuple[str, ...], only: str, verbose: bool) -> int:
    mutants = [
        m for m in laboratory.mutants() if m.kind in kinds and only in laboratory.describe(m)
    ]
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    missed = 0

    def progress(outcome: Outcome) -> None:
        progress.done += 1  # type: ignore[attr-defined]
        if sys.stderr.isatty():
            text = f"{progress.done}/{len(mutants)}"  # type: ignore[attr-defined]
            print(f"\r{text}", end="", file=sys.stderr, flush=True)

    progress.done = 0  # type: ignore[attr-defined]
    for outcome in laboratory.run(mutants, progress):
        counts[outcome.mutant.kind][outcome.verdict] += 1
        missed += not outcome.detected
        line = f"{outcome.verdict:18} {outcome.mutant.kind:11}"
        print(f"{line} {laboratory.describe(outcome.mutant)}", flush=True)
        if verbose or not outcome.detected:
            print("    " + outcome.report.replace("\n", "\n    "), flush=True)
    unreached = laboratory.unreached()
    for place in unreached:
        print(f"{'NEVER EXECUTED':18} {'call':11} {place}")
    verdicts = sorted({v for row in counts.values() for v in row})
    print("\n" + " | ".join([f"{'removed':11}", *verdicts, "all"]))
    for kind, row in counts.items():
        cells = [f"{row[v]:{len(v)}}" for v in verdicts]
        print(" | ".join([f"{kind:11}", *cells, str(sum(row.values()))]))
    known = sum(row["unexplained"] for row in counts.values())
    text = f"{missed} not detected, {known} of the list of unexplained ones"
    print(f"{text}, {len(unreached)} never executed")
    return 1 if missed or unreached else 0


if __name__ == "__main__":
    sys.exit(main())
