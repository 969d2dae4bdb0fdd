"""``ascendfa install``: put an operator package where CANN finds it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ascendfa.cli.console import fails_clearly, out
from ascendfa.cli.targets import opp_folder
from ascendfa.cli.vendor_tree import add, unpacked

__all__ = ["install"]


@fails_clearly
def install(
    package: Annotated[
        Path, typer.Argument(help="A .run installer, a tar archive, or a package folder.")
    ],
    path: Annotated[
        Path | None,
        typer.Option(help="Install into DIR/vendors instead of the toolkit.", metavar="DIR"),
    ] = None,
    toolkit: Annotated[str, typer.Option(help="cann, emulator, or the folder of either.")] = "cann",
) -> None:
    """Install an operator package; a failure half way leaves what was there before."""
    target = opp_folder(path, toolkit)
    with unpacked(package) as source:
        done = add(source, target, register=path is None)
    console = out()
    verb = "replaced" if done.replaced else "installed"
    console.print(f"{verb} {done.folder}", markup=False)
    if path is None:
        console.print(f"load order: {', '.join(done.priority)}", markup=False)
        console.print("no variable has to be set", markup=False)
    else:
        console.print("before use:", markup=False)
        console.print(
            f"  export ASCEND_CUSTOM_OPP_PATH={done.folder}"
            "${ASCEND_CUSTOM_OPP_PATH:+:$ASCEND_CUSTOM_OPP_PATH}",
            markup=False,
        )
        console.print(f"or: source {done.folder}/bin/set_env.bash", markup=False)
    console.print(
        "restart processes that use the NPU (Python, Jupyter kernels): CANN reads packages once",
        markup=False,
    )
    console.print("then: ascendfa validate", markup=False)
