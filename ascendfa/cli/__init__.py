"""The ``ascendfa`` command: one file per verb."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; the console script ``ascendfa``."""
    try:
        from ascendfa.cli.app import app
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("typer", "rich"):
            raise
        print(f"the ascendfa command needs {missing}: pip install 'ascendfa[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    app()
