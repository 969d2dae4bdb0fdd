"""The toolkit: where it is, its version, and whether its environment was sourced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok, skip, warn
from ascendfa.cli.toolkits import ToolkitTree
from ascendfa.native.backend import library_folder

__all__ = ["OLDEST_CANN", "check_cann", "version_number"]

# The op package needs the ASC CMake package, which came with this version.
OLDEST_CANN: Final = (8, 5)


def version_number(version: str) -> tuple[int, int] | None:
    """Return major and minor of a version such as 8.5.0 or 9.0.RC1."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match.group(1)), int(match.group(2))) if match else None


def check_cann(context: Context) -> Iterator[Result]:
    """Check that a toolkit is there and set up."""
    tree = context.tree
    if tree is None:
        context.usable = False
        if context.device_nodes or context.offline:
            yield fail(
                "cann.root",
                "ASCEND_HOME_PATH is not set and no CANN is in the usual places",
                "install the CANN toolkit (see ascend_kernels/INSTALL.md), then: "
                "source /usr/local/Ascend/cann/set_env.sh",
            )
        else:
            yield skip(
                "cann.root",
                "no CANN and no NPU on this machine",
                "to check the emulated device: ascendfa validate --toolkit emulator",
            )
        return
    if library_folder(tree.root) is None:
        context.usable = False
        how = (
            "pip install . builds the emulator; or set ASCENDFA_EMULATOR_HOME to a toolkit folder"
            if tree.kind == "emulator"
            else "source the set_env.sh of a complete CANN installation"
        )
        yield fail("cann.root", f"{tree.root} ({tree.found_by}) holds no lib64/libascendcl.so", how)
        return
    yield ok("cann.root", f"{tree.root} ({tree.found_by})")
    yield _version(tree)
    if tree.kind == "emulator":
        yield ok("cann.set_env", "not needed for the emulator")
    else:
        yield _sourced(context, tree)


def _version(tree: ToolkitTree) -> Result:
    version = tree.version
    number = version_number(version)
    oldest = ".".join(map(str, OLDEST_CANN))
    if number is None:
        return warn(
            "cann.version",
            f"no file of {tree.root} states a version",
            f"check that it is CANN {oldest} or later",
        )
    if number < OLDEST_CANN:
        return fail(
            "cann.version",
            f"CANN {version}; the op package is written for {oldest} and later",
            f"install CANN {oldest} or later and source its set_env.sh",
        )
    return ok("cann.version", version)


def _sourced(context: Context, tree: ToolkitTree) -> Result:
    fix = f"source {tree.root}/set_env.sh"
    home = context.environ.get("ASCEND_HOME_PATH")
    if not home:
        return fail("cann.set_env", "ASCEND_HOME_PATH is not set", fix)
    root = tree.root
    if Path(home).resolve() != root.resolve():
        return fail(
            "cann.set_env", f"ASCEND_HOME_PATH={home} is another installation than {root}", fix
        )
    entries = [p for p in context.environ.get("LD_LIBRARY_PATH", "").split(":") if p]
    if not any(tree.holds(Path(p)) for p in entries):
        return fail("cann.set_env", f"LD_LIBRARY_PATH names no folder of {root}", fix)
    opp = context.environ.get("ASCEND_OPP_PATH")
    if not opp:
        return fail("cann.set_env", "ASCEND_OPP_PATH is not set", fix)
    if not Path(opp).is_dir():
        return fail("cann.set_env", f"ASCEND_OPP_PATH={opp} is no folder", fix)
    if not tree.holds(Path(opp)):
        return warn("cann.set_env", f"ASCEND_OPP_PATH={opp} lies outside {root}", fix)
    return ok("cann.set_env", "ASCEND_HOME_PATH, ASCEND_OPP_PATH and LD_LIBRARY_PATH agree")
