"""Predicts launches of one chip: a list of cases in, a list of profiles out, both JSON.

One process per chip, because a process has one. Launches are timing-only unless a case says
otherwise, so device memory is never filled.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ANCHORS = ROOT / "tests" / "anchors"
VENDOR = "ascendfa_anchors"
BUILD = Path(os.environ.get("ASCENDFA_ANCHOR_BUILD", ROOT / "build" / "anchors"))

Case = dict[str, Any]

_SIZES = {"float16": 2, "float32": 4}
_C_TYPES = {int: ctypes.c_int64, float: ctypes.c_double, bool: ctypes.c_bool}


def toolkit_root() -> Path:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if override:
        return Path(override)
    import ascendfa

    return Path(ascendfa.__file__).parent / "_toolkit"


def vendor_folder() -> Path:
    return BUILD / "opp" / "vendors" / VENDOR


def build_anchors() -> None:
    """Build and install the anchor operators with the toolkit, as a user's own package."""
    script = (
        'set -e; source "$1/set_env.sh"; '
        'cmake -S "$2" -B "$3" -Dvendor_name="$4" '
        "'-DASCEND_COMPUTE_UNIT=ascend910b;ascend910_93' >/dev/null; "
        'cmake --build "$3" -j"$(nproc)" --target all binary package'
    )
    command = ["bash", "-c", script, "-", toolkit_root(), ANCHORS, BUILD, VENDOR]
    # A cmake of the virtual environment will do.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"the anchor operators do not build:\n{done.stdout}\n{done.stderr}")
    opp = BUILD / "opp"
    shutil.rmtree(opp, ignore_errors=True)
    (opp / "vendors").mkdir(parents=True)
    (installer,) = BUILD.glob("custom_opp_*.run")
    environment = {**os.environ, "ASCEND_OPP_PATH": str(opp)}
    subprocess.run([str(installer)], env=environment, check=True, capture_output=True)


def predict(soc: str, cases: list[Case]) -> list[dict[str, Any]]:
    """Predict each case on one chip.

    Parameters
    ----------
    soc
        Name of the chip.
    cases
        Each with ``op`` (AnchorMatmul, ...), ``inputs`` and ``outputs`` as lists of [shape, dtype]
        and ``attributes``; or FlashAttention with ``inputs`` and the front end's ``options`` and
        ``config``.
        Optionally ``warm_l2``, ``parameters`` and ``timing_only``.

    Returns
    -------
    list of dict
        The fields of `ascendfa.emulator.KernelProfile`.
    """
    environment = {
        **os.environ,
        "ASCENDFA_BACKEND": "emulator",
        "ASCENDFA_EMULATOR_SOC": soc,
        "ASCENDFA_EMULATOR_MODE": "fast",
        "ASCEND_CUSTOM_OPP_PATH": str(vendor_folder()),
        "ASCENDFA_ANCHOR_BUILD": str(BUILD),
    }
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(cases),
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"no prediction for {soc}")
    return json.loads(done.stdout)


def _bind(runtime: Any, op: str) -> None:
    """Bind an anchor operator's functions beside those of the op package."""
    if op in runtime.libraries._functions:
        return
    library = ctypes.CDLL(str(vendor_folder() / "op_api" / "lib" / "libcust_opapi.so"))
    for name in (op, f"{op}GetWorkspaceSize"):
        runtime.libraries._functions[name] = getattr(library, name)


def launch_case(runtime: Any, case: Case, arrays: list[Any] | None = None) -> list[Any]:
    """Run a case on the device that is current, and return its outputs.

    Without arrays the inputs hold whatever the memory held, and nothing is returned.
    """
    from ascendfa.native.executor import launch
    from ascendfa.native.tensor import tensor

    op = f"aclnn{case['op']}"
    _bind(runtime, op)
    with ExitStack() as stack:
        ports = [*case["inputs"], *case["outputs"]]
        sizes = [math.prod(shape) * _SIZES[dtype] for shape, dtype in ports]
        memory = [stack.enter_context(runtime.memory(size)) for size in sizes]
        for array, pointer in zip(arrays or [], memory, strict=False):
            runtime.copy_to_device(pointer, array.ctypes.data, array.nbytes)
        workspaces = stack.enter_context(ExitStack())
        stream = stack.enter_context(runtime.stream())
        with ExitStack() as descriptors:
            tensors = [
                descriptors.enter_context(tensor(runtime, pointer, dtype, shape))
                for pointer, (shape, dtype) in zip(memory, ports, strict=True)
            ]
            count = len(case["inputs"])
            attributes = [_C_TYPES[type(value)](value) for value in case["attributes"]]
            arguments = (*tensors[:count], *attributes, *tensors[count:])
            launch(runtime, workspaces, stream, op, *arguments)
        runtime.call("aclrtSynchronizeStream", stream)
        if arrays is None:
            return []
        import numpy as np

        outputs = [np.empty(shape, dtype) for shape, dtype in case["outputs"]]
        for output, pointer in zip(outputs, memory[count:], strict=True):
            runtime.copy_to_host(output.ctypes.data, pointer, output.nbytes)
        return outputs


def _attend(case: Case, timing_only: bool) -> None:
    """Call our attention as a user does, on zeros, or on normal numbers where they matter."""
    import numpy as np

    import ascendfa

    rng = np.random.default_rng(0)
    q, k, v = (
        np.zeros(shape, dtype)
        if timing_only
        else rng.standard_normal(shape, np.float32).astype(dtype)
        for shape, dtype in case["inputs"]
    )
    config = ascendfa.FlashAttentionConfig(**case["config"])
    ascendfa.flash_attention(q, k, v, config=config, **case["options"])


def _one(runtime: Any, case: Case) -> dict[str, Any]:
    from ascendfa.emulator import profile

    timing_only = case.get("timing_only", True)
    session = profile(
        warm_l2=case.get("warm_l2", False),
        timing_only=timing_only,
        parameters=case.get("parameters"),
    )
    with session:
        if case["op"] == "FlashAttention":
            _attend(case, timing_only)
        else:
            launch_case(runtime, case)
    (kernel,) = session.kernels
    if "png" in case:
        session.write_png(case["png"], window_us=tuple(case["window_us"]))
    return asdict(kernel)


def main() -> None:
    from ascendfa.native.acl import acl

    runtime = acl()
    with runtime.device(0):
        print(json.dumps([_one(runtime, case) for case in json.load(sys.stdin)]))


# Cases of the operators at hand.


def product(
    batch: int,
    m: int,
    n: int,
    k: int,
    *,
    out: str = "float32",
    sample: str = "",
    grid: tuple[int, int] = (0, 0),
    **extra: Any,
) -> Case:
    """[m, k] times the transpose of [n, k], done as the sample of a source does it."""
    return {
        "op": "AnchorMatmul",
        "inputs": [[[batch, m, k], "float16"], [[batch, n, k], "float16"]],
        "outputs": [[[batch, m, n], out]],
        "attributes": [("", "PTO", "MM").index(sample), *grid],
        **extra,
    }


def matmul(size: int, **extra: Any) -> Case:
    return product(1, size, size, size, **extra)


def softmax(batch: int, rows: int, columns: int, scale: float, **extra: Any) -> Case:
    tensor = [[batch, rows, columns], "float16"]
    return {
        "op": "AnchorSoftmax",
        "inputs": [tensor],
        "outputs": [tensor],
        "attributes": [scale],
        **extra,
    }


def lockstep_attention(heads: int, seq: int, **extra: Any) -> Case:
    tensor = [[1, heads, seq, 128], "float16"]
    return {
        "op": "AnchorLockstep",
        "inputs": [tensor] * 3,
        "outputs": [tensor],
        "attributes": [128**-0.5],
        **extra,
    }


def add(rows: int, columns: int, *, step: int, **extra: Any) -> Case:
    """As a step of the Ascend C sample: 1 to 4, or 6, which avoids bank conflicts."""
    matrix = [[rows, columns], "float16"]
    return {
        "op": "AnchorAdd",
        "inputs": [matrix, matrix],
        "outputs": [matrix],
        "attributes": [step],
        **extra,
    }


def flash_attention(
    heads: int,
    seq_q: int,
    seq_k: int,
    dim: int = 128,
    *,
    causal: bool = False,
    fp32_scores: bool = False,
    **extra: Any,
) -> Case:
    q, kv = [[1, heads, seq_q, dim], "float16"], [[1, heads, seq_k, dim], "float16"]
    return {
        "op": "FlashAttention",
        "inputs": [q, kv, kv],
        "options": {"causal": causal},
        "config": {"fp32_scores": fp32_scores},
        # The kernel looks at what it computed, so it has to compute.
        "timing_only": False,
        **extra,
    }


if __name__ == "__main__":
    main()
