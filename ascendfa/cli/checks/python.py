"""Python, torch and torch_npu, and whether the last two match."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok, skip, warn

__all__ = ["check_python"]

OLDEST = (3, 10)


def _release(version: str) -> str:
    """Return major.minor.patch: torch says 2.1.0+cpu, torch_npu 2.1.0.post12, of one release."""
    match = re.match(r"\d+\.\d+(\.\d+)?", version)
    return match.group() if match else version


def check_python(context: Context) -> Iterator[Result]:
    """Check the versions of what runs this."""
    shown = ".".join(map(str, context.python))
    if context.python[:2] < OLDEST:
        yield fail(
            "python",
            f"Python {shown} is older than 3.10",
            "create an environment with Python 3.10 or newer and install ascendfa into it",
        )
    else:
        yield ok("python", f"Python {shown}")

    torch, torch_npu = context.versions["torch"], context.versions["torch_npu"]
    if torch is None:
        yield skip("torch", "not installed; attention takes numpy arrays without it")
    else:
        yield ok("torch", f"torch {torch}")

    if torch_npu is None:
        message = "not installed; attention takes numpy arrays and CPU tensors without it"
        if torch is None or context.emulated or not context.device_nodes:
            yield skip("torch_npu", message)
        else:
            yield warn("torch_npu", message, f"pip install torch-npu=={_release(torch)}")
    elif torch is None:
        yield fail(
            "torch_npu",
            f"torch_npu {torch_npu} is installed without torch",
            f"pip install torch=={_release(torch_npu)}",
        )
    elif _release(torch) != _release(torch_npu):
        yield fail(
            "torch_npu",
            f"torch_npu {torch_npu} does not match torch {torch}; each release of torch_npu works "
            "with the torch of the same number only",
            f"pip install torch-npu=={_release(torch)}",
        )
    else:
        yield ok("torch_npu", f"torch_npu {torch_npu} matches torch {torch}")
