"""Attention in float64 on the CPU, and how close to it a result has to be."""

from __future__ import annotations

import torch

# Of the magnitude of the values; rounding to float16 alone costs half of it.
TOLERANCE = 1e-3


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = False):
    q, k, v = (x.double() for x in (q, k, v))
    groups = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(groups, 1) for x in (k, v))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if causal:
        seq_q, seq_k = scores.shape[-2:]
        hidden = torch.ones(seq_q, seq_k, dtype=torch.bool).triu(seq_k - seq_q + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return scores.softmax(-1) @ v


def check(result: torch.Tensor, expected: torch.Tensor) -> None:
    assert result.shape == expected.shape
    error = (result.cpu().double() - expected).abs().max().item()
    assert error <= TOLERANCE * expected.abs().max().item()
