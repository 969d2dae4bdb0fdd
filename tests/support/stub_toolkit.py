"""Builds the stub toolkit with cc and talks to its counters."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("stub_toolkit.c")
# `StubControl.live` when everything is released.
NOTHING = {"memory": 0, "stream": 0, "tensor": 0, "executor": 0}


def arrays(rng: np.random.Generator, seq_q: int = 3, seq_k: int = 5) -> list[np.ndarray]:
    return [rng.standard_normal((2, 4, s, 64)).astype(np.float16) for s in (seq_q, seq_k, seq_k)]


class StubCall(ctypes.Structure):
    _fields_ = (
        ("scale", ctypes.c_double),
        ("causal", ctypes.c_bool),
        ("window_left", ctypes.c_int64),
        ("window_right", ctypes.c_int64),
        ("softcap", ctypes.c_double),
        ("block_m", ctypes.c_int64),
        ("block_n", ctypes.c_int64),
        ("fp32_scores", ctypes.c_bool),
        ("layout", ctypes.c_char * 8),
        ("strided_inputs", ctypes.c_int64),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.c_int64 * 8),
        ("strides", ctypes.c_int64 * 8),
        ("dtypes", ctypes.c_int * 8),
    )


def compile_part(part: str, target: Path, *extra: str) -> Path:
    """Compile one library; its soname differs from the real one, so that both can be loaded."""
    target.parent.mkdir(parents=True, exist_ok=True)
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "the tests need a C compiler"
    options = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]
    soname = f"-Wl,-soname,stub_{target.parent.parent.name}_{target.name}"
    command = [compiler, *options, f"-D{part}", soname, "-o", target, SOURCE, *extra]
    subprocess.run(command, check=True)
    return target


def build(root: Path, vendor: str = "ascendfa") -> Path:
    """Make a whole stub toolkit."""
    lib64 = root / "lib64"
    acl = compile_part("PART_ACL", lib64 / "libascendcl.so")
    compile_part("PART_NNOPBASE", lib64 / "libnnopbase.so", str(acl))
    vendors = root / "opp" / "vendors"
    op = vendors / vendor / "op_api" / "lib" / "libcust_opapi.so"
    compile_part("PART_OP", op, str(acl))
    (vendors / "config.ini").write_text(f"load_priority={vendor}\n")
    return root


class StubControl:
    """The stub's own functions, through a second handle on its libascendcl."""

    def __init__(self, root: Path) -> None:
        self._lib = ctypes.CDLL(str(root / "lib64" / "libascendcl.so"))
        self._lib.stub_largest_allocation.restype = ctypes.c_size_t
        self._lib.stub_call_record.restype = ctypes.POINTER(StubCall)
        self._lib.stub_set_workspace.argtypes = (ctypes.c_uint64,)
        self._lib.stub_set_context.argtypes = (ctypes.c_void_p,)
        self._lib.stub_context.restype = ctypes.c_void_p

    def reset(self) -> None:
        self._lib.stub_reset()

    def fail(self, function: str, code: int, message: str = "", *, after: int = 0) -> None:
        self._lib.stub_fail(function.encode(), code, after, message.encode())

    def live(self) -> dict[str, int]:
        kinds = ("memory", "stream", "tensor", "executor")
        return {kind: self._lib.stub_live(kind.encode()) for kind in kinds}

    def made(self, kind: str) -> int:
        return int(self._lib.stub_made(kind.encode()))

    def largest_allocation(self) -> int:
        return int(self._lib.stub_largest_allocation())

    def set_workspace(self, size: int) -> None:
        self._lib.stub_set_workspace(size)

    def set_soc(self, name: str) -> None:
        self._lib.stub_set_soc(name.encode())

    def set_context(self, value: int) -> None:
        self._lib.stub_set_context(value)

    def context(self) -> int | None:
        value: int | None = self._lib.stub_context()
        return value

    def call(self) -> StubCall:
        record: StubCall = self._lib.stub_call_record().contents
        return record
