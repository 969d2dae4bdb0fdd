"""What the return codes of ACL and aclnn stand for, and what to try."""

from __future__ import annotations

from typing import Final

__all__ = ["REPEAT_INITIALIZE", "hint", "meaning"]

REPEAT_INITIALIZE: Final = 100002

_MEANINGS: Final[dict[int, str]] = {
    100000: "invalid parameter",
    100001: "ACL is not initialised",
    100002: "ACL is initialised already",
    100003: "invalid file",
    100024: "operator not found",
    100025: "operator failed to load",
    100026: "unsupported data type",
    100027: "unsupported format",
    100029: "kernel not found",
    100037: "ACL is finalised already",
    107000: "invalid runtime parameter",
    107001: "invalid device id",
    107002: "no current context; no device is set on this thread",
    107003: "stream belongs to another context",
    107008: "address is not aligned",
    107017: "invalid handle",
    107019: "wait timed out",
    107020: "task timed out",
    148046: "built against stub libraries",
    161001: "a required pointer is null",
    161002: "a parameter is invalid",
    200000: "out of memory",
    200001: "interface not supported",
    200002: "invalid device",
    200003: "address is not aligned",
    200005: "invalid resource handle",
    200006: "feature not supported",
    207000: "feature not supported",
    207001: "out of device memory",
    207002: "device memory could not be freed",
    207004: "no device",
    207005: "a resource could not be allocated",
    207006: "no permission",
    207018: "out of device memory",
    361001: "a runtime call inside the operator failed",
    500000: "internal error",
    500001: "failure",
    500003: "runtime failure",
    500004: "driver failure",
    507000: "internal runtime error",
    507008: "SoC version does not match",
    507014: "AI core timed out",
    507015: "AI core exception",
    507016: "AI core trap",
    507034: "vector core timed out",
    507035: "vector core exception",
    507036: "vector core trap",
    507899: "internal driver error",
    561000: "internal operator error",
    561001: "executor could not be created",
    561003: "executor is null",
    561107: "the opp folder was not found",
    561108: "the kernel's JSON file could not be read",
    561112: "no kernel binary fits this SoC, dtype and format",
}

# Ranges from aclnn's documentation: the first digit says which part failed.
_RANGES: Final = (
    (161000, 162000, "invalid argument"),
    (361000, 362000, "runtime error inside the operator"),
    (561000, 562000, "internal operator error"),
    (100000, 107000, "invalid argument to ACL"),
    (107000, 148000, "invalid argument to the runtime"),
    (200000, 207000, "resource error"),
    (207000, 300000, "runtime resource error"),
    (507000, 507900, "device error"),
)

_ENVIRONMENT: Final = "run 'source <toolkit>/set_env.sh' and check that the op package is installed"
_MEMORY: Final = "free device memory, or compute fewer heads or batches per call"
_DEVICE: Final = "check the device id and 'npu-smi info'"
_TRAP: Final = "the kernel stopped; the message above says where. Please report the shapes"

_HINTS: Final[dict[int, str]] = {
    100024: _ENVIRONMENT,
    100025: _ENVIRONMENT,
    100029: _ENVIRONMENT,
    107001: _DEVICE,
    107002: "call aclrtSetDevice on this thread first",
    107020: _TRAP,
    161002: "the op package refused the arguments; the message above says which",
    200000: _MEMORY,
    200002: _DEVICE,
    207001: _MEMORY,
    207004: _DEVICE,
    207006: "the user needs access to /dev/davinci*; see the groups of those files",
    207018: _MEMORY,
    507008: "the op package was built for another SoC",
    507014: _TRAP,
    507015: _TRAP,
    507016: _TRAP,
    507034: _TRAP,
    507035: _TRAP,
    507036: _TRAP,
    561107: _ENVIRONMENT,
    561108: _ENVIRONMENT,
    561112: "the op package has no kernel for this SoC; build it for the compute unit of the SoC",
}


def meaning(code: int) -> str:
    """Return what a code stands for, from its range if the code itself is not known."""
    if code in _MEANINGS:
        return _MEANINGS[code]
    return next((text for low, high, text in _RANGES if low <= code < high), "unknown code")


def hint(code: int) -> str:
    """Return what to try, or an empty string."""
    return _HINTS.get(code, "")
