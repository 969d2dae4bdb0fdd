"""numpy arrays and torch tensors, seen alike; torch is never imported, only met."""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ascendfa.errors import ArgumentTypeError, NotSupportedError, ShapeError
from ascendfa.problem import ArraySpec, Layout

__all__ = ["HostArray", "as_result", "describe", "stage"]

HostArray = npt.NDArray[Any]


class TensorLike(Protocol):
    """The part of ``torch.Tensor`` used here."""

    shape: tuple[int, ...]
    dtype: object
    device: object
    requires_grad: bool

    def stride(self) -> tuple[int, ...]: ...
    def detach(self) -> TensorLike: ...
    def resolve_neg(self) -> TensorLike: ...
    def numpy(self) -> HostArray: ...


def _torch() -> Any:
    """Return torch if the caller has it loaded: without it there are no tensors to handle."""
    return sys.modules.get("torch")


def _is_tensor(array: object) -> bool:
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
    if _is_tensor(array):
        return _describe_tensor(name, array)
    raise ArgumentTypeError(name, f"a {type(array).__name__}", "a numpy array or a torch tensor")


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
    if tensor.layout != torch.strided:
        raise ArgumentTypeError(name, f"a {tensor.layout} tensor", "a strided (dense) tensor")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise NotSupportedError(
            name,
            "a tensor with requires_grad=True (there is no backward kernel yet)",
            "tensors without gradient: call .detach(), or call under torch.no_grad()",
        )
    dtype = str(tensor.dtype).removeprefix("torch.")
    return ArraySpec(
        "torch", dtype, str(tensor.device), tuple(tensor.shape), tuple(tensor.stride())
    )


def stage(array: Any, layout: Layout) -> HostArray:
    """Return the elements as a C-contiguous host array [batch, heads, seq, head_dim].

    Shares the caller's memory when that already has this form, so the result is only for reading.
    """
    host = array.detach().resolve_neg().numpy() if _is_tensor(array) else np.asarray(array)
    if layout == "BSND":
        host = host.transpose(0, 2, 1, 3)
    if host.ndim != 4:
        raise ShapeError("array", f"rank {host.ndim}", "rank 4")
    return np.ascontiguousarray(host)


def as_result(host: HostArray, spec: ArraySpec, layout: Layout | None = None) -> Any:
    """Return a host array as the caller's kind of array.

    Parameters
    ----------
    host
        C-contiguous, [batch, heads, seq, ...].
    spec
        The array whose kind the result takes.
    layout
        Axis order of a rank-4 result; None leaves the axes alone.
    """
    if layout == "BSND":
        host = np.ascontiguousarray(host.transpose(0, 2, 1, 3))
    return _torch().from_numpy(host) if spec.kind == "torch" else host
