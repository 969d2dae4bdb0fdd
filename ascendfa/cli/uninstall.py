"""``ascendfa uninstall``: take an operator package out again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ascendfa.cli.console import fails_clearly, out
from ascendfa.cli.targets import opp_folder
from ascendfa.cli.vendor_tree import remove

__all__ = ["uninstall"]


@fails_clearly
def uninstall(
    vendor: Annotated[str, typer.Argument(help="The vendor's name; see ascendfa list.")] = (
        "ascendfa"
    ),
    path: Annotated[
        Path | None, typer.Option(help="The DIR the package was installed into.", metavar="DIR")
    ] = None,
    toolkit: Annotated[str, typer.Option(help="cann, emulator, or the folder of either.")] = "cann",
) -> None:
    """Remove an operator package and its entry in config.ini; other vendors stay."""
    folder = remove(opp_folder(path, toolkit), vendor)
    console = out()
    console.print(f"removed {folder}", markup=False)
    custom = [p for p in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if p]
    if str(folder) in custom:
        rest = ":".join(p for p in custom if p != str(folder))
        command = (
            f"export ASCEND_CUSTOM_OPP_PATH={rest}" if rest else "unset ASCEND_CUSTOM_OPP_PATH"
        )
        console.print(f"ASCEND_CUSTOM_OPP_PATH still names it: {command}", markup=False)
    console.print("restart processes that use the NPU", markup=False)
