"""The verbs put together."""

from __future__ import annotations

import typer

from ascendfa.cli.bench import bench
from ascendfa.cli.info import info
from ascendfa.cli.install import install
from ascendfa.cli.list import list_packages
from ascendfa.cli.sweep import sweep
from ascendfa.cli.trace import trace
from ascendfa.cli.uninstall import uninstall
from ascendfa.cli.validate import validate

__all__ = ["app"]

app = typer.Typer(
    name="ascendfa",
    help="FlashAttention for Ascend NPUs: what is installed, whether it works, how fast it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(info)
app.command()(validate)
app.command()(install)
app.command()(uninstall)
app.command("list")(list_packages)
app.command()(sweep)
app.command()(bench)
app.command()(trace)
