"""Changing a vendors/ tree: a package in or out, the list of vendors kept, all or nothing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ascendfa.cli.packages import load_priority, vendor_at
from ascendfa.errors import ConfigError, ToolkitError

__all__ = ["Installed", "add", "remove", "unpacked"]

_EXTRACT_SECONDS: Final = 600

SET_ENV: Final = """#!/bin/bash
# Puts this vendor's operators in front of the installed ones: source it.
vendor_root="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." && pwd)"
export ASCEND_CUSTOM_OPP_PATH="${vendor_root}${ASCEND_CUSTOM_OPP_PATH:+:${ASCEND_CUSTOM_OPP_PATH}}"
export LD_LIBRARY_PATH="${vendor_root}/op_api/lib${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
unset vendor_root
"""


@dataclass(frozen=True)
class Installed:
    """What `add` did.

    Attributes
    ----------
    folder
        The vendor's folder.
    replaced
        Whether there was one before.
    priority
        Vendors of config.ini in order; empty when it was left alone.
    """

    folder: Path
    replaced: bool
    priority: tuple[str, ...]


@contextlib.contextmanager
def unpacked(package: Path) -> Iterator[Path]:
    """Yield the vendor folder inside a package, unpacked if need be.

    Parameters
    ----------
    package
        A ``.run`` installer, a tar archive, or a folder: of the vendor, or one that holds
        ``vendors/<vendor>``.

    Raises
    ------
    ToolkitError
        If it cannot be unpacked, or holds no package or several.
    """
    if not package.exists():
        raise ToolkitError(f"{package} does not exist")
    with tempfile.TemporaryDirectory(prefix="ascendfa-") as folder:
        root = package if package.is_dir() else Path(folder)
        if not package.is_dir():
            _unpack(package, root)
        found = _vendor_folders(root)
        if len(found) != 1:
            names = ", ".join(str(f) for f in found) or "none"
            raise ToolkitError(
                f"{package} has to hold one vendor's package (vendors/<vendor> with "
                f"op_api/lib/libcust_opapi.so); found {names}"
            )
        yield found[0]


def _vendor_folders(root: Path) -> list[Path]:
    if vendor_at(root) is not None:
        return [root.resolve()]
    folders = [*root.glob("vendors/*"), *root.glob("packages/vendors/*")]
    return sorted(f for f in folders if vendor_at(f) is not None and not f.name.startswith("."))


def _unpack(package: Path, target: Path) -> None:
    try:
        if tarfile.is_tarfile(package):
            with tarfile.open(package) as archive:
                _refuse_escapes(archive, package)
                if hasattr(tarfile, "data_filter"):
                    archive.extraction_filter = tarfile.data_filter
                archive.extractall(target)
            return
        with package.open("rb") as stream:
            head = stream.read(1 << 16)
    except (OSError, tarfile.TarError) as error:
        raise ToolkitError(f"{package} cannot be read: {error}") from error
    if not head.startswith(b"#!"):
        raise ToolkitError(f"{package} is no .run installer, no tar archive and no folder")
    # A makeself archive would go on to run its own installer.
    options = ["--noexec"] if b"akeself" in head else []
    command = ["bash", str(package), *options, f"--extract={target}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_EXTRACT_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ToolkitError(f"{package} did not unpack within {_EXTRACT_SECONDS} s") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise ToolkitError(f"{package} did not unpack (code {done.returncode}): {said}")


def _refuse_escapes(archive: tarfile.TarFile, package: Path) -> None:
    for member in archive.getmembers():
        inside = not member.name.startswith("/") and ".." not in Path(member.name).parts
        if not inside or not (member.isfile() or member.isdir()):
            raise ToolkitError(
                f"{package}: member {member.name} is no plain file inside the archive"
            )


@contextlib.contextmanager
def _locked(vendors: Path) -> Iterator[None]:
    """Keep a second installation out; the lock goes with the process, whatever becomes of it."""
    descriptor = os.open(vendors, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ToolkitError(f"another installation is changing {vendors}") from None
        yield
    finally:
        os.close(descriptor)


def add(source: Path, target: Path, *, register: bool) -> Installed:
    """Copy a vendor folder into ``target/vendors``; if anything fails, the old state stays.

    Parameters
    ----------
    source
        The vendor folder to copy.
    target
        Folder that holds, or will hold, ``vendors``.
    register
        Put the vendor first in ``vendors/config.ini``.

    Raises
    ------
    ToolkitError
        Naming what could not be written.
    """
    vendors = target / "vendors"
    try:
        vendors.mkdir(parents=True, exist_ok=True)
        if not os.access(vendors, os.W_OK | os.X_OK):
            raise PermissionError(f"{vendors} is not writable by uid {os.geteuid()}")
        with _locked(vendors):
            return _add(source, vendors, register)
    except OSError as error:
        if isinstance(error, ToolkitError):
            raise
        raise ToolkitError(f"nothing was changed: {error}") from error


def _add(source: Path, vendors: Path, register: bool) -> Installed:
    final = vendors / source.name
    # On the same file system, so that putting it in place is one rename.
    staging = Path(tempfile.mkdtemp(prefix=f".{source.name}.", dir=vendors))
    try:
        fresh = staging / "new"
        shutil.copytree(source, fresh)
        script = fresh / "bin" / "set_env.bash"
        if not script.exists():
            script.parent.mkdir(exist_ok=True)
            script.write_text(SET_ENV, encoding="utf-8")
        open_to_readers(fresh)
        replaced = final.exists()
        if replaced:
            final.rename(staging / "old")
        try:
            fresh.rename(final)
            priority = _register(vendors, source.name) if register else ()
        except BaseException:
            if final.exists():
                final.rename(fresh)
            if replaced:
                (staging / "old").rename(final)
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return Installed(final, replaced, priority)


def open_to_readers(folder: Path) -> None:
    """Let every user read files and enter folders, and only the owner change them."""
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        readable = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH | stat.S_IWUSR
        enterable = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
        if path.is_dir() or mode & stat.S_IXUSR:
            readable |= enterable
        path.chmod(readable)


def _register(vendors: Path, vendor: str) -> tuple[str, ...]:
    others = [name for name in load_priority(vendors / "config.ini") if name != vendor]
    return _write_priority(vendors / "config.ini", [vendor, *others])


def _write_priority(config: Path, priority: list[str]) -> tuple[str, ...]:
    """Change the load_priority line and nothing else; without vendors or lines the file goes."""
    lines = config.read_text(encoding="utf-8").splitlines() if config.exists() else []
    wanted = f"load_priority={','.join(priority)}"
    places = [i for i, line in enumerate(lines) if line.partition("=")[0].strip() == wanted[:13]]
    if places:
        lines[places[0]] = wanted
    else:
        lines.append(wanted)
    if not priority and all(line in ("", wanted) for line in lines):
        config.unlink(missing_ok=True)
        return ()
    mode = config.stat().st_mode & 0o777 if config.exists() else 0o644
    fresh = config.with_name(f".config.ini.{os.getpid()}")
    try:
        fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
        fresh.chmod(mode | 0o444)
        fresh.replace(config)
    finally:
        fresh.unlink(missing_ok=True)
    return tuple(priority)


def remove(target: Path, vendor: str) -> Path:
    """Take a vendor out of ``target/vendors`` and out of its config.ini.

    Returns
    -------
    Path
        The folder that is gone.

    Raises
    ------
    ConfigError
        If the name is no vendor's, or could lead out of the tree.
    ToolkitError
        If something cannot be removed; then the old state stays.
    """
    vendors = target / "vendors"
    if Path(vendor).name != vendor or vendor.startswith("."):
        raise ConfigError(f"'{vendor}' is no vendor name")
    folder = vendors / vendor
    try:
        listed = vendor in load_priority(vendors / "config.ini")
        if not folder.is_dir() and not listed:
            known = sorted(p.name for p in vendors.glob("*") if vendor_at(p) is not None)
            raise ConfigError(
                f"{vendors} has no vendor '{vendor}'; there are {', '.join(known) or 'none'}"
            )
        if folder.is_dir() and vendor_at(folder) is None:
            raise ConfigError(f"{folder} is no operator package; it was left alone")
        with _locked(vendors):
            _remove(vendors, folder, listed)
    except OSError as error:
        if isinstance(error, ToolkitError):
            raise
        raise ToolkitError(f"nothing was removed: {error}") from error
    return folder


def _remove(vendors: Path, folder: Path, listed: bool) -> None:
    staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=vendors))
    try:
        moved = folder.is_dir()
        if moved:
            folder.rename(staging / "old")
        try:
            if listed:
                config = vendors / "config.ini"
                _write_priority(config, [n for n in load_priority(config) if n != folder.name])
        except BaseException:
            if moved:
                (staging / "old").rename(folder)
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)
