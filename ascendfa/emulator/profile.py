"""Predicted time of kernels that run on the emulated device.

Every figure here comes out of a cycle model; none is a measurement. `KernelProfile.error_band` is
the relative error to expect.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ascendfa.emulator import symbols
from ascendfa.errors import AscendFAError, ConfigError, ToolkitError

__all__ = ["KernelProfile", "Profile", "profile"]

_latest_lock = threading.Lock()
_latest: Profile | None = None


@dataclass(frozen=True)
class KernelProfile:
    """Prediction for one launch.

    Attributes
    ----------
    name, soc
        The kernel and the chip.
    predicted_us, kernel_us, launch_us
        Whole launch, and its two parts, in microseconds.
    cycles
        Of the slowest core.
    error_band
        Relative error to expect, 0.15 for ±15 %.
    cube_utilisation
        Share of the chip's peak over the whole launch.
    limit
        The busiest pipe, as ``AIC.MTE2``.
    busy, wait
        Share of the kernel's cycles by pipe, mean over the cores that use it.
    bytes
        Moved per data path, all cores together.
    l2
        ``read_hit``, ``read_miss``, ``written``, ``write_back`` and ``hbm`` in bytes.
    """

    name: str
    soc: str
    predicted_us: float
    kernel_us: float
    launch_us: float
    cycles: float
    error_band: float
    cube_utilisation: float
    limit: str
    busy: Mapping[str, float]
    wait: Mapping[str, float]
    bytes: Mapping[str, int]
    l2: Mapping[str, int]


def _kernel(record: Mapping[str, Any]) -> KernelProfile:
    if "error" in record:
        raise ToolkitError(f"no prediction for kernel {record['name']}: {record['error']}")
    pipes = record["pipes"]
    plain = {
        key: record[key]
        for key in KernelProfile.__dataclass_fields__
        if key not in ("busy", "wait")
    }
    return KernelProfile(
        busy={pipe: share["busy"] for pipe, share in pipes.items()},
        wait={pipe: share["wait"] for pipe, share in pipes.items()},
        **plain,
    )


def _add_up(parts: list[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for key, value in part.items():
            total[key] = total.get(key, 0) + value
    return total


class Profile:
    """A profiling session, and afterwards its predictions. Made by `profile`.

    Attributes
    ----------
    kernels
        One `KernelProfile` per launch, in order.
    result
        What the profiled function returned.
    """

    def __init__(self, options: str) -> None:
        self._options = options
        self._functions: dict[str, Callable[..., Any]] = {}
        self._state = "new"
        self.kernels: list[KernelProfile] = []
        self.result: Any = None

    def __enter__(self) -> Profile:
        global _latest
        self._functions = symbols.functions()
        if self._functions["davProfileBegin"](self._options.encode()) != 0:
            raise ConfigError(self._text("davProfileLastError"))
        self._state = "open"
        with _latest_lock:
            _latest = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._functions["davProfileEnd"]()
        self._state = "closed"
        records = json.loads(self._text("davProfileSummaryJson"))["kernels"]
        # A launch that failed has no prediction; the failure itself is what the caller must see.
        if error is None:
            self.kernels = [_kernel(record) for record in records]

    def _text(self, function: str) -> str:
        read = self._functions[function]
        size = read(None, 0)
        buffer = ctypes.create_string_buffer(size)
        read(buffer, size)
        return buffer.value.decode()

    def _of(self, values: Callable[[KernelProfile], Mapping[str, float]]) -> dict[str, float]:
        cycles = sum(k.cycles for k in self.kernels)
        shares: dict[str, float] = {}
        for kernel in self.kernels:
            for pipe, share in values(kernel).items():
                shares[pipe] = shares.get(pipe, 0.0) + share * kernel.cycles / cycles
        return shares

    @property
    def predicted_us(self) -> float:
        """Predicted time of all launches one after the other, in microseconds."""
        return sum(k.predicted_us for k in self.kernels)

    @property
    def error_band(self) -> float:
        """Relative error to expect of the least certain launch."""
        return max((k.error_band for k in self.kernels), default=0.0)

    @property
    def busy(self) -> dict[str, float]:
        """Busy share of each pipe over the cycles of all launches."""
        return self._of(lambda kernel: kernel.busy)

    @property
    def wait(self) -> dict[str, float]:
        """Share of cycles each pipe stood at a flag or barrier."""
        return self._of(lambda kernel: kernel.wait)

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes moved per data path."""
        return _add_up([k.bytes for k in self.kernels])

    @property
    def l2(self) -> dict[str, int]:
        """L2 traffic in bytes: read_hit, read_miss, written, write_back, hbm."""
        return _add_up([k.l2 for k in self.kernels])

    def write_trace(
        self, path: str | os.PathLike[str], *, kernel: int | None = None, groups: int = 0
    ) -> None:
        """Write a trace that Perfetto and chrome://tracing open.

        Parameters
        ----------
        path
            File to write.
        kernel
            Number of one launch; all of them when None.
        groups
            Only the first so many core groups; all when 0.
        """
        with _latest_lock:
            latest = _latest is self
        if self._state != "closed" or not latest:
            raise AscendFAError(
                "a trace can be written after the profile has ended and before the next one begins"
            )
        number = -1 if kernel is None else kernel
        encoded = os.fsencode(path)
        if self._functions["davProfileWriteChromeTrace"](encoded, number, groups) != 0:
            raise ToolkitError(self._text("davProfileLastError"))

    def write_png(
        self,
        path: str | os.PathLike[str],
        *,
        kernel: int = 0,
        groups: int = 1,
        window_us: tuple[float, float] | None = None,
    ) -> None:
        """Draw the timeline of one launch; needs matplotlib.

        Parameters
        ----------
        path
            File to write.
        kernel
            Number of the launch.
        groups
            Core groups to show, a row per pipe.
        window_us
            Part of the launch to show, in microseconds from its first instruction.
        """
        from ascendfa.emulator import picture

        picture.draw(self, path, kernel=kernel, groups=groups, window_us=window_us)

    def __str__(self) -> str:
        lines = [
            f"{k.name} on {k.soc}: {k.predicted_us:.1f} µs predicted "
            f"(±{k.error_band:.0%}, launch {k.launch_us:.1f} µs), cube {k.cube_utilisation:.1%}, "
            f"busiest pipe {k.limit} {k.busy.get(k.limit, 0.0):.1%}"
            for k in self.kernels
        ]
        return "\n".join(lines) if lines else "no launch was profiled"


def profile(
    fn: Callable[..., Any] | None = None,
    /,
    *args: Any,
    warm_l2: bool = False,
    timing_only: bool = False,
    parameters: Mapping[str, float] | None = None,
    **kwargs: Any,
) -> Profile:
    """Predict the time of every kernel launched inside the session.

    Either ``with profile() as p: ...`` or ``p = profile(flash_attention, q, k, v, causal=True)``.
    Launches of all threads of the process count; work on a stream has to be synchronised before the
    session ends. One session at a time.

    Parameters
    ----------
    fn, *args, **kwargs
        Function to run at once in a session, and its arguments.
    warm_l2
        Predict a repeated run, which finds in the L2 what the run before left there.
    timing_only
        Launches only record what they would do; they move and compute no data, so their results
        mean nothing. The same prediction many times faster, for kernels whose flow of control does
        not depend on data: one that reads a computed value fails with a trap that says so. Bounds
        and arguments are checked as in fast mode, whatever mode is set.
    parameters
        Constants of the cycle model to override, within the ranges it states.

    Returns
    -------
    Profile
        With the predictions, once the session has ended.

    Raises
    ------
    BackendError
        If attention does not run on the emulator.
    ConfigError
        If a parameter is unknown or out of range, or another session is open.
    """
    settings = {
        **(parameters or {}),
        "warm_l2": float(warm_l2),
        "timing_only": float(timing_only),
    }
    session = Profile(",".join(f"{name}={float(value)!r}" for name, value in settings.items()))
    if fn is not None:
        with session:
            session.result = fn(*args, **kwargs)
    return session
