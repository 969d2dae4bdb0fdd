"""``ascendfa trace``: where the time of one call goes, pipe by pipe, as the emulator predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ascendfa.cli.console import fails_clearly, out, usage
from ascendfa.cli.shapes import shape as parse_shape
from ascendfa.tuning.measure import emulate, predicted_profile
from ascendfa.tuning.space import Candidate

__all__ = ["trace"]


def _window(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise usage(f"--window {text}: two times in µs, from,to") from None
    if not 0 <= low < high:
        raise usage(f"--window {text}: 0 <= from < to")
    return low, high


@fails_clearly
def trace(
    shape: Annotated[str, typer.Option(help="batch,heads,seq,head_dim")] = "1,8,1024,128",
    seq_k: Annotated[int | None, typer.Option(min=1, help="Keys, if not as many as seq.")] = None,
    heads_k: Annotated[int | None, typer.Option(min=1, help="Key heads, if fewer.")] = None,
    dtype: Annotated[str, typer.Option(help="float16, bfloat16 or float32.")] = "float16",
    causal: Annotated[bool, typer.Option("--causal", help="With the causal mask.")] = False,
    block_m: Annotated[int, typer.Option(min=0, help="Queries per tile; 0: the plan's.")] = 0,
    block_n: Annotated[int, typer.Option(min=0, help="Keys per tile; 0: the plan's.")] = 0,
    soc: Annotated[str | None, typer.Option(help="Chip to emulate, such as Ascend910B3.")] = None,
    output: Annotated[
        Path, typer.Option(help="Trace for ui.perfetto.dev or chrome://tracing.", metavar="JSON")
    ] = Path("ascendfa-trace.json"),
    png: Annotated[
        Path | None, typer.Option(help="Draw the timeline into this file.", metavar="PNG")
    ] = None,
    groups: Annotated[int, typer.Option(min=1, help="Core groups to show.")] = 1,
    window: Annotated[
        str | None, typer.Option(help="Part to draw, in µs: from,to.", metavar="US,US")
    ] = None,
) -> None:
    """Predict one call on the emulated device and write its timeline."""
    problem = parse_shape(shape, seq_k, heads_k, dtype, causal)
    part = _window(window)
    with emulate(soc):
        session = predicted_profile(Candidate(problem, block_m, block_n), warm_l2=False)
    session.write_trace(output, groups=groups)
    console = out()
    console.print(str(session), markup=False)
    table = Table(box=None)
    for name in ("pipe", "busy", "waits"):
        table.add_column(name, justify="left" if name == "pipe" else "right")
    for pipe, share in sorted(session.busy.items(), key=lambda item: -item[1]):
        table.add_row(pipe, f"{share:.0%}", f"{session.wait.get(pipe, 0.0):.0%}")
    console.print(table)
    paths = ", ".join(f"{path} {count / 1e6:.1f} MB" for path, count in session.bytes.items())
    console.print(f"moved: {paths}", markup=False)
    console.print(f"trace: {output} (open it at ui.perfetto.dev)", markup=False)
    if png is not None:
        session.write_png(png, groups=groups, window_us=part)
        console.print(f"timeline: {png}", markup=False)
