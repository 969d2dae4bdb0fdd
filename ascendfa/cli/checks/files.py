"""Whether the package has what this chip needs: libraries, kernel binaries, descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ascendfa.cli.checks import elf
from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok, skip
from ascendfa.cli.packages import Package

__all__ = ["check_files"]

_REINSTALL = "build the package again (scripts/build_op_package --soc {unit}) and ascendfa install"


def check_files(context: Context) -> Iterator[Result]:
    """Check op_api library, tiling library, and kernels with their JSON."""
    package = context.package
    if package is None:
        yield skip("files.op_api", "no package")
        return
    units = (context.unit,) if context.unit else package.units
    fix = _REINSTALL.format(unit=units[0] if units else "ascend910b")
    if package.op_api.is_file():
        yield _machine(context, "files.op_api", package.op_api, fix)
    else:
        context.usable = False
        yield fail("files.op_api", f"{package.op_api} is missing", fix)
    yield _tiling(context, package, fix)
    if not units:
        context.usable = False
        yield fail("files.ops_info", f"{package.folder} describes operators of no chip", fix)
    for unit in units:
        yield from _unit(context, package, unit, fix)


def _machine(context: Context, name: str, path: Path, fix: str) -> Result:
    try:
        read = elf.read(path)
    except (OSError, ValueError) as error:
        context.usable = False
        return fail(name, str(error), fix)
    wanted = elf.MACHINES.get(context.machine)
    if wanted is not None and read.machine != wanted:
        names = {number: machine for machine, number in elf.MACHINES.items()}
        found = names.get(read.machine, f"machine {read.machine}")
        context.usable = False
        return fail(name, f"{path} is for {found}, this host is {context.machine}", fix)
    return ok(name, f"{path.name} for {context.machine}")


def _tiling(context: Context, package: Package, fix: str) -> Result:
    libraries = package.tiling_libraries()
    if not libraries:
        context.usable = False
        return fail("files.tiling", f"{package.folder} has no tiling library", fix)
    own = [p for p in libraries if p.parent.name == context.machine]
    folders = [p.parent.name for p in libraries if p.name != "liboptiling.so"]
    if folders and not own:
        context.usable = False
        return fail(
            "files.tiling",
            f"tiling libraries are for {', '.join(folders)}, this host is {context.machine}",
            fix,
        )
    return _machine(context, "files.tiling", (own or list(libraries))[0], fix)


def _unit(context: Context, package: Package, unit: str, fix: str) -> Iterator[Result]:
    try:
        ops = package.ops(unit)
    except FileNotFoundError:
        context.usable = False
        yield fail(
            "files.ops_info",
            f"the package has nothing for {unit}; it was built for "
            f"{', '.join(package.units) or 'no chip'}",
            fix,
        )
        return
    except (OSError, ValueError) as error:
        context.usable = False
        yield fail("files.ops_info", f"{package.ops_info(unit)}: {error}", fix)
        return
    yield ok("files.ops_info", f"{unit}: {', '.join(ops)}")
    for op in ops:
        yield _kernels(context, package, unit, op, fix)


def _kernels(context: Context, package: Package, unit: str, op: str, fix: str) -> Result:
    """Every JSON of an operator has to have the binary it names."""
    folder = package.kernels(unit)
    found = 0
    try:
        descriptions = sorted(folder.glob("*/*.json"))
        for file in descriptions:
            if not file.name.startswith(f"{op}_"):
                continue
            described = json.loads(file.read_text(encoding="utf-8"))
            # Kernels of split chips may lie in one object, or in one per kind of core.
            stem, suffix = str(described["binFileName"]), str(described["binFileSuffix"])
            names = list(described.get("binaries", {}).values()) or [stem + suffix]
            for name in names:
                binary = file.parent / name
                if not binary.is_file() or binary.stat().st_size == 0:
                    context.usable = False
                    return fail("files.kernels", f"{file.name} names {binary}: missing", fix)
            found += 1
    except (OSError, ValueError, KeyError, AttributeError) as error:
        context.usable = False
        return fail("files.kernels", f"a description in {folder} is damaged: {error!r}", fix)
    if not found:
        context.usable = False
        return fail("files.kernels", f"no kernel of {op} in {folder}", fix)
    return ok("files.kernels", f"{unit}: {found} of {op}, each with its binary")
