"""Whether the libraries open, export what the package promises, and hide nothing of CANN's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ascendfa.cli.checks import elf
from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok, skip
from ascendfa.cli.packages import Package
from ascendfa.native.backend import library_folder

__all__ = ["check_libraries", "check_shadowing", "phases"]

BUILT_IN = "libopapi.so"
_PHASE = re.compile(r"\b(aclnn\w+?)GetWorkspaceSize\b")


def phases(package: Package) -> list[str]:
    """Return the functions of both phases of every operator, from the package's headers.

    The description is the fall-back: headers belong to the development part of a package.
    """
    names: set[str] = set()
    for header in (package.folder / "op_api" / "include").glob("aclnn_*.h"):
        names |= set(_PHASE.findall(header.read_text(encoding="utf-8", errors="replace")))
    if not names:
        names = {f"aclnn{op}" for op in package.ops()}
    return sorted({*names, *(f"{name}GetWorkspaceSize" for name in names)})


def check_shadowing(context: Context) -> Iterator[Result]:
    """Look for a second libopapi.so, and for functions that CANN's own exports as well."""
    if context.tree is None or context.package is None:
        yield skip("libraries.shadow", "no toolkit or no package")
        return
    library_path = context.environ.get("LD_LIBRARY_PATH", "")
    for entry in (Path(p) for p in library_path.split(":") if p):
        library = entry / BUILT_IN
        if library.exists() and not context.tree.holds(library):
            yield fail(
                "libraries.shadow",
                f"{library} comes before CANN's {BUILT_IN}",
                f"take {entry} off LD_LIBRARY_PATH",
            )
            return
        if library.exists():
            break
    for package in context.packages:
        for library in (package.folder / "op_api" / "lib").glob(f"{BUILT_IN}*"):
            yield fail(
                "libraries.shadow",
                f"{library} has the name of CANN's own library",
                f"remove it: {library} hides built-in operators",
            )
            return
    folder = library_folder(context.tree.root)
    built_in = None if folder is None else folder / BUILT_IN
    if built_in is not None and built_in.is_file():
        try:
            theirs = elf.read(built_in).exported
            ours = elf.read(context.package.op_api).exported
        except (OSError, ValueError) as error:
            yield fail("libraries.shadow", str(error), "reinstall it")
            return
        both = sorted(n for n in ours & theirs if n.startswith("aclnn"))
        if both:
            yield fail(
                "libraries.shadow",
                f"{context.package.op_api} defines {', '.join(both[:3])} as {built_in} does, "
                "and would hide it in the whole process",
                "rename the operators of that package",
            )
            return
    yield ok("libraries.shadow", f"nothing hides {BUILT_IN}")


def check_libraries(context: Context) -> Iterator[Result]:
    """Check dependencies and functions by reading the files, then open them, unless offline."""
    package, tree = context.package, context.tree
    if package is None or tree is None or not package.op_api.is_file():
        yield skip("libraries.symbols", "no package")
        return
    fix = "build and install the package again"
    try:
        own = elf.read(package.op_api)
        wanted = phases(package)
    except (OSError, ValueError) as error:
        context.usable = False
        yield fail("libraries.symbols", str(error), fix)
        return
    lacking = [name for name in wanted if name not in own.exported]
    if lacking:
        context.usable = False
        yield fail("libraries.symbols", f"{package.op_api} lacks {', '.join(lacking)}", fix)
    else:
        yield ok("libraries.symbols", f"both phases of {len(wanted) // 2} operators")
    folder = library_folder(tree.root)
    yield _dependencies(context, package, own, () if folder is None else (folder,))
    if context.offline:
        yield skip("libraries.open", "not opened with --offline")
        return
    if folder is None or not (context.usable and context.has_device):
        yield skip("libraries.open", "not tried after the lines above")
        return
    answer = context.probe("open", folder=str(folder), op_api=str(package.op_api), symbols=wanted)
    said = answer.failure or answer.data.get("error")
    if said:
        context.usable = False
        yield fail(
            "libraries.open", str(said), "source set_env.sh; see the dependencies named above"
        )
        return
    yield ok("libraries.open", "libascendcl, libnnopbase and libcust_opapi open with RTLD_LOCAL")


def _dependencies(
    context: Context, package: Package, own: elf.Elf, opened: tuple[Path, ...]
) -> Result:
    library_path = context.environ.get("LD_LIBRARY_PATH", "")
    missing = {package.op_api.name: elf.missing_dependencies(own, library_path, opened)}
    for library in package.tiling_libraries():
        try:
            read = elf.read(library)
        except (OSError, ValueError):
            continue  # said by files.tiling
        missing[library.name] = elf.missing_dependencies(read, library_path, opened)
    lines = [f"{name} needs {', '.join(needs)}" for name, needs in missing.items() if needs]
    if lines:
        context.usable = False
        return fail(
            "libraries.dependencies",
            "; ".join(lines) + ": not found",
            "source the toolkit's set_env.sh, or install the package for this CANN version",
        )
    return ok("libraries.dependencies", "all found")
