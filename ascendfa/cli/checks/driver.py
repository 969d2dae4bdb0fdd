"""Device files, driver, npu-smi, and the chip's name."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator

from ascendfa.chips import chip_for_soc
from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok, skip, warn
from ascendfa.errors import UnknownChipError

__all__ = ["check_driver", "check_soc"]

_SMI_SECONDS = 20


def check_driver(context: Context) -> Iterator[Result]:
    """Check that the host sees an NPU and that this user may open it."""
    if context.emulated:
        yield ok("device.nodes", "not needed for the emulator")
        return
    if not context.device_nodes:
        yield skip(
            "device.nodes",
            f"no {context.system / 'dev'}/davinci<N>: no NPU, or no driver",
            "on a machine with an NPU: install the driver; in a container: pass --device "
            "/dev/davinci0 --device /dev/davinci_manager --device /dev/devmm_svm "
            "--device /dev/hisi_hdc",
        )
    else:
        yield from _nodes(context)
    yield _driver(context)
    yield _npu_smi(context)


def _nodes(context: Context) -> Iterator[Result]:
    names = ", ".join(p.name for p in context.device_nodes)
    node = context.system / "dev" / f"davinci{context.device}"
    if node not in context.device_nodes:
        yield fail(
            "device.nodes", f"no {node.name}; there are {names}", "name another with --device N"
        )
        return
    dev = context.system / "dev"
    others = [dev / name for name in ("davinci_manager", "devmm_svm", "hisi_hdc")]
    missing = [p.name for p in others if not p.exists()]
    if missing:
        yield fail(
            "device.nodes",
            f"{', '.join(missing)} missing beside {names}",
            "in a container pass " + " ".join(f"--device /dev/{name}" for name in missing),
        )
        return
    closed = [p.name for p in (node, *others) if not os.access(p, os.R_OK | os.W_OK)]
    if closed:
        yield fail(
            "device.nodes",
            f"this user may not open {', '.join(closed)}",
            "sudo usermod -a -G HwHiAiUser $USER, then log in again",
        )
        return
    yield ok("device.nodes", f"{names}; this user may open {node.name}")


def _driver(context: Context) -> Result:
    folder = context.system / "usr/local/Ascend/driver"
    file = folder / "version.info"
    if not context.device_nodes and not folder.is_dir():
        return skip("device.driver", "no driver is installed")
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return warn(
            "device.driver",
            f"{file} cannot be read",
            "in a container mount it: -v /usr/local/Ascend/driver:/usr/local/Ascend/driver:ro",
        )
    match = re.search(r"^Version\s*=\s*(\S+)", text, re.MULTILINE | re.IGNORECASE)
    hal = [p for p in ("lib64/driver", "lib64") if (folder / p / "libascend_hal.so").exists()]
    if not hal:
        return fail(
            "device.driver",
            f"{folder}/lib64/driver has no libascend_hal.so",
            "reinstall the driver; in a container mount /usr/local/Ascend/driver",
        )
    return ok("device.driver", f"driver {match.group(1) if match else 'of unknown version'}")


def _npu_smi(context: Context) -> Result:
    program = context.which("npu-smi")
    if program is None:
        if not context.device_nodes:
            return skip("device.npu-smi", "not on PATH")
        return warn("device.npu-smi", "not on PATH; it only informs", "see 'npu-smi info'")
    try:
        done = subprocess.run(
            [program, "info"],
            capture_output=True,
            text=True,
            timeout=_SMI_SECONDS,
            check=False,
            env=dict(context.environ),
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        return warn("device.npu-smi", f"does not answer: {error}", "reset or reboot the machine")
    if done.returncode != 0:
        first = (done.stdout + done.stderr).strip().splitlines()
        said = first[0] if first else "nothing"
        return warn("device.npu-smi", f"ended with {done.returncode}: {said}", "check the driver")
    # Health is a word of its own in the table: OK, Warning, Alarm, Critical.
    bad = re.findall(r"\b(Warning|Alarm|Critical)\b", done.stdout)
    if bad:
        return warn("device.npu-smi", f"reports {', '.join(sorted(set(bad)))}", "npu-smi info")
    return ok("device.npu-smi", "answers")


def check_soc(context: Context) -> Iterator[Result]:
    """Ask the runtime which chip this is: the one name that op packages go by."""
    if not context.usable:
        yield skip("device.soc", "no toolkit to ask")
        return
    if context.offline:
        yield skip("device.soc", "not asked with --offline")
        return
    if not context.has_device:
        yield skip("device.soc", "no NPU")
        return
    answer = context.probe("device", device=context.device)
    if answer.failure or "error" in answer.data:
        context.usable = False
        said = answer.data.get("error") or f"the runtime {answer.failure}"
        if answer.log and answer.failure:
            said += f"; last words: {answer.log.splitlines()[-1]}"
        yield fail("device.soc", said, answer.data.get("hint") or "npu-smi info; dmesg | tail")
        return
    context.soc = str(answer.data["soc"])
    context.device_count = int(answer.data["count"])
    shown = f"{context.soc}, device {context.device} of {context.device_count}"
    try:
        chip = chip_for_soc(context.soc)
    except UnknownChipError as error:
        context.usable = False
        yield fail("device.soc", str(error), "see README for the chips ascendfa has kernels for")
        return
    context.unit = chip.unit
    if not chip.has_kernels:
        context.usable = False
        yield fail(
            "device.soc",
            f"{shown}: this version has no kernels for {chip.unit}",
            "see README for the chips ascendfa has kernels for",
        )
        return
    yield ok("device.soc", f"{shown}, unit {chip.unit}")
