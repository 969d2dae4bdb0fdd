#!/usr/bin/env python3
"""Compile one op's kernel for one chip.

Once per dtype combination and, on chips whose cube and vector cores are separate, once per core
kind. Writes shared objects and the JSON the executor selects them by.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import fcntl
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from op_description import (
    CompileError,
    Op,
    Port,
    Row,
    combination_macros,
    combinations,
    ops_info_json,
    read_ini,
    read_op,
)

ARCH = {"ascend910": "1001", "ascend910b": "2201", "ascend910_93": "2201"}

# Kernel type -> core kinds with a binary of their own.
SPLIT_TYPES = {
    "KERNEL_TYPE_AIV_ONLY": ("aiv",),
    "KERNEL_TYPE_AIC_ONLY": ("aic",),
    "KERNEL_TYPE_MIX_AIV_1_0": ("aiv",),
    "KERNEL_TYPE_MIX_AIC_1_0": ("aic",),
    "KERNEL_TYPE_MIX_AIC_1_1": ("aic", "aiv"),
    "KERNEL_TYPE_MIX_AIC_1_2": ("aic", "aiv"),
}
COUPLED_TYPE = "KERNEL_TYPE_AICORE"

# What only the cube or only the vector unit does; decides for kernels that state no type.
CUBE_CALLS = re.compile(r"\b(Mmad|LoadData\w*|Fixpipe|Matmul\w*|MatmulImpl)\s*[<(]")
VECTOR_CALLS = re.compile(
    r"\b(Add|Sub|Mul|Div|Max|Min|Exp|Ln|Abs|Relu|Adds|Muls|Cast|Duplicate|ReduceSum|ReduceMax|"
    r"WholeReduce\w+|BlockReduce\w+|Select|Compare|Sqrt|Rsqrt|Reciprocal|And|Or|Not|Copy|Brcb|"
    r"Transpose|Gather\w*|Axpy|LeakyRelu|Sort32|MrgSort\w*)\s*[<(]"
)


# For code that runs on the cores, apart from the language standard: frame pointers and line tables
# are what reports walk and name.
DEVICE_FLAGS = [
    "-O2",
    "-g1",
    "-fno-omit-frame-pointer",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-optimize-sibling-calls",
]
# g++ merges equal tails of different branches, and reports would name the wrong one's line.
GCC_DEVICE_FLAGS = ["-fno-crossjumping", "-fno-tree-tail-merge"]


@functools.cache
def is_clang(cxx: str) -> bool:
    """Tell clang from g++, whatever the command is called."""
    done = subprocess.run([cxx, "--version"], capture_output=True, text=True, check=False)
    return "clang" in done.stdout


def core_macros(arch: str, core: str) -> list[str]:
    """Define what tells a kernel its chip and core kind."""
    if arch == "1001":
        return ["-D__NPU_ARCH__=1001", "-D__CCE_AICORE__=100", "-D__DAV_C100__"]
    macros = [f"-D__NPU_ARCH__={arch}", "-D__CCE_AICORE__=220"]
    if core == "aic":
        return [*macros, "-D__DAV_CUBE__", "-D__DAV_C220_CUBE__"]
    return [*macros, "-D__DAV_VEC__", "-D__DAV_C220_VEC__"]


def guess_type(preprocessed: str, toolkit: Path) -> str:
    """Tell the kernel type by the units the source calls, headers left out."""
    own: list[str] = []
    headers = str(toolkit / "include")
    keep = False
    for line in preprocessed.splitlines():
        if line.startswith("# "):
            name = line.split('"')[1] if '"' in line else ""
            keep = not name.startswith((headers, "/usr/", "<"))
        elif keep:
            own.append(line)
    text = "\n".join(own)
    cube, vector = bool(CUBE_CALLS.search(text)), bool(VECTOR_CALLS.search(text))
    if cube and vector:
        return "KERNEL_TYPE_MIX_AIC_1_2"
    return "KERNEL_TYPE_AIC_ONLY" if cube else "KERNEL_TYPE_AIV_ONLY"


def entry_source(op: Op, source: Path, tiling_data: Path) -> str:
    """Wrap the kernel in an entry of a fixed signature.

    args[i] points at argument i, the tiling key comes last. `tiling_data` is the generated struct
    of an op that declares its tiling data by macros.
    """
    struct = f'#include "{tiling_data}"\n' if tiling_data.exists() else ""
    count = len(op.ports) + 2
    arguments = ", ".join(f"*static_cast<uint8_t**>(args[{i}])" for i in range(count))
    workspace = len(op.ports)
    return (
        f'{struct}#include "{source}"\n'
        '#include "ascendc/tiling.h"\n'
        'extern "C" __attribute__((visibility("default")))\n'
        "void dav_kernel_entry(void** args) {\n"
        f"  dav::kernel_tiling_key = *static_cast<uint64_t*>(args[{count}]);\n"
        f"  AscendC::SetSysWorkspaceForce(*static_cast<uint8_t**>(args[{workspace}]));\n"
        f"  {op.file}({arguments});\n"
        "}\n"
    )


class Compiler:
    """Compiles one source; objects are shared by what has the same command."""

    def __init__(self, args: argparse.Namespace, op: Op, source: Path) -> None:
        self.args = args
        self.op = op
        self.source = source
        self.arch = ARCH[args.compute_unit]
        # Options only the device compiler understands have no meaning here.
        self.options = [
            option
            for option in args.options.split(";")
            if option.startswith(("-D", "-I", "-U", "-O"))
        ]
        self.entry = args.cache / f"{op.file}_entry.cpp"
        tiling_data = args.ops_info.parent / f"{op.file}_tiling_data.h"
        text = entry_source(op, source, tiling_data)
        if not self.entry.exists() or self.entry.read_text() != text:
            self.entry.write_text(text)
        self.dependencies: set[str] = set()

    def flags(self, row: Row, core: str) -> list[str]:
        """Compiler flags of one combination on one core kind."""
        return [
            "-std=c++17",
            *DEVICE_FLAGS,
            *([] if is_clang(self.args.cxx) else GCC_DEVICE_FLAGS),
            f"-I{self.args.toolkit / 'include'}",
            f"-I{self.source.parent}",
            f"-I{self.args.base}",
            *core_macros(self.arch, core),
            *combination_macros(self.op, row),
            *self.options,
        ]

    def run(self, command: list[str]) -> str:
        """Run the compiler; its complaints become the error's text."""
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompileError(f"{shlex.join(command)}\n{done.stderr}")
        if done.stderr:
            sys.stderr.write(done.stderr)
        return done.stdout

    def task_types(self, row: Row) -> tuple[str, dict[str, str]]:
        """Find the default kernel type and the types of single tiling keys in the source."""
        if self.arch == "1001":
            return COUPLED_TYPE, {}
        text = self.run(
            [self.args.cxx, "-E", "-D__DAV_KERNEL_SCAN__", *self.flags(row, "aiv"), str(self.entry)]
        )
        default = re.search(r"__dav_kernel_type_default\(\s*(\w+)\s*\)", text)
        by_key = {
            key.strip(): kind
            for key, kind in re.findall(r"__dav_kernel_type\(\s*([^,]+?)\s*,\s*(\w+)\s*\)", text)
        }
        kind = default.group(1) if default else guess_type(text, self.args.toolkit)
        for name in [kind, *by_key.values()]:
            if name not in SPLIT_TYPES:
                raise CompileError(
                    f"{self.source}: kernel type {name} is not supported on "
                    f"{self.args.compute_unit}; supported: {', '.join(SPLIT_TYPES)}"
                )
        return kind, by_key

    def object_for(self, row: Row, core: str) -> Path:
        """Compile unless an object with the same command and the same inputs exists.

        Chips of one architecture share it.
        """
        flags = self.flags(row, core)
        key = hashlib.sha256("\0".join([self.args.cxx, *flags, str(self.source)]).encode())
        target = self.args.cache / f"{self.op.file}_{key.hexdigest()[:16]}.so"
        depfile = target.with_suffix(".d")
        lock_path = target.with_suffix(".lock")
        with lock_path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.fresh(target, depfile):
                temporary = target.with_suffix(f".{os.getpid()}.tmp")
                self.run(
                    [
                        self.args.cxx,
                        *flags,
                        "-shared",
                        "-Wl,-Bsymbolic",
                        "-Wl,--no-undefined",
                        "-MD",
                        "-MF",
                        str(depfile),
                        str(self.entry),
                        f"-L{self.args.toolkit / 'lib64'}",
                        "-ldavinci_emulator",
                        f"-Wl,-rpath-link,{self.args.toolkit / 'lib64'}",
                        "-o",
                        str(temporary),
                    ]
                )
                temporary.replace(target)
        self.dependencies.update(read_depfile(depfile))
        return target

    def fresh(self, target: Path, depfile: Path) -> bool:
        """Tell whether an object is newer than everything it was made of."""
        if not target.exists() or not depfile.exists():
            return False
        built = target.stat().st_mtime_ns
        return all(
            os.path.exists(name) and os.stat(name).st_mtime_ns <= built
            for name in read_depfile(depfile)
        )


def read_depfile(path: Path) -> list[str]:
    """Read the prerequisites out of a compiler's dependency file."""
    text = path.read_text().replace("\\\n", " ").replace("\\ ", "\0")
    return [name.replace("\0", " ") for name in text.split(":", 1)[1].split()]


def build_row(compiler: Compiler, row: Row, folder: Path) -> dict[str, object]:
    """Build one combination: its objects and the JSON that describes them."""
    op, args = compiler.op, compiler.args
    default, by_key = compiler.task_types(row)
    if compiler.arch == "1001":
        cores: tuple[str, ...] = ("aic",)
    else:
        cores = tuple(
            sorted({core for kind in [default, *by_key.values()] for core in SPLIT_TYPES[kind]})
        )
    digest = hashlib.sha256(repr((op.op_type, row)).encode()).hexdigest()[:32]
    stem = f"{op.op_type}_{digest}"
    binaries = {}
    for core in cores:
        name = f"{stem}_{core}.so" if len(cores) > 1 else f"{stem}.so"
        temporary = folder / f".{name}.tmp"
        shutil.copy2(compiler.object_for(row, core), temporary)
        temporary.replace(folder / name)
        binaries[core] = name

    def describe(port: Port, cell: tuple[str, str]) -> dict[str, str]:
        return {"name": port.name, "dtype": cell[0], "format": cell[1], "paramType": port.presence}

    split = len(op.inputs)
    info = {
        "binFileName": stem,
        "binFileSuffix": ".so",
        "kernelName": op.file,
        "opType": op.op_type,
        "computeUnit": args.compute_unit,
        "architecture": f"dav-{compiler.arch}",
        "taskType": default,
        "taskTypeByKey": by_key,
        "binaries": binaries,
        "supportInfo": {
            "inputs": [describe(p, c) for p, c in zip(op.inputs, row[:split], strict=True)],
            "outputs": [describe(p, c) for p, c in zip(op.outputs, row[split:], strict=True)],
        },
    }
    write_json(folder / f"{stem}.json", info)
    return info


def write_json(path: Path, value: object) -> None:
    """Write a file that is either whole or not there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(value, indent=2) + "\n")
    temporary.replace(path)


def update_index(path: Path, op_type: str, infos: list[dict[str, object]], folder: str) -> None:
    """Enter an op in binary_info_config.json, which several compilers may be writing to."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        index = json.loads(path.read_text()) if path.exists() else {}
        index[op_type] = {
            "binaryList": [{"binPath": f"{folder}/{info['binFileName']}.json"} for info in infos]
        }
        write_json(path, index)
    path.with_suffix(".lock").unlink(missing_ok=True)


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("toolkit", "ops-info", "base", "output", "cache", "stamp", "depfile"):
        parser.add_argument(f"--{name}", type=lambda text: Path(text).absolute(), required=True)
    for name in ("cxx", "op-type", "compute-unit"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--file", default="", help="kernel source, relative to --base")
    parser.add_argument("--options", default="", help="compiler options, separated by ';'")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> int:
    """Compile every combination of one op for one chip."""
    args = parse_arguments()
    if args.compute_unit not in ARCH:
        raise CompileError(
            f"compute unit {args.compute_unit} is not supported; supported: {', '.join(ARCH)}"
        )
    ini = read_ini(args.ops_info)
    op = read_op(ini, args.op_type, args.ops_info)
    source = args.base / (args.file or f"{op.file}.cpp")
    if not source.exists():
        raise CompileError(f"{source}: no such file; the kernel of {op.op_type} is expected there")
    folder = args.output / "kernel" / args.compute_unit / op.file
    config = args.output / "kernel" / "config" / args.compute_unit
    for path in (folder, config, args.cache, args.stamp.parent):
        path.mkdir(parents=True, exist_ok=True)
    for stale in folder.iterdir():
        stale.unlink()

    compiler = Compiler(args, op, source)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        infos = list(pool.map(lambda row: build_row(compiler, row, folder), combinations(op)))

    write_json(config / f"{op.file}.json", {"binList": infos})
    update_index(
        config / "binary_info_config.json", op.op_type, infos, f"{args.compute_unit}/{op.file}"
    )
    write_json(args.output / f"aic-{args.compute_unit}-ops-info.json", ops_info_json(ini))
    prerequisites = " ".join(name.replace(" ", "\\ ") for name in sorted(compiler.dependencies))
    args.depfile.write_text(f"{args.stamp}: {prerequisites}\n")
    args.stamp.write_text("\n".join(str(info["binFileName"]) for info in infos) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CompileError as error:
        sys.stderr.write(f"compile_kernel: {error}\n")
        sys.exit(1)
