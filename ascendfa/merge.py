"""Attention over parts of the keys, put together: arithmetic on results, no kernel, no library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ascendfa import arrays
from ascendfa.errors import (
    ArgumentTypeError,
    DeviceMismatchError,
    DTypeError,
    InvalidArgumentError,
    ShapeError,
)
from ascendfa.problem import Layout, as_layout

__all__ = ["merge_attention"]

_OUT_DTYPES: Final = ("float16", "bfloat16", "float32", "float64")


def merge_attention(outs: Sequence[Any], lses: Sequence[Any], *, layout: str = "BNSD") -> Any:
    """Combine attention results over disjoint sets of keys into the result over all of them.

    Parameters
    ----------
    outs
        Results of attention of the same queries over one set of keys each: numpy arrays or torch
        tensors of one shape, type and device.
    lses
        Their log-sum-exps (`return_lse`), in the same order; -inf where a query saw no key.
    layout
        ``"BNSD"``: outs [B, H, S, D]; ``"BSND"``: outs [B, S, H, D], as the attention functions
        return them. lses are [B, H, S] either way. Leading axes may be missing: [S, H, D] with
        [H, S] is "BSND" as well.

    Returns
    -------
    out : array
        Of the kind and type of `outs`.
    lse : array
        [B, H, S], float32 (float64 if the lses are).

    Raises
    ------
    ascendfa.errors.InvalidArgumentError, ascendfa.errors.ArgumentTypeError
        Naming what does not fit together.
    """
    order = as_layout(layout)
    parts = _checked(outs, lses, order)
    if arrays.is_tensor(parts[0][0]):
        return _merge_tensors(parts, order)
    return _merge_arrays(parts, order)


def _checked(outs: Sequence[Any], lses: Sequence[Any], layout: Layout) -> list[tuple[Any, Any]]:
    for name, given in (("outs", outs), ("lses", lses)):
        if not isinstance(given, list | tuple):
            raise ArgumentTypeError(name, f"a {type(given).__name__}", "a list or tuple of arrays")
    if not outs or len(outs) != len(lses):
        raise InvalidArgumentError(
            "outs, lses", f"{len(outs)} and {len(lses)} arrays", "as many of each, at least 1"
        )
    first_out, first_lse = outs[0], lses[0]
    for name, given, first in (("outs", outs, first_out), ("lses", lses, first_lse)):
        for i, array in enumerate(given):
            _same(f"{name}[{i}]", array, first)
    if arrays.is_tensor(first_out) != arrays.is_tensor(first_lse):
        raise ArgumentTypeError("lses", "arrays of another kind than outs", "one kind of array")
    if arrays.dtype_name(first_out) not in _OUT_DTYPES:
        raise DTypeError("outs", f"dtype {arrays.dtype_name(first_out)}", " or ".join(_OUT_DTYPES))
    if arrays.dtype_name(first_lse) not in ("float32", "float64"):
        raise DTypeError("lses", f"dtype {arrays.dtype_name(first_lse)}", "float32 or float64")
    _fitting(tuple(first_out.shape), tuple(first_lse.shape), layout)
    return list(zip(outs, lses, strict=True))


def _same(name: str, array: Any, first: Any) -> None:
    tensor = arrays.is_tensor(array)
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentTypeError(name, "a masked array", "a plain numpy array; masks are not read")
    if not tensor and not isinstance(array, np.ndarray):
        raise ArgumentTypeError(name, f"a {type(array).__name__}", "a numpy array or torch tensor")
    if tensor != arrays.is_tensor(first):
        raise ArgumentTypeError(name, f"a {type(array).__name__}", f"a {type(first).__name__}")
    if tuple(array.shape) != tuple(first.shape):
        raise ShapeError(name, f"shape {list(array.shape)}", f"{list(first.shape)}, as the first")
    if array.dtype != first.dtype:
        raise DTypeError(name, f"dtype {array.dtype}", f"{first.dtype}, as the first")
    if tensor and array.device != first.device:
        raise DeviceMismatchError(name, f"device {array.device}", f"{first.device}, as the first")


def _fitting(out: tuple[int, ...], lse: tuple[int, ...], layout: Layout) -> None:
    rows = out[:-1]
    if layout == "BSND" and len(rows) >= 2:
        rows = (*rows[:-2], rows[-1], rows[-2])
    if len(out) < 2 or lse != rows:
        raise ShapeError(
            "lses",
            f"shape {list(lse)} beside outs of shape {list(out)}",
            f"{list(rows)} for layout={layout!r}",
        )


def _merge_arrays(parts: list[tuple[Any, Any]], layout: Layout) -> tuple[Any, Any]:
    lses = np.stack([lse for _, lse in parts])
    top = lses.max(axis=0)
    top[~np.isfinite(top)] = 0.0
    weights = np.exp(lses - top)
    total = weights.sum(axis=0)
    with np.errstate(divide="ignore"):
        lse = np.log(total) + top
    shares = weights / np.where(total > 0, total, 1)
    if layout == "BSND":
        shares = shares.swapaxes(-1, -2)
    out = sum(
        out.astype(shares.dtype) * share[..., None]
        for (out, _), share in zip(parts, shares, strict=True)
    )
    return np.asarray(out).astype(parts[0][0].dtype), lse


def _merge_tensors(parts: list[tuple[Any, Any]], layout: Layout) -> tuple[Any, Any]:
    lses = parts[0][1].new_zeros((len(parts), *parts[0][1].shape))
    for i, (_, lse) in enumerate(parts):
        lses[i] = lse
    top = lses.amax(dim=0)
    top = top.where(top.isfinite(), top.new_zeros(()))
    weights = (lses - top).exp()
    total = weights.sum(dim=0)
    lse = total.log() + top
    shares = weights / total.where(total > 0, total.new_ones(()))
    if layout == "BSND":
        shares = shares.transpose(-1, -2)
    out = sum(
        out.to(shares.dtype) * share[..., None]
        for (out, _), share in zip(parts, shares, strict=True)
    )
    return out.to(parts[0][0].dtype), lse
