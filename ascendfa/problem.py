"""What is to be computed, checked and normalised: no arrays, no libraries, no side effects."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Final, Literal, cast

from ascendfa.errors import (
    ArgumentTypeError,
    DeviceMismatchError,
    DTypeError,
    InvalidArgumentError,
    NotSupportedError,
    ShapeError,
)

__all__ = ["LAYOUTS", "ArraySpec", "Layout", "Problem", "make_problem", "reject_unsupported"]

Layout = Literal["BNSD", "BSND"]
LAYOUTS: Final[tuple[Layout, ...]] = ("BNSD", "BSND")
SUPPORTED_DTYPES: Final = ("float16",)
MAX_HEAD_DIM: Final = 256

_AXES: Final = {
    "BNSD": "[batch, heads, seq, head_dim]",
    "BSND": "[batch, seq, heads, head_dim]",
}
_FLOAT32_MAX: Final = 3.4028234663852886e38


@dataclass(frozen=True)
class ArraySpec:
    """An array as the caller passed it, without its contents.

    Attributes
    ----------
    kind
        ``"numpy"`` or ``"torch"``: what the result has to be.
    dtype
        Name of the element type, such as ``float16``.
    device
        ``"cpu"``, ``"npu:0"``, ...
    shape, strides
        In elements, in the caller's axis order.
    """

    kind: Literal["numpy", "torch"]
    dtype: str
    device: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """One attention computation; extents do not depend on the layout.

    Attributes
    ----------
    layout
        Axis order of q, k, v and the result.
    dtype, device
        Common to q, k and v.
    batch, heads_q, heads_k, seq_q, seq_k, head_dim, head_dim_v
        Extents.
    q_strides, k_strides, v_strides
        In elements, in the order batch, head, sequence, head_dim.
    scale
        Factor on q·kᵀ before the softmax.
    causal
        Key j is visible to query i iff ``j <= i + seq_k - seq_q``.
    """

    layout: Layout
    dtype: str
    device: str
    batch: int
    heads_q: int
    heads_k: int
    seq_q: int
    seq_k: int
    head_dim: int
    head_dim_v: int
    q_strides: tuple[int, int, int, int]
    k_strides: tuple[int, int, int, int]
    v_strides: tuple[int, int, int, int]
    scale: float
    causal: bool

    @property
    def group_size(self) -> int:
        """Query heads that share one key head."""
        return self.heads_q // self.heads_k

    @property
    def has_output(self) -> bool:
        """Whether the result has any element."""
        return self.batch > 0 and self.seq_q > 0

    @property
    def needs_launch(self) -> bool:
        """Whether there is anything to compute: without keys the result is known."""
        return self.has_output and self.seq_k > 0


def make_problem(
    q: ArraySpec,
    k: ArraySpec,
    v: ArraySpec,
    *,
    causal: object = False,
    scale: object = None,
    layout: object = "BNSD",
) -> Problem:
    """Check the arguments of an attention call and normalise them.

    Parameters
    ----------
    q, k, v
        The arrays' descriptions.
    causal, scale, layout
        As in `ascendfa.flash_attention`.

    Returns
    -------
    Problem
        Consistent and computable by the kernels of this version.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        Or one of their subclasses; the message names the argument, what was received and what is
        allowed.
    """
    checked_layout = _layout(layout)
    arrays = {"q": q, "k": k, "v": v}
    _same_home(arrays)
    _dtypes(arrays)
    for name, array in arrays.items():
        if len(array.shape) != 4:
            raise ShapeError(
                name,
                f"rank {len(array.shape)} (shape {_show(array.shape)})",
                f"rank 4, {_AXES[checked_layout]} for layout={checked_layout!r}",
            )
    q_shape, k_shape, v_shape = (_to_bnsd(a.shape, checked_layout) for a in arrays.values())
    _extents(q_shape, k_shape, v_shape)
    for name, array in arrays.items():
        _last_axis(name, array)
    q_strides, k_strides, v_strides = (_to_bnsd(a.strides, checked_layout) for a in arrays.values())
    batch, heads_q, seq_q, head_dim = q_shape
    return Problem(
        layout=checked_layout,
        dtype=q.dtype,
        device=q.device,
        batch=batch,
        heads_q=heads_q,
        heads_k=k_shape[1],
        seq_q=seq_q,
        seq_k=k_shape[2],
        head_dim=head_dim,
        head_dim_v=v_shape[3],
        q_strides=q_strides,
        k_strides=k_strides,
        v_strides=v_strides,
        scale=_scale(scale, head_dim),
        causal=as_bool("causal", causal),
    )


def reject_unsupported(
    *,
    window_size: object,
    softcap: object,
    alibi_slopes: object,
    bias: object,
    mask: object,
    dropout_p: object,
) -> None:
    """Refuse the options whose kernels do not exist yet, unless they have their neutral value."""
    if not isinstance(window_size, tuple | list) or len(window_size) != 2:
        raise ArgumentTypeError("window_size", repr(window_size), "a pair (left, right)")
    if tuple(window_size) != (-1, -1):
        raise NotSupportedError("window_size", repr(window_size), "(-1, -1), no window")
    for name, value in (("softcap", softcap), ("dropout_p", dropout_p)):
        if not _is_real(value):
            raise ArgumentTypeError(name, repr(value), "a real number")
        if value != 0:
            raise NotSupportedError(name, repr(value), "0.0")
    for name, value in (("alibi_slopes", alibi_slopes), ("bias", bias), ("mask", mask)):
        if value is not None:
            raise NotSupportedError(name, f"a {type(value).__name__}", "None")


def as_bool(name: str, value: object) -> bool:
    """Return a flag, refusing what merely has a truth value (such as the string 'False')."""
    if isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise ArgumentTypeError(name, f"{value!r} ({type(value).__name__})", "True or False")


def _show(shape: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _layout(layout: object) -> Layout:
    if not isinstance(layout, str):
        raise ArgumentTypeError("layout", repr(layout), "'BNSD' or 'BSND'")
    if layout not in LAYOUTS:
        raise InvalidArgumentError("layout", repr(layout), "'BNSD' or 'BSND'")
    return layout


def _to_bnsd(axes: tuple[int, ...], layout: Layout) -> tuple[int, int, int, int]:
    order = (0, 1, 2, 3) if layout == "BNSD" else (0, 2, 1, 3)
    return cast("tuple[int, int, int, int]", tuple(axes[i] for i in order))


def _same_home(arrays: dict[str, ArraySpec]) -> None:
    q = arrays["q"]
    for name, array in arrays.items():
        if array.kind != q.kind:
            raise ArgumentTypeError(
                name, f"a {array.kind} array beside q, a {q.kind} array", "q, k and v of one kind"
            )
        if array.device != q.device:
            raise DeviceMismatchError(
                name, f"device {array.device} beside q on {q.device}", "q, k and v on one device"
            )
    kind = q.device.partition(":")[0]
    if kind == "npu":
        raise NotSupportedError("q, k, v", f"tensors on {q.device}", "CPU tensors and numpy arrays")
    if kind != "cpu":
        raise DeviceMismatchError("q, k, v", f"device {q.device}", "device cpu")


def _dtypes(arrays: dict[str, ArraySpec]) -> None:
    for name, array in arrays.items():
        if array.dtype in SUPPORTED_DTYPES:
            continue
        raise DTypeError(name, f"dtype {array.dtype}", " or ".join(SUPPORTED_DTYPES))


def _extents(
    q: tuple[int, int, int, int], k: tuple[int, int, int, int], v: tuple[int, int, int, int]
) -> None:
    for name, shape in (("k", k), ("v", v)):
        if shape[0] != q[0]:
            raise ShapeError(name, f"batch {shape[0]}", f"the batch of q, {q[0]}")
    if k[1] != v[1]:
        raise ShapeError("v", f"{v[1]} heads", f"the heads of k, {k[1]}")
    if k[2] != v[2]:
        raise ShapeError("v", f"sequence length {v[2]}", f"the sequence length of k, {k[2]}")
    if k[3] != q[3]:
        raise ShapeError("k", f"head dim {k[3]}", f"the head dim of q, {q[3]}")
    for name, heads in (("q", q[1]), ("k", k[1])):
        if heads == 0:
            raise ShapeError(name, "0 heads", "at least 1 head")
    if q[1] % k[1] != 0:
        raise ShapeError(
            "q", f"{q[1]} heads over {k[1]} heads of k", "a multiple of the heads of k"
        )
    if q[3] == 0:
        raise ShapeError("q", "head dim 0", f"head dim 1 to {MAX_HEAD_DIM}")
    if q[3] > MAX_HEAD_DIM:
        raise NotSupportedError("q", f"head dim {q[3]}", f"head dim 1 to {MAX_HEAD_DIM}")
    if v[3] != q[3]:
        raise NotSupportedError("v", f"head dim {v[3]}", f"the head dim of q, {q[3]}")


def _last_axis(name: str, array: ArraySpec) -> None:
    # Strides of axes with one element, or of arrays without elements, never move a pointer.
    if 0 in array.shape or array.shape[-1] == 1 or array.strides[-1] == 1:
        return
    raise ShapeError(
        name,
        f"stride {array.strides[-1]} along the last axis (strides {_show(array.strides)})",
        "a contiguous last axis, stride 1; make a contiguous copy first",
    )


def _scale(scale: object, head_dim: int) -> float:
    if scale is None:
        return 1.0 / math.sqrt(head_dim)
    if not _is_real(scale):
        raise ArgumentTypeError(
            "scale", f"{scale!r} ({type(scale).__name__})", "a real number, or None for 1/sqrt(D)"
        )
    try:
        value = float(cast("float", scale))
    except OverflowError:
        value = math.inf
    if not abs(value) <= _FLOAT32_MAX:  # true for NaN as well
        raise InvalidArgumentError("scale", repr(scale), "a finite float32 number")
    return value
