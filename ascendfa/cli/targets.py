"""Where ``install``, ``uninstall`` and ``list`` look: the user's folder or a toolkit's opp."""

from __future__ import annotations

import os
from pathlib import Path

from ascendfa.cli.toolkits import find
from ascendfa.errors import LibraryNotFoundError
from ascendfa.native.backend import library_folder

__all__ = ["opp_folder"]


def opp_folder(path: Path | None, toolkit: str) -> Path:
    """Return the folder that holds ``vendors``.

    Raises
    ------
    LibraryNotFoundError
        If it is to be a toolkit's, and there is no toolkit.
    """
    if path is not None:
        return path.absolute()
    if toolkit == "cann" and os.environ.get("ASCEND_OPP_PATH"):
        return Path(os.environ["ASCEND_OPP_PATH"])
    tree = find(toolkit, os.environ)
    if tree is None or library_folder(tree.root) is None:
        raise LibraryNotFoundError(
            f"no toolkit '{toolkit}' to install into: source CANN's set_env.sh, give --path DIR, "
            "or --toolkit emulator"
        )
    return tree.opp(os.environ)
