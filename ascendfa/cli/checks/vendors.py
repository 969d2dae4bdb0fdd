"""Whether CANN will look into our package, may read it, and takes it rather than another."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ascendfa.cli.checks.context import Context, defines_attention
from ascendfa.cli.checks.result import Result, fail, ok, skip, warn
from ascendfa.cli.packages import Package, vendor_at

__all__ = ["check_vendors"]

_INSTALL = "ascendfa install PACKAGE, or export ASCEND_CUSTOM_OPP_PATH=<folder>/vendors/<vendor>"


def check_vendors(context: Context) -> Iterator[Result]:
    """Check registration, permissions, ownership and duplicates."""
    if context.tree is None:
        yield skip("vendor.registered", "no toolkit")
        return
    config = context.tree.opp(context.environ) / "vendors" / "config.ini"
    try:
        packages = context.packages
    except OSError as error:
        context.usable = False
        yield fail("vendor.registered", f"{config} cannot be read: {error}", f"chmod a+r {config}")
        return
    gone = [p for p in packages if not p.folder.is_dir()]
    for absent in gone:
        yield warn(
            "vendor.registered",
            f"{absent.registered_by} names {absent.folder}, which is no folder",
            f"ascendfa uninstall {absent.vendor}"
            if absent.registered_by == "config.ini"
            else "correct ASCEND_CUSTOM_OPP_PATH",
        )
    package = context.package
    if package is None:
        context.usable = False
        yield _unregistered(context, packages)
        return
    yield ok("vendor.registered", f"{package.vendor} by {package.registered_by}: {package.folder}")
    yield _readable(context, package)
    yield _owner(context, package)
    yield _duplicates(packages, package)


def _unregistered(context: Context, packages: list[Package]) -> Result:
    assert context.tree is not None
    # A vendor folder one level too high or too low is the classic mistake.
    for package in packages:
        nested = [*package.folder.glob("vendors/*"), *package.folder.glob("*")]
        for candidate in nested:
            if vendor_at(candidate) is not None:
                return fail(
                    "vendor.registered",
                    f"{package.registered_by} names {package.folder}, but the package is in "
                    f"{candidate}",
                    f"export ASCEND_CUSTOM_OPP_PATH={candidate}",
                )
    folder = context.tree.opp(context.environ) / "vendors"
    for candidate in sorted(folder.glob("*")) if folder.is_dir() else []:
        if vendor_at(candidate) is not None and defines_attention(Package(candidate)):
            return fail(
                "vendor.registered",
                f"{candidate} is there, but {folder / 'config.ini'} does not list it",
                f"add {candidate.name} to load_priority= in {folder / 'config.ini'}",
            )
    others = ", ".join(p.vendor for p in packages if p.folder.is_dir())
    return fail(
        "vendor.registered",
        "no registered package has FlashAttention"
        + (f"; registered are {others}" if others else "; none is registered"),
        _INSTALL,
    )


def _mode_allows(path: Path, uid: int, wanted: int) -> bool:
    """Whether the mode bits allow a user what `wanted` says, as bits for others."""
    status = path.stat()
    if uid == 0:
        return True
    if status.st_uid == uid:
        return status.st_mode >> 6 & wanted == wanted
    groups = {os.getegid(), *os.getgroups()} if uid == os.geteuid() else set()
    if status.st_gid in groups:
        return status.st_mode >> 3 & wanted == wanted
    return status.st_mode & wanted == wanted


def _readable(context: Context, package: Package) -> Result:
    fix = f"sudo chmod -R a+rX {package.folder}"
    for ancestor in (package.folder, *package.folder.resolve().parents):
        if not _mode_allows(ancestor, context.uid, 1):
            return fail("vendor.readable", f"this user may not enter {ancestor}", fix)
    for folder, names, files in os.walk(package.folder):
        for name in names:
            path = Path(folder) / name
            if not _mode_allows(path, context.uid, 5):
                return fail("vendor.readable", f"this user may not read {path}", fix)
        for name in files:
            path = Path(folder) / name
            if path.exists() and not _mode_allows(path, context.uid, 4):
                return fail("vendor.readable", f"this user may not read {path}", fix)
    return ok("vendor.readable", "every file is readable by this user")


def _owner(context: Context, package: Package) -> Result:
    library = package.op_api if package.op_api.exists() else package.folder
    status = library.stat()
    # CANN refuses to load libraries of a third user, who could change what this one runs.
    if status.st_uid not in (0, context.uid):
        return fail(
            "vendor.owner",
            f"{library} belongs to uid {status.st_uid}, neither root nor this user ({context.uid})",
            f"sudo chown -R root: {package.folder}",
        )
    if status.st_mode & (stat.S_IWOTH):
        return warn(
            "vendor.owner", f"{library} is writable by everybody", f"chmod -R o-w {package.folder}"
        )
    return ok("vendor.owner", f"uid {status.st_uid}")


def _duplicates(packages: list[Package], winner: Package) -> Result:
    attention = [p for p in packages if p.folder.is_dir() and defines_attention(p)]
    distinct: list[Package] = []
    for package in attention:
        if not any(package.folder.samefile(seen.folder) for seen in distinct):
            distinct.append(package)
    if len(distinct) < 2:
        return ok("vendor.duplicates", "one package has FlashAttention")
    losers = ", ".join(str(p.folder) for p in distinct[1:])
    return warn(
        "vendor.duplicates",
        f"{len(distinct)} packages have FlashAttention; {winner.folder} wins "
        f"({winner.registered_by}), hiding {losers}",
        f"ascendfa uninstall {distinct[1].vendor}, or take it off ASCEND_CUSTOM_OPP_PATH",
    )
