"""numpy arrays and torch tensors, seen alike; torch is never imported, only met."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ascendfa.errors import ArgumentTypeError, NotSupportedError
from ascendfa.problem import ArraySpec

__all__ = [
    "HostArray",
    "Staged",
    "as_result",
    "describe",
    "dtype_name",
    "is_tensor",
    "result_buffer",
    "stage",
]

HostArray = npt.NDArray[Any]
# Elements that are copied without asking whether they are needed.
_SMALL_SPAN: Final = 4096


def _torch() -> Any:
    """Return torch if the caller has it loaded: without it there are no tensors to handle."""
    return sys.modules.get("torch")


def is_tensor(array: object) -> bool:
    """Whether something is a torch tensor."""
    torch = _torch()
    # A torch that is only half imported has no Tensor yet.
    tensor_type = getattr(torch, "Tensor", None)
    return tensor_type is not None and isinstance(array, tensor_type)


def describe(name: str, array: object) -> ArraySpec:
    """Describe a numpy array or a torch tensor.

    Parameters
    ----------
    name
        The argument, for error messages.
    array
        What the caller passed.

    Raises
    ------
    ArgumentTypeError
        If it is neither, or a kind whose extra meaning attention would lose.
    NotSupportedError
        If it is a tensor that wants a gradient.
    """
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentTypeError(name, "a masked array", "a plain numpy array; masks are not read")
    if isinstance(array, np.ndarray):
        return _describe_numpy(array)
    if is_tensor(array):
        return _describe_tensor(name, array)
    raise ArgumentTypeError(name, f"a {type(array).__name__}", "a numpy array or a torch tensor")


def dtype_name(array: Any) -> str:
    """Return the name of an array's element type, the same for numpy and torch."""
    return str(array.dtype).removeprefix("torch.")


def _describe_numpy(array: HostArray) -> ArraySpec:
    dtype = array.dtype
    # Byte-swapped types have the same name, but not the same bytes.
    label = dtype.name if dtype.isnative else f"{dtype.name} in foreign byte order"
    size = dtype.itemsize or 1
    # A stride that is no whole number of elements comes from a field of a record; floor division
    # keeps it apart from 1 because such a stride exceeds the element size.
    strides = tuple(s // size if s % size == 0 else 0 for s in array.strides)
    return ArraySpec("numpy", label, "cpu", tuple(array.shape), strides)


def _describe_tensor(name: str, tensor: Any) -> ArraySpec:
    torch = _torch()
    if tensor.layout != torch.strided or tensor.is_nested:
        kind = "nested" if tensor.is_nested else tensor.layout
        raise ArgumentTypeError(name, f"a {kind} tensor", "a strided (dense) tensor")
    if tensor.device.type == "cpu" and not _has_memory(tensor):
        raise ArgumentTypeError(
            name,
            f"a tensor without memory ({type(tensor).__name__} of torch.vmap, fake tensors, ...)",
            "a tensor that holds its elements",
        )
    if tensor.requires_grad and torch.is_grad_enabled():
        raise NotSupportedError(
            name,
            "a tensor with requires_grad=True (there is no backward kernel yet)",
            "tensors without gradient: call .detach(), or call under torch.no_grad()",
        )
    return ArraySpec(
        *("torch", dtype_name(tensor), str(tensor.device)),
        *(tuple(tensor.shape), tuple(tensor.stride())),
    )


def _has_memory(tensor: Any) -> bool:
    fakes = sys.modules.get("torch._subclasses.fake_tensor")
    if fakes is not None and isinstance(tensor, fakes.FakeTensor):
        return False
    try:
        return bool(tensor.numel() == 0 or tensor.data_ptr())
    except RuntimeError:
        return False


@dataclass(frozen=True)
class Staged:
    """Host memory that holds an array, to be copied as it is.

    Attributes
    ----------
    owner
        Keeps the memory alive; its first element is the array's.
    dtype
        Name of the element type.
    shape, strides
        In elements.
    span
        Elements from the first to the last one.
    """

    owner: HostArray
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    span: int

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        expected = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length != 1 and stride != expected:
                return False
            expected *= length
        return True

    @property
    def nbytes(self) -> int:
        """Bytes to copy."""
        return self.span * self.owner.itemsize


def stage(array: Any, dtype: str) -> Staged:
    """Return the memory that holds an array, without copying it where its strides allow.

    An array whose elements lie far apart is packed first: copying what lies between would take
    longer. So is one with negative strides, which no kernel reads.
    """
    if is_tensor(array):
        tensor = array.detach().resolve_neg()
        # numpy has no bfloat16; the bits are all that is needed.
        host = tensor.view(_torch().int16).numpy() if dtype == "bfloat16" else tensor.numpy()
    else:
        host = np.asarray(array)
    size = host.itemsize
    strides = tuple(
        0 if n == 1 else s // size for n, s in zip(host.shape, host.strides, strict=True)
    )
    span = 1 + sum((n - 1) * s for n, s in zip(host.shape, strides, strict=True))
    uneven = any(s % size for s in host.strides)  # fields of records
    if uneven or min(strides) < 0 or span > 2 * host.size + _SMALL_SPAN:
        host = np.ascontiguousarray(host)
        strides = tuple(s // size for s in host.strides)
        span = host.size
    return Staged(host, dtype, host.shape, strides, span)


def result_buffer(shape: tuple[int, ...], like: Any, dtype: str) -> HostArray:
    """Return a host array for a result that has the element type of a caller's array."""
    if is_tensor(like):
        return np.empty(shape, np.int16 if dtype == "bfloat16" else dtype)
    return np.empty(shape, like.dtype)


def as_result(host: HostArray, like: Any, dtype: str | None = None) -> Any:
    """Return a host array as the caller's kind of array.

    Parameters
    ----------
    host
        C-contiguous; bfloat16 as its bits.
    like
        The array whose kind the result takes.
    dtype
        Name of the element type; None for that of `host`.
    """
    if not is_tensor(like):
        return host
    torch = _torch()
    tensor = torch.from_numpy(host)
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor
