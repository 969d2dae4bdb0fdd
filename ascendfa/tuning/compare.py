"""Other attentions beside ours: an unfused one, torch's, and the vendor's on a device."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ascendfa.errors import AscendFAError
from ascendfa.native.acl import acl
from ascendfa.tuning.measure import DeviceTimer, arrays, predicted_profile, summary
from ascendfa.tuning.space import Candidate, Shape

__all__ = ["Contestant", "Row", "contestants", "plot_rows"]


@dataclass(frozen=True)
class Row:
    """One time.

    Attributes
    ----------
    name, source
        Whose it is, and where it comes from: predicted, or measured on what.
    shape
        The problem.
    microseconds, spread
        The time and its relative uncertainty; None if there is none.
    problem
        Why there is none.
    """

    name: str
    source: str
    shape: Shape
    microseconds: float | None
    spread: float = 0.0
    problem: str = ""

    @property
    def text(self) -> str:
        """The time in ms, for a table."""
        if self.microseconds is None:
            return self.problem.splitlines()[0][:40]
        return f"{self.microseconds / 1e3:.3f} ±{self.spread:.0%}"

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON."""
        return {
            "name": self.name,
            "source": self.source,
            "shape": self.shape.as_dict(),
            "us": self.microseconds,
            "spread": self.spread,
            "problem": self.problem,
        }


@dataclass(frozen=True)
class Contestant:
    """One way to compute attention, with a way to time it."""

    name: str
    source: str
    time: Callable[[Shape], tuple[float, float, int]]

    def run(self, shape: Shape) -> Row:
        """Time a problem; a failure of one is no end of the comparison."""
        try:
            microseconds, spread, _ = self.time(shape)
        except (AscendFAError, RuntimeError, ImportError, MemoryError) as error:
            return Row(self.name, self.source, shape, None, problem=str(error) or repr(error))
        return Row(self.name, self.source, shape, microseconds, spread)


def _unfused(torch: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:
    """Attention as three operations that hand whole score matrices to each other."""
    scores = (q @ k.transpose(-1, -2)) * (1.0 / math.sqrt(q.shape[-1]))
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, -math.inf)
    return scores.softmax(-1) @ v


def _sdpa(torch: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(q, k, v, is_causal=causal)


def _vendor(torch: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:
    fused = import_module("torch_npu").npu_fusion_attention
    options: dict[str, Any] = {"scale": 1.0 / math.sqrt(q.shape[-1])}
    if causal:
        # The vendor's mask says what to hide; its causal mode takes one of 2048 x 2048.
        options["atten_mask"] = torch.ones(2048, 2048, dtype=torch.bool, device=q.device).triu(1)
        options["sparse_mode"] = 2
    return fused(q, k, v, q.shape[1], "BNSD", **options)


def _ours(_: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:
    from ascendfa.api import flash_attention

    return flash_attention(q, k, v, causal=causal)


Function = Callable[[Any, Any, Any, Any, bool], Any]


@cache
def contestants(device: int | None, warmup: int, repeats: int) -> tuple[Contestant, ...]:
    """Return who takes part: on an NPU, or, without one, a prediction beside this CPU."""
    if device is None:
        cpu = _CpuTimer(warmup, repeats)
        return (
            Contestant("ascendfa", f"{_soc()}, predicted", _predicted),
            Contestant("unfused", "CPU, fp32, measured", lambda s: cpu(_unfused, s)),
            Contestant("torch SDPA", "CPU, fp32, measured", lambda s: cpu(_sdpa, s)),
        )
    timer = DeviceTimer(device, warmup, repeats)
    source = f"npu:{device}, measured"

    def on_device(function: Function) -> Callable[[Shape], tuple[float, float, int]]:
        def run(shape: Shape) -> tuple[float, float, int]:
            torch: Any = import_module("torch")
            q, k, v = timer.tensors(shape)
            return summary(timer.samples(lambda: function(torch, q, k, v, shape.causal)))

        return run

    return (
        Contestant("ascendfa", source, on_device(_ours)),
        Contestant("unfused", source, on_device(_unfused)),
        Contestant("torch SDPA", source, on_device(_sdpa)),
        Contestant("npu_fusion_attention", source, on_device(_vendor)),
    )


def _soc() -> str:
    runtime = acl()
    with runtime.device(0):
        return runtime.soc_name()


def _predicted(shape: Shape) -> tuple[float, float, int]:
    session = predicted_profile(Candidate(shape, 0, 0), warm_l2=True, own_blocks=False)
    return session.predicted_us, session.error_band, 0


class _CpuTimer:
    def __init__(self, warmup: int, repeats: int) -> None:
        self._warmup = warmup
        self._repeats = repeats

    def __call__(self, function: Function, shape: Shape) -> tuple[float, float, int]:
        torch: Any = import_module("torch")
        # CPUs compute in fp32: fp16 would measure conversions.
        q, k, v = (torch.from_numpy(a.astype(np.float32)) for a in arrays(shape))
        samples = []
        for number in range(min(self._warmup, 1) + self._repeats):
            start = time.perf_counter()
            function(torch, q, k, v, shape.causal)
            if number >= min(self._warmup, 1):
                samples.append(1e6 * (time.perf_counter() - start))
        return summary(samples)


def plot_rows(rows: Sequence[Row], path: Path) -> None:
    """Draw time over sequence length, both in powers of two.

    Raises
    ------
    AscendFAError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise AscendFAError("drawing needs matplotlib: pip install matplotlib") from error
    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name in dict.fromkeys(row.name for row in rows):
        mine = [r for r in rows if r.name == name and r.microseconds is not None]
        if not mine:
            continue
        lengths = [r.shape.seq_q for r in mine]
        times = [(r.microseconds or 0.0) / 1e3 for r in mine]
        errors = [t * r.spread for t, r in zip(times, mine, strict=True)]
        label = f"{name} ({mine[0].source})"
        axes.errorbar(lengths, times, yerr=errors, marker="o", capsize=3, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = sorted({row.shape.seq_q for row in rows})
    axes.set_xticks(ticks, [str(t) for t in ticks])
    axes.set_xlabel("sequence length")
    axes.set_ylabel("ms")
    axes.grid(which="both", alpha=0.3)
    if rows:
        shape = rows[0].shape
        mask = ", causal" if shape.causal else ""
        title = f"attention, B{shape.batch} H{shape.heads_q} D{shape.head_dim} {shape.dtype}{mask}"
        axes.set_title(title)
    if axes.has_data():
        axes.legend()
    figure.savefig(path, dpi=110, format="png")
