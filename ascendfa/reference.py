"""Attention in float64, written to be obviously right; the yardstick of every test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["attention_reference", "visible_keys"]

Float64Array = npt.NDArray[np.float64]


def visible_keys(
    seq_q: int, seq_k: int, *, causal: bool = False, window_size: tuple[int, int] = (-1, -1)
) -> npt.NDArray[np.bool_]:
    """Return which keys each query sees, [seq_q, seq_k].

    Parameters
    ----------
    seq_q, seq_k
        Lengths; the last query is aligned with the last key.
    causal
        Hide the keys after a query's own position.
    window_size
        Keys before and after that position that stay visible, inclusive; -1 is unbounded.
    """
    own = np.arange(seq_q)[:, None] + (seq_k - seq_q)
    key = np.arange(seq_k)[None, :]
    left, right = window_size
    visible = np.ones((seq_q, seq_k), dtype=np.bool_)
    if causal:
        visible &= key <= own
    if left >= 0:
        visible &= key >= own - left
    if right >= 0:
        visible &= key <= own + right
    return visible


def attention_reference(
    q: npt.ArrayLike,
    k: npt.ArrayLike,
    v: npt.ArrayLike,
    *,
    causal: bool = False,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: npt.ArrayLike | None = None,
    bias: npt.ArrayLike | None = None,
    mask: npt.ArrayLike | None = None,
) -> tuple[Float64Array, Float64Array]:
    """Compute attention in float64, one head at a time.

    Parameters
    ----------
    q, k, v
        [B, Hq, Sq, D], [B, Hk, Sk, D], [B, Hk, Sk, Dv]; Hq is a multiple of Hk.
    causal, scale, window_size, softcap, alibi_slopes, bias, mask
        As in `ascendfa.flash_attention`; bias and mask may have any shape that broadcasts to
        [B, Hq, Sq, Sk].

    Returns
    -------
    out : ndarray
        [B, Hq, Sq, Dv]; zero where a query sees no key.
    lse : ndarray
        Natural logarithm of the softmax denominator, [B, Hq, Sq]; -inf where there is no key.
    """
    q64, k64, v64 = (_float64(a) for a in (q, k, v))
    batch, heads_q, seq_q, head_dim = q64.shape
    heads_k, seq_k = k64.shape[1:3]
    factor = 1.0 / math.sqrt(head_dim) if scale is None else float(scale)
    everywhere = (batch, heads_q, seq_q, seq_k)
    visible = visible_keys(seq_q, seq_k, causal=causal, window_size=window_size)
    kept = np.broadcast_to(True if mask is None else np.asarray(mask, dtype=np.bool_), everywhere)
    added = np.broadcast_to(0.0 if bias is None else _float64(bias), everywhere)
    slopes = np.broadcast_to(
        0.0 if alibi_slopes is None else _float64(alibi_slopes), everywhere[:2]
    )
    distance = np.abs(np.arange(seq_q)[:, None] + (seq_k - seq_q) - np.arange(seq_k)[None, :])
    out = np.zeros((batch, heads_q, seq_q, v64.shape[3]))
    lse = np.full((batch, heads_q, seq_q), -np.inf)
    if seq_k == 0:
        return out, lse
    for b in range(batch):
        for h in range(heads_q):
            shared = h // (heads_q // heads_k)
            scores = factor * (q64[b, h] @ k64[b, shared].T)
            if softcap:
                scores = softcap * np.tanh(scores / softcap)
            scores = scores - slopes[b, h] * distance + added[b, h]
            scores = np.where(visible & kept[b, h], scores, -np.inf)
            top = scores.max(axis=1, keepdims=True)
            top[~np.isfinite(top)] = 0.0
            weights = np.exp(scores - top)
            total = weights.sum(axis=1, keepdims=True)
            seen = total[:, 0] > 0
            out[b, h][seen] = (weights @ v64[b, shared])[seen] / total[seen]
            lse[b, h][seen] = np.log(total[seen, 0]) + top[seen, 0]
    return out, lse


def _float64(array: Any) -> Float64Array:
    return np.asarray(array).astype(np.float64)
