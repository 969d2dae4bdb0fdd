"""The attention problems of ``ascendfa validate``, and how a result is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ascendfa.reference import attention_reference

__all__ = [
    "CASES",
    "GRADIENT_CASES",
    "Case",
    "Verdict",
    "by_name",
    "draw",
    "judge",
    "judge_gradients",
]

Array = npt.NDArray[Any]
_SEED: Final = 2026
_TYPES: Final[dict[str, Any]] = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32,
}
# fp16 rounds to 2^-11 of a value, bf16 to 2^-8: the weights once, the result once, and as much
# again for the order of summation; fp32 products may go through hf32, of fp16's precision. Wrong
# results are off by the size of v itself.
_TOLERANCES: Final = {"float16": 2.0**-9, "bfloat16": 2.0**-6, "float32": 2.0**-9}
_LSE_TOLERANCE: Final = 2e-3


@dataclass(frozen=True)
class Case:
    """One problem.

    Attributes
    ----------
    name, title
        For scripts, and for people.
    batch, heads_q, heads_k, seq_q, seq_k, head_dim
        Extents.
    causal
        Whether the mask is on.
    strided
        Whether q, k and v are views with gaps.
    dtype
        Element type; cases of a type the chip lacks are skipped.
    """

    name: str
    title: str
    batch: int = 1
    heads_q: int = 2
    heads_k: int = 2
    seq_q: int = 128
    seq_k: int = 128
    head_dim: int = 64
    causal: bool = False
    strided: bool = False
    dtype: str = "float16"


CASES: Final = (
    Case("plain", "no mask", head_dim=128),
    Case("causal", "causal", seq_q=160, seq_k=160, causal=True),
    Case("shorter_q", "causal, Sq < Sk", seq_q=40, seq_k=150, causal=True),
    Case("rows_without_keys", "causal, Sq > Sk", seq_q=150, seq_k=40, causal=True),
    Case("odd", "odd lengths", batch=2, seq_q=77, seq_k=131),
    Case("gqa", "4 query heads on 2 key heads", heads_q=4, seq_q=96, seq_k=96, causal=True),
    Case("strided", "a strided view", seq_q=65, seq_k=65, strided=True),
    Case("bfloat16", "bf16, causal", seq_q=96, seq_k=96, causal=True, dtype="bfloat16"),
    Case("float32", "fp32, causal", seq_q=96, seq_k=96, causal=True, dtype="float32"),
)
GRADIENT_CASES: Final = (
    Case("backward", "gradients", seq_q=80, seq_k=96),
    Case("backward_causal", "gradients, causal, GQA", heads_q=4, seq_q=96, seq_k=96, causal=True),
)


def by_name(name: str) -> Case:
    """Return a case."""
    return next(case for case in (*CASES, *GRADIENT_CASES) if case.name == name)


def draw(case: Case) -> tuple[Array, Array, Array]:
    """Draw q, k and v; always the same for a case."""
    dtype = _TYPES[case.dtype]
    rng = np.random.default_rng([_SEED, *case.name.encode()])

    def one(heads: int, seq: int) -> Array:
        shape = (case.batch, heads, seq, case.head_dim)
        if not case.strided:
            return rng.standard_normal(shape).astype(dtype)
        # Between the rows lies what must not be read.
        wide = np.full((case.batch, heads, 2 * seq, case.head_dim + 16), np.nan, dtype)
        view = wide[:, :, ::2, : case.head_dim]
        view[...] = rng.standard_normal(shape)
        return view

    return (
        one(case.heads_q, case.seq_q),
        one(case.heads_k, case.seq_k),
        one(case.heads_k, case.seq_k),
    )


@dataclass(frozen=True)
class Verdict:
    """How far a result is off.

    Attributes
    ----------
    parts
        Maximum error and tolerance by output.
    wrong
        What is wrong, with the likely reason where it shows; empty if nothing is.
    """

    parts: dict[str, dict[str, float]]
    wrong: str


def judge(case: Case, q: Array, k: Array, v: Array, out: Array, lse: Array) -> Verdict:
    """Compare a forward result with float64."""
    want, want_lse = attention_reference(q, k, v, causal=case.causal)
    keyless = np.isneginf(want_lse)
    got = np.asarray(out, dtype=np.float64)
    tolerance = _TOLERANCES[case.dtype] * float(np.abs(np.asarray(v, np.float64)).max())
    error = _worst(got, want)
    got_lse = np.asarray(lse, dtype=np.float64)
    lse_error = _worst(got_lse[~keyless], want_lse[~keyless])
    parts = {
        "out": {"error": error, "tolerance": tolerance},
        "lse": {"error": lse_error, "tolerance": _LSE_TOLERANCE},
    }
    problems = []
    if not error <= tolerance:
        problems.append(_diagnosis(case, q, k, v, got, tolerance))
    elif keyless.any() and got[keyless].any():
        problems.append("queries without keys are not zero")
    if not lse_error <= _LSE_TOLERANCE:
        problems.append("lse is wrong")
    elif not np.isneginf(got_lse[keyless]).all():
        problems.append("lse of queries without keys is not -inf")
    return Verdict(parts, "; ".join(problems))


def _worst(got: Array, want: Array) -> float:
    """Return the largest difference; infinite where a number should be and none is."""
    if got.shape != want.shape or not np.isfinite(got).all():
        return float("inf")
    return float(np.abs(got - want).max(initial=0.0))


def _diagnosis(case: Case, q: Array, k: Array, v: Array, got: Array, tolerance: float) -> str:
    if np.isnan(got).any():
        return f"{np.isnan(got).mean():.0%} of the result is NaN"
    if np.isinf(got).any():
        return f"{np.isinf(got).mean():.0%} of the result is infinite"
    if np.abs(got).max() >= 65504:
        return "the result has values of ±65504, fp16's largest: something overflowed"
    if not got.any():
        return "the result is all zeros: the kernel wrote nothing, or ran on no core"
    if case.causal:
        unmasked, _ = attention_reference(q, k, v, causal=False)
        if _worst(got, unmasked) <= tolerance:
            return "the result is that without the causal mask"
    group = case.heads_q // case.heads_k
    mean = np.repeat(np.asarray(v, np.float64).mean(axis=2, keepdims=True), group, axis=1)
    if _worst(got, np.broadcast_to(mean, got.shape)) <= tolerance:
        return "the result is the mean of v: the scores are all equal"
    return "the result is wrong"


def judge_gradients(got: dict[str, Array], want: dict[str, Array]) -> Verdict:
    """Compare gradients with float64."""
    parts: dict[str, dict[str, float]] = {}
    wrong = []
    for name, gradient in got.items():
        error = _worst(np.asarray(gradient, np.float64), want[name])
        # Gradients sum over a row or a column of weights rounded to fp16.
        tolerance = 4 * _TOLERANCES["float16"] * float(np.abs(want[name]).max(initial=1.0))
        parts[name] = {"error": error, "tolerance": tolerance}
        if not error <= tolerance:
            wrong.append(f"the gradient of {name[1:]} is wrong")
    return Verdict(parts, "; ".join(wrong))
