"""Which toolkit runs: CANN on a device or the emulator, and why."""

from __future__ import annotations

import ctypes
import importlib.metadata
import logging
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ascendfa.errors import BackendError, ConfigError

__all__ = ["Backend", "choose"]

BACKENDS: Final = ("npu", "emulator")
PACKAGED_TOOLKIT: Final = Path(__file__).resolve().parent.parent / "_toolkit"

_log = logging.getLogger("ascendfa")
_said: set[str] = set()
_said_lock = threading.Lock()


@dataclass(frozen=True)
class Backend:
    """The toolkit attention runs on.

    Attributes
    ----------
    name
        ``npu`` or ``emulator``.
    root
        Folder of the toolkit.
    reason
        Why this one.
    """

    name: Literal["npu", "emulator"]
    root: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.name} ({self.reason}; toolkit {self.root})"


def device_nodes() -> list[Path]:
    """Return the device files of NPUs: /dev/davinci0, ... (davinci_manager is no device)."""
    return [p for p in Path("/dev").glob("davinci*") if p.name[len("davinci") :].isdigit()]


def library_folder(root: Path) -> Path | None:
    """Return the folder of a toolkit that holds libascendcl.so."""
    folders = (root / "lib64", root / "runtime" / "lib64", root / "lib")
    return next((f for f in folders if (f / "libascendcl.so").is_file()), None)


def packaged_toolkit() -> Path:
    """Return the toolkit inside the package.

    In a checkout, whose folder Python puts ahead of what is installed, the package holds none:
    then it is the installed one's.
    """
    if not PACKAGED_TOOLKIT.is_dir():
        try:
            installed = importlib.metadata.distribution("ascendfa")
        except importlib.metadata.PackageNotFoundError:
            return PACKAGED_TOOLKIT
        beside = Path(str(installed.locate_file("ascendfa/_toolkit")))
        if beside.is_dir():
            return beside
    return PACKAGED_TOOLKIT


def _emulator(reason: str) -> Backend:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    root = Path(override) if override else packaged_toolkit()
    return Backend("emulator", root, reason)


def _cann(reason: str) -> Backend:
    home = os.environ.get("ASCEND_HOME_PATH")
    if not home:
        raise BackendError(
            "backend npu needs CANN, but ASCEND_HOME_PATH is not set; run 'source "
            "<CANN>/set_env.sh', or set ASCENDFA_BACKEND=emulator"
        )
    root = Path(home)
    if library_folder(root) is None:
        raise BackendError(
            f"ASCEND_HOME_PATH={home} holds no lib64/libascendcl.so: CANN is broken or the path is "
            "wrong; run 'source <CANN>/set_env.sh', or set ASCENDFA_BACKEND=emulator"
        )
    return Backend("npu", root, reason)


class _SymbolPlace(ctypes.Structure):
    """Dl_info of dladdr."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def framework_library() -> Path | None:
    """Return the libascendcl.so that torch_npu runs on, if torch_npu is loaded."""
    if "torch_npu" not in sys.modules:
        return None
    try:
        # Found by its soname, as the loader found it for torch_npu; nothing is opened.
        library = ctypes.CDLL("libascendcl.so", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except OSError:
        return None
    place = _SymbolPlace()
    address = ctypes.cast(library.aclInit, ctypes.c_void_p)
    if not ctypes.CDLL(None).dladdr(address, ctypes.byref(place)) or not place.file:
        return None
    return Path(os.fsdecode(place.file)).absolute()


def _toolkit_of(library: Path) -> tuple[Literal["npu", "emulator"], Path]:
    """Return name and root of the toolkit a libascendcl.so belongs to."""
    if (library.parent / "libdavinci_emulator.so").is_file():
        return "emulator", library.parent.parent
    home = os.environ.get("ASCEND_HOME_PATH")
    folder = library_folder(Path(home)) if home else None
    if home and folder is not None and (folder / library.name).samefile(library):
        return "npu", Path(home)
    # CANN keeps its libraries at different depths; operators lie beside them at the root.
    roots = [p for p in library.resolve().parents if (p / "opp").is_dir()]
    return "npu", roots[0] if roots else library.parent.parent


def _of_framework(library: Path, asked: str) -> Backend:
    name, root = _toolkit_of(library)
    if asked and asked != name:
        raise BackendError(
            f"ASCENDFA_BACKEND={asked}, but torch_npu has loaded {library}, which is the "
            f"{name} backend; a process runs on one toolkit"
        )
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if name == "emulator" and override and Path(override).resolve() != root.resolve():
        raise BackendError(
            f"ASCENDFA_EMULATOR_HOME={override}, but torch_npu has loaded {library}; a process "
            "runs on one toolkit"
        )
    return Backend(name, root, "torch_npu has loaded it")


def choose() -> Backend:
    """Choose the toolkit from what torch_npu has loaded, or the environment; opens nothing.

    Raises
    ------
    ConfigError
        If ASCENDFA_BACKEND has an unknown value.
    BackendError
        If CANN is asked for, or present with a device, but broken: that is never a reason to
        compute on the emulator instead. If torch_npu runs on another backend than is asked for.
    """
    asked = os.environ.get("ASCENDFA_BACKEND", "")
    if asked and asked not in BACKENDS:
        raise ConfigError(f"ASCENDFA_BACKEND={asked}; allowed are {' and '.join(BACKENDS)}")
    library = framework_library()
    if library is not None:
        return _of_framework(library, asked)
    if asked:
        reason = f"ASCENDFA_BACKEND={asked}"
        return _cann(reason) if asked == "npu" else _emulator(reason)
    home = os.environ.get("ASCEND_HOME_PATH")
    if not home:
        return _say(_emulator("ASCEND_HOME_PATH is not set"), logging.INFO)
    found = _cann(f"ASCEND_HOME_PATH={home} and a device is present")
    if device_nodes():
        return found
    reason = f"ASCEND_HOME_PATH={home}, but there is no /dev/davinci*"
    return _say(_emulator(reason), logging.WARNING)


def _say(backend: Backend, level: int) -> Backend:
    with _said_lock:
        first = backend.reason not in _said
        _said.add(backend.reason)
    if first:
        _log.log(level, "attention runs on the %s", backend)
    return backend
