"""``ascendfa info``: what is installed, and which backend would run, and why."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ascendfa.chips import CHIPS
from ascendfa.cli.console import fails_clearly, out
from ascendfa.cli.packages import Package, registered
from ascendfa.cli.toolkits import ToolkitTree, find
from ascendfa.config import config_folder
from ascendfa.errors import AscendFAError
from ascendfa.native.backend import choose, device_nodes, library_folder

__all__ = ["info"]

_OPTIONAL = ("torch", "torch_npu", "matplotlib", "ml_dtypes")


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError:
        return None


def _package(package: Package) -> dict[str, Any]:
    try:
        ops: list[str] = list(package.ops())
    except (OSError, ValueError) as error:
        ops = [f"unreadable: {error}"]
    return {
        "vendor": package.vendor,
        "folder": str(package.folder),
        "registered_by": package.registered_by,
        "units": list(package.units),
        "ops": ops,
    }


def _toolkit(tree: ToolkitTree) -> dict[str, Any]:
    return {
        "kind": tree.kind,
        "root": str(tree.root),
        "found_by": tree.found_by,
        "version": tree.version,
        "usable": library_folder(tree.root) is not None,
        "packages": [_package(p) for p in registered(tree.opp(os.environ), os.environ)],
    }


def gather() -> dict[str, Any]:
    """Collect the facts without opening any library."""
    try:
        backend = choose()
        chosen: dict[str, str] = {
            "name": backend.name,
            "root": str(backend.root),
            "reason": backend.reason,
        }
    except AscendFAError as error:
        chosen = {"error": str(error)}
    trees = [tree for tree in (find(k, os.environ) for k in ("cann", "emulator")) if tree]
    try:
        configs = str(config_folder())
    except AscendFAError as error:
        configs = str(error)
    return {
        "ascendfa": _version("ascendfa") or "from a checkout, not installed",
        "package": str(Path(__file__).resolve().parent.parent),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "optional": {name: _version(name) for name in _OPTIONAL},
        "backend": chosen,
        "devices": [str(p) for p in sorted(device_nodes())],
        "toolkits": [_toolkit(tree) for tree in trees],
        "chips": {c.unit: list(c.dtypes) for c in CHIPS.values() if c.has_kernels},
        "op_configs": configs,
        "environment": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(("ASCEND", "ASCENDFA_"))
        },
    }


def _toolkit_text(toolkit: dict[str, Any]) -> str:
    version = toolkit["version"] or "version unknown"
    state = "" if toolkit["usable"] else ", no libascendcl.so"
    lines = [f"{toolkit['root']} ({version}, {toolkit['found_by']}{state})"]
    for package in toolkit["packages"]:
        ops = ", ".join(package["ops"]) or "no operators"
        units = ", ".join(package["units"]) or "no chip"
        lines.append(f"  {package['vendor']}: {ops} for {units} [{package['registered_by']}]")
    return "\n".join(lines if toolkit["packages"] else [*lines, "  no operator package"])


@fails_clearly
def info(
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what is installed, and which backend would run and why."""
    facts = gather()
    console = out()
    if json_:
        typer.echo(json.dumps(facts, indent=2))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")

    def row(name: str, text: str) -> None:
        from rich.text import Text

        table.add_row(name, Text(text))

    row("ascendfa", f"{facts['ascendfa']} in {facts['package']}")
    row("python", f"{facts['python']} on {facts['machine']}")
    for name, version in facts["optional"].items():
        row(name, version or "not installed")
    chosen = facts["backend"]
    row("would run on", chosen.get("error") or f"{chosen['name']}, because {chosen['reason']}")
    row("devices", ", ".join(facts["devices"]) or "no /dev/davinci*")
    for toolkit in facts["toolkits"]:
        row(toolkit["kind"], _toolkit_text(toolkit))
    if not any(t["kind"] == "cann" for t in facts["toolkits"]):
        row("cann", "not found: ASCEND_HOME_PATH is not set and the usual places hold none")
    chips = "; ".join(f"{unit} ({', '.join(types)})" for unit, types in facts["chips"].items())
    row("kernels for", chips)
    row("block sizes", facts["op_configs"])
    for name, value in facts["environment"].items():
        row(name, value)
    console.print(table)
