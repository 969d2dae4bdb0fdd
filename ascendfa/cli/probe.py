"""A process for what may crash or hang: ``python -m ascendfa.cli.probe JOB ARGUMENTS``.

Arguments and the answer, on standard output, are JSON. Whatever libraries print goes to standard
error.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from ascendfa.errors import AclError, AscendFAError

__all__ = ["JOBS", "main"]

Answer = dict[str, Any]


def _open(path: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)


def device(device: int) -> Answer:
    """Initialise ACL alone, without the op package, and ask for the chip."""
    from ascendfa.native import codes
    from ascendfa.native.backend import choose, library_folder
    from ascendfa.native.symbols import ACL, SYMBOLS

    backend = choose()
    folder = library_folder(backend.root)
    if folder is None:
        return {"error": f"{backend.root} holds no {ACL}"}
    try:
        library = _open(folder / ACL)
    except OSError as error:
        return {"error": f"{ACL} does not open: {error}", "hint": "source set_env.sh"}

    def function(name: str) -> Any:
        found = getattr(library, name)
        found.restype, found.argtypes = SYMBOLS[name].restype, SYMBOLS[name].argtypes
        return found

    def failed(name: str, code: int) -> Answer:
        message = function("aclGetRecentErrMsg")() or b""
        recent = message.decode(errors="replace").strip()
        text = f"{name} failed with {code} ({codes.meaning(code)}){': ' if recent else ''}{recent}"
        return {"error": text, "hint": codes.hint(code)}

    code = function("aclInit")(None)
    if code not in (0, codes.REPEAT_INITIALIZE):
        return failed("aclInit", code)
    count = ctypes.c_uint32()
    code = function("aclrtGetDeviceCount")(ctypes.byref(count))
    if code != 0:
        return failed("aclrtGetDeviceCount", code)
    if not 0 <= device < count.value:
        return {"error": f"device {device} of {count.value}", "hint": "name another with --device"}
    code = function("aclrtSetDevice")(device)
    if code != 0:
        return failed("aclrtSetDevice", code)
    soc = function("aclrtGetSocName")()
    if not soc:
        return failed("aclrtGetSocName", 500000)
    return {"soc": soc.decode(), "count": count.value}


def open_libraries(folder: str, op_api: str, symbols: list[str]) -> Answer:
    """Open the three libraries as attention would, and look up functions."""
    from ascendfa.native.symbols import ACL, NNOPBASE

    for path in (Path(folder) / ACL, Path(folder) / NNOPBASE, Path(op_api)):
        try:
            library = _open(path)
        except OSError as error:
            return {"error": f"{path} does not open: {error}"}
    missing = [name for name in symbols if not hasattr(library, name)]
    return {"error": f"{op_api} lacks {', '.join(missing)}"} if missing else {}


def _use_device(number: int) -> None:
    """Let host arrays be computed on another device than the first."""
    from ascendfa.native.acl import acl

    if number:
        runtime = acl()
        first = runtime.device
        setattr(runtime, "device", lambda _: first(number))  # noqa: B010


def launch(device: int) -> Answer:
    """Compute one small attention; only whether it runs counts."""
    import numpy as np

    from ascendfa.api import flash_attention

    _use_device(device)
    x = np.ones((1, 1, 16, 64), dtype=np.float16)
    flash_attention(x, x, x)
    return {}


def numerics(case: str, device: int) -> Answer:
    """Compute a case and judge it."""
    from ascendfa.api import flash_attention
    from ascendfa.cli.checks import cases

    _use_device(device)
    problem = cases.by_name(case)
    q, k, v = cases.draw(problem)
    if problem in cases.GRADIENT_CASES:
        verdict = _gradients(problem, q, k, v)
    else:
        out, lse = flash_attention(q, k, v, causal=problem.causal, return_lse=True)
        verdict = cases.judge(problem, q, k, v, out, lse)
    return {"parts": _finite(verdict.parts), "wrong": verdict.wrong}


def npu_tensor(case: str, device: int) -> Answer:
    """Compute a case on tensors that are on the device already, and judge it."""
    from ascendfa.api import flash_attention
    from ascendfa.cli.checks import cases

    try:
        torch: Any = import_module("torch")
        import_module("torch_npu")
    except ImportError as error:
        return {"error": f"torch_npu cannot be imported: {error}", "hint": "source set_env.sh"}
    problem = cases.by_name(case)
    q, k, v = cases.draw(problem)
    try:
        on_device = [torch.from_numpy(a).to(f"npu:{device}") for a in (q, k, v)]
        out, lse = flash_attention(*on_device, causal=problem.causal, return_lse=True)
        verdict = cases.judge(problem, q, k, v, out.cpu().numpy(), lse.cpu().numpy())
    except RuntimeError as error:
        return {"error": f"torch_npu: {error}", "hint": "see the line torch_npu"}
    return {"parts": _finite(verdict.parts), "wrong": verdict.wrong}


def _gradients(problem: Any, q: Any, k: Any, v: Any) -> Any:
    from ascendfa.api import flash_attention
    from ascendfa.cli.checks import cases
    from ascendfa.reference import visible_keys

    torch: Any = import_module("torch")

    arrays = {"dq": q, "dk": k, "dv": v}
    ours = [torch.from_numpy(a).requires_grad_() for a in arrays.values()]
    exact = [torch.from_numpy(a).double().requires_grad_() for a in arrays.values()]
    generator = torch.Generator().manual_seed(1)
    out = flash_attention(*ours, causal=problem.causal)
    weights = torch.randn(out.shape, generator=generator, dtype=torch.float64)
    out.backward(weights.to(out.dtype))
    group = problem.heads_q // problem.heads_k
    eq, ek, ev = exact
    scores = eq @ ek.repeat_interleave(group, 1).mT / math.sqrt(problem.head_dim)
    hidden = ~visible_keys(problem.seq_q, problem.seq_k, causal=problem.causal)
    scores = scores.masked_fill(torch.from_numpy(hidden), -torch.inf)
    result = scores.softmax(-1) @ ev.repeat_interleave(group, 1)
    result.backward(weights.half().double())
    got, want = ({n: t.grad.numpy() for n, t in zip(arrays, s, strict=True)} for s in (ours, exact))
    return cases.judge_gradients(got, want)


def _finite(parts: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """JSON has no infinity; Python's own reader takes the word, other readers do not."""
    return {p: {k: min(x, 1e30) for k, x in entry.items()} for p, entry in parts.items()}


JOBS: dict[str, Callable[..., Answer]] = {
    "device": device,
    "open": open_libraries,
    "launch": launch,
    "numerics": numerics,
    "npu_tensor": npu_tensor,
}


def main() -> None:
    """Run the job of the command line."""
    answer_to = os.dup(1)
    os.dup2(2, 1)
    job, arguments = sys.argv[1], json.loads(sys.argv[2])
    try:
        answer = JOBS[job](**arguments)
    except AclError as error:
        answer = {"error": str(error), "function": error.function, "hint": error.hint}
    except AscendFAError as error:
        answer = {"error": str(error), "hint": ""}
    with os.fdopen(answer_to, "w") as stream:
        json.dump(answer, stream)


if __name__ == "__main__":
    main()
