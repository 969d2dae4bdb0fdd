"""The time of one candidate, measured on a device or predicted, and whether its result is right."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ascendfa.api import backend, flash_attention
from ascendfa.chips import chip_for_soc
from ascendfa.config import FlashAttentionConfig
from ascendfa.emulator import Profile, profile
from ascendfa.errors import AclError, BackendError, InvalidArgumentError
from ascendfa.native.acl import acl
from ascendfa.reference import attention_reference
from ascendfa.tuning.space import Candidate, Shape
from ascendfa.tuning.store import Origin, Record, Source, kernel_hash

__all__ = [
    "DeviceTimer",
    "Timer",
    "arrays",
    "emulate",
    "here",
    "measure",
    "predict",
    "predicted_profile",
    "refusal",
    "run",
    "summary",
]

Array = npt.NDArray[Any]

_SEED: Final = 2026
DTYPES: Final[dict[str, Any]] = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32,
}
# Four roundings of the weights and the result, relative to the largest value.
_TOLERANCES: Final = {"float16": 2.0**-9, "bfloat16": 2.0**-6, "float32": 2.0**-9}


@contextmanager
def emulate(soc: str | None) -> Iterator[None]:
    """Make this process one of the emulator, for a chip; before the first call of attention."""
    wanted = {"ASCENDFA_BACKEND": "emulator", "ASCENDFA_EMULATOR_MODE": "fast"}
    if soc is not None:
        wanted["ASCENDFA_EMULATOR_SOC"] = soc
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def here(source: Source, cann: str) -> Origin:
    """Return the origin of results of this process.

    Raises
    ------
    BackendError
        If results of this kind cannot come from what attention runs on.
    """
    name = backend().name
    if source == "measured" and name == "emulator":
        raise BackendError(
            f"attention runs on the {backend()}, whose times mean nothing: predict them"
        )
    runtime = acl()
    with runtime.device(0):
        soc = runtime.soc_name()
    unit = chip_for_soc(soc).unit
    package = runtime.libraries.op_library.parents[2]
    return Origin(unit, soc, cann, kernel_hash(package, unit), source)


def arrays(shape: Shape, seed: int | None = _SEED) -> tuple[Array, Array, Array]:
    """Draw q, k and v; without a seed, zeros, whose memory is never touched."""
    extents = [
        (shape.batch, shape.heads_q, shape.seq_q, shape.head_dim),
        (shape.batch, shape.heads_k, shape.seq_k, shape.head_dim),
        (shape.batch, shape.heads_k, shape.seq_k, shape.head_dim),
    ]
    dtype = DTYPES[shape.dtype]
    if seed is None:
        q, k, v = (np.zeros(e, dtype) for e in extents)
    else:
        rng = np.random.default_rng(seed)
        q, k, v = (rng.standard_normal(e).astype(dtype) for e in extents)
    return q, k, v


def _config(candidate: Candidate) -> FlashAttentionConfig:
    return FlashAttentionConfig(block_m=candidate.block_m, block_n=candidate.block_n)


def _small(candidate: Candidate) -> Candidate:
    """Return a problem that walks the same code: a head group, two tiles each way, and a tail."""
    shape = candidate.shape
    group = shape.heads_q // shape.heads_k
    rows = 2 * max(candidate.block_m, 64) + 5
    keys = 2 * max(candidate.block_n, 128) + 5
    small = replace(
        shape,
        batch=1,
        heads_q=group,
        heads_k=1,
        seq_q=min(shape.seq_q, rows),
        seq_k=min(shape.seq_k, keys),
    )
    return replace(candidate, shape=small)


@cache
def _error(candidate: Candidate) -> tuple[float, float]:
    """Return the largest error of a candidate's result, and the tolerance."""
    q, k, v = arrays(candidate.shape)
    causal = candidate.shape.causal
    out = flash_attention(q, k, v, causal=causal, config=_config(candidate))
    want, _ = attention_reference(q, k, v, causal=causal)
    got = np.asarray(out).astype(np.float64)
    tolerance = _TOLERANCES[candidate.shape.dtype] * float(np.abs(v.astype(np.float64)).max())
    if not np.isfinite(got).all():
        return float("inf"), tolerance
    return float(np.abs(got - want).max()), tolerance


def predicted_profile(candidate: Candidate, *, warm_l2: bool, own_blocks: bool = True) -> Profile:
    """Run the emulator's cycle model on a candidate.

    Parameters
    ----------
    candidate
        The problem and its blocks.
    warm_l2
        Whether to predict a repeated call, or the first.
    own_blocks
        False leaves the blocks to the configuration, as a plain call does.
    """
    global _needs_data
    config = _config(candidate) if own_blocks else None
    if not _needs_data:
        try:
            return _profiled(candidate.shape, config, warm_l2, timing_only=True)
        except AclError as error:
            # Some kernels decide by computed values; such a run takes as long as computing does.
            if "timing-only" not in error.recent:
                raise
            _needs_data = True
    return _profiled(candidate.shape, config, warm_l2, timing_only=False)


_needs_data = False


def _profiled(
    shape: Shape, config: FlashAttentionConfig | None, warm_l2: bool, *, timing_only: bool
) -> Profile:
    q, k, v = arrays(shape, seed=None if timing_only else _SEED)
    session = profile(warm_l2=warm_l2, timing_only=timing_only)
    with session:
        flash_attention(q, k, v, causal=shape.causal, config=config)
    return session


def predict(candidate: Candidate) -> tuple[float, float, int]:
    """Predict the time of a repeated call in µs; returns it, its error band, and 0 samples."""
    session = predicted_profile(candidate, warm_l2=True)
    return session.predicted_us, session.error_band, 0


class DeviceTimer:
    """Times calls on an NPU with its own events, through torch_npu.

    Parameters
    ----------
    device
        Number of the NPU.
    warmup, repeats
        Calls before, and calls that count.
    """

    def __init__(self, device: int, warmup: int, repeats: int) -> None:
        try:
            self._torch: Any = import_module("torch")
            import_module("torch_npu")
        except ImportError as error:
            raise BackendError(
                f"measuring on a device needs torch and torch_npu ({error}); --predict does not"
            ) from error
        self._device = f"npu:{device}"
        self._warmup = warmup
        self._repeats = repeats

    def tensors(self, shape: Shape) -> list[Any]:
        """Return random q, k and v on the device."""
        dtype = getattr(self._torch, shape.dtype)
        drawn = (self._torch.from_numpy(a.astype(np.float32)) for a in arrays(shape))
        return [tensor.to(dtype).to(self._device) for tensor in drawn]

    def samples(self, call: Callable[[], object]) -> list[float]:
        """Return the time of each counted call in µs."""
        npu = self._torch.npu
        for _ in range(self._warmup):
            call()
        times = []
        for _ in range(self._repeats):
            start, end = (npu.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            npu.synchronize()
            times.append(1e3 * float(start.elapsed_time(end)))
        return times

    def __call__(self, candidate: Candidate) -> tuple[float, float, int]:
        """Return median, relative spread and number of samples."""
        q, k, v = self.tensors(candidate.shape)
        config, causal = _config(candidate), candidate.shape.causal
        return summary(self.samples(lambda: flash_attention(q, k, v, causal=causal, config=config)))


def summary(samples: list[float]) -> tuple[float, float, int]:
    """Return the median, half the interquartile range relative to it, and the number."""
    median = statistics.median(samples)
    if len(samples) < 2 or median == 0:
        return median, 0.0, len(samples)
    low, _, high = statistics.quantiles(samples, n=4)
    return median, (high - low) / 2 / median, len(samples)


Timer = Callable[[Candidate], tuple[float, float, int]]


def refusal(candidate: Candidate) -> str:
    """Return why the op package's plan refuses a candidate's blocks, empty if it takes them.

    A small problem asks it; the plan's answer comes before any launch.
    """
    try:
        _error(_small(candidate))
    except (AclError, InvalidArgumentError) as error:
        recent = getattr(error, "recent", "")
        return recent or str(error)
    return ""


def run(candidate: Candidate, origin: Origin, timer: Timer) -> Record:
    """Check a candidate's result, then time it; what is refused or wrong is recorded as such."""
    try:
        error, tolerance = _error(_small(candidate))
        if not error <= tolerance:
            text = f"wrong result: error {error:.2e}, tolerance {tolerance:.2e}"
            shown = min(error, 1e30)
            return Record(origin, candidate, error=shown, tolerance=tolerance, problem=text)
        median, spread, samples = timer(candidate)
    except (AclError, InvalidArgumentError) as refusal:
        return Record(origin, candidate, problem=f"refused: {refusal}")
    return Record(origin, candidate, median, spread, samples, error, tolerance)


def measure(device: int, warmup: int, repeats: int) -> Timer:
    """Return a timer of a device."""
    return DeviceTimer(device, warmup, repeats)
