"""``ascendfa validate``: every reason why attention may not work here, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.order import CHECKS
from ascendfa.cli.checks.result import Result, Status
from ascendfa.cli.console import out, usage

__all__ = ["NO_NPU", "exit_code", "run", "validate"]

NO_NPU = 3

_STYLES = {
    Status.OK: "green",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.SKIP: "dim",
}


def run(context: Context) -> Iterator[Result]:
    """Run all checks; one that breaks is a failure of its own and stops none of the others."""
    for check in CHECKS:
        try:
            yield from check(context)
        except Exception as error:  # the report must go on whatever a tree looks like
            context.usable = False
            yield Result(
                check.__name__.removeprefix("check_"),
                Status.FAIL,
                f"the check itself failed: {type(error).__name__}: {error}",
                "please report this line",
            )


def exit_code(results: list[Result], context: Context) -> int:
    """Return 1 if anything failed, 3 if there was no NPU to try on, else 0."""
    if any(r.status is Status.FAIL for r in results):
        return 1
    if not context.offline and not context.has_device:
        return NO_NPU
    return 0


def _summary(results: list[Result], context: Context, code: int) -> str:
    counts = ", ".join(
        f"{sum(r.status is status for r in results)} {status.value}" for status in Status
    )
    said = {
        0: "nothing was run on a device" if context.offline else "attention works here",
        1: "attention does not work here; begin with the first FAIL",
        NO_NPU: "no NPU: nothing was run, so this is no pass",
    }[code]
    return f"{counts}: {said}"


def _as_json(results: list[Result], context: Context, code: int) -> str:
    tree = context.tree
    return json.dumps(
        {
            "exit_code": code,
            "toolkit": None if tree is None else {"kind": tree.kind, "root": str(tree.root)},
            "soc": context.soc,
            "results": [
                {"name": r.name, "status": r.status.value, "message": r.message, "fix": r.fix}
                for r in results
            ],
        },
        indent=2,
    )


def validate(
    device: Annotated[int, typer.Option(min=0, help="Number of the NPU.")] = 0,
    offline: Annotated[
        bool, typer.Option("--offline", help="Only read files; touch no device.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    toolkit: Annotated[str, typer.Option(help="cann, emulator, or the folder of either.")] = "cann",
    build: Annotated[
        bool, typer.Option("--build", help="Check also what building the op package needs.")
    ] = False,
) -> None:
    """Check everything between this machine and a right result of attention.

    Exit codes: 0 works, 1 something failed, 2 wrong use, 3 no NPU to try on.
    """
    if toolkit not in ("cann", "emulator") and not Path(toolkit).is_dir():
        raise usage(f"--toolkit {toolkit} is no folder; allowed: cann, emulator, or a folder")
    context = Context(asked=toolkit, device=device, offline=offline, build=build)
    results: list[Result] = []
    console = out()
    width = 27
    for result in run(context):
        results.append(result)
        if json_:
            continue
        line = Text(f"{result.status.value:<5}", style=_STYLES[result.status])
        line.append(f"{result.name:<{width}} ", style="bold")
        line.append(result.message, style="")
        console.print(line)
        if result.fix and result.status is not Status.OK:
            console.print(Text(f"     {'':<{width}} fix: {result.fix}", style="cyan"))
    code = exit_code(results, context)
    if json_:
        typer.echo(_as_json(results, context, code))
    else:
        console.print(Text(_summary(results, context, code), style="bold"))
    raise typer.Exit(code)
