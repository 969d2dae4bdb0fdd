"""The two-phase aclnn call of the op package."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from typing import Any

import numpy.typing as npt

from ascendfa.native.acl import Acl
from ascendfa.native.symbols import FLASH_ATTENTION
from ascendfa.native.tensor import contiguous_strides, tensor

__all__ = [
    "Attributes",
    "DeviceArray",
    "HostInput",
    "flash_attention_device",
    "flash_attention_host",
    "launch",
    "launch_with",
]

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
    launch_with(
        *(runtime, lambda size: stack.enter_context(runtime.memory(size)), lambda: stream, op),
        *arguments,
    )


def launch_with(
    runtime: Acl,
    workspace: Callable[[int], ctypes.c_void_p],
    stream: Callable[[], ctypes.c_void_p],
    op: str,
    *arguments: Any,
) -> None:
    """Run both phases of an aclnn operator with somebody else's memory and stream.

    Parameters
    ----------
    runtime, op, *arguments
        As for `launch`.
    workspace
        Allocates so many bytes (or none), which have to last until the stream has finished the
        work.
    stream
        Asked for the stream last of all, right before the work is queued.
    """
    size = ctypes.c_uint64()
    executor = ctypes.c_void_p()
    runtime.call(f"{op}GetWorkspaceSize", *arguments, ctypes.byref(size), ctypes.byref(executor))
    with _unlaunched(runtime, executor):
        memory = workspace(size.value)
        queue = stream()
    runtime.call(op, memory, size.value, executor, queue)


@dataclass(frozen=True)
class HostInput:
    """An input in host memory: its first element is at `address`, extents are in elements."""

    address: int
    nbytes: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    contiguous: bool


@dataclass(frozen=True)
class DeviceArray:
    """An array that is in device memory already; extents are in elements.

    Attributes
    ----------
    base, storage
        The memory it is a view of: where it starts, and how much it holds.
    offset
        From the start of the memory to the first element.
    dtype
        Name of the element type.
    shape, strides
        The view.
    """

    base: int
    storage: int
    offset: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        expected = contiguous_strides(self.shape)
        axes = zip(self.shape, self.strides, expected, strict=True)
        return all(n == 1 or stride == wanted for n, stride, wanted in axes)


@dataclass(frozen=True)
class Attributes:
    """The operator's attributes, in the order of its definition; block sizes 0: its plan's."""

    scale: float
    causal: bool
    window_left: int
    window_right: int
    softcap: float
    block_m: int
    block_n: int
    fp32_scores: bool
    layout: str

    def arguments(self, inputs: Sequence[HostInput | DeviceArray | None]) -> tuple[Any, ...]:
        """Return the C arguments; the last says which of the inputs are strided views."""
        strided = sum(1 << i for i, x in enumerate(inputs) if x is not None and not x.contiguous)
        *numbers, layout = astuple(self)
        return (*numbers, layout.encode(), strided)


def flash_attention_host(
    runtime: Acl,
    inputs: Sequence[HostInput | None],
    attributes: Attributes,
    out: HostArray,
    out_dtype: str,
    lse: HostArray,
) -> None:
    """Compute attention of host arrays through device memory, synchronously.

    A device has to be current on the calling thread.

    Parameters
    ----------
    runtime
        The runtime to use.
    inputs
        q, k, v, bias, mask, alibi_slopes; the last three may be None.
    attributes
        The operator's attributes.
    out, lse
        C-contiguous; filled with the results.
    out_dtype
        Element type of `out`, whose own type only has to have the right size.
    """
    # Closed in reverse: the stream goes before the memory its work uses.
    with ExitStack() as stack:

        def allocate(size: int) -> ctypes.c_void_p:
            return stack.enter_context(runtime.memory(size))

        memory = [None if x is None else allocate(x.nbytes) for x in inputs]
        results = [allocate(array.nbytes) for array in (out, lse)]
        for source, pointer in zip(inputs, memory, strict=True):
            if source is not None and pointer is not None:
                runtime.copy_to_device(pointer, source.address, source.nbytes)
        workspaces = stack.enter_context(ExitStack())
        stream = stack.enter_context(runtime.stream())
        with ExitStack() as descriptors:
            input_tensors = [
                None
                if source is None or pointer is None
                else descriptors.enter_context(
                    tensor(runtime, pointer, source.dtype, source.shape, source.strides)
                )
                for source, pointer in zip(inputs, memory, strict=True)
            ]
            output_tensors = [
                descriptors.enter_context(tensor(runtime, pointer, dtype, array.shape))
                for pointer, dtype, array in zip(
                    results, (out_dtype, "float32"), (out, lse), strict=True
                )
            ]
            launch(
                *(runtime, workspaces, stream, FLASH_ATTENTION),
                *(*input_tensors, *attributes.arguments(inputs), *output_tensors),
            )
        runtime.call("aclrtSynchronizeStream", stream)
        for array, pointer in zip((out, lse), results, strict=True):
            runtime.copy_to_host(array.ctypes.data, pointer, array.nbytes)


def flash_attention_device(
    runtime: Acl,
    inputs: Sequence[DeviceArray | None],
    attributes: Attributes,
    outputs: tuple[DeviceArray, DeviceArray],
    workspace: Callable[[int], ctypes.c_void_p],
    stream: Callable[[], ctypes.c_void_p],
) -> None:
    """Queue attention of arrays in device memory; returns before it is computed.

    Their device has to be current on the calling thread.

    Parameters
    ----------
    runtime
        The runtime to use.
    inputs
        q, k, v, bias, mask, alibi_slopes; the last three may be None.
    attributes
        The operator's attributes.
    outputs
        The result and the log-sum-exps, both row-major.
    workspace, stream
        As for `launch_with`.
    """
    with ExitStack() as descriptors:

        def describe(array: DeviceArray) -> ctypes.c_void_p:
            return descriptors.enter_context(
                tensor(
                    *(runtime, ctypes.c_void_p(array.base), array.dtype, array.shape),
                    *(array.strides, array.storage, array.offset),
                )
            )

        input_tensors = [None if array is None else describe(array) for array in inputs]
        output_tensors = [describe(array) for array in outputs]
        launch_with(
            *(runtime, workspace, stream, FLASH_ATTENTION),
            *(*input_tensors, *attributes.arguments(inputs), *output_tensors),
        )
