"""Finding a toolkit (CANN, or the emulator in its shape) without opening it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ascendfa.native.backend import library_folder, packaged_toolkit

__all__ = ["ToolkitTree", "cann_roots", "find", "read_version"]

Kind = Literal["cann", "emulator"]
EMULATOR_LIBRARY: Final = "libdavinci_emulator.so"

# CANN 8.5 and later install under cann[-version], earlier ones under ascend-toolkit.
_USUAL: Final = ("cann", "latest", "ascend-toolkit/latest", "nnae/latest", "nnrt/latest")

# Which file holds the version differs between releases; the first that exists counts.
_VERSION_FILES: Final = (
    "version.info",
    "version.cfg",
    "share/info/runtime/version.info",
    "runtime/version.info",
    "compiler/version.info",
    "toolkit/version.info",
    "opp/version.info",
)
_INSTALL_INFO: Final = "ascend_toolkit_install.info"
_VERSION_LINE: Final = re.compile(
    r"^\s*(?:version|[a-z_]*installed_version|[a-z_]*running_version)\s*=\s*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER: Final = re.compile(r"\d+(?:\.[0-9A-Za-z]+)+")


@dataclass(frozen=True)
class ToolkitTree:
    """A folder that looks like a toolkit.

    Attributes
    ----------
    kind
        ``cann`` or ``emulator``.
    root
        Its folder.
    found_by
        The variable or the search that led there.
    """

    kind: Kind
    root: Path
    found_by: str

    def opp(self, environ: Mapping[str, str]) -> Path:
        """Return the folder of operator packages; ASCEND_OPP_PATH may move CANN's."""
        moved = environ.get("ASCEND_OPP_PATH")
        return Path(moved) if moved and self.kind == "cann" else self.root / "opp"

    def holds(self, path: Path) -> bool:
        """Whether a path is inside, by its name or by what its links lead to.

        In some releases the root is a folder of links into the folder of a version.
        """
        folder = library_folder(self.root)
        homes = [self.root.absolute(), self.root.resolve()]
        if folder is not None:
            homes.append(folder.resolve().parent)
        names = (path.absolute(), path.resolve())
        return any(name.is_relative_to(home) for name in names for home in homes)

    @property
    def version(self) -> str:
        """Its version as its own files state it, empty if they do not."""
        return read_version(self.root)

    def environment(self) -> dict[str, str]:
        """Return what a process has to find in its environment to run on this toolkit."""
        if self.kind == "emulator":
            return {"ASCENDFA_BACKEND": "emulator", "ASCENDFA_EMULATOR_HOME": str(self.root)}
        return {"ASCENDFA_BACKEND": "npu", "ASCEND_HOME_PATH": str(self.root)}


def read_version(root: Path) -> str:
    """Return the version a toolkit's own files state, empty if there are none."""
    files = [root / name for name in _VERSION_FILES]
    files += sorted(root.glob(f"*-linux/{_INSTALL_INFO}"))
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for line in _VERSION_LINE.findall(text):
            number = _NUMBER.search(line)
            if number:
                return number.group()
    return ""


def cann_roots(environ: Mapping[str, str], system: Path = Path("/")) -> Iterator[tuple[Path, str]]:
    """Yield folders where CANN may be, best first, and what names them.

    Parameters
    ----------
    environ
        The environment to read.
    system
        Folder that stands for ``/``.
    """
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        if environ.get(name):
            yield Path(environ[name]), name
    bases = [system / "usr/local/Ascend"]
    if environ.get("HOME"):
        bases.append(Path(environ["HOME"]) / "Ascend")
    for base in bases:
        for usual in _USUAL:
            yield base / usual, "usual place"
        for versioned in sorted(base.glob("cann-*"), reverse=True):
            yield versioned, "usual place"


def find(asked: str, environ: Mapping[str, str], system: Path = Path("/")) -> ToolkitTree | None:
    """Find a toolkit.

    Parameters
    ----------
    asked
        ``cann``, ``emulator``, or the folder of either.
    environ, system
        As in `cann_roots`.

    Returns
    -------
    ToolkitTree or None
        None if no folder holds libascendcl.so. A folder named by the caller or by
        ASCEND_HOME_PATH is returned even if it is broken: falling back to another one would hide
        that.
    """
    if asked == "emulator":
        override = environ.get("ASCENDFA_EMULATOR_HOME")
        root = Path(override) if override else packaged_toolkit()
        by = "ASCENDFA_EMULATOR_HOME" if override else "inside the ascendfa package"
        return ToolkitTree("emulator", root, by)
    if asked != "cann":
        root = Path(asked)
        folder = library_folder(root)
        emulated = folder is not None and (folder / EMULATOR_LIBRARY).exists()
        return ToolkitTree("emulator" if emulated else "cann", root, "--toolkit")
    for root, by in cann_roots(environ, system):
        if by == "ASCEND_HOME_PATH" or library_folder(root) is not None:
            return ToolkitTree("cann", root, by)
    return None
