"""``ascendfa list``: the operator packages there are, the one that wins first."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ascendfa.cli.console import fails_clearly, out
from ascendfa.cli.packages import Package, registered, vendor_at
from ascendfa.cli.targets import opp_folder

__all__ = ["list_packages"]


def _describe(package: Package) -> dict[str, Any]:
    problem = "" if package.folder.is_dir() else "no such folder"
    ops: tuple[str, ...] = ()
    try:
        ops = package.ops()
    except (OSError, ValueError) as error:
        problem = f"unreadable: {error}"
    return {
        "vendor": package.vendor,
        "folder": str(package.folder),
        "registered_by": package.registered_by,
        "ops": list(ops),
        "units": list(package.units),
        "problem": problem,
    }


def gather(opp: Path) -> list[dict[str, Any]]:
    """Return registered packages in order of priority, then the ones nobody registered."""
    packages = registered(opp, os.environ)
    known = {p.folder.resolve() for p in packages}
    vendors = opp / "vendors"
    found = sorted(vendors.glob("*")) if vendors.is_dir() else []
    packages += [
        Package(folder)
        for folder in found
        if folder.resolve() not in known and vendor_at(folder) is not None
    ]
    described = [_describe(p) for p in packages]
    taken: set[str] = set()
    for entry in described:
        hidden = [op for op in entry["ops"] if op in taken]
        entry["hidden"] = hidden
        if entry["registered_by"]:
            taken |= set(entry["ops"])
    return described


@fails_clearly
def list_packages(
    path: Annotated[
        Path | None, typer.Option(help="List DIR/vendors instead of the toolkit.", metavar="DIR")
    ] = None,
    toolkit: Annotated[str, typer.Option(help="cann, emulator, or the folder of either.")] = "cann",
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List operator packages in the order CANN looks into them."""
    opp = opp_folder(path, toolkit)
    packages = gather(opp)
    if json_:
        typer.echo(json.dumps(packages, indent=2))
        return
    console = out()
    if not packages:
        console.print(f"no operator package in {opp / 'vendors'}", markup=False)
        return
    number = 0
    for entry in packages:
        number += bool(entry["registered_by"])
        place = f"{number}." if entry["registered_by"] else "- "
        by = entry["registered_by"] or "nobody: not used"
        ops = ", ".join(entry["ops"]) or "no operators"
        units = ", ".join(entry["units"]) or "no chip"
        lines = [f"{place} {entry['vendor']}: {ops} for {units}, registered by {by}"]
        lines.append(entry["folder"])
        if entry["problem"]:
            lines.append(entry["problem"])
        if entry["hidden"]:
            lines.append(f"hidden by an earlier package: {', '.join(entry['hidden'])}")
        console.print("\n   ".join(lines), markup=False)
