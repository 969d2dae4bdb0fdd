"""Builds the operator package with CANN or with the emulator's toolkit, and checks the product.

Uses the standard library and those parts of ascendfa that need no more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from ascendfa.chips import CHIPS
from ascendfa.cli.checks.cann import check_cann
from ascendfa.cli.checks.compiler import check_compiler
from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, Status
from ascendfa.cli.packages import Package
from ascendfa.cli.soc_names import unit_for
from ascendfa.cli.toolkits import ToolkitTree
from ascendfa.cli.vendor_tree import unpacked
from ascendfa.errors import AscendFAError, UnknownChipError

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "ascend_kernels"
USAGE = 2


class BuildError(Exception):
    """The message is what the user sees."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="build_op_package", description=__doc__)
    parser.add_argument(
        "--soc",
        required=True,
        help="chips, comma-separated, by SoC name or unit: Ascend910B3, 910b, ascend910_93, ...",
    )
    parser.add_argument("--vendor", default="ascendfa", help="vendor folder (default %(default)s)")
    parser.add_argument("--toolkit", default="cann", help="cann, emulator, or a toolkit's folder")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "build" / "packages", help="where the .run goes"
    )
    parser.add_argument("--build-dir", type=Path, help="default: build/op_package-<toolkit>")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def units(socs: str) -> list[str]:
    """Map names to units, and refuse the ones there are no kernels for."""
    result: list[str] = []
    for name in (part.strip() for part in socs.split(",")):
        unit = unit_for(name)
        if not CHIPS[unit].has_kernels:
            have = ", ".join(chip.unit for chip in CHIPS.values() if chip.has_kernels)
            raise UnknownChipError(f"{unit} has no kernels in this version; there are: {have}")
        if unit not in result:
            result.append(unit)
    return result


def check(context: Context) -> None:
    """Stop with every reason at once, not one per attempt."""
    # Sourcing is done here; what matters is that it can be.
    found: list[Result] = [r for r in check_cann(context) if r.name != "cann.set_env"]
    found += check_compiler(context)
    failures = [r for r in found if r.status in (Status.FAIL, Status.SKIP)]
    for result in found:
        if result.status is Status.WARN:
            print(f"warning: {result.message}; {result.fix}", file=sys.stderr)
    if failures:
        raise BuildError("\n".join(f"{r.message}\n  fix: {r.fix}" for r in failures))


def sourced(tree: ToolkitTree) -> dict[str, str]:
    """Return the environment that set_env.sh makes."""
    scripts = (tree.root / "set_env.sh", tree.root.parent / "set_env.sh")
    script = next((s for s in scripts if s.is_file()), None)
    if script is None:
        raise BuildError(f"{tree.root} has no set_env.sh\n  fix: reinstall the toolkit")
    # CANN's script reads unset variables, and its messages are no part of the environment.
    command = ["bash", "-c", 'source "$1" >&2 && env -0', "-", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{script} fails: {done.stderr.strip()}\n  fix: reinstall the toolkit")
    return dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)


def run(title: str, command: list[str], environment: Mapping[str, str], log: Path) -> None:
    print(f"==> {title}", flush=True)
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"$ {' '.join(command)}\n")
        stream.flush()
        done = subprocess.run(
            command, env=environment, stdout=stream, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode != 0:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
        raise BuildError(f"{tail}\n{title} failed; the whole log is {log}")


def build(args: argparse.Namespace, wanted: list[str], tree: ToolkitTree) -> Path:
    folder: Path = args.build_dir or ROOT / "build" / f"op_package-{tree.kind}"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    for stale in folder.rglob("custom_opp_*.run"):
        stale.unlink()
    environment = sourced(tree)
    configure = ["cmake", "-S", str(SOURCES), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-DASCEND_COMPUTE_UNIT={';'.join(wanted)}", f"-Dvendor_name={args.vendor}"]
    if not (folder / "CMakeCache.txt").exists() and shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    run(f"configuring for {', '.join(wanted)}", configure, environment, log)
    compile_ = ["cmake", "--build", str(folder), "-j", str(args.jobs)]
    compile_ += ["--target", "all", "binary", "package"]
    run("compiling host libraries and kernels, packing", compile_, environment, log)
    found = sorted(folder.rglob("custom_opp_*.run"))
    if len(found) != 1:
        raise BuildError(f"the build left no custom_opp_*.run in {folder}; the log is {log}")
    args.output.mkdir(parents=True, exist_ok=True)
    product = args.output / f"{args.vendor}-{tree.kind}-{found[0].name}"
    shutil.copy2(found[0], product)
    return product


def inspect(product: Path, vendor: str, wanted: list[str]) -> None:
    """A package without kernels for a chip fails there with a bare code; so it fails here."""
    with unpacked(product) as folder:
        package = Package(folder)
        if package.vendor != vendor:
            raise BuildError(f"{product} is of vendor {package.vendor}, not {vendor}")
        for unit in wanted:
            ops = package.ops(unit) if unit in package.units else ()
            if "FlashAttention" not in ops:
                raise BuildError(f"{product} does not describe FlashAttention for {unit}")
            for op in ops:
                if not list(package.kernels(unit).glob(f"*/{op}_*.json")):
                    raise BuildError(f"{product} has no kernel of {op} for {unit}")
                print(f"    {unit}: {op}")


def main() -> int:
    args = arguments()
    started = time.monotonic()
    try:
        wanted = units(args.soc)
        if not args.vendor.isidentifier():
            raise BuildError(f"--vendor {args.vendor}: letters, digits and underscores only")
    except (UnknownChipError, BuildError) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE
    try:
        context = Context(asked=args.toolkit, build=True, offline=True)
        check(context)
        assert context.tree is not None
        tree = context.tree
        print(f"==> toolkit {tree.root} ({tree.kind} {tree.version}, {tree.found_by})")
        product = build(args, wanted, tree)
        inspect(product, args.vendor, wanted)
    except (BuildError, AscendFAError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"==> {product} in {time.monotonic() - started:.0f} s")
    option = " --toolkit emulator" if tree.kind == "emulator" else ""
    print(f"    next: ascendfa install {product}{option} && ascendfa validate{option}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
