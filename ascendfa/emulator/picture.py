"""Drawing a predicted timeline: one row per pipe of a few cores."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendfa.errors import AscendFAError, InvalidArgumentError

if TYPE_CHECKING:
    from ascendfa.emulator.profile import KernelProfile, Profile

__all__ = ["draw"]

_COLOURS = {
    "S": "#8c8c8c",
    "V": "#e07b39",
    "M": "#3b6fb6",
    "MTE1": "#6fa8dc",
    "MTE2": "#4d9a5b",
    "MTE3": "#93c47d",
    "FIX": "#8e63a8",
}
_WAIT = "#dddddd"
# Spans closer than this share of the width cannot be told apart in the picture.
_MERGE = 1 / 4000

Span = tuple[float, float]


class _Row:
    """What one pipe of one core did."""

    def __init__(self, label: str, pipe: str) -> None:
        self.label = label
        self.pipe = pipe
        self.work: list[Span] = []
        self.wait: list[Span] = []


def _rows(events: list[dict[str, Any]], origin: float) -> list[_Row]:
    cores: dict[int, str] = {}
    pipes: dict[tuple[int, int], str] = {}
    rows: dict[tuple[int, int], _Row] = {}
    for event in events:
        key = (event["pid"], event.get("tid", 0))
        if event["name"] == "process_name":
            cores[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            pipes[key] = event["args"]["name"]
        elif event["ph"] == "X" and event["pid"] != 0:
            pipe = pipes[key]
            row = rows.setdefault(key, _Row(f"{cores[key[0]]}  {pipe}", pipe))
            start = event["ts"] - origin
            spans = row.work if event["cat"] == "work" else row.wait
            spans.append((start, start + event["dur"]))
    # The scalar unit's row would be a blur of single cycles.
    return [rows[key] for key in sorted(rows) if rows[key].pipe != "S"]


def _visible(spans: list[Span], window: Span) -> list[Span]:
    """Cut to the window, merge what touches, and return (start, width) as matplotlib wants."""
    low, high = window
    gap = (high - low) * _MERGE
    merged: list[list[float]] = []
    for start, end in sorted(spans):
        left, right = max(start, low), min(end, high)
        if right <= left:
            continue
        if merged and left - merged[-1][1] <= gap:
            merged[-1][1] = max(merged[-1][1], right)
        else:
            merged.append([left, right])
    return [(left, right - left) for left, right in merged]


def _busy_share(spans: list[Span], window: Span) -> float:
    low, high = window
    covered, until = 0.0, low
    for start, end in sorted(spans):
        left, right = max(start, until), min(end, high)
        covered += max(0.0, right - left)
        until = max(until, right)
    return covered / (high - low)


def _check_window(window: Span | None, kernel: KernelProfile) -> Span:
    if window is None:
        return (0.0, kernel.kernel_us)
    low, high = window
    if not 0 <= low < high:
        raise InvalidArgumentError("window_us", window, "two times with 0 <= first < second")
    return (low, high)


def draw(
    profile: Profile,
    path: str | os.PathLike[str],
    *,
    kernel: int,
    groups: int,
    window_us: Span | None,
) -> None:
    """Draw one launch of a profile; see `Profile.write_png`."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError as error:
        raise AscendFAError(
            "drawing a timeline needs matplotlib: pip install matplotlib"
        ) from error

    if not 0 <= kernel < len(profile.kernels):
        raise InvalidArgumentError("kernel", kernel, f"0 to {len(profile.kernels) - 1}")
    if groups < 1:
        raise InvalidArgumentError("groups", groups, "1 or more")
    figures = profile.kernels[kernel]
    window = _check_window(window_us, figures)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.write_trace(trace, kernel=kernel, groups=groups)
        events = json.loads(trace.read_text())["traceEvents"]
    rows = _rows(events, figures.launch_us)

    figure = Figure(figsize=(14, 1.6 + 0.34 * max(1, len(rows))), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        axes.broken_barh(_visible(row.wait, window), (place - 0.15, 0.3), facecolor=_WAIT)
        colour = _COLOURS.get(row.pipe, "#555555")
        axes.broken_barh(_visible(row.work, window), (place - 0.38, 0.76), facecolor=colour)
        share = f" {_busy_share(row.work, window):.0%}"
        axes.text(1.0, place, share, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
    axes.set_xlim(*window)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=9)
    axes.set_xlabel("µs from the kernel's first instruction; right: busy share of what is shown")
    axes.grid(axis="x", alpha=0.3)
    axes.set_title(
        f"{figures.name} on {figures.soc}, prediction of the cycle model: "
        f"{figures.predicted_us:.1f} µs ±{figures.error_band:.0%} "
        f"(launch {figures.launch_us:.1f}), cube {figures.cube_utilisation:.0%}, "
        f"busiest {figures.limit}",
        fontsize=11,
    )
    used = dict.fromkeys(row.pipe for row in rows)
    handles = [Patch(color=_COLOURS.get(pipe, "#555555"), label=pipe) for pipe in used]
    handles.append(Patch(color=_WAIT, label="waits for a flag or barrier"))
    figure.legend(handles=handles, loc="outside lower right", ncols=len(handles), fontsize=9)
    figure.savefig(path, dpi=110, format="png")
