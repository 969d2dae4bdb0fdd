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
SUPPORTED_DTYPES: Final = ("float16", "bfloat16", "float32")
MAX_HEAD_DIM: Final = 576
MAX_HEAD_DIM_V: Final = 512

_AXES: Final = {
    "BNSD": "[batch, heads, seq, head_dim]",
    "BSND": "[batch, seq, heads, head_dim]",
}
# Times the largest product of fp16 vectors, 576 · 65504², still a finite float32: a kernel that
# subtracts an infinite maximum from infinite scores gets NaN.
MAX_SCALE: Final = 1e26
# Capped scores are off by a few roundings of the cap in fp32: 3e-4 for this one.
MAX_SOFTCAP: Final = 1000.0
MIN_SOFTCAP: Final = 1e-3


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
    scale
        Factor on q·kᵀ before the softmax.
    causal, window_size
        Key j is visible to query i iff ``own - left <= j <= own + right``, where ``own`` is
        ``i + seq_k - seq_q``; -1 stands for no limit, `causal` for a right limit of 0.
    softcap
        Scores become ``softcap * tanh(score / softcap)``; 0 for none.
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
    scale: float
    causal: bool
    window_size: tuple[int, int]
    softcap: float

    @property
    def out_shape(self) -> tuple[int, int, int, int]:
        """Shape of the result, in the caller's axis order."""
        return _reorder((self.batch, self.heads_q, self.seq_q, self.head_dim_v), self.layout)

    @property
    def lse_shape(self) -> tuple[int, int, int]:
        """Shape of the log-sum-exps."""
        return (self.batch, self.heads_q, self.seq_q)

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
    window_size: object = (-1, -1),
    softcap: object = 0.0,
    alibi_slopes: ArraySpec | None = None,
    bias: ArraySpec | None = None,
    mask: ArraySpec | None = None,
    layout: object = "BNSD",
) -> Problem:
    """Check the arguments of an attention call and normalise them.

    Parameters
    ----------
    q, k, v, alibi_slopes, bias, mask
        The arrays' descriptions.
    causal, scale, window_size, softcap, layout
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
    checked_layout = as_layout(layout)
    arrays = {"q": q, "k": k, "v": v}
    terms = {"alibi_slopes": alibi_slopes, "bias": bias, "mask": mask}
    present = {name: term for name, term in terms.items() if term is not None}
    _same_home(arrays | present)
    _dtypes(arrays)
    for name, array in arrays.items():
        if len(array.shape) != 4:
            raise ShapeError(
                name,
                f"rank {len(array.shape)} (shape {_show(array.shape)})",
                f"rank 4, {_AXES[checked_layout]} for layout={checked_layout!r}",
            )
    q_shape, k_shape, v_shape = (_reorder(a.shape, checked_layout) for a in arrays.values())
    _extents(q_shape, k_shape, v_shape)
    for name, array in arrays.items():
        _last_axis(name, array)
    batch, heads_q, seq_q, head_dim = q_shape
    seq_k = k_shape[2]
    _term_dtypes(q.dtype, present)
    for name in ("bias", "mask"):
        if name in present:
            _score_shape(name, present[name].shape, (batch, heads_q, seq_q, seq_k))
    if alibi_slopes is not None and alibi_slopes.shape not in ((heads_q,), (batch, heads_q)):
        raise ShapeError(
            "alibi_slopes",
            f"shape {_show(alibi_slopes.shape)}",
            f"[H] or [B, H], here [{heads_q}] or [{batch}, {heads_q}]",
        )
    for name, term in present.items():
        _last_axis(name, term)
    return Problem(
        layout=checked_layout,
        dtype=q.dtype,
        device=q.device,
        batch=batch,
        heads_q=heads_q,
        heads_k=k_shape[1],
        seq_q=seq_q,
        seq_k=seq_k,
        head_dim=head_dim,
        head_dim_v=v_shape[3],
        scale=_scale(scale, head_dim),
        causal=as_bool("causal", causal),
        window_size=_window(window_size),
        softcap=_softcap(softcap),
    )


def reject_unsupported(*, dropout_p: object) -> None:
    """Refuse the options whose kernels do not exist, unless they have their neutral value."""
    if not _is_real(dropout_p):
        raise ArgumentTypeError("dropout_p", repr(dropout_p), "a real number")
    if dropout_p != 0:
        raise NotSupportedError("dropout_p", repr(dropout_p), "0.0")


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


def _as_float(value: object) -> float:
    """Convert a real number; one beyond all floats (integers and fractions can be) to infinity."""
    try:
        return float(cast("float", value))
    except OverflowError:
        return math.inf


def as_layout(layout: object) -> Layout:
    """Return a layout, refusing anything else."""
    if not isinstance(layout, str):
        raise ArgumentTypeError("layout", repr(layout), "'BNSD' or 'BSND'")
    if layout not in LAYOUTS:
        raise InvalidArgumentError("layout", repr(layout), "'BNSD' or 'BSND'")
    return layout


def _reorder(axes: tuple[int, ...], layout: Layout) -> tuple[int, int, int, int]:
    """Go from a layout's axis order to [batch, heads, seq, dim], and back."""
    order = (0, 1, 2, 3) if layout == "BNSD" else (0, 2, 1, 3)
    return cast("tuple[int, int, int, int]", tuple(axes[i] for i in order))


def _same_home(arrays: dict[str, ArraySpec]) -> None:
    q = arrays["q"]
    for name, array in arrays.items():
        if array.kind != q.kind:
            raise ArgumentTypeError(
                name, f"a {array.kind} array beside q, a {q.kind} array", "arrays of one kind"
            )
        if array.device != q.device:
            raise DeviceMismatchError(
                name, f"device {array.device} beside q on {q.device}", "arrays on one device"
            )
    if q.device.partition(":")[0] not in ("cpu", "npu"):
        raise DeviceMismatchError("q, k, v", f"device {q.device}", "device npu or cpu")


def _dtypes(arrays: dict[str, ArraySpec]) -> None:
    for name, array in arrays.items():
        if array.dtype not in SUPPORTED_DTYPES:
            raise DTypeError(name, f"dtype {array.dtype}", " or ".join(SUPPORTED_DTYPES))
    q = arrays["q"]
    for name, array in arrays.items():
        if array.dtype != q.dtype:
            raise DTypeError(name, f"dtype {array.dtype}", f"the dtype of q, {q.dtype}")


def _term_dtypes(dtype: str, terms: dict[str, ArraySpec]) -> None:
    wanted = {"alibi_slopes": "float32", "bias": dtype, "mask": "bool"}
    for name, term in terms.items():
        if term.dtype != wanted[name]:
            allowed = f"{wanted[name]}, the dtype of q" if name == "bias" else wanted[name]
            raise DTypeError(name, f"dtype {term.dtype}", allowed)


def _score_shape(name: str, shape: tuple[int, ...], scores: tuple[int, int, int, int]) -> None:
    whole = shape == scores[2:]
    if len(shape) == 4 and shape[3] == scores[3]:
        whole = all(n in (1, full) for n, full in zip(shape[:3], scores[:3], strict=True))
    if whole:
        return
    batch, heads, seq_q, seq_k = scores
    raise ShapeError(
        name,
        f"shape {_show(shape)}",
        "[Sq, Sk], [B, 1, 1, Sk], [B, 1, Sq, Sk] or [B, H, Sq, Sk], where B, H and Sq of the last "
        f"three may each be 1; here B={batch}, H={heads}, Sq={seq_q}, Sk={seq_k}",
    )


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
    for name, dim, most in (("q", q[3], MAX_HEAD_DIM), ("v", v[3], MAX_HEAD_DIM_V)):
        if dim == 0:
            raise ShapeError(name, "head dim 0", f"head dim 1 to {most}")
        if dim > most:
            raise NotSupportedError(name, f"head dim {dim}", f"head dim 1 to {most}")


def _last_axis(name: str, array: ArraySpec) -> None:
    # Strides of axes with one element, or of arrays without elements, never move a pointer.
    if 0 in array.shape or array.shape[-1] == 1 or array.strides[-1] == 1:
        return
    raise ShapeError(
        name,
        f"stride {array.strides[-1]} along the last axis (strides {_show(array.strides)})",
        "a contiguous last axis, stride 1; make a contiguous copy first",
    )


def _window(window_size: object) -> tuple[int, int]:
    if not isinstance(window_size, tuple | list) or len(window_size) != 2:
        raise ArgumentTypeError("window_size", repr(window_size), "a pair (left, right)")
    for limit in window_size:
        if not isinstance(limit, numbers.Integral) or isinstance(limit, bool):
            raise ArgumentTypeError("window_size", repr(window_size), "a pair of integers")
        if not -1 <= int(limit) < 1 << 63:
            raise InvalidArgumentError(
                "window_size", repr(window_size), "numbers of keys from 0 on, or -1 for no limit"
            )
    left, right = window_size
    return int(left), int(right)


def _softcap(softcap: object) -> float:
    if not _is_real(softcap):
        raise ArgumentTypeError("softcap", repr(softcap), "a real number")
    value = _as_float(softcap)
    if not 0 <= value <= MAX_SOFTCAP:  # true for NaN as well
        raise InvalidArgumentError(
            "softcap", repr(softcap), f"0 for none, or a number up to {MAX_SOFTCAP:g}"
        )
    if 0 < value < MIN_SOFTCAP:
        raise InvalidArgumentError("softcap", repr(softcap), f"0, or at least {MIN_SOFTCAP:g}")
    return value


def _scale(scale: object, head_dim: int) -> float:
    if scale is None:
        return 1.0 / math.sqrt(head_dim)
    if not _is_real(scale):
        raise ArgumentTypeError(
            "scale", f"{scale!r} ({type(scale).__name__})", "a real number, or None for 1/sqrt(D)"
        )
    value = _as_float(scale)
    if not abs(value) <= MAX_SCALE:  # true for NaN as well
        raise InvalidArgumentError("scale", repr(scale), f"a number up to {MAX_SCALE:g} either way")
    return value
