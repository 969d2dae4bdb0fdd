"""Where results of sweeps are kept: one JSON file, whole after every single result."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ascendfa.errors import ConfigError
from ascendfa.tuning.space import Candidate, Shape

__all__ = ["Origin", "Record", "Store", "default_store", "kernel_hash"]

Source = Literal["measured", "predicted"]
_VERSION = 1


@dataclass(frozen=True)
class Origin:
    """Where results come from; results of different origins never meet.

    Attributes
    ----------
    chip
        Compute unit.
    soc
        SoC name.
    cann
        Version of the toolkit.
    kernel
        Hash of the op package's kernels and tiling.
    source
        ``measured`` on a device, or ``predicted`` by the emulator's cycle model.
    """

    chip: str
    soc: str
    cann: str
    kernel: str
    source: Source


@dataclass(frozen=True)
class Record:
    """What one candidate came to.

    Attributes
    ----------
    origin, candidate
        What was run, and on what.
    median_us, spread
        Time, and half the range from the first to the third quartile relative to it; for a
        prediction its error band.
    samples
        How many runs the median is of; 0 for a prediction.
    error, tolerance
        Of the result against float64.
    problem
        Why it does not count: refused, wrong result; empty if it does.
    """

    origin: Origin
    candidate: Candidate
    median_us: float = 0.0
    spread: float = 0.0
    samples: int = 0
    error: float = 0.0
    tolerance: float = 0.0
    problem: str = ""


def kernel_hash(package: Path, unit: str) -> str:
    """Return a short hash of what decides a kernel's time: its binaries and the tiling library."""
    digest = hashlib.sha256()
    tbe = package / "op_impl" / "ai_core" / "tbe"
    files = [*(tbe / "kernel" / unit).rglob("*"), *(tbe / "op_tiling").rglob("*.so")]
    for file in sorted(f for f in files if f.is_file()):
        digest.update(str(file.relative_to(tbe)).encode() + b"\0")
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def default_store() -> Path:
    """Return the user's file: ASCENDFA_TUNED, else in the user's cache folder."""
    asked = os.environ.get("ASCENDFA_TUNED")
    if asked:
        return Path(asked)
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path.home() / ".cache"
    return base / "ascendfa" / "tuned.json"


Key = tuple[Origin, Candidate]


class Store:
    """The records of a file.

    Parameters
    ----------
    file
        Read if it exists; written by `add`.

    Raises
    ------
    ConfigError
        If the file is no store, or of another version.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._records: dict[Key, Record] = {}
        if not file.exists():
            return
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            version = data["version"]
            records = [_read(entry) for entry in data["records"]] if version == _VERSION else []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"is no store of sweeps ({type(error).__name__}: {error}); name another file",
                str(file),
            ) from error
        if version != _VERSION:
            raise ConfigError(f"is of version {version}, this ascendfa knows {_VERSION}", str(file))
        self._records = {(r.origin, r.candidate): r for r in records}

    def find(self, origin: Origin, candidate: Candidate) -> Record | None:
        """Return the record of a candidate, None if it has not been run."""
        return self._records.get((origin, candidate))

    def select(self, origin: Origin, candidates: Iterable[Candidate]) -> list[Record]:
        """Return the records of candidates that have been run, in their order."""
        found = (self.find(origin, candidate) for candidate in candidates)
        return [record for record in found if record is not None]

    def add(self, record: Record) -> None:
        """Keep a record and write the file: a temporary file first, so that it is always whole."""
        self._records[record.origin, record.candidate] = record
        entries = [_write(r) for r in self._records.values()]
        text = json.dumps({"version": _VERSION, "records": entries}, indent=1)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(self.file)
        finally:
            fresh.unlink(missing_ok=True)


def _write(record: Record) -> dict[str, Any]:
    shape = record.candidate.shape
    return {
        **asdict(record.origin),
        "bucket": shape.bucket,
        "shape": shape.as_dict(),
        "block_m": record.candidate.block_m,
        "block_n": record.candidate.block_n,
        "median_us": record.median_us,
        "spread": record.spread,
        "samples": record.samples,
        "error": record.error,
        "tolerance": record.tolerance,
        "problem": record.problem,
    }


def _read(entry: dict[str, Any]) -> Record:
    origin = Origin(**{name: entry[name] for name in Origin.__dataclass_fields__})
    candidate = Candidate(Shape(**entry["shape"]), entry["block_m"], entry["block_n"])
    plain = ("median_us", "spread", "samples", "error", "tolerance", "problem")
    return Record(origin, candidate, **{name: entry[name] for name in plain})
