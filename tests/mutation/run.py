"""Runs mutants in check mode and says what became of them."""

from __future__ import annotations

import concurrent.futures
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mutation.build import OP_KERNEL, MutantPackage, build
from mutation.cases import TARGETS, Case, Target
from mutation.instrument import Place
from mutation.worker import Mutant, Seen, Worker

KINDS = ("call", "cross event", "event", "pair")


@dataclass
class Outcome:
    """What a mutant did: a trap's kind, or one of those nothing noticed.

    "shared": nothing notices that this pair is missing, but something does when all pairs of the
    set's place are, and when all of the wait's are. Both calls are needed; in other rounds of their
    ring than these, which cannot do without them in the source.
    """

    mutant: Mutant
    verdict: str
    report: str = ""
    case: Case | None = None

    @property
    def detected(self) -> bool:
        return self.verdict not in ("WRONG RESULT", "CRASH", "HANG", "SURVIVED")


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
            self._local.worker = Worker(self.package, self._target.soc, self._target.dtype)
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
        """Of each cross-core flag the calls of one run, as far as one file's wrappers make them.

        The cube's loops that share a file's flags never meet in one run.
        """
        places = self.package.places
        runs: set[frozenset[int]] = set()
        for seen in self.baseline.values():
            events: dict[tuple[int, str], set[int]] = defaultdict(set)
            for (_, flag), calls in seen.cross.items():
                for call, primitive in calls:
                    events[flag, places[primitive].file].add(call)
            runs |= {frozenset(event) for event in events.values()}
        widest = [run for run in runs if not any(run < other for other in runs)]
        return [Mutant("cross event", event) for event in sorted(map(tuple, map(sorted, widest)))]

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
            Mutant("pair", pairs=((set_place, wait_place),))
            for set_place, wait_place in sorted(seen.pairs)
            if {set_place, wait_place} not in groups
            and ".Open(" not in places[set_place].text
            and ".Close(" not in places[wait_place].text
        ]
        return calls + crossing + events + pairs

    def _reaches(self, case: Case, mutant: Mutant) -> bool:
        seen = self.baseline[case]
        if mutant.pairs:
            return not seen.pairs.isdisjoint(mutant.pairs)
        if mutant.kind == "event":  # may be spread over loops that never meet
            return not seen.visits.isdisjoint(mutant.places)
        return seen.visits.issuperset(mutant.places)

    def _try(self, mutant: Mutant) -> Outcome:
        for case in self.cases:
            if not self._reaches(case, mutant):
                continue
            verdict, report, _ = self._worker.run(case, mutant)
            if verdict != "SURVIVED":
                return Outcome(mutant, verdict, report, case)
        if len(mutant.pairs) == 1:
            return self._widen(mutant)
        return Outcome(mutant, "SURVIVED")

    def _widen(self, mutant: Mutant) -> Outcome:
        """Ask about each of a pair's two calls with everything it is paired with."""
        ((set_place, wait_place),) = mutant.pairs
        pairs = sorted(self.seen.pairs)
        wider = (
            tuple(pair for pair in pairs if pair[0] == set_place),
            tuple(pair for pair in pairs if pair[1] == wait_place),
        )
        if any(len(some) == 1 for some in wider):
            return Outcome(mutant, "SURVIVED")
        outcomes = [self._try(Mutant("pair", pairs=some)) for some in wider]
        if all(outcome.detected for outcome in outcomes):
            return Outcome(mutant, "shared", "\n".join(outcome.report for outcome in outcomes))
        return Outcome(mutant, "SURVIVED")

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
    parser.add_argument("--dtype", default="float16", help="of the tensors (default: float16)")
    parser.add_argument("--kernel", type=Path, default=OP_KERNEL, help="folder of the sources")
    parser.add_argument("--quick", action="store_true", help="leave out single pairs of events")
    parser.add_argument("--verbose", action="store_true", help="print each mutant's report")
    parser.add_argument("--only", default="", help="mutants whose description contains this")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (default: 2)")
    arguments = parser.parse_args()
    target = replace(TARGETS[arguments.arch], dtype=arguments.dtype)
    with tempfile.TemporaryDirectory() as folder:
        print("compiling", file=sys.stderr)
        package = build(Path(folder), arguments.kernel, dtype=target.dtype, unit=target.unit)
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
    print(f"{missed} not detected, {len(unreached)} never executed")
    return 1 if missed or unreached else 0


if __name__ == "__main__":
    sys.exit(main())
