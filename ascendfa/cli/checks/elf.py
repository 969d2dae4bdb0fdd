"""The little of ELF that tells why a library does not open, without opening it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["MACHINES", "Elf", "missing_dependencies", "read"]

# e_machine by the name ``platform.machine()`` uses.
MACHINES: Final = {"x86_64": 62, "aarch64": 183}

_DYNAMIC, _NOBITS, _DYNSYM = 6, 8, 11
_NEEDED, _RPATH, _RUNPATH = 1, 15, 29
_DEFAULTS: Final = (
    "lib64",
    "usr/lib64",
    "lib",
    "usr/lib",
    "usr/local/lib",
    "lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
)


@dataclass(frozen=True)
class Elf:
    """What a shared library says of itself.

    Attributes
    ----------
    machine
        ``e_machine``.
    needed
        Names of libraries it links to.
    search
        Its RPATH or RUNPATH, with $ORIGIN filled in.
    exported
        Functions and objects it defines for others.
    """

    machine: int
    needed: tuple[str, ...]
    search: tuple[Path, ...]
    exported: frozenset[str]


def _text(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode(errors="replace")


def read(path: Path) -> Elf:
    """Read a shared library's dynamic section and symbols.

    Raises
    ------
    ValueError
        If it is no 64-bit little-endian ELF file, or is cut short.
    OSError
        If it cannot be read.
    """
    data = path.read_bytes()
    if data[:4] != b"\x7fELF":
        raise ValueError(f"{path} is no ELF file")
    if data[4:6] != b"\x02\x01":
        raise ValueError(f"{path} is not 64-bit little-endian")
    try:
        return _parse(data, path)
    except (struct.error, ValueError, IndexError):
        raise ValueError(f"{path} is damaged or cut short") from None


def _parse(data: bytes, path: Path) -> Elf:
    (machine,) = struct.unpack_from("<H", data, 18)
    (table_offset,) = struct.unpack_from("<Q", data, 40)
    entry_size, count = struct.unpack_from("<HH", data, 58)
    # name, type, flags, address, offset, size, link, info, alignment, entry size
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, table_offset + i * entry_size) for i in range(count)
    ]
    needed: list[str] = []
    search: list[Path] = []
    exported: set[str] = set()
    for section in sections:
        kind, offset, size, link = section[1], section[4], section[5], section[6]
        if kind not in (_DYNAMIC, _DYNSYM):
            continue
        strings = sections[link]
        names = data[strings[4] : strings[4] + strings[5]]
        if kind == _DYNAMIC:
            for tag, value in struct.iter_unpack("<qQ", data[offset : offset + size]):
                if tag == _NEEDED:
                    needed.append(_text(names, value))
                elif tag in (_RPATH, _RUNPATH):
                    origin = str(path.resolve().parent)
                    for folder in _text(names, value).split(":"):
                        filled = folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
                        search.append(Path(filled))
        else:
            symbols = struct.iter_unpack("<IBBHQQ", data[offset : offset + size])
            for name, bits, _, home, _, _ in symbols:
                if home != 0 and bits >> 4 in (1, 2):  # defined here; global or weak
                    exported.add(_text(names, name))
    return Elf(machine, tuple(needed), tuple(search), frozenset(exported))


def missing_dependencies(elf: Elf, library_path: str, also: tuple[Path, ...] = ()) -> list[str]:
    """Return the libraries a library needs that are in no folder the loader would search.

    Parameters
    ----------
    elf
        The library.
    library_path
        LD_LIBRARY_PATH.
    also
        Folders whose libraries are open by the time this one is.
    """
    folders = [*elf.search, *(Path(p) for p in library_path.split(":") if p), *also]
    folders += [Path("/") / d for d in _DEFAULTS]
    folders += _configured()
    return [name for name in elf.needed if not any((f / name).exists() for f in folders)]


def _configured() -> list[Path]:
    """Return the folders of ld.so.conf."""
    folders: list[Path] = []
    for file in sorted(Path("/etc/ld.so.conf.d").glob("*.conf")):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        folders += [Path(line.strip()) for line in lines if line.strip().startswith("/")]
    return folders
