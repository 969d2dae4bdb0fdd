"""The ASC compiler driver: `ascc -c kernel.asc -o kernel.o --npu-arch=dav-2201`.

A source is compiled once for the host and once for each kind of core its kernels run on. The
passes for the cores give shared objects, which the host object carries as data; the first launch
loads them. With -dc the host object carries relocatable device objects instead, and linking joins
them into one image per kind of core.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import rewrite
from options import DriverError, Options, parse
from rewrite import Kernel, RewriteError

TOOLKIT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOOLKIT / "compiler/tikcpp/ascendc_kernel_cmake/util"))
import compile_kernel  # noqa: E402  (lies elsewhere in the toolkit)

CXX = os.environ.get("ASCC_HOST_COMPILER", "g++")
# The real compiler is built on clang. What g++ says of code that only clang takes:
CLANG_ONLY = (
    "explicit specialization in non-namespace scope",
    "template parameters not deducible in partial specialization",
)
CLANGS = ["clang++", *(f"clang++-{version}" for version in range(21, 13, -1))]
RDC_MODULE = "dav_asc_module_linked"
# Built into the device compiler, known before any header is read.
QUALIFIERS = [
    "__gm__",
    "__ubuf__",
    "__cbuf__",
    "__ca__",
    "__cb__",
    "__cc__",
    "__biasbuf__",
    "__fbuf__",
    "__aicore__",
    "__host_aicore__",
    "__sync_alias__",
    "__sync_noalias__",
]


def run(command: list[str], **keywords: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    if done.returncode != 0:
        what = f"failed: {' '.join(command[:2])} ... ({command[-1]})"
        raise DriverError(what, output=done.stderr)
    sys.stderr.write(done.stderr)
    return done.stdout


def is_clang(compiler: str) -> bool:
    return (
        "clang"
        in subprocess.run(
            [compiler, "--version"], capture_output=True, text=True, check=False
        ).stdout
    )


class Source:
    """One ASC source on its way to an object."""

    def __init__(self, options: Options, path: Path, folder: Path, output: Path) -> None:
        self.cxx = CXX
        self.options = options
        self.path = path
        self.folder = folder
        self.output = output
        digest = hashlib.sha256(str(output.absolute()).encode()).hexdigest()[:16]
        self.module = RDC_MODULE if options.relocatable else f"dav_asc_module_{digest}"
        self.number = int(digest[:11], 16) << 16
        self.standard = (
            [] if any(o.startswith("-std=") for o in options.compile) else ["-std=c++17"]
        )

    def preprocess(self, core: str) -> str:
        kind = "aiv" if core == "host" else core
        defines = ["-D__CCE__", *(f"-D{name}=" for name in QUALIFIERS)]
        defines += [f"-D{name}={marker}" for name, marker in rewrite.MARKERS.items()]
        if core != "host":
            defines.append("-DDAV_ASC_DEVICE")
        command = [
            self.cxx,
            "-E",
            "-x",
            "c++",
            *self.standard,
            *self.options.compile,
            "-D__DAV_KERNEL_SCAN__",
            *defines,
            *compile_kernel.core_macros(self.options.arch, kind),
            "-isystem",
            str(TOOLKIT / "include"),
            "-include",
            "dav/asc_prologue.h",
            str(self.path),
        ]
        if core == "host" and self.options.depend:
            depend = self.options.depend
            if "-MT" not in depend and "-MQ" not in depend:
                depend = [*depend, "-MT", str(self.output)]
            if "-MF" not in depend:
                depend = [*depend, "-MF", str(self.output.with_suffix(".d"))]
            command[2:2] = depend
        return run(command)

    def compile(self) -> None:
        try:
            self.compile_passes()
        except DriverError as error:
            if "ASCC_HOST_COMPILER" in os.environ or not any(
                sign in error.output for sign in CLANG_ONLY
            ):
                raise
            clang = next(filter(None, map(shutil.which, CLANGS)), None)
            if clang is None:
                raise DriverError(
                    f"{self.path} needs clang++, as the real compiler is one; install it "
                    "(Debian, Ubuntu: apt-get install clang)",
                    output=error.output,
                ) from error
            self.cxx = clang
            self.compile_passes()

    def compile_passes(self) -> None:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            cores = ["host", "aiv"] + (["aic"] if self.options.arch != "1001" else [])
            texts = dict(zip(cores, pool.map(self.preprocess, cores), strict=True))
            kernels = {core: rewrite.find_kernels(text) for core, text in texts.items()}
            for found in kernels.values():
                self.settle_types(found, texts["host"])
            if self.options.arch == "1001":
                texts["aic"], kernels["aic"] = texts.pop("aiv"), kernels.pop("aiv")
            wanted = {
                core
                for kernel in kernels["host"].values()
                for core in rewrite.TYPES[str(kernel.type)]
            }
            if self.options.relocatable:
                wanted = set(texts) - {"host"}
            passes = [core for core in texts if core == "host" or core in wanted]
            objects = pool.map(
                lambda core: self.compile_pass(core, texts[core], kernels[core]), passes
            )
            outputs = dict(zip(passes, objects, strict=True))
        self.embed(outputs)

    def settle_types(self, kernels: dict[str, Kernel], host_text: str) -> None:
        for kernel in kernels.values():
            if self.options.arch == "1001":
                kernel.type = "Coupled"
            elif kernel.type is None:
                kernel.type = rewrite.TASK_TYPES[compile_kernel.guess_type(host_text, TOOLKIT)]

    def compile_pass(self, core: str, text: str, kernels: dict[str, Kernel]) -> Path:
        rewritten = self.folder / f"{core}.ii"
        rewritten.write_text(
            f'extern "C" __attribute__((visibility("hidden"))) const '
            f"dav::asc::Module {self.module};\n".join(
                split_after_prologue(rewrite.rewrite(text, kernels, core, self.module, self.number))
            )
        )
        command = [self.cxx, "-x", "c++-cpp-output", *self.standard, *self.options.compile]
        if is_clang(self.cxx):  # the preprocessor's options are of no use any more
            command.append("-Wno-unused-command-line-argument")
        if core == "host":
            target = self.folder / "host.o"
            run([*command, "-c", str(rewritten), "-o", str(target)])
            return target
        # Host functions stay in the image, hidden, so that the linker drops what no entry needs.
        command += [
            *compile_kernel.DEVICE_FLAGS,
            "-fno-builtin-printf",
            *([] if is_clang(self.cxx) else ["-fno-gnu-unique", *compile_kernel.GCC_DEVICE_FLAGS]),
            "-ffunction-sections",
            "-fdata-sections",
            "-w",
        ]
        if self.options.relocatable:
            target = self.folder / f"{core}.o"
            run([*command, "-c", str(rewritten), "-o", str(target)])
            return target
        return link_image([*command, str(rewritten)], self.folder / f"{core}.so")

    def embed(self, outputs: dict[str, Path]) -> None:
        if self.options.relocatable:
            sections = [
                f"--add-section=.dav_device_{core}={path}"
                for core, path in outputs.items()
                if core != "host"
            ]
            run(["objcopy", *sections, str(outputs["host"]), str(self.output)])
            return
        blob = assemble_module(self.folder, self.module, self.options, outputs)
        run(["ld", "-r", str(outputs["host"]), str(blob), "-o", str(self.output)])


def split_after_prologue(text: str) -> tuple[str, str]:
    """Where the declaration of the module may go: behind the prologue, before the source."""
    mark = text.index("__dav_prologue_ends__")
    line = text.index("\n", mark) + 1
    return text[: text.rindex("\n", 0, mark) + 1] + "\n", text[line:]


def link_image(command: list[str], target: Path) -> Path:
    # What only host functions call is never reached in an image and stays undefined.
    run(
        [
            *command,
            "-shared",
            "-Wl,-Bsymbolic",
            "-Wl,--gc-sections",
            "-Wl,--unresolved-symbols=ignore-all",
            f"-L{TOOLKIT / 'lib64'}",
            "-ldavinci_emulator",
            "-o",
            str(target),
        ]
    )
    return target


def assemble_module(folder: Path, module: str, options: Options, images: dict[str, Path]) -> Path:
    lines = [
        '.section .note.GNU-stack,"",@progbits',
        '.section .dav_images,"a",@progbits',
        ".balign 64",
    ]
    for core in ("aic", "aiv"):
        lines.append(f".L{core}_begin:")
        if core in images:
            lines.append(f'.incbin "{images[core]}"')
        lines += [f".L{core}_end:", ".balign 64"]
    lines += [
        '.section .data.rel.ro,"aw",@progbits',
        ".balign 8",
        f".globl {module}",
        f".hidden {module}",
        f"{module}:",
        f".long {options.arch}, {int(options.auto_sync)}",
        ".quad .Laic_begin, .Laic_end, .Laiv_begin, .Laiv_end",
    ]
    source = folder / "module.s"
    source.write_text("\n".join(lines) + "\n")
    target = folder / "module.o"
    run(["as", str(source), "-o", str(target)])
    return target


def linked_module(options: Options, objects: list[str], folder: Path) -> list[str]:
    """The module of objects compiled with -dc, as an object to link with; none without them."""
    parts: dict[str, list[str]] = {"aic": [], "aiv": []}
    for index, name in enumerate(objects):
        if not name.endswith((".o", ".obj")) or b".dav_device_" not in Path(name).read_bytes():
            continue
        for core, found in parts.items():
            part = folder / f"{core}_{index}.o"
            run(
                [
                    "objcopy",
                    "-O",
                    "binary",
                    "--set-section-flags",
                    f".dav_device_{core}=alloc",
                    f"--only-section=.dav_device_{core}",
                    name,
                    str(part),
                ]
            )
            if part.exists() and part.stat().st_size:
                found.append(str(part))
    images = {
        core: link_image([CXX, *found], folder / f"{core}_linked.so")
        for core, found in parts.items()
        if found
    }
    if not images:
        return []
    return [str(assemble_module(folder, RDC_MODULE, options, images))]


def build(options: Options, folder: Path) -> None:
    objects: list[str] = []
    for index, (path, language) in enumerate(options.sources):
        if options.compile_only and options.output:
            target = Path(options.output)
        elif options.compile_only:
            target = Path(path.stem + ".o")
        else:
            target = folder / f"{index}_{path.stem}.o"
        objects.append(str(target))
        if path.suffix == ".asc" or language == "asc":
            work = folder / str(index)
            work.mkdir()
            source = Source(options, path, work, target)
            if options.preprocess:
                sys.stdout.write(source.preprocess("host"))
                return
            source.compile()
        else:
            run(
                [
                    CXX,
                    *options.compile,
                    f"-I{TOOLKIT / 'include'}",
                    *options.depend,
                    "-c",
                    str(path),
                    "-o",
                    str(target),
                ]
            )
    if options.compile_only:
        return
    output = options.output or "a.out"
    if options.archive:
        run(["ar", "rcs", output, *objects])
        return
    inputs = objects + options.link
    inputs += linked_module(options, [name for name in inputs if not name.startswith("-")], folder)
    library = TOOLKIT / "lib64"
    run(
        [
            CXX,
            *(["-shared"] if options.shared else []),
            *options.compile,
            *inputs,
            f"-L{library}",
            f"-Wl,-rpath,{library}",
            "-Wl,--no-as-needed",
            "-lascendcl",
            "-ldavinci_emulator",
            "-Wl,--as-needed",
            "-lnnopbase",
            "-ldl",
            "-lpthread",
            "-o",
            output,
        ]
    )


def main() -> int:
    if sys.argv[1:] in (["--version"], ["-v"]):
        print(f"ascc (Da Vinci emulator), host compiler: {run([CXX, '--version']).splitlines()[0]}")
        return 0
    try:
        options = parse(sys.argv[1:])
        with tempfile.TemporaryDirectory(prefix="ascc-") as folder:
            build(options, Path(folder))
    except (DriverError, RewriteError) as error:
        sys.stderr.write(getattr(error, "output", ""))
        sys.stderr.write(f"ascc: error: {error}\n")
        return 1
    return 0
