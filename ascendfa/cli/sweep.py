"""``ascendfa sweep``: try block sizes, keep what was found, and write the best down."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from ascendfa.cli.console import fails_clearly, out, usage
from ascendfa.cli.toolkits import read_version
from ascendfa.config import config_folder, tuned_folder
from ascendfa.errors import BackendError, ConfigError
from ascendfa.tuning import measure
from ascendfa.tuning.report import by_shape, fastest, heat_map, promote
from ascendfa.tuning.space import Candidate, Impossible, SweepFile, expand, load_sweep
from ascendfa.tuning.store import Origin, Record, Source, Store, default_store

__all__ = ["sweep"]

INTERRUPTED = 130


def _refusals(refused: list[Impossible], chip: str) -> None:
    console = out()
    if not refused:
        return
    table = Table(title=f"impossible on {chip}, not run", title_justify="left", box=None)
    for name in ("block_m", "block_n", "head_dim", "dtype"):
        table.add_column(name)
    for name in ("buffer", "bytes", "limit"):
        table.add_column(name, justify="right")
    others = []
    for tile in refused:
        cells = (str(tile.block_m), str(tile.block_n), str(tile.head_dim), tile.dtype)
        if tile.buffer:
            table.add_row(*cells, tile.buffer, str(tile.needed), str(tile.limit))
        else:
            others.append(tile.reason)
    if table.row_count:
        console.print(table)
    for reason in dict.fromkeys(others):
        console.print(f"impossible, not run: {reason}", markup=False)


def _ask_the_plan(candidates: list[Candidate], store: Store, origin: Origin) -> None:
    """Let the op package refuse tiles before anything is timed, and keep what it says.

    It knows more than the sizes of buffers: the depth of its pipeline, say.
    """
    answers: dict[tuple[int, int, int, str], str] = {}
    console = out()
    for candidate in candidates:
        shape = candidate.shape
        tile = (candidate.block_m, candidate.block_n, shape.head_dim, shape.dtype)
        if store.find(origin, candidate) is not None:
            continue
        if tile not in answers:
            answers[tile] = measure.refusal(candidate)
            if answers[tile]:
                size = f"block_m={tile[0]}, block_n={tile[1]}, head_dim={tile[2]}, {tile[3]}"
                console.print(f"impossible, not timed: {size}: {answers[tile]}", markup=False)
        if answers[tile]:
            store.add(Record(origin, candidate, problem=f"refused: {answers[tile]}"))


def _run(
    candidates: list[Candidate], store: Store, origin: Origin, timer: measure.Timer
) -> list[Record]:
    """Run what has not been run yet, keeping each result at once."""
    console = out()
    known = len(store.select(origin, candidates))
    _ask_the_plan(candidates, store, origin)
    waiting = [c for c in candidates if store.find(origin, c) is None]
    if known:
        console.print(f"{known} of {len(candidates)} are in {store.file} already", markup=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("eta"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not waiting) as progress:
        task = progress.add_task("sweep", total=len(waiting))
        for candidate in waiting:
            tile = f"{candidate.block_m or 'plan'}x{candidate.block_n or 'plan'}"
            progress.update(task, description=f"{candidate.shape} {tile}")
            store.add(measure.run(candidate, origin, timer))
            progress.advance(task)
    return store.select(origin, candidates)


def _blocks(record: Record) -> str:
    candidate = record.candidate
    if candidate.block_m == candidate.block_n == 0:
        return "plan"
    return f"{candidate.block_m or 'plan'}x{candidate.block_n or 'plan'}"


def _summary(records: list[Record]) -> None:
    if not records:
        return
    origin = records[0].origin
    spread = "band" if origin.source == "predicted" else "spread"
    title = f"best blocks on {origin.soc}, {origin.source.upper()}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("problem", no_wrap=True)
    for name in ("best", "µs", spread, "plan µs", "error", "tried"):
        table.add_column(name, justify="right", no_wrap=True)
    for shape, group in by_shape(records).items():
        best = fastest(group)
        bad = sum(bool(r.problem) for r in group)
        tried = str(len(group)) + (f", {bad} bad" if bad else "")
        if best is None:
            table.add_row(str(shape), "none", "", "", "", "", tried)
            continue
        counting = [r for r in group if not r.problem]
        plan = [r for r in counting if _blocks(r) == "plan"]
        table.add_row(
            str(shape),
            _blocks(best),
            f"{best.median_us:.1f}",
            f"{best.spread:.0%}",
            f"{plan[0].median_us:.1f}" if plan else "-",
            f"{max(r.error for r in counting):.1e}",
            tried,
        )
    out().print(table)
    for record in records:
        if record.problem.startswith("wrong"):
            text = f"{record.candidate.shape} {_blocks(record)}: {record.problem}"
            out().print(Text(text, style="bold red"))


def _origin(sweep_file: SweepFile, source: Source) -> Origin:
    from ascendfa.api import backend

    origin = measure.here(source, read_version(backend().root))
    if origin.chip != sweep_file.chip:
        raise ConfigError(
            f"the sweep is for {sweep_file.chip}, but this device is {origin.soc} ({origin.chip})"
        )
    return origin


def _default_soc(chip: str) -> str:
    socs = {
        "ascend910b": "Ascend910B3",
        "ascend910_93": "Ascend910_9391",
        "ascend910": "Ascend910A",
    }
    if chip not in socs:
        raise ConfigError(f"name the chip to emulate: soc: ... of unit {chip}")
    return socs[chip]


@fails_clearly
def sweep(
    file: Annotated[Path, typer.Argument(help="YAML: shapes, dtypes, causal, block_m, block_n.")],
    device: Annotated[int, typer.Option(min=0, help="Number of the NPU to measure on.")] = 0,
    predict: Annotated[
        bool, typer.Option("--predict", help="Predict with the emulator's cycle model instead.")
    ] = False,
    store: Annotated[
        Path | None, typer.Option(help="JSON file of results (default: the user's).")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write a heat map to this PNG file.", metavar="PNG")
    ] = None,
    promote_: Annotated[
        bool, typer.Option("--promote", help="Write the best blocks into op_configs.")
    ] = False,
    configs: Annotated[
        Path | None, typer.Option(help="The op_configs folder to write into (default: in use).")
    ] = None,
    user: Annotated[
        bool, typer.Option("--user", help="Write into the user's own folder instead.")
    ] = False,
) -> None:
    """Try block sizes on the problems of a file; a second run resumes where the first stopped."""
    if (configs is not None or user) and not promote_:
        raise usage("--configs and --user are for --promote")
    if configs is not None and user:
        raise usage("give --configs or --user, not both")
    plan = load_sweep(file)
    candidates, refused = expand(plan)
    _refusals(refused, plan.chip)
    if not candidates:
        raise ConfigError("every candidate is impossible", str(file))
    kept = Store(store or default_store())
    console = out()
    try:
        if predict:
            with measure.emulate(plan.soc or _default_soc(plan.chip)):
                records = _run(candidates, kept, _origin(plan, "predicted"), measure.predict)
        else:
            if os.environ.get("ASCENDFA_BACKEND") == "emulator":
                raise BackendError("ASCENDFA_BACKEND=emulator measures nothing; use --predict")
            origin = _origin(plan, "measured")
            timer = measure.measure(device, plan.warmup, plan.repeats)
            records = _run(candidates, kept, origin, timer)
    except KeyboardInterrupt:
        console.print(
            f"stopped; what was done is in {kept.file}, the same command goes on", markup=False
        )
        raise typer.Exit(INTERRUPTED) from None
    _summary(records)
    console.print(f"results: {kept.file}", markup=False)
    if plot is not None:
        heat_map(records, plot)
        console.print(f"heat map: {plot}", markup=False)
    if promote_:
        own = tuned_folder() if user else None
        written, rules = promote(records, configs or own or config_folder())
        console.print(f"promoted: {written} has {len(rules)} rules", markup=False)
    if any(r.problem.startswith("wrong") for r in records):
        raise typer.Exit(1)
