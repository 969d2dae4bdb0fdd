"""Every mistake check mode knows, committed by a kernel that was built with the installed toolkit
and called through aclnn: what Python gets to read, and that the process goes on."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

TRAPS = Path(__file__).parent / "traps"
SOURCES = TRAPS / "op_kernel"


@dataclass(frozen=True)
class Trap:
    """A report's parts: kind, core, pipe, instruction, and what it says of buffer and limit."""

    kind: str
    core: str
    pipe: str
    instruction: str
    says: tuple[str, ...]
    line: bool = True  # the report names a line of the case

    @property
    def head(self) -> str:
        return f"{self.kind} on Ascend910B3, {self.core}, pipe {self.pipe}, {self.instruction}: "


AIV, AIC = "AIV 0.0", "AIC 0"
CASES = {
    # Addresses
    "ub_overrun": Trap(
        "OutOfBounds", AIV, "V", "Duplicate", ("UB[0x2ffe0, 0x300e0)", "0x30000 bytes")
    ),
    "l1_overrun": Trap(
        "OutOfBounds", AIC, "MTE2", "DataCopy", ("L1[0x7ffe0, 0x800e0)", "524288 bytes")
    ),
    "l0c_overrun": Trap("OutOfBounds", AIC, "M", "Mmad", ("L0C[0x1fc00, 0x20400)", "131072 bytes")),
    "read_past_input": Trap(
        "OutOfBounds", AIV, "MTE2", "DataCopy", ("256 bytes leaves 'x'", "16384 bytes")
    ),
    "write_past_workspace": Trap(
        "OutOfBounds", AIV, "MTE3", "DataCopy", ("256 bytes leaves 'workspace'", "16781312 bytes")
    ),
    "scalar_past_output": Trap(
        "OutOfBounds", AIV, "S", "SetValue", ("4 bytes lies behind 'z'", "16384 bytes")
    ),
    "write_input": Trap("WriteToInput", AIV, "MTE3", "DataCopy", ("256 bytes at byte 256 of 'x'",)),
    "misaligned": Trap(
        "Misaligned", AIV, "V", "Duplicate", ("dst at UB 0x4", "not aligned to 32 bytes")
    ),
    "no_fractal": Trap(
        "Misaligned", AIC, "M", "Mmad", ("fm at L0A 0x20", "not aligned to 512 bytes")
    ),
    "wrong_fractal": Trap(
        "WrongFractal",
        AIC,
        "M",
        "Mmad",
        ("fm at L0A[0x0, 0x200)", "rows of 3 fractals", "laid down in rows of 4", "loaded at"),
    ),
    "wrong_result_stride": Trap(
        "WrongFractal",
        AIC,
        "FIX",
        "Fixpipe",
        ("L0C at 0x800", "32 rows on (srcStride)", "columns of 48 rows", "tile was written at"),
    ),
    "no_such_path": Trap(
        "UnsupportedPath", AIV, "MTE3", "DataCopy", ("no data path from UB to L1",)
    ),
    # Memory nobody gave a value
    "uninitialised_ub": Trap("UninitialisedRead", AIV, "V", "Adds", ("UB[0x1000, 0x1100)",)),
    "uninitialised_l0": Trap("UninitialisedRead", AIC, "M", "Mmad", ("L0A[0x0, 0x200)",)),
    "uninitialised_workspace": Trap("UninitialisedRead", AIV, "V", "Adds", ("UB[0x0, 0x100)",)),
    # Limits of instructions, types, cores
    "mask_too_wide": Trap("IllegalArgument", AIV, "V", "Duplicate", ("mask is 65", "0 to 64")),
    "too_many_bursts": Trap(
        "IllegalArgument", AIV, "MTE2", "DataCopy", ("blockCount is 4096", "0 to 4095")
    ),
    "padding_too_long": Trap(
        "IllegalArgument", AIV, "MTE2", "DataCopyPad", ("rightPadding", "36", "0 to 32")
    ),
    "product_too_tall": Trap("IllegalArgument", AIC, "M", "Mmad", ("m is 4096", "0 to 4095")),
    "bias_of_halves": Trap(
        "UnsupportedType", AIC, "MTE1", "DataCopy", ("bias table takes no half from half",)
    ),
    "cube_on_vector_core": Trap("UnsupportedOp", AIV, "M", "Mmad", ("AIV has no pipe M",)),
    "vector_on_cube_core": Trap("UnsupportedOp", AIC, "V", "Duplicate", ("AIC has no pipe V",)),
    "flag_in_vector_kernel": Trap(
        "UnsupportedOp", AIV, "MTE3", "CrossCoreSetFlag", ("AIV_ONLY", "declare a MIX type")
    ),
    # Flags, events, queues
    "flag_id": Trap("FlagMisuse", AIV, "MTE2", "SetFlag", ("event id 8", "0 to 7")),
    "flag_set_twice": Trap("FlagMisuse", AIV, "MTE2", "SetFlag", ("id 1", "second time")),
    "flag_never_set": Trap("FlagMisuse", AIV, "V", "WaitFlag", ("id 2", "nothing has set")),
    "flag_left_set": Trap("FlagMisuse", AIV, "MTE2", "SetFlag", ("MTE2_V>(3)", "never waited for")),
    "cross_flag_id": Trap("FlagMisuse", AIV, "MTE3", "CrossCoreSetFlag", ("flag id 16", "0 to 15")),
    "cross_flag_left": Trap(
        "FlagMisuse",
        AIV,
        "S",
        "end of kernel",
        ("cross-core flag 6 is still 1", "CrossCoreSetFlag by AIC 0 at"),
    ),
    "event_released_twice": Trap(
        "Unbalanced", AIV, "V", "ReleaseEventID", ("event id 0", "not allocated")
    ),
    "queue_exhausted": Trap("Unbalanced", AIV, "S", "AllocTensor", ("all 1 buffers", "UB")),
    "queue_empty": Trap("Unbalanced", AIV, "S", "DeQue", ("the queue is empty",)),
    "queue_freed_early": Trap("Unbalanced", AIV, "S", "FreeTensor", ("DeQue comes first",)),
    # Order
    "race_in_core": Trap(
        "DataRace", AIV, "V", "Adds", ("UB[0x0, 0x100)", "SetFlag<HardEvent::MTE2_V>(id)")
    ),
    "race_in_pipe": Trap("DataRace", AIV, "V", "Adds", ("UB[0x0, 0x100)", "PipeBarrier<PIPE_V>()")),
    "race_between_cores": Trap(
        "DataRace",
        "AIV 0.1",
        "MTE2",
        "DataCopy",
        ("workspace 'workspace' at byte 16777216", "AIV 0.0", "CrossCoreSetFlag<1, PIPE_MTE3>(id)"),
    ),
    # Kernels that do not end in an orderly way
    "endless_instructions": Trap(
        "BudgetExceeded", AIV, "S", "budget", ("1000000", "ASCENDFA_EMULATOR_BUDGET")
    ),
    "endless_loop": Trap("BudgetExceeded", AIV, "S", "kernel code", ("endless scalar loop",)),
    "null_pointer": Trap("KernelException", AIV, "S", "kernel code", ("SIGSEGV", "address 0x0")),
    "stack_overflow": Trap(
        "KernelException", AIV, "S", "kernel code", ("stack overflowed", "Recurse"), line=False
    ),
    "throws": Trap("KernelException", AIV, "S", "kernel code", ("thrown on purpose",), line=False),
    "trap_called": Trap("KernelException", AIV, "S", "Trap", ("called Trap()",)),
}
# Reports about the launch as a whole begin otherwise.
GROUP_CASES = {
    "deadlock": (
        "Deadlock on Ascend910B3 in 'trap_case': 1 cores wait",
        "AIC 0 waits for cross-core flag 5; mode 2: 1 of 2 sets present, missing AIV 0.1 (ended)",
    ),
    "cross_flag_overflow": (
        "FlagMisuse on Ascend910B3 in 'trap_case': 1 cores wait",
        "AIC 0 cannot set cross-core flag 7 (mode 2): its counter would exceed 15",
    ),
}
TILING_CASES = {
    "tiling_refuses": "refused the call: UB does not hold the tile",
    "tiling_throws": "threw: no plan for this one",
}


def toolkit_root() -> Path:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if override:
        return Path(override)
    import ascendfa

    return Path(ascendfa.__file__).parent / "_toolkit"


def run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Build the package, install it, and describe where it went."""
    toolkit = toolkit_root()
    if not (toolkit / "lib64" / "libnnopbase.so").exists():
        pytest.skip(f"no toolkit at {toolkit}; build one with pip install .")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ASCEND_", "CMAKE_PREFIX"))}
    text = run(["bash", "-c", f"source {toolkit}/set_env.sh && env -0"], kept)
    sourced = dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
    build = tmp_path_factory.mktemp("traps")
    run(["cmake", "-S", str(TRAPS), "-B", str(build), "-Dvendor_name=traps"], sourced)
    targets = ["--target", "all", "binary", "package"]
    run(["cmake", "--build", str(build), "-j2", *targets], sourced)
    opp = tmp_path_factory.mktemp("opp")
    (opp / "vendors").mkdir()
    (opp / "vendors" / "config.ini").write_text("load_priority=\n")
    (installer,) = build.glob("custom_opp_*.run")
    run([str(installer)], {**kept, "ASCEND_OPP_PATH": str(opp)})
    return {
        **kept,
        "ASCEND_OPP_PATH": str(opp),
        "ASCENDFA_BACKEND": "emulator",
        "ASCENDFA_EMULATOR_BUDGET": "1000000",
        "ASCENDFA_EMULATOR_MODE": "check",
        "ASCENDFA_EMULATOR_SOC": "Ascend910B3",
        "ASCENDFA_EMULATOR_WATCHDOG": "1",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "TRAPS_LIBRARY": str(opp / "vendors/traps/op_api/lib/libcust_opapi.so"),
    }


@pytest.fixture(scope="module")
def results(environment: dict[str, str]) -> dict[str, dict]:
    """All cases in one process, a faultless call after each."""
    cases = ["none", *CASES, *GROUP_CASES, *TILING_CASES]
    text = run([sys.executable, str(TRAPS / "trap_client.py"), *cases], environment)
    parsed: dict[str, dict] = json.loads(text)
    return parsed


def lines_of(case: str) -> tuple[str, range]:
    """File of a case and the lines up to the next one."""
    for file in sorted(SOURCES.glob("*.h")):
        lines = file.read_text().splitlines()
        starts = [n for n, line in enumerate(lines, 1) if re.search(r"case CaseId|default:", line)]
        for start, stop in itertools.pairwise(starts):
            if f'CaseId("{case}")' in lines[start - 1]:
                return file.name, range(start, stop)
    raise AssertionError(f"no kernel source has the case {case}")


def test_without_a_mistake_the_result_is_right(results):
    assert results["none"]["right"]
    assert results["none"]["error"] is None


@pytest.mark.parametrize("case", CASES)
def test_the_exception_names_what_went_wrong_and_where(results, case: str):
    error, trap = results[case]["error"], CASES[case]
    assert error is not None, f"nothing was raised, right: {results[case].get('right')}"
    assert f"message: {trap.head}" in error
    for words in trap.says:
        assert words in error
    if trap.line:
        file, lines = lines_of(case)
        named = {int(n) for n in re.findall(rf"{file}:(\d+)", error)}
        assert named & set(lines), error


@pytest.mark.parametrize("case", GROUP_CASES)
def test_reports_about_several_cores(results, case: str):
    for words in GROUP_CASES[case]:
        assert words in results[case]["error"]
    file, lines = lines_of(case)
    assert {int(n) for n in re.findall(rf"{file}:(\d+)", results[case]["error"])} & set(lines)


@pytest.mark.parametrize("case", TILING_CASES)
def test_the_plans_own_words_reach_the_exception(results, case: str):
    assert results[case]["function"] == "aclnnTrapCaseGetWorkspaceSize"
    assert TILING_CASES[case] in results[case]["error"]


@pytest.mark.parametrize("case", [*CASES, *GROUP_CASES, *TILING_CASES])
def test_the_next_call_in_the_process_is_right(results, case: str):
    assert results[case]["usable"]


@pytest.mark.parametrize(
    ("case", "code"), [("ub_overrun", 507015), ("deadlock", 507014), ("endless_loop", 507014)]
)
def test_codes_are_those_of_the_runtime(results, case: str, code: int):
    assert results[case]["code"] == code


def test_a_budget_stops_within_seconds(results):
    assert results["endless_instructions"]["seconds"] < 30
    assert results["endless_loop"]["seconds"] < 60


def test_fast_mode_still_refuses_what_would_corrupt_memory(environment):
    client = [sys.executable, str(TRAPS / "trap_client.py")]
    cases = ["ub_overrun", "read_past_input", "scalar_past_output", "flag_never_set", "deadlock"]
    fast = {**environment, "ASCENDFA_EMULATOR_MODE": "fast"}
    for case, result in json.loads(run([*client, *cases], fast)).items():
        assert result["error"], case
        assert result["usable"], case
