"""Every synchronisation call of the kernels matters, and check mode notices when one is missing.

`scripts/mutate_sync` prints the table, and tries single pairs of each ring as well.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mutation.build import build, toolkit_root
from mutation.cases import TARGETS
from mutation.instrument import instrument, mask
from mutation.run import Laboratory, Outcome
from mutation.worker import Mutant

SOURCE = """
// SetFlag in a comment: AscendC::SetFlag<kA>(0);
class Ring {
  void Publish() { AscendC::SetFlag<kReady>(ids_[Next(at_)]); }
};
void Kernel() {
  AscendC::PipeBarrier<PIPE_V>();
  Use(ring_.Publish(), "AscendC::SyncAll()");
  AscendC::CrossCoreWaitFlag<2, PIPE_MTE2>(kFlag);
  AscendC::SyncAll<false>();
  Hold<kDone>();
}
template <int kEvent>
void Hold() {
  AscendC::WaitFlag<kEvent>(1);
}
"""


def test_every_call_and_every_wrapper_is_found_where_it_is(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "kernel.cpp").write_text(SOURCE)
    places = instrument(tmp_path / "in", tmp_path / "out")
    assert [(p.line, p.function, p.text) for p in places] == [
        (4, "Publish", "SetFlag<kReady>(ids_[Next(at_)])"),
        (7, "Kernel", "PipeBarrier<PIPE_V>()"),
        (8, "Kernel", "ring_.Publish()"),
        (9, "Kernel", "CrossCoreWaitFlag<2, PIPE_MTE2>(kFlag)"),
        (10, "Kernel", "SyncAll<false>()"),
        (11, "Kernel", "Hold<kDone>()"),
        (15, "Hold", "WaitFlag<kEvent>(1)"),
    ]
    copy = (tmp_path / "out" / "kernel.cpp").read_text()
    assert "sync_points::SetFlag<kReady>(0, ids_[Next(at_)]);" in copy
    assert "sync_points::Gate(1, [&] { AscendC::PipeBarrier<PIPE_V>(); });" in copy
    assert "Use(sync_points::In(2, [&]() -> decltype(auto) { return ring_.Publish(); })" in copy
    assert "sync_points::CrossWait(3, kFlag, [&] {" in copy
    assert "sync_points::In(5, [&]() -> decltype(auto) { return Hold<kDone>(); })" in copy
    assert copy.count("\n") == SOURCE.count("\n") + 2


def test_comments_and_literals_are_blanked_in_place():
    text = "a /* b\nc */ d // e\n'\\'' \"f//\" g"
    masked = mask(text)
    assert len(masked) == len(text)
    assert masked.split() == ["a", "d", "g"]
    assert masked.count("\n") == 2


@pytest.fixture(scope="module", params=sorted(TARGETS, reverse=True))
def laboratory(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Laboratory]:
    if not (toolkit_root() / "lib64" / "libnnopbase.so").exists():
        pytest.skip(f"no toolkit at {toolkit_root()}; build one with pip install .")
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile the mutants with")
    target = TARGETS[request.param]
    package = build(tmp_path_factory.mktemp("mutants"), dtype=target.dtype, unit=target.unit)
    with Laboratory(package, target) as ready:
        yield ready


def run(laboratory: Laboratory, *kinds: str) -> list[Outcome]:
    mutants = [m for m in laboratory.mutants() if m.kind in kinds]
    assert mutants
    return list(laboratory.run(mutants))


def listing(laboratory: Laboratory, outcomes: list[Outcome]) -> str:
    return "\n".join(f"{o.verdict}: {laboratory.describe(o.mutant)}\n{o.report}" for o in outcomes)


@pytest.mark.device
class TestFlashAttention:
    def test_the_cases_reach_every_call(self, laboratory: Laboratory):
        assert not [str(place) for place in laboratory.unreached()]

    def test_nothing_removed_is_nothing_noticed(self, laboratory: Laboratory):
        (outcome,) = laboratory.run([Mutant("call")])
        assert outcome.verdict == "SURVIVED", outcome.report

    def test_no_call_can_be_left_out(self, laboratory: Laboratory):
        missed = [o for o in run(laboratory, "call") if not o.detected]
        assert not missed, listing(laboratory, missed)

    def test_without_an_event_there_is_a_race(self, laboratory: Laboratory):
        """All calls of an event removed at once leave no flag behind that could give it away."""
        outcomes = run(laboratory, "event", "cross event")
        missed = [o for o in outcomes if o.verdict != "DataRace"]
        assert not missed, listing(laboratory, missed)

    def test_reports_name_the_kernels_own_lines(self, laboratory: Laboratory):
        places = laboratory.package.places
        barrier = next(
            number
            for number in sorted(laboratory.seen.visits)
            if places[number].text == "PipeBarrier<PIPE_V>()"
        )
        (outcome,) = laboratory.run([Mutant("call", (barrier,))])
        assert outcome.verdict == "DataRace"
        assert outcome.case in laboratory.cases
        assert "missing: PipeBarrier<PIPE_V>()" in outcome.report
        assert "ascend_kernels/op_kernel/fa/" in outcome.report
