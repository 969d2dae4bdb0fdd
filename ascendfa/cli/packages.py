"""Operator packages in a vendors/ tree: what they hold, and in which order CANN takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["OP_API", "Package", "load_priority", "registered", "vendor_at"]

OP_API: Final = "libcust_opapi.so"
_TBE: Final = Path("op_impl/ai_core/tbe")


@dataclass(frozen=True)
class Package:
    """One vendor's folder.

    Attributes
    ----------
    folder
        ``.../vendors/<vendor>``.
    registered_by
        ``ASCEND_CUSTOM_OPP_PATH``, ``config.ini``, or empty for a folder that is not registered.
    """

    folder: Path
    registered_by: str = ""

    @property
    def vendor(self) -> str:
        """The vendor's name."""
        return self.folder.name

    @property
    def op_api(self) -> Path:
        """The library with the aclnn functions."""
        return self.folder / "op_api" / "lib" / OP_API

    @property
    def units(self) -> tuple[str, ...]:
        """Compute units the package describes operators for."""
        config = self.folder / _TBE / "config"
        return tuple(sorted(p.parent.name for p in config.glob("*/aic-*-ops-info.json")))

    def ops_info(self, unit: str) -> Path:
        """Return the file that describes the operators of a unit."""
        return self.folder / _TBE / "config" / unit / f"aic-{unit}-ops-info.json"

    def ops(self, unit: str | None = None) -> tuple[str, ...]:
        """Return the operators, of one unit or of all.

        Raises
        ------
        ValueError
            If a description is no JSON object.
        OSError
            If it cannot be read.
        """
        names: set[str] = set()
        for each in self.units if unit is None else (unit,):
            text = self.ops_info(each).read_text(encoding="utf-8")
            described = json.loads(text)
            if not isinstance(described, dict):
                raise ValueError(f"{self.ops_info(each)} holds no JSON object")
            names |= set(described)
        return tuple(sorted(names))

    def kernels(self, unit: str) -> Path:
        """Return the folder of a unit's kernel binaries."""
        return self.folder / _TBE / "kernel" / unit

    def tiling_libraries(self) -> tuple[Path, ...]:
        """Return the tiling libraries; CANN loads the one of the host's architecture."""
        folder = self.folder / _TBE / "op_tiling"
        found = [*folder.glob("lib/linux/*/libcust_opmaster*.so"), folder / "liboptiling.so"]
        return tuple(sorted(p for p in found if p.is_file()))


def load_priority(config_ini: Path) -> list[str]:
    """Return the vendors of a config.ini in order; no file, no vendors."""
    try:
        lines = config_ini.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        key, equals, value = line.partition("=")
        if equals and key.strip() == "load_priority":
            return [name.strip() for name in value.split(",") if name.strip()]
    return []


def registered(opp: Path, environ: Mapping[str, str]) -> list[Package]:
    """Return the packages CANN would look into, the one that wins first.

    Folders that do not exist are included: that they are registered is what is wrong with them.
    """
    custom = [p for p in environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if p]
    packages = [Package(Path(p), "ASCEND_CUSTOM_OPP_PATH") for p in custom]
    vendors = opp / "vendors"
    packages += [Package(vendors / n, "config.ini") for n in load_priority(vendors / "config.ini")]
    return packages


def vendor_at(folder: Path) -> Package | None:
    """Return the package whose vendor folder this is, None if it does not look like one."""
    package = Package(folder)
    return package if package.op_api.is_file() or package.units else None
