"""Whether the results are right, against float64 on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ascendfa.chips import CHIPS
from ascendfa.cli.checks.cases import CASES, GRADIENT_CASES, Case, by_name
from ascendfa.cli.checks.context import Context, ProbeAnswer
from ascendfa.cli.checks.launch import why_not
from ascendfa.cli.checks.result import Result, fail, ok, skip

__all__ = ["check_numerics"]

_FIX = "the package computes something else: build it from this version's sources and reinstall"


def check_numerics(context: Context) -> Iterator[Result]:
    """Compare forward, and backward if the package has it, with a reference."""
    reason = why_not(context)
    for case in CASES:
        if reason:
            yield skip(f"numerics.{case.name}", reason)
            continue
        if context.unit is not None and case.dtype not in CHIPS[context.unit].dtypes:
            yield skip(f"numerics.{case.name}", f"{context.unit} has no {case.dtype}")
            continue
        yield _case(context, case, context.device)
    yield from _second_device(context, reason)
    yield _device_tensor(context, reason)
    yield from _backward(context, reason)


def _case(context: Context, case: Case, device: int, name: str | None = None) -> Result:
    line = name or f"numerics.{case.name}"
    return _answered(line, case, context.probe("numerics", case=case.name, device=device))


def _answered(line: str, case: Case, answer: ProbeAnswer) -> Result:
    if answer.failure or "error" in answer.data:
        message = str(answer.data.get("error") or f"the process {answer.failure}")
        return fail(line, message, str(answer.data.get("hint") or _FIX))
    return _judge(line, case, answer.data)


def _judge(line: str, case: Case, data: dict[str, Any]) -> Result:
    figures = ", ".join(
        f"{part} error {entry['error']:.2e} (tolerance {entry['tolerance']:.2e})"
        for part, entry in data["parts"].items()
    )
    text = f"{case.title}: {figures}"
    if data["wrong"]:
        return fail(line, f"{text}; {data['wrong']}", _FIX)
    return ok(line, text)


def _second_device(context: Context, reason: str) -> Iterator[Result]:
    name = "numerics.second_device"
    if reason:
        yield skip(name, reason)
    elif context.device_count < 2:
        yield skip(name, "there is one device")
    else:
        other = 1 if context.device == 0 else 0
        yield _case(context, CASES[0], other, name)


def _device_tensor(context: Context, reason: str) -> Result:
    """Take tensors of torch_npu where they are, which is another way in than host arrays."""
    name = "numerics.npu_tensor"
    if reason:
        return skip(name, reason)
    if context.versions["torch_npu"] is None:
        return skip(name, "torch_npu is not installed")
    case = by_name("strided")
    answer = context.probe("npu_tensor", case=case.name, device=context.device)
    return _answered(name, case, answer)


def _backward(context: Context, reason: str) -> Iterator[Result]:
    package = context.package
    try:
        has_gradient = package is not None and "FlashAttentionGrad" in package.ops(context.unit)
    except (OSError, ValueError):
        has_gradient = False
    for case in GRADIENT_CASES:
        name = f"numerics.{case.name}"
        if reason:
            yield skip(name, reason)
        elif not has_gradient:
            yield skip(name, "the package has no backward operator")
        elif context.versions["torch"] is None:
            yield skip(name, "torch is not installed", "pip install torch")
        else:
            yield _case(context, case, context.device)
