"""What comes of a sweep: the best blocks, a heat map, and rules for ``op_configs``."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ascendfa.config import OpConfig, Rule, When, load_op_config
from ascendfa.errors import AscendFAError, ConfigError
from ascendfa.tuning.space import Shape
from ascendfa.tuning.store import Record

__all__ = ["by_shape", "fastest", "heat_map", "promote", "rules"]

# Relative gain below which blocks count as equally fast.
_WORTH_A_RULE: Final = 0.02


def by_shape(records: Iterable[Record]) -> dict[Shape, list[Record]]:
    """Group records by problem, fastest first, what does not count last."""
    groups: dict[Shape, list[Record]] = {}
    for record in records:
        groups.setdefault(record.candidate.shape, []).append(record)
    for group in groups.values():
        group.sort(key=lambda r: (bool(r.problem), r.median_us))
    return groups


def fastest(records: Sequence[Record]) -> Record | None:
    """Return the fastest record that counts; of equal ones the one the plan would take."""
    counting = [r for r in records if not r.problem]
    if not counting:
        return None
    return min(counting, key=lambda r: (r.median_us, r.candidate.block_m, r.candidate.block_n))


@dataclass(frozen=True)
class _Choice:
    """Blocks for a kind of problem from a length on."""

    dtype: str
    head_dim: int
    causal: bool | None
    seq_q: int
    seq_k: int
    block_m: int
    block_n: int


def _choose(records: Sequence[Record]) -> list[_Choice]:
    buckets: dict[str, dict[Shape, list[Record]]] = {}
    for shape, group in by_shape(records).items():
        buckets.setdefault(shape.bucket, {})[shape] = group
    choices = []
    for shapes in buckets.values():
        blocks = _best_of_bucket(shapes)
        if blocks is None:
            continue
        first = next(iter(shapes))
        choices.append(
            _Choice(
                first.dtype,
                first.head_dim,
                first.causal,
                min(shape.seq_q for shape in shapes),
                min(shape.seq_k for shape in shapes),
                *blocks,
            )
        )
    return choices


def _best_of_bucket(shapes: dict[Shape, list[Record]]) -> tuple[int, int] | None:
    """Return the blocks that lose least, in the geometric mean, against each problem's best."""
    losses: dict[tuple[int, int], list[float]] = {}
    for group in shapes.values():
        best = fastest(group)
        if best is None:
            continue
        for record in group:
            if not record.problem:
                blocks = (record.candidate.block_m, record.candidate.block_n)
                losses.setdefault(blocks, []).append(math.log(record.median_us / best.median_us))
    complete = {b: sum(x) / len(x) for b, x in losses.items() if len(x) == len(shapes)}
    if not complete:
        return None
    least = min(complete.values())
    # Block sizes of 0 come first: what is as good as the plan's choice is left to it.
    return min(b for b, loss in complete.items() if loss <= least + _WORTH_A_RULE)


def rules(records: Sequence[Record]) -> list[Rule]:
    """Return rules for the configuration file, longest sequences first.

    Neighbouring lengths with the same blocks share a rule, and so do causal and not.
    """
    kinds: dict[tuple[str, int], dict[bool | None, list[_Choice]]] = {}
    for choice in _choose(records):
        kind = kinds.setdefault((choice.dtype, choice.head_dim), {})
        kind.setdefault(choice.causal, []).append(choice)
    result = []
    for kind in kinds.values():
        lists = {causal: _merged(choices) for causal, choices in kind.items()}
        plain = [[replace(c, causal=None) for c in choices] for choices in lists.values()]
        if len(plain) == 2 and plain[0] == plain[1]:
            lists = {None: plain[0]}
        for choices in lists.values():
            result += [_rule(c, _longer(c, choices), records[0]) for c in choices]
    return result


def _merged(choices: list[_Choice]) -> list[_Choice]:
    ordered = sorted(choices, key=lambda c: (c.seq_q, c.seq_k), reverse=True)
    kept: list[_Choice] = []
    for choice in ordered:
        blocks = (choice.block_m, choice.block_n)
        shorter = kept and choice.seq_k <= kept[-1].seq_k
        if kept and shorter and blocks == (kept[-1].block_m, kept[-1].block_n):
            kept.pop()
        kept.append(choice)
    return kept


def _longer(choice: _Choice, choices: list[_Choice]) -> int | None:
    """Return the keys from which on another choice was found to be better, if one was."""
    return min((c.seq_k for c in choices if c.seq_k > choice.seq_k), default=None)


def _rule(choice: _Choice, end: int | None, record: Record) -> Rule:
    when = When(
        dtype=choice.dtype,
        head_dim=choice.head_dim,
        head_dim_v=choice.head_dim,
        causal=choice.causal,
        min_seq_q=choice.seq_q,
        min_seq_k=choice.seq_k,
        # Few queries and many keys are not what was tried.
        max_seq_k=None if end is None else end - 1,
    )
    source = record.origin.source
    return Rule(when=when, block_m=choice.block_m, block_n=choice.block_n, source=source)


def promote(records: Sequence[Record], folder: Path) -> tuple[Path, list[Rule]]:
    """Write rules into ``<folder>/<chip>/flash_attention.yaml``.

    New rules come first. Of the old ones those stay that are not replaced: a prediction replaces
    predictions for the same type and head dimension, never what was measured.

    Returns
    -------
    file, rules
        The file, and all rules it has now.

    Raises
    ------
    ConfigError
        If there is nothing to write, or the file is not valid.
    """
    fresh = rules(records) if records else []
    if not fresh:
        raise ConfigError("no candidate gave a right result, so there is nothing to promote")
    origin = records[0].origin
    file = folder / origin.chip / "flash_attention.yaml"
    old = load_op_config(file) if file.exists() else OpConfig(version=1, chip=origin.chip)
    kinds = {(rule.when.dtype, rule.when.head_dim) for rule in fresh}
    kept = [
        rule
        for rule in old.rules
        if rule.source not in ("predicted", origin.source)
        or (rule.when.dtype, rule.when.head_dim) not in kinds
    ]
    measured = [rule for rule in kept if rule.source == "measured"]
    if origin.source == "predicted":
        ordered = [*measured, *fresh, *(rule for rule in kept if rule not in measured)]
    else:
        ordered = [*fresh, *kept]
    note = (
        f"{origin.source} on {origin.soc}, CANN {origin.cann}, kernels {origin.kernel}"
        if origin.source == "measured"
        else f"predicted by the emulator's cycle model for {origin.soc}, kernels {origin.kernel}; "
        "not measured on hardware"
    )
    notes = {id(rule): note for rule in fresh}
    notes |= {id(r): n for r, n in zip(old.rules, _notes(file, len(old.rules)), strict=True)}
    text = _yaml(_header(file), origin.chip, ordered, notes)
    draft = file.with_name(f".{file.name}.{os.getpid()}.yaml")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        load_op_config(draft)
        draft.replace(file)
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {error}; --user writes elsewhere", str(file)
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink()
    return file, ordered


_HEADER = """# Block sizes of flash_attention. The first rule whose conditions all hold counts;
# where none does, and where a size is 0, the op package's plan chooses.
"""


def _header(file: Path) -> str:
    """Return the comment a file begins with."""
    if not file.exists():
        return _HEADER
    lines: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.startswith("#"):
            break
        lines.append(line)
    return "".join(lines) or _HEADER


def _notes(file: Path, count: int) -> list[str]:
    """Return the comment above each rule of a file; one above several counts for all of them."""
    notes: list[str] = []
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    note: list[str] = []
    fresh = True
    for line in (text.strip() for text in lines):
        if line.startswith("#"):
            note = [line[1:].strip()] if fresh else [*note, line[1:].strip()]
            fresh = False
        elif line.startswith("- "):
            notes.append("\n".join(note))
            fresh = True
        elif line == "rules:":
            note = []
            fresh = True
    return notes if len(notes) == count else [""] * count


def _yaml(header: str, chip: str, ordered: Sequence[Rule], notes: dict[int, str]) -> str:
    parts = [header, f"version: 1\nchip: {chip}\nrules:\n"]
    said = ""
    for rule in ordered:
        note = notes.get(id(rule), "")
        if note != said:
            parts += [f"  # {line}\n" for line in (note or "Others.").splitlines()]
            said = note
        given = rule.when.model_dump(exclude_defaults=True)
        conditions = ", ".join(f"{key}: {_scalar(value)}" for key, value in given.items())
        parts.append(f"  - when: {{{conditions}}}\n    block_m: {rule.block_m}\n")
        parts.append(f"    block_n: {rule.block_n}\n    source: {rule.source}\n")
    return "".join(parts)


def _scalar(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def heat_map(records: Sequence[Record], path: Path) -> None:
    """Draw a picture: one grid of block sizes per problem, coloured by time over the best.

    Raises
    ------
    AscendFAError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise AscendFAError(
            "drawing a heat map needs matplotlib: pip install matplotlib"
        ) from error
    groups = by_shape(records)
    columns = min(3, max(1, len(groups)))
    rows = max(1, -(-len(groups) // columns))
    figure = Figure(figsize=(4.6 * columns, 3.4 * rows + 0.8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False)
    drawn = None
    for place in range(rows * columns):
        axes = grid[place // columns][place % columns]
        if place >= len(groups):
            axes.set_axis_off()
            continue
        shape = list(groups)[place]
        drawn = _grid(axes, shape, groups[shape]) or drawn
    if drawn is not None:
        figure.colorbar(drawn, ax=grid.ravel().tolist(), label="time over the best of the problem")
    if records:
        origin = records[0].origin
        figure.suptitle(f"flash_attention on {origin.soc}, {origin.source}: µs by block size")
    figure.savefig(path, dpi=110, format="png")


def _grid(axes: Any, shape: Shape, group: list[Record]) -> Any:
    sizes_m = sorted({r.candidate.block_m for r in group})
    sizes_n = sorted({r.candidate.block_n for r in group})
    best = fastest(group)
    values = [[math.nan] * len(sizes_n) for _ in sizes_m]
    for record in group:
        row = sizes_m.index(record.candidate.block_m)
        column = sizes_n.index(record.candidate.block_n)
        label = "x" if record.problem else f"{record.median_us:.0f}"
        if best is not None and not record.problem:
            values[row][column] = record.median_us / best.median_us
        weight = "bold" if record is best else "normal"
        axes.text(column, row, label, ha="center", va="center", fontsize=9, weight=weight)
    image = axes.imshow(values, cmap="YlOrRd", vmin=1.0, vmax=2.0, aspect="auto")
    axes.set_xticks(range(len(sizes_n)), [str(n) if n else "plan" for n in sizes_n])
    axes.set_yticks(range(len(sizes_m)), [str(m) if m else "plan" for m in sizes_m])
    axes.set_xlabel("block_n")
    axes.set_ylabel("block_m")
    axes.set_title(str(shape), fontsize=9)
    return image
