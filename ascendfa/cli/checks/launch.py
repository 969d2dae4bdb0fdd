"""First phase, launch, synchronise: where a first small call fails."""

from __future__ import annotations

from collections.abc import Iterator

from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.result import Result, fail, ok, skip

__all__ = ["check_launch", "why_not"]

# What each line stands for, by the C function whose failure it shows.
_STAGES = (
    ("launch.first_phase", "aclnnFlashAttentionGetWorkspaceSize"),
    ("launch.second_phase", "aclnnFlashAttention"),
    ("launch.synchronise", "aclrtSynchronizeStream"),
)


def why_not(context: Context) -> str:
    """Return why nothing can be launched, empty if it can."""
    if context.offline:
        return "not run with --offline"
    if not context.has_device:
        return "no NPU"
    if not context.usable:
        return "not tried after the failures above"
    return ""


def check_launch(context: Context) -> Iterator[Result]:
    """Run one small attention and report the stage that fails."""
    reason = why_not(context)
    if reason:
        for name, _ in _STAGES:
            yield skip(name, reason)
        return
    answer = context.probe("launch", device=context.device)
    if not answer.failure and "error" not in answer.data:
        for name, function in _STAGES:
            yield ok(name, function)
        return
    context.usable = False
    message = str(answer.data.get("error") or f"the process {answer.failure}")
    if answer.failure and answer.log:
        message += f"; last words: {answer.log.splitlines()[-1]}"
    failing = answer.data.get("function", "")
    fix = answer.data.get("hint") or "see ascend_kernels/TROUBLESHOOTING.md, by code"
    stages = [name for name, function in _STAGES if function == failing]
    at = [name for name, _ in _STAGES].index(stages[0]) if stages else 0
    for number, (name, function) in enumerate(_STAGES):
        if number < at:
            yield ok(name, function)
        elif number == at:
            yield fail(name, message, fix)
        else:
            yield skip(name, "not reached")
