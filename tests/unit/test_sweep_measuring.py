"""What a sweep times and what it does not: without a device."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.sweeps import ORIGIN, shape

from ascendfa.errors import BackendError
from ascendfa.tuning import measure
from ascendfa.tuning.space import Candidate
from ascendfa.tuning.store import Record, Store


class FakeNpu:
    """torch.npu with a clock that a call moves on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls = 0

    def Event(self, *, enable_timing: bool) -> Any:  # noqa: N802
        assert enable_timing
        event = SimpleNamespace(at=0.0)
        event.record = lambda: setattr(event, "at", self.now)
        event.elapsed_time = lambda end: end.at - event.at
        return event

    def synchronize(self) -> None:
        pass


class TestMeasuring:
    @pytest.fixture
    def npu(self, monkeypatch: pytest.MonkeyPatch) -> FakeNpu:
        npu = FakeNpu()
        modules = {"torch": SimpleNamespace(npu=npu), "torch_npu": SimpleNamespace()}
        monkeypatch.setattr(measure, "import_module", modules.__getitem__)
        return npu

    def test_the_median_is_of_the_calls_after_the_warm_up(self, npu):
        def call() -> None:
            npu.calls += 1
            npu.now += 100.0 if npu.calls <= 3 else float(npu.calls % 2)  # ms

        timer = measure.DeviceTimer(0, warmup=3, repeats=5)
        samples = timer.samples(call)
        assert (npu.calls, samples) == (8, [0.0, 1000.0, 0.0, 1000.0, 0.0])
        assert measure.summary(samples)[0] == 0.0

    def test_the_spread_is_half_the_interquartile_range(self):
        median, spread, number = measure.summary([90.0, 95.0, 100.0, 105.0, 110.0])
        assert (median, number) == (100.0, 5)
        assert spread == pytest.approx(0.075)
        assert measure.summary([7.0]) == (7.0, 0.0, 1)

    def test_without_torch_npu_it_says_what_to_do(self, monkeypatch):
        def missing(name: str) -> Any:
            raise ImportError(f"No module named '{name}'")

        monkeypatch.setattr(measure, "import_module", missing)
        with pytest.raises(BackendError, match="--predict"):
            measure.DeviceTimer(0, 1, 1)


class TestNumerics:
    @pytest.fixture
    def attention(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
        def use(function: Any) -> None:
            measure._error.cache_clear()
            monkeypatch.setattr(measure, "flash_attention", function)

        yield use
        measure._error.cache_clear()

    def candidate(self) -> Candidate:
        return Candidate(shape(32, heads_q=2, heads_k=1), 64, 128)

    def test_a_wrong_result_is_recorded_and_not_timed(self, attention):
        attention(lambda q, *_, **_options: np.zeros_like(q))

        def timer(candidate: Candidate) -> Any:
            raise AssertionError("timed")

        found = measure.run(self.candidate(), ORIGIN, timer)
        assert found.problem.startswith("wrong result")
        assert found.error > found.tolerance

    def test_nan_is_wrong(self, attention):
        attention(lambda q, *_, **_options: np.full_like(q, np.nan))
        assert measure.run(self.candidate(), ORIGIN, lambda _: (1.0, 0.0, 1)).problem

    def test_a_right_result_is_timed(self, attention):
        from ascendfa.reference import attention_reference

        def right(q: Any, k: Any, v: Any, *, causal: bool, config: Any) -> Any:
            assert (config.block_m, config.block_n) == (64, 128)
            return attention_reference(q, k, v, causal=causal)[0].astype(q.dtype)

        attention(right)
        found = measure.run(self.candidate(), ORIGIN, lambda _: (12.0, 0.1, 5))
        assert (found.median_us, found.spread, found.samples, found.problem) == (12.0, 0.1, 5, "")


def test_what_the_plan_refuses_is_kept_and_never_timed(tmp_path, monkeypatch, capsys):
    from ascendfa.cli import sweep

    asked = []

    def refusal(candidate: Candidate) -> str:
        asked.append(candidate)
        return "UB needs 422208 bytes, 253952 available" if candidate.block_m == 256 else ""

    monkeypatch.setattr(measure, "refusal", refusal)
    monkeypatch.setattr(measure, "run", lambda c, o, t: Record(o, c, *t(c)))
    store = Store(tmp_path / "s.json")
    candidates = [Candidate(shape(seq), m, 128) for seq in (512, 1024) for m in (64, 256)]
    found = sweep._run(candidates, store, ORIGIN, lambda c: (float(c.block_m), 0.0, 1))
    # One question per tile, whatever the problem.
    assert [c.block_m for c in asked] == [64, 256]
    assert [r.median_us for r in found] == [64.0, 0.0, 64.0, 0.0]
    assert found[1].problem == "refused: UB needs 422208 bytes, 253952 available"
    output = " ".join(capsys.readouterr().out.split())
    assert "impossible, not timed: block_m=256" in output
    assert output.index("422208") < output.index("0:00:")
