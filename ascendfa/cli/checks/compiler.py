"""What building the op package needs; looked at only when asked."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok

__all__ = ["check_compiler"]

OLDEST_CMAKE: Final = (3, 16)
_APT: Final = "sudo apt-get install -y"
_PROGRAM: Final = "#include <filesystem>\n#include <optional>\nint main() { return 0; }\n"


def check_compiler(context: Context) -> Iterator[Result]:
    """Check the host compiler, CMake, a build tool, and the toolkit's own compiler."""
    if not context.build:
        return
    yield _cxx(context)
    yield _cmake(context)
    if context.which("ninja") or context.which("make"):
        yield ok("build.make", "ninja or make is on PATH")
    else:
        yield fail("build.make", "neither ninja nor make is on PATH", f"{_APT} make")
    if context.tree is not None:
        yield from _toolkit(context, context.tree.root)


def _cxx(context: Context) -> Result:
    name = context.environ.get("CXX") or "g++"
    compiler = context.which(name)
    if compiler is None:
        return fail("build.c++", f"{name} is not on PATH", f"{_APT} g++")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(_PROGRAM)
        command = [compiler, "-std=c++17", "-o", str(source.with_suffix("")), str(source)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=dict(context.environ)
        )
    if done.returncode != 0:
        first = (done.stderr.strip().splitlines() or ["no message"])[0]
        return fail("build.c++", f"{compiler} does not compile C++17: {first}", f"{_APT} g++")
    return ok("build.c++", f"{compiler} compiles C++17")


def _cmake(context: Context) -> Result:
    program = context.which("cmake")
    wanted = ".".join(map(str, OLDEST_CMAKE))
    if program is None:
        return fail("build.cmake", "cmake is not on PATH", f"pip install cmake, or {_APT} cmake")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"(\d+)\.(\d+)", done.stdout)
    if match is None or (int(match.group(1)), int(match.group(2))) < OLDEST_CMAKE:
        found = match.group() if match else "unknown"
        return fail(
            "build.cmake", f"cmake {found} is older than {wanted}", "pip install 'cmake>=3.20'"
        )
    return ok("build.cmake", f"cmake {match.group()}")


def _toolkit(context: Context, root: Path) -> Iterator[Result]:
    again = "reinstall the CANN toolkit package (the nnrt and nnae packages lack it)"
    package = next(
        (
            root / folder / "asc-config.cmake"
            for folder in (
                "compiler/tikcpp/ascendc_kernel_cmake",
                "lib64/cmake",
                "lib64/cmake/asc",
                "lib64/cmake/ASC",
                "tools/tikcpp/ascendc_kernel_cmake",
            )
            if (root / folder / "asc-config.cmake").is_file()
        ),
        None,
    )
    if package is None:
        package = next(root.glob("**/asc-config.cmake"), None) if root.is_dir() else None
    if package is None:
        yield fail("build.asc", f"{root} has no asc-config.cmake, the CMake package ASC", again)
    else:
        yield ok("build.asc", f"CMake package ASC in {package.parent}")
    if context.emulated:
        return
    compilers = ("compiler/ccec_compiler/bin/bisheng", "compiler/ccec_compiler/bin/ccec")
    places = ("bin/bisheng", "tools/bisheng_compiler/bin/bisheng", *compilers)
    device = next((root / c for c in places if (root / c).is_file()), None)
    if device is None:
        yield fail("build.bisheng", f"{root} has no bisheng, the compiler of kernels", again)
    else:
        yield ok("build.bisheng", str(device))
