"""Opens the three libraries of a toolkit once per process and binds the functions of the table."""

from __future__ import annotations

import configparser
import ctypes
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ascendfa.errors import BackendError, LibraryNotFoundError, SymbolNotFoundError
from ascendfa.native.backend import Backend, choose, library_folder
from ascendfa.native.symbols import ACL, LIBRARIES, OP_API, SYMBOLS

__all__ = ["Toolkit", "current_backend", "toolkit", "vendor_libraries"]


class Toolkit:
    """The open libraries of one toolkit.

    Parameters
    ----------
    backend
        Where to look.

    Raises
    ------
    LibraryNotFoundError, SymbolNotFoundError
        Naming the library and where it was looked for.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        folder = library_folder(backend.root)
        if folder is None:
            raise LibraryNotFoundError(_missing_toolkit(backend))
        self._functions: dict[str, Callable[..., Any]] = {}
        # Dependencies first: a library that needs one already open finds it by its soname.
        for name in LIBRARIES:
            if name == OP_API:
                self.op_library = self._open_op_package()
            else:
                self._bind(name, _open(folder / name))

    def __getitem__(self, function: str) -> Callable[..., Any]:
        """Return a bound C function."""
        return self._functions[function]

    def _bind(self, library: str, handle: ctypes.CDLL) -> None:
        self._functions.update(_bound(library, handle))

    def _open_op_package(self) -> Path:
        candidates, looked = vendor_libraries(self.backend)
        lacking: list[str] = []
        for path in candidates:
            try:
                self._bind(OP_API, _open(path))
            except SymbolNotFoundError as error:
                # Other vendors' packages have the same file name and other operators.
                lacking.append(str(error))
            else:
                return path
        if lacking:
            raise SymbolNotFoundError("; ".join(lacking) + ". The ascendfa op package is not there")
        raise LibraryNotFoundError(
            f"{OP_API} of the ascendfa op package was not found; looked for "
            f"{', '.join(map(str, looked))}. Install the op package, or point "
            "ASCEND_CUSTOM_OPP_PATH at its vendor folder"
        )


def _missing_toolkit(backend: Backend) -> str:
    text = f"{ACL} was not found in {backend.root / 'lib64'}"
    if backend.name == "emulator":
        text += (
            "; the emulator is built by 'pip install .', or set ASCENDFA_EMULATOR_HOME to a "
            "toolkit folder"
        )
    return text


def _open(path: Path) -> ctypes.CDLL:
    if not path.is_file():
        raise LibraryNotFoundError(f"{path.name} was not found at {path}")
    try:
        # Local: custom operators would shadow built-in ones of the same name process-wide.
        return ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise LibraryNotFoundError(f"{path} cannot be opened: {error}") from error


def _bound(library: str, handle: ctypes.CDLL) -> dict[str, Callable[..., Any]]:
    functions: dict[str, Callable[..., Any]] = {}
    for name, symbol in SYMBOLS.items():
        if symbol.library != library:
            continue
        try:
            function = getattr(handle, name)
        except AttributeError:
            raise SymbolNotFoundError(f"{handle._name} has no function {name}") from None
        function.restype = symbol.restype
        function.argtypes = symbol.argtypes
        functions[name] = function
    return functions


def vendor_libraries(backend: Backend) -> tuple[list[Path], list[Path]]:
    """Return the op packages' libraries in order of priority, and all places looked at.

    ASCEND_CUSTOM_OPP_PATH comes first, then the vendors in the order of config.ini, as CANN does.
    """
    custom = os.environ.get("ASCEND_CUSTOM_OPP_PATH", "")
    folders = [Path(p) for p in custom.split(":") if p]
    opp = backend.root / "opp"
    if backend.name == "npu" and os.environ.get("ASCEND_OPP_PATH"):
        opp = Path(os.environ["ASCEND_OPP_PATH"])
    vendors = opp / "vendors"
    folders += [vendors / name for name in _load_priority(vendors / "config.ini")]
    looked = [folder / "op_api" / "lib" / OP_API for folder in folders]
    return [p for p in looked if p.is_file()], looked or [vendors / "config.ini"]


def _load_priority(config_ini: Path) -> Iterable[str]:
    """Read ``load_priority=a,b`` from a config.ini, which has no section header."""
    try:
        text = config_ini.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LibraryNotFoundError(f"{config_ini} cannot be read: {error}") from error
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string("[vendors]\n" + text)
    except configparser.Error as error:
        raise LibraryNotFoundError(f"{config_ini} is not a valid config.ini: {error}") from error
    priority = parser.get("vendors", "load_priority", fallback="")
    return [name.strip() for name in priority.split(",") if name.strip()]


_lock = threading.Lock()
_loaded: Toolkit | None = None
_owner = 0


def toolkit() -> Toolkit:
    """Return the toolkit of this process, opening it at the first call.

    Raises
    ------
    BackendError
        If the environment now asks for another toolkit: two ACL runtimes in one process would
        hand each other's handles around.
    """
    global _loaded, _owner
    wanted = choose()
    with _lock:
        if _loaded is None:
            _loaded, _owner = Toolkit(wanted), os.getpid()
        if _owner != os.getpid():
            raise BackendError(
                "this process was forked from one that had opened the toolkit, whose threads do "
                "not survive a fork; start processes with the 'spawn' method"
            )
        opened = _loaded.backend
        if (opened.name, opened.root) != (wanted.name, wanted.root):
            raise BackendError(
                f"this process already runs on {opened}; {wanted} needs a new process"
            )
        return _loaded


def current_backend() -> Backend:
    """Return the backend in use, or the one the next call would use."""
    with _lock:
        loaded = _loaded
    return choose() if loaded is None else loaded.backend
