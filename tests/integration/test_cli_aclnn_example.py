"""The C++ example of the aclnn call sequence, built and run against the toolkit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent / "aclnn_example"


def toolkit_root() -> Path:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if override:
        return Path(override)
    import ascendfa

    return Path(ascendfa.__file__).parent / "_toolkit"


def environment(**extra: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ASCEND")}
    script = f"source {toolkit_root()}/set_env.sh && env -0"
    done = subprocess.run(["bash", "-c", script], env=kept, capture_output=True, text=True)
    sourced = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
    path = f"{Path(sys.executable).parent}:{sourced['PATH']}"
    return {**sourced, "PATH": path, **extra}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (toolkit_root() / "lib64" / "libnnopbase.so").exists():
        pytest.skip("no emulator toolkit")
    folder = tmp_path_factory.mktemp("example")
    for command in (["-S", str(EXAMPLE), "-B", str(folder)], ["--build", str(folder)]):
        done = subprocess.run(
            ["cmake", *command], env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "aclnn_example"


def test_it_computes_causal_attention(program):
    done = subprocess.run(
        [program],
        env=environment(ASCENDFA_EMULATOR_SOC="Ascend910B2"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    soc, error = done.stdout.splitlines()
    assert soc == "Ascend910B2"
    assert 0 < float(error.removeprefix("largest error ")) < 5e-3


def test_a_failure_names_call_code_and_message(program):
    done = subprocess.run(
        [program],
        env=environment(ASCENDFA_EMULATOR_SOC="Ascend950"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.startswith("aclnnFlashAttentionGetWorkspaceSize failed with ")
    assert "ascend950" in done.stderr.lower()
