"""The bound every kernel test uses: at most twice the error of plain PyTorch, against float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ascendfa.reference import attention_reference, visible_keys


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """A torch tensor of the same values; numpy's bfloat16 comes from another library."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).bfloat16()
    return torch.from_numpy(np.ascontiguousarray(array))


def plain_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    *,
    scale: float,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    alibi_slopes: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """Attention as PyTorch operations in the inputs' own type; the result as float64."""
    tq, tk, tv = (as_tensor(a) for a in (q, k, v))
    group = q.shape[1] // k.shape[1]
    tk, tv = (t.repeat_interleave(group, dim=1) for t in (tk, tv))
    scores = (tq @ tk.mT) * scale
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    seq_q, seq_k = q.shape[2], k.shape[2]
    if alibi_slopes is not None:
        own = torch.arange(seq_q)[:, None] + (seq_k - seq_q)
        slopes = as_tensor(alibi_slopes)[..., None, None]
        scores = scores + (-slopes * (own - torch.arange(seq_k)[None, :]).abs()).to(scores.dtype)
    if bias is not None:
        scores = scores + as_tensor(bias)
    hidden = torch.from_numpy(~visible_keys(seq_q, seq_k, causal=causal, window_size=window_size))
    if mask is not None:
        hidden = hidden | ~as_tensor(mask)
    scores = scores.masked_fill(hidden, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    result: np.ndarray = (weights @ tv).double().numpy()
    return result


@dataclass
class Errors:
    out: float
    plain: float
    lse: float

    @property
    def bound(self) -> float:
        return 2 * self.plain + 1e-5


def check_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
    lse: np.ndarray,
    *,
    scale: float | None = None,
    **options: Any,
) -> Errors:
    """Compare a result with float64, and return how far off it and plain PyTorch are.

    Arrays are [batch, heads, seq, dim]; the options are those of the public function.
    """
    factor = q.shape[3] ** -0.5 if scale is None else scale
    want, want_lse = attention_reference(q, k, v, scale=factor, **options)
    assert out.shape == want.shape
    assert out.dtype == q.dtype
    assert lse.shape == want_lse.shape
    assert lse.dtype == np.float32
    out64 = out.astype(np.float64)
    assert np.isfinite(out64).all()

    keyless = np.isneginf(want_lse)
    np.testing.assert_array_equal(np.isneginf(lse), keyless)
    assert not out64[keyless].any()
    plain = plain_attention(q, k, v, scale=factor, **options)
    distance = np.abs(lse[~keyless] - want_lse[~keyless])
    errors = Errors(
        out=float(np.abs(out64 - want).max()),
        plain=float(np.abs(plain - want).max()),
        # fp32 holds a log-sum-exp to 1e-7 of its size.
        lse=float((distance / np.maximum(1.0, 1e-3 * np.abs(want_lse[~keyless]))).max(initial=0.0)),
    )
    assert errors.out <= errors.bound, errors
    assert errors.lse <= 1e-3, errors
    return errors
