"""Calls aclnnScaleAdd as any client would: ctypes over the toolkit's and the package's libraries.

Run as a process of its own, because a process can hold one toolkit only. Takes a scenario's name
and prints its result as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p

import numpy as np

TOOLKIT = os.environ["SAMPLE_TOOLKIT"]
VENDOR = os.environ["SAMPLE_VENDOR"]
H2D, D2H = 1, 2
ACL_TYPES = {"float32": 0, "float16": 1, "int32": 3}

_ = ctypes.CDLL(f"{TOOLKIT}/lib64/libdavinci_emulator.so", ctypes.RTLD_GLOBAL)
acl = ctypes.CDLL(f"{TOOLKIT}/lib64/libascendcl.so", ctypes.RTLD_GLOBAL)
nn = ctypes.CDLL(f"{TOOLKIT}/lib64/libnnopbase.so", ctypes.RTLD_GLOBAL)
ops = ctypes.CDLL(f"{VENDOR}/op_api/lib/libcust_opapi.so")

acl.aclGetRecentErrMsg.restype = c_char_p
acl.aclrtMemcpy.argtypes = [c_void_p, c_uint64, c_void_p, c_uint64, c_int]
acl.aclrtMalloc.argtypes = [POINTER(c_void_p), c_uint64, c_int]
acl.aclrtFree.argtypes = [c_void_p]
acl.aclrtSynchronizeStream.argtypes = [c_void_p]
nn.aclCreateTensor.restype = c_void_p
nn.aclCreateTensor.argtypes = [
    POINTER(c_int64),
    c_uint64,
    c_int,
    POINTER(c_int64),
    c_int64,
    c_int,
    POINTER(c_int64),
    c_uint64,
    c_void_p,
]
nn.aclDestroyTensor.argtypes = [c_void_p]
first = ops.aclnnScaleAddGetWorkspaceSize
first.argtypes = [
    c_void_p,
    c_void_p,
    c_void_p,
    c_double,
    c_int64,
    c_void_p,
    POINTER(c_uint64),
    POINTER(c_void_p),
]
second = ops.aclnnScaleAdd
second.argtypes = [c_void_p, c_uint64, c_void_p, c_void_p]


def message() -> str:
    text = acl.aclGetRecentErrMsg()
    return text.decode() if text else ""


def check(code: int) -> None:
    if code != 0:
        raise SystemExit(f"unexpected error {code}: {message()}")


class Buffer:
    """Device memory with a tensor over it."""

    def __init__(self, array: np.ndarray, shape=None, strides=None) -> None:
        self.array = array
        self.data = c_void_p()
        check(acl.aclrtMalloc(byref(self.data), max(array.nbytes, 1), 0))
        check(acl.aclrtMemcpy(self.data, array.nbytes, array.ctypes.data, array.nbytes, H2D))
        shape = array.shape if shape is None else shape
        dims = (c_int64 * len(shape))(*shape)
        steps = None if strides is None else (c_int64 * len(shape))(*strides)
        flat = (c_int64 * 1)(array.size)
        self.tensor = nn.aclCreateTensor(
            dims, len(shape), ACL_TYPES[str(array.dtype)], steps, 0, 2, flat, 1, self.data
        )

    def read(self) -> np.ndarray:
        out = np.empty_like(self.array)
        check(acl.aclrtMemcpy(out.ctypes.data, out.nbytes, self.data, out.nbytes, D2H))
        return out


def call(x, y, bias, z, alpha=2.0, misbehave=0, stream=None):
    """Both phases; descriptors are destroyed before the stream has run."""
    size, executor = c_uint64(), c_void_p()
    code = first(
        x.tensor,
        y.tensor,
        bias.tensor if bias else None,
        alpha,
        misbehave,
        z.tensor,
        byref(size),
        byref(executor),
    )
    if code:
        return {"phase": 1, "code": code, "message": message(), "executor": executor.value}
    workspace = c_void_p()
    if size.value:
        check(acl.aclrtMalloc(byref(workspace), size.value, 0))
    check(second(workspace, size.value, executor, stream))
    for buffer in (x, y, bias, z):
        if buffer:
            check(nn.aclDestroyTensor(buffer.tensor))
    code = acl.aclrtSynchronizeStream(stream)
    result = {
        "phase": 2,
        "code": code,
        "message": message() if code else "",
        "workspace": size.value,
    }
    if workspace.value:
        check(acl.aclrtFree(workspace))
    return result


def random_arrays(dtype: str, count: int, n: int = 4096):
    rng = np.random.default_rng(7)
    return [rng.standard_normal(n).astype(dtype) for _ in range(count)]


def error_against(z: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(z.astype(np.float64) - expected).max())


def numerics(dtype: str, with_bias: bool):
    x, y, bias = random_arrays(dtype, 3)
    out = Buffer(np.zeros_like(x))
    result = call(Buffer(x), Buffer(y), Buffer(bias[:32].copy()) if with_bias else None, out)
    expected = 2.0 * x.astype(np.float64) + y + (float(bias[0]) if with_bias else 0.0)
    return result | {"error": error_against(out.read(), expected)}


def strided():
    storage, y = random_arrays("float32", 2)
    rows = storage.reshape(64, 64)
    out = Buffer(np.zeros((64, 64), np.float32))
    x = Buffer(storage, shape=(64, 64), strides=(1, 64))  # the transpose
    result = call(x, Buffer(y.reshape(64, 64)), None, out)
    expected = 2.0 * rows.T.astype(np.float64) + y.reshape(64, 64)
    return result | {"error": error_against(out.read(), expected)}


def trap_then_recover():
    x, y = random_arrays("float16", 2)
    bad = call(Buffer(x), Buffer(y), None, Buffer(np.zeros_like(x)), misbehave=1)
    return {"bad": bad, "good": numerics("float16", False)}


def refused():
    x, y = random_arrays("float32", 2)
    out = Buffer(np.zeros_like(x))
    wrong_type = Buffer(x.astype(np.int32))
    size, executor = c_uint64(123), c_void_p()
    absent = first(None, Buffer(y).tensor, None, 1.0, 0, out.tensor, byref(size), byref(executor))
    absent_text = message()
    strided_y = Buffer(y, shape=(64, 64), strides=(1, 64))
    square = Buffer(x.reshape(64, 64))
    return {
        "absent": {"code": absent, "message": absent_text, "size": size.value},
        "dtype": call(wrong_type, Buffer(y), None, out),
        "shape": call(Buffer(x[:1024].copy()), Buffer(y), None, out),
        "strided": call(square, strided_y, None, Buffer(np.zeros((64, 64), np.float32))),
    }


def empty():
    nothing = np.zeros(0, np.float32)
    return call(Buffer(nothing), Buffer(nothing), None, Buffer(nothing))


def in_place():
    """Run Affine: updated in place, the list attribute left to its default."""
    (x,) = random_arrays("float32", 1, 1024)
    buffer = Buffer(x)
    size, executor = c_uint64(), c_void_p()
    phase1 = ops.aclnnAffineGetWorkspaceSize
    phase1.argtypes = [c_void_p, c_void_p, POINTER(c_uint64), POINTER(c_void_p)]
    phase2 = ops.aclnnAffine
    phase2.argtypes = [c_void_p, c_uint64, c_void_p, c_void_p]
    check(phase1(buffer.tensor, None, byref(size), byref(executor)))
    check(phase2(None, size.value, executor, None))
    code = acl.aclrtSynchronizeStream(None)
    expected = 3.0 * x.astype(np.float64) + 6.0
    return {
        "code": code,
        "message": message() if code else "",
        "workspace": size.value,
        "error": error_against(buffer.read(), expected),
    }


def executor_lifetime():
    x, y = random_arrays("float32", 2)
    bx, by, out = Buffer(x), Buffer(y), Buffer(np.zeros_like(x))
    size, executor = c_uint64(), c_void_p()
    check(first(bx.tensor, by.tensor, None, 1.0, 0, out.tensor, byref(size), byref(executor)))
    workspace = c_void_p()
    check(acl.aclrtMalloc(byref(workspace), size.value, 0))
    small = second(workspace, size.value - 1, executor, None)
    small_text = message()
    again = second(workspace, size.value, executor, None)
    return {"small": small, "small_text": small_text, "again": again, "again_text": message()}


SCENARIOS = {
    "float16": lambda: numerics("float16", False),
    "float32": lambda: numerics("float32", False),
    "bias": lambda: numerics("float32", True),
    "strided": strided,
    "trap": trap_then_recover,
    "refused": refused,
    "empty": empty,
    "in_place": in_place,
    "executor": executor_lifetime,
}


def main() -> None:
    check(acl.aclInit(None))
    check(acl.aclrtSetDevice(c_int32(0)))
    result = SCENARIOS[sys.argv[1]]()
    check(acl.aclrtResetDevice(c_int32(0)))
    check(acl.aclFinalize())
    print(json.dumps(result))


if __name__ == "__main__":
    main()
