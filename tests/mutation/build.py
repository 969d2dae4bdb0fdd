"""Builds an op package whose kernels' synchronisation calls can be silenced one by one."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from mutation.instrument import Place, instrument

OP_KERNEL = Path(__file__).resolve().parents[2] / "ascend_kernels" / "op_kernel"
TBE = "op_impl/ai_core/tbe"


@dataclass(frozen=True)
class MutantPackage:
    """A vendor folder for ASCEND_CUSTOM_OPP_PATH, and what its kernels can leave out."""

    vendor: Path
    objects: list[Path]
    places: list[Place]
    compiled: set[str]  # the sources that were included; the others are another chip's


def toolkit_root() -> Path:
    """Where ascendfa takes the emulator's toolkit from."""
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if override:
        return Path(override)
    import ascendfa

    return Path(ascendfa.__file__).parent / "_toolkit"


def _ops_info(vendor: Path, unit: str, op_type: str, dtype: str, target: Path) -> None:
    """Write the package's own description of the op, cut down to one data type of its inputs."""
    source = vendor / TBE / "config" / unit / f"aic-{unit}-ops-info.json"
    op = json.loads(source.read_text())[op_type]
    types = op["input0"]["dtype"].split(",")
    if dtype not in types:
        raise ValueError(f"{op_type} has no kernel for {dtype}; it has {', '.join(types)}")
    pick = types.index(dtype)
    ini = configparser.ConfigParser(interpolation=None)
    ini.optionxform = str  # type: ignore[assignment,method-assign]
    ini[op_type] = {
        f"{group}.{key}": value.split(",")[pick] if key in ("dtype", "format") else value
        for group, entries in op.items()
        for key, value in entries.items()
    }
    with target.open("w") as file:
        ini.write(file)


def build(
    folder: Path,
    kernel: Path = OP_KERNEL,
    op_type: str = "FlashAttention",
    dtype: str = "float16",
    unit: str = "ascend910b",
) -> MutantPackage:
    """Compile an op's kernel with the toolkit's own driver, all mutants in one pair of objects."""
    toolkit = toolkit_root()
    (original,) = (toolkit / "opp" / "vendors").glob(f"*/{TBE}/kernel/{unit}")
    original_vendor = original.parents[4]
    vendor = folder / "vendors" / original_vendor.name
    shutil.copytree(original_vendor, vendor, dirs_exist_ok=True)
    sources = folder / "op_kernel"
    places = instrument(kernel, sources)

    info = folder / "ops-info.ini"
    depfile = folder / "depfile"
    _ops_info(vendor, unit, op_type, dtype, info)
    output = folder / "output"
    driver = toolkit / "compiler/tikcpp/ascendc_kernel_cmake/util/compile_kernel.py"
    options = {
        "toolkit": toolkit,
        "ops-info": info,
        "base": sources,
        "output": output,
        "cache": folder / "cache",
        "stamp": folder / "stamp",
        "depfile": depfile,
        "cxx": os.environ.get("CXX", "g++"),
        "op-type": op_type,
        "compute-unit": unit,
        "options": "-O1",
    }
    command = [sys.executable, str(driver)]
    done = subprocess.run(
        command + [f"--{name}={value}" for name, value in options.items()],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"the instrumented kernel does not compile:\n{done.stderr}")
    shutil.copytree(output / "kernel", vendor / TBE / "kernel", dirs_exist_ok=True)
    (kernels,) = (
        f.parent for f in (output / "kernel" / unit).glob("*/*.json")
    )  # one data type, hence one description
    objects = sorted((vendor / TBE / "kernel" / unit / kernels.name).glob("*.so"))
    built = {f.name for f in kernels.glob("*.so")}
    included = {Path(name) for name in depfile.read_text().split()}
    compiled = {place.file for place in places if (sources / place.file).resolve() in included}
    return MutantPackage(vendor, [f for f in objects if f.name in built], places, compiled)
