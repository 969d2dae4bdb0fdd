"""``ascendfa bench``: our attention beside others', in one table and one picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ascendfa.api import backend
from ascendfa.cli.console import fails_clearly, out, usage
from ascendfa.cli.shapes import integers
from ascendfa.tuning.compare import Row, contestants, plot_rows
from ascendfa.tuning.measure import emulate
from ascendfa.tuning.space import ITEM_SIZES, Shape

__all__ = ["bench"]


def _table(rows: list[Row], title: str) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("seq", justify="right")
    names = list(dict.fromkeys(row.name for row in rows))
    notes = {row.name: row.source for row in rows}
    for name in names:
        table.add_column(f"{name}\n{notes[name]}", justify="right")
    for seq in sorted({row.shape.seq_q for row in rows}):
        cells = []
        for name in names:
            row = next(r for r in rows if r.name == name and r.shape.seq_q == seq)
            cells.append(row.text)
        table.add_row(str(seq), *cells)
    return table


@fails_clearly
def bench(
    seq: Annotated[str, typer.Option(help="Sequence lengths, with commas.")] = "512,1024,2048",
    batch: Annotated[int, typer.Option(min=1)] = 1,
    heads: Annotated[int, typer.Option(min=1)] = 32,
    head_dim: Annotated[int, typer.Option(min=1, max=256)] = 128,
    dtype: Annotated[str, typer.Option(help="float16, bfloat16 or float32.")] = "float16",
    causal: Annotated[bool, typer.Option("--causal", help="With the causal mask.")] = False,
    device: Annotated[int, typer.Option(min=0, help="Number of the NPU.")] = 0,
    soc: Annotated[str | None, typer.Option(help="Chip to emulate, such as Ascend910B3.")] = None,
    warmup: Annotated[int, typer.Option(min=0)] = 3,
    repeats: Annotated[int, typer.Option(min=1)] = 10,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the times into this file.", metavar="PNG")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare attention with an unfused one, torch's, and on a device the vendor's.

    On the emulator our time is predicted and the others' are of this CPU: a sense of scale, not a
    race. On a device all are measured there.
    """
    lengths = integers("--seq", seq)
    if dtype not in ITEM_SIZES:
        raise usage(f"--dtype {dtype}: one of {', '.join(ITEM_SIZES)}")
    shapes = [Shape(dtype, batch, heads, heads, s, s, head_dim, causal) for s in lengths]
    if backend().name == "npu":
        rows = _rows(shapes, device, warmup, repeats)
    else:
        with emulate(soc):
            rows = _rows(shapes, None, warmup, repeats)
    if json_:
        typer.echo(json.dumps([row.as_dict() for row in rows], indent=2))
    else:
        mask = ", causal" if causal else ""
        title = f"B{batch} H{heads} D{head_dim} {dtype}{mask}, times in ms"
        out().print(_table(rows, title))
    if plot is not None:
        plot_rows(rows, plot)
        if not json_:
            out().print(f"plot: {plot}", markup=False)


def _rows(shapes: list[Shape], device: int | None, warmup: int, repeats: int) -> list[Row]:
    rows = []
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task("starting", total=None)
        for shape in shapes:
            for contestant in contestants(device, warmup, repeats):
                progress.update(task, description=f"{contestant.name}: {shape}")
                rows.append(contestant.run(shape))
    return rows
