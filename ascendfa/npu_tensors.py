"""Tensors of torch_npu: their memory, their streams; torch is never imported, only met."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ascendfa.errors import NotSupportedError
from ascendfa.native.acl import Acl
from ascendfa.native.executor import Attributes, DeviceArray, flash_attention_device

__all__ = ["current_stream", "empty", "is_npu", "launch", "on_device", "view"]

# aclFormat of memory in row-major order: undefined, NCHW, NHWC, ND, NDHWC, NCDHW, NCL. The others
# shuffle elements into blocks behind the tensor's back.
_PLAIN_FORMATS: Final = (-1, 0, 1, 2, 27, 30, 47)
_FORMAT_ND: Final = 2


def _torch() -> Any:
    return sys.modules["torch"]


def is_npu(device: str) -> bool:
    """Whether a device's name is that of an NPU."""
    return device.partition(":")[0] == "npu"


@contextmanager
def on_device(device: str) -> Iterator[int]:
    """Make an NPU torch's current device and return its number."""
    with _torch().npu.device(device):
        yield int(_torch().npu.current_device())


def empty(shape: Sequence[int], dtype: str, device: str) -> Any:
    """Return an uninitialised tensor from torch's allocator, for use on the current stream."""
    torch = _torch()
    return torch.empty(tuple(shape), dtype=getattr(torch, dtype), device=device)


def current_stream(device: str) -> ctypes.c_void_p:
    """Return the handle of torch's current stream on a device.

    Not to be kept: asking for it makes torch_npu queue what its own thread still holds back, so
    that work queued afterwards comes after all that torch was told to do before.
    """
    return ctypes.c_void_p(_torch().npu.current_stream(device).npu_stream)


def view(name: str, tensor: Any, dtype: str) -> DeviceArray:
    """Describe a tensor's memory, without copying it.

    Parameters
    ----------
    name
        The argument, for error messages.
    tensor
        On an NPU.
    dtype
        Name of its element type.

    Raises
    ------
    NotSupportedError
        If its elements do not lie in the order its strides say.
    """
    number = int(sys.modules["torch_npu"].get_npu_format(tensor))
    if number not in _PLAIN_FORMATS:
        raise NotSupportedError(
            name,
            f"a tensor in the private format {number}",
            f"a plain format: torch_npu.npu_format_cast(tensor, {_FORMAT_ND})",
        )
    tensor = tensor.detach().resolve_neg()
    storage = tensor.untyped_storage()
    shape = tuple(tensor.shape)
    # The stride of an axis of one element means nothing, but bounds may be computed from it.
    strides = tuple(0 if n == 1 else s for n, s in zip(shape, tensor.stride(), strict=True))
    return DeviceArray(
        base=storage.data_ptr(),
        storage=storage.nbytes() // tensor.element_size(),
        offset=tensor.storage_offset(),
        dtype=dtype,
        shape=shape,
        strides=strides,
    )


def launch(
    runtime: Acl,
    inputs: Sequence[DeviceArray | None],
    attributes: Attributes,
    outputs: tuple[DeviceArray, DeviceArray],
    device: str,
) -> None:
    """Queue attention on torch's current stream.

    Parameters
    ----------
    runtime, inputs, attributes, outputs
        As for `flash_attention_device`.
    device
        Where they are; current on this thread.
    """
    kept: list[Any] = []

    def workspace(size: int) -> ctypes.c_void_p:
        # The allocator hands memory that is given back to later work on the same stream only, so
        # it may be given back while the stream still uses it.
        if size:
            kept.append(empty((size,), "uint8", device))
        return ctypes.c_void_p(kept[0].data_ptr() if kept else None)

    flash_attention_device(
        *(runtime, inputs, attributes, outputs, workspace),
        lambda: current_stream(device),
    )
