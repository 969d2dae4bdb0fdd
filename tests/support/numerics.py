"""The bound every kernel test uses: at most twice the error of plain PyTorch, against float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from ascendfa.reference import attention_reference, visible_keys


def plain_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, *, causal: bool, scale: float
) -> np.ndarray:
    """Attention as three PyTorch operations in the inputs' own type."""
    tq, tk, tv = (torch.from_numpy(a) for a in (q, k, v))
    scores = (tq @ tk.mT) * scale
    if causal:
        hidden = torch.from_numpy(~visible_keys(q.shape[2], k.shape[2], causal=True))
        scores = scores.masked_fill(hidden, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    result: np.ndarray = (weights @ tv).numpy()
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
    causal: bool = False,
    scale: float | None = None,
) -> Errors:
    """Compare a result with float64, and return how far off it and plain PyTorch are."""
    factor = q.shape[3] ** -0.5 if scale is None else scale
    want, want_lse = attention_reference(q, k, v, causal=causal, scale=factor)
    assert out.shape == want.shape
    assert out.dtype == q.dtype
    assert lse.shape == want_lse.shape
    assert lse.dtype == np.float32
    assert np.isfinite(out).all()

    keyless = np.isneginf(want_lse)
    np.testing.assert_array_equal(np.isneginf(lse), keyless)
    assert not out[keyless].any()
    plain = plain_attention(q, k, v, causal=causal, scale=factor)
    errors = Errors(
        out=float(np.abs(out.astype(np.float64) - want).max()),
        plain=float(np.abs(plain.astype(np.float64) - want).max()),
        lse=float(np.abs(lse[~keyless] - want_lse[~keyless]).max(initial=0.0)),
    )
    assert errors.out <= errors.bound, errors
    assert errors.lse <= 1e-3, errors
    return errors
