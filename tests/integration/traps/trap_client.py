"""Runs the cases named on the command line in one process, and the faultless one after each.

Prints, as JSON, what Python gets to see of each: the exception, and whether z = x + 1 afterwards.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from ctypes import POINTER, byref, c_char_p, c_int, c_uint64, c_void_p

import numpy as np

from ascendfa.errors import AclError
from ascendfa.native.acl import Acl, acl
from ascendfa.native.tensor import tensor

ELEMENTS = 4096


def call(runtime: Acl, ops: ctypes.CDLL, case: str) -> bool:
    """Run the op; tell whether the result is right."""
    x = np.arange(ELEMENTS, dtype=np.float32)
    z = np.zeros_like(x)
    size, executor = c_uint64(), c_void_p()
    with runtime.device(0), runtime.memory(x.nbytes) as dx, runtime.memory(z.nbytes) as dz:
        runtime.copy_to_device(dx, x.ctypes.data, x.nbytes)
        with (
            tensor(runtime, dx, "float32", [ELEMENTS]) as tx,
            tensor(runtime, dz, "float32", [ELEMENTS]) as tz,
        ):
            name = "aclnnTrapCaseGetWorkspaceSize"
            code = getattr(ops, name)(tx, case.encode(), tz, byref(size), byref(executor))
            if code:
                raise runtime.error(name, code)
            with runtime.memory(size.value) as workspace, runtime.stream() as stream:
                code = ops.aclnnTrapCase(workspace, size.value, executor, stream)
                if code:
                    raise runtime.error("aclnnTrapCase", code)
                runtime.call("aclrtSynchronizeStream", stream)
        runtime.copy_to_host(z.ctypes.data, dz, z.nbytes)
    return bool((z == x + 1).all())


def main() -> None:
    runtime = acl()
    ops = ctypes.CDLL(os.environ["TRAPS_LIBRARY"])
    first, second = ops.aclnnTrapCaseGetWorkspaceSize, ops.aclnnTrapCase
    first.argtypes = [c_void_p, c_char_p, c_void_p, POINTER(c_uint64), POINTER(c_void_p)]
    second.argtypes = [c_void_p, c_uint64, c_void_p, c_void_p]
    first.restype = second.restype = c_int
    results = {}
    for case in sys.argv[1:]:
        result = {"error": None, "code": 0}
        start = time.monotonic()
        try:
            result["right"] = call(runtime, ops, case)
        except AclError as error:
            result |= {"error": str(error), "code": error.code, "function": error.function}
        result["seconds"] = time.monotonic() - start
        result["usable"] = call(runtime, ops, "none")
        results[case] = result
    print(json.dumps(results))


if __name__ == "__main__":
    main()
