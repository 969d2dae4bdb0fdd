"""Command line of the ASC compiler driver."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

ARCHITECTURES = ("2201", "1001")
SOURCE_SUFFIXES = {".asc", ".cpp", ".cc", ".cxx", ".c"}
# Options of the real compiler that have no meaning here.
IGNORED = re.compile(
    r"--(sanitizer|run-mode=npu|npu-soc=.*|cce-.*|gcc-toolchain=.*)$|"
    r"-fuse-ld=.*$|-xcce$"
)
IGNORED_WITH_VALUE = {"-mllvm", "-Xaicore-start", "-Xaicore-end", "-Xhost-start", "-Xhost-end"}
WITH_VALUE = {
    "-I",
    "-D",
    "-U",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-L",
    "-l",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-rpath",
    "-u",
    "-T",
    "-z",
}


class DriverError(Exception):
    """The command cannot be carried out; the text is for the user, after what a tool printed."""

    def __init__(self, text: str, output: str = "") -> None:
        super().__init__(text)
        self.output = output


@dataclass
class Options:
    arch: str = os.environ.get("ASCC_NPU_ARCH", "2201")
    output: str = ""
    compile_only: bool = False
    relocatable: bool = False
    shared: bool = False
    archive: bool = False
    preprocess: bool = False
    auto_sync: bool = True
    language: str = ""
    sources: list[tuple[Path, str]] = field(default_factory=list)
    compile: list[str] = field(default_factory=list)  # for every pass
    depend: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)  # objects, libraries and linker options in order


def parse(arguments: list[str]) -> Options:
    options = Options()
    words = iter(arguments)
    for word in words:
        if word == "-o":
            options.output = next(words)
        elif word.startswith("--npu-arch="):
            options.arch = word.split("=", 1)[1].removeprefix("dav-")
        elif word in ("-c", "-dc"):
            options.compile_only = True
            options.relocatable |= word == "-dc"
        elif word in ("-shared", "--shared"):
            options.shared = True
        elif word in ("-lib", "--cce-build-static-lib"):
            options.archive = True
        elif word == "-E":
            options.preprocess = True
        elif word == "-x":
            options.language = next(words)
        elif word.startswith("--cce-auto-sync=") or word == "--cce-auto-sync":
            options.auto_sync = not word.endswith("=off")
        elif word in ("--enable-simt", "--run-mode=sim", "--run-mode=cpu"):
            raise DriverError(f"{word} is not supported by this toolkit")
        elif word in IGNORED_WITH_VALUE:
            if not word.endswith(("-start", "-end")):
                next(words)
        elif IGNORED.match(word):
            continue
        elif word in ("-MD", "-MMD"):
            options.depend.append(word)
        elif word in ("-MF", "-MT", "-MQ"):
            options.depend += [word, next(words)]
        elif word in ("-L", "-l", "-Xlinker", "-rpath", "-u", "-T", "-z"):
            options.link += [word, next(words)]
        elif word in WITH_VALUE:
            options.compile += [word, next(words)]
        elif word.startswith(("-L", "-l", "-Wl,", "-rdynamic", "-pthread", "-static")):
            options.link.append(word)
        elif word.startswith("-"):
            options.compile.append(word)
        elif Path(word).suffix in SOURCE_SUFFIXES:
            options.sources.append((Path(word), options.language))
        else:
            options.link.append(word)
    if options.arch not in ARCHITECTURES:
        raise DriverError(
            f"--npu-arch=dav-{options.arch} is not supported; supported: "
            + ", ".join(f"dav-{arch}" for arch in ARCHITECTURES)
        )
    if not options.sources and not options.link:
        raise DriverError("no input files")
    return options
