"""The two-phase aclnn call of the op package."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from ascendfa.native.acl import Acl
from ascendfa.native.symbols import FLASH_ATTENTION
from ascendfa.native.tensor import tensor

__all__ = ["flash_attention_host", "launch"]

HostArray = npt.NDArray[Any]


@contextmanager
def _unlaunched(runtime: Acl, executor: ctypes.c_void_p) -> Iterator[None]:
    """Destroy an executor whose second phase is not reached; the second phase consumes it."""
    try:
        yield
    except BaseException:
        # Only repeatable executors belong to the caller.
        if executor and runtime.libraries["aclSetAclOpExecutorRepeatable"](executor) == 0:
            runtime.libraries["aclDestroyAclOpExecutor"](executor)
        raise


def launch(
    runtime: Acl, stack: ExitStack, stream: ctypes.c_void_p, op: str, *arguments: Any
) -> None:
    """Run both phases of an aclnn operator.

    Parameters
    ----------
    runtime
        The runtime the tensors belong to.
    stack
        Keeps the workspace; to be closed only when the stream has finished the work.
    stream
        Where to queue the work.
    op
        Name of the second phase, such as ``aclnnFlashAttention``.
    *arguments
        Of the first phase, without the workspace size and the executor.

    Raises
    ------
    AclError
        If a phase fails. After a failing first phase nothing is allocated, whatever size it wrote.
    """
    size = ctypes.c_uint64()
    executor = ctypes.c_void_p()
    runtime.call(f"{op}GetWorkspaceSize", *arguments, ctypes.byref(size), ctypes.byref(executor))
    with _unlaunched(runtime, executor):
        workspace = stack.enter_context(runtime.memory(size.value))
    runtime.call(op, workspace, size.value, executor, stream)


def flash_attention_host(
    runtime: Acl,
    q: HostArray,
    k: HostArray,
    v: HostArray,
    *,
    dtype: str,
    scale: float,
    causal: bool,
    block_m: int,
    block_n: int,
) -> tuple[HostArray, HostArray]:
    """Compute attention of host arrays through device memory, synchronously.

    A device has to be current on the calling thread.

    Parameters
    ----------
    runtime
        The runtime to use.
    q, k, v
        C-contiguous, [batch, heads, seq, head_dim], not empty.
    dtype
        Element type of q, k, v and the result.
    scale, causal, block_m, block_n
        The operator's attributes; block sizes 0 leave the choice to its plan.

    Returns
    -------
    out, lse : ndarray
        [B, Hq, Sq, Dv] of the input's type, and [B, Hq, Sq] in float32.
    """
    out = np.empty((*q.shape[:3], v.shape[3]), dtype=q.dtype)
    lse = np.empty(q.shape[:3], dtype=np.float32)
    # Closed in reverse: the stream goes before the memory its work uses.
    with ExitStack() as stack:
        memory = [stack.enter_context(runtime.memory(a.nbytes)) for a in (q, k, v, out, lse)]
        for source, pointer in zip((q, k, v), memory, strict=False):
            runtime.copy_to_device(pointer, source.ctypes.data, source.nbytes)
        workspaces = stack.enter_context(ExitStack())
        stream = stack.enter_context(runtime.stream())
        with ExitStack() as descriptors:
            dtypes = (dtype, dtype, dtype, dtype, "float32")
            q_t, k_t, v_t, out_t, lse_t = (
                descriptors.enter_context(tensor(runtime, pointer, name, array.shape))
                for pointer, name, array in zip(memory, dtypes, (q, k, v, out, lse), strict=True)
            )
            attributes = (scale, causal, block_m, block_n)
            launch(
                *(runtime, workspaces, stream, FLASH_ATTENTION),
                *(q_t, k_t, v_t, *attributes, out_t, lse_t),
            )
        runtime.call("aclrtSynchronizeStream", stream)
        runtime.copy_to_host(out.ctypes.data, memory[3], out.nbytes)
        runtime.copy_to_host(lse.ctypes.data, memory[4], lse.nbytes)
    return out, lse
