"""Which toolkit runs: CANN on a device or the emulator, and why."""

from __future__ import annotations

import logging
import os
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


def _emulator(reason: str) -> Backend:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    root = Path(override) if override else PACKAGED_TOOLKIT
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


def choose() -> Backend:
    """Choose the toolkit from the environment; opens nothing.

    Raises
    ------
    ConfigError
        If ASCENDFA_BACKEND has an unknown value.
    BackendError
        If CANN is asked for, or present with a device, but broken: that is never a reason to
        compute on the emulator instead.
    """
    asked = os.environ.get("ASCENDFA_BACKEND", "")
    if asked:
        if asked not in BACKENDS:
            raise ConfigError(f"ASCENDFA_BACKEND={asked}; allowed are {' and '.join(BACKENDS)}")
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
