"""aclTensor descriptors over device memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ascendfa.native.acl import Acl

__all__ = ["DTYPES", "contiguous_strides", "tensor"]

_FORMAT_ND: Final = 2

# aclDataType by the name numpy (with ml_dtypes) and torch agree on.
DTYPES: Final = {"float32": 0, "float16": 1, "bool": 12, "bfloat16": 27}


def contiguous_strides(shape: Sequence[int]) -> list[int]:
    """Return the strides, in elements, of a row-major array."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


@contextmanager
def tensor(
    runtime: Acl,
    data: ctypes.c_void_p,
    dtype: str,
    shape: Sequence[int],
    strides: Sequence[int] | None = None,
    storage: int | None = None,
    offset: int = 0,
) -> Iterator[ctypes.c_void_p]:
    """Create a descriptor and destroy it at the end.

    Parameters
    ----------
    runtime
        Whose descriptor; two runtimes' descriptors must not meet.
    data
        Address of the memory, which has to be aligned to 32 bytes.
    dtype
        A key of `DTYPES`.
    shape, strides
        The view, in elements; strides None for row-major.
    storage
        Elements the memory holds from `data` on; None for as many as the shape has.
    offset
        Elements from `data` to the view's first one.
    """
    rank = len(shape)
    dims = (ctypes.c_int64 * rank)(*shape)
    steps = (ctypes.c_int64 * rank)(*(strides or contiguous_strides(shape)))
    flat = None if storage is None else (ctypes.c_int64 * 1)(storage)
    storage_dims, storage_rank = (dims, rank) if flat is None else (flat, 1)
    raw = runtime.libraries["aclCreateTensor"](
        *(dims, rank, DTYPES[dtype], steps, offset, _FORMAT_ND, storage_dims, storage_rank, data)
    )
    if not raw:
        raise runtime.error("aclCreateTensor", 161001)
    handle = ctypes.c_void_p(raw)
    with runtime.releasing("aclDestroyTensor", handle):
        yield handle
