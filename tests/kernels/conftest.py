"""Workers per mode, and what kernel tests draw and compare."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.numerics import Errors, check_attention

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32}


# What the first generation's kernel does not do, in the words of its refusals. The tests of these
# refusals themselves are in test_first_generation.py.
_REFUSALS = re.compile(
    r"DTypeError: .* on Ascend910(A|ProA|ProB|PremiumA|B);"
    r"|NotSupportedError: .* on Ascend910(A|ProA|ProB|PremiumA|B);"
)


class _Worker:
    """A worker whose chip's documented refusals skip the test."""

    def __init__(self, worker: Any) -> None:
        self._worker = worker

    def attention(self, *arrays: Any, **options: Any) -> Any:
        try:
            return self._worker.attention(*arrays, **options)
        except RuntimeError as error:
            if _REFUSALS.search(str(error)):
                pytest.skip(f"not on this chip: {str(error)[:200]}")
            raise


@pytest.fixture(scope="session")
def check_mode(device_soc, worker_pool):
    return _Worker(worker_pool(device_soc, "check"))


@pytest.fixture(scope="session")
def fast_mode(device_soc, worker_pool):
    return _Worker(worker_pool(device_soc, "fast"))


@pytest.fixture(scope="session")
def draw() -> Callable[..., list[np.ndarray]]:
    """Return a function that draws q, k, v as [batch, heads, seq, dim]."""

    def make(
        rng: np.random.Generator,
        batch: int = 1,
        heads: int | tuple[int, int] = 2,
        seq: int | tuple[int, int] = (70, 150),
        dim: int | tuple[int, int] = 64,
        *,
        dtype: str = "float16",
        factor: float = 1.0,
    ) -> list[np.ndarray]:
        heads_q, heads_k = heads if isinstance(heads, tuple) else (heads, heads)
        seq_q, seq_k = seq if isinstance(seq, tuple) else (seq, seq)
        dim_k, dim_v = dim if isinstance(dim, tuple) else (dim, dim)
        shapes = [
            (batch, heads_q, seq_q, dim_k),
            (batch, heads_k, seq_k, dim_k),
            (batch, heads_k, seq_k, dim_v),
        ]
        return [(factor * rng.standard_normal(s)).astype(DTYPES[dtype]) for s in shapes]

    return make


@pytest.fixture(scope="session")
def run() -> Callable[..., Errors]:
    """Return a function that computes attention on a worker and holds it to the bound."""

    def compute(worker: Any, arrays: list[np.ndarray], **options: Any) -> Errors:
        out, lse = worker.attention(*arrays, return_lse=True, **options)
        options.pop("config", None)
        return check_attention(*arrays, out, lse, **options)

    return compute
