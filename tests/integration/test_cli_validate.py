"""``ascendfa validate`` where something runs: fake devices with wrong operators; the emulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import fake_cann
from support.fake_cann import Machine

from ascendfa.chips import CHIPS
from ascendfa.cli.checks.cases import CASES
from ascendfa.cli.checks.context import Context, ProbeAnswer
from ascendfa.cli.checks.driver import check_soc
from ascendfa.cli.checks.launch import check_launch
from ascendfa.cli.checks.libraries import check_libraries
from ascendfa.cli.checks.numerics import check_numerics
from ascendfa.cli.checks.result import Result, Status
from ascendfa.cli.validate import run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_cann.runtime(tmp_path_factory.mktemp("cann"), devices=2)


@pytest.fixture
def machine(tmp_path: Path, libraries: Path) -> Callable[..., Machine]:
    def make(**options: Any) -> Machine:
        op = fake_cann.op_library(tmp_path / "op" / "libcust_opapi.so", **options)
        return Machine(tmp_path / "machine", libraries, op)

    return make


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    chosen = tuple(case for case in CASES if case.name in names)
    monkeypatch.setattr("ascendfa.cli.checks.numerics.CASES", chosen)


def by_name(results: Any) -> dict[str, Result]:
    return {r.name: r for r in results}


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("mean_of_v", "mean of v"),
        ("largest", "65504"),
        ("nan", "NaN"),
        ("infinite", "infinite"),
        ("nothing", "wrote nothing"),
    ],
)
def test_an_operator_that_computes_something_else(machine, monkeypatch, op, words):
    only(monkeypatch, "plain")
    result = by_name(check_numerics(machine(op=op).context(usable=True)))["numerics.plain"]
    assert result.status is Status.FAIL
    assert words in result.message
    assert "tolerance" in result.message


def test_an_operator_that_ignores_the_causal_mask(machine, monkeypatch):
    only(monkeypatch, "plain", "causal")
    context = machine(op="ignores_causal").context(device_count=2)
    results = by_name(check_numerics(context))
    assert results["numerics.plain"].status is Status.OK
    assert results["numerics.second_device"].status is Status.OK
    assert results["numerics.causal"].status is Status.FAIL
    assert "without the causal mask" in results["numerics.causal"].message


def test_the_whole_run_of_a_wrong_operator_fails_only_in_its_numbers(machine):
    results = list(run(machine(op="ignores_causal").context()))
    failed = {r.name for r in results if r.status is Status.FAIL}
    # It knows fp16 only.
    # There is no torch_npu to import on this machine.
    wrong = ("causal", "shorter_q", "rows_without_keys", "gqa", "bfloat16", "float32", "npu_tensor")
    assert failed == {f"numerics.{name}" for name in wrong}


def test_a_type_the_chip_lacks_is_skipped(machine, monkeypatch):
    only(monkeypatch, "bfloat16")
    results = by_name(check_numerics(machine().context(unit="ascend910")))
    assert results["numerics.bfloat16"].status is Status.SKIP
    assert "ascend910 has no bfloat16" in results["numerics.bfloat16"].message


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (ProbeAnswer({}, "was killed by signal 11"), Status.FAIL, "signal 11"),
        (ProbeAnswer({"error": "torch_npu cannot be imported"}), Status.FAIL, "imported"),
        (
            ProbeAnswer({"parts": {"out": {"error": 1.0, "tolerance": 0.01}}, "wrong": "no"}),
            Status.FAIL,
            "tolerance 1.00e-02",
        ),
        (
            ProbeAnswer({"parts": {"out": {"error": 0.001, "tolerance": 0.01}}, "wrong": ""}),
            Status.OK,
            "error 1.00e-03",
        ),
    ],
)
def test_tensors_on_the_device(machine, monkeypatch, answer, status, words):
    strided = next(c for c in CASES if c.strided)
    monkeypatch.setattr("ascendfa.cli.checks.numerics.CASES", (strided,))
    asked = []

    def probe(self: Context, job: str, **arguments: Any) -> ProbeAnswer:
        asked.append(job)
        return answer

    monkeypatch.setattr(Context, "probe", probe)
    fake = machine()
    context = fake.context(device=1)
    result = by_name(check_numerics(context))["numerics.npu_tensor"]
    assert "npu_tensor" in asked
    assert (result.status, words in result.message) == (status, True)
    absent = fake.context(versions={"torch": "2.13.0", "torch_npu": None})
    assert by_name(check_numerics(absent))["numerics.npu_tensor"].status is Status.SKIP


def test_a_failing_first_phase(machine):
    results = by_name(check_launch(machine(first=561112).context()))
    assert results["launch.first_phase"].status is Status.FAIL
    assert "561112" in results["launch.first_phase"].message
    assert "build it for the compute unit" in results["launch.first_phase"].fix
    assert results["launch.second_phase"].status is Status.SKIP


def test_a_failing_launch(machine):
    results = by_name(check_launch(machine(second=507015).context()))
    assert results["launch.first_phase"].status is Status.OK
    assert results["launch.second_phase"].status is Status.FAIL
    assert "507015" in results["launch.second_phase"].message


def test_an_operator_that_crashes(machine):
    context = machine(second=-1).context()
    results = by_name(check_launch(context))
    assert results["launch.first_phase"].status is Status.FAIL
    assert "signal 6" in results["launch.first_phase"].message
    assert {r.status for r in check_numerics(context)} == {Status.SKIP}


def test_an_operator_that_never_returns(machine):
    results = by_name(check_launch(machine(second=-2).context(probe_seconds=4)))
    assert results["launch.first_phase"].status is Status.FAIL
    assert "no answer within 4 s" in results["launch.first_phase"].message


def test_a_library_that_does_not_open(machine):
    broken = machine()
    source = "int missing(); int aclnnFlashAttention() { return missing(); }"
    source += "int aclnnFlashAttentionGetWorkspaceSize() { return 0; }"
    fake_cann.compile_c(source, broken.vendor / "op_api/lib/libcust_opapi.so")
    result = by_name(check_libraries(broken.context()))["libraries.open"]
    assert result.status is Status.FAIL
    assert "undefined symbol: missing" in result.message


@pytest.mark.parametrize(
    ("soc", "words"),
    [
        ("Ascend910", "ambiguous"),
        ("Ascend710", "unknown"),
        ("Ascend9589", "unknown"),
        ("Ascend950", "no kernels"),
    ],
)
def test_a_chip_without_kernels(tmp_path, libraries, soc, words):
    op = fake_cann.op_library(tmp_path / "op.so")
    machine = Machine(tmp_path / "machine", fake_cann.runtime(tmp_path / "cann", soc=soc), op)
    context = machine.context()
    result = by_name(check_soc(context))["device.soc"]
    assert result.status is Status.FAIL
    assert words in result.message
    assert not context.usable


def test_a_device_beyond_the_last(machine):
    result = by_name(check_soc(machine().context(device=2)))["device.soc"]
    assert (result.status, "device 2 of 2" in result.message) == (Status.FAIL, True)


def cli(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ASCEND_", "ASCENDFA_BACKEND"))}
    command = [sys.executable, "-m", "ascendfa.cli", *arguments]
    import ascendfa

    home = str(Path(ascendfa.__file__).resolve().parents[1])
    return subprocess.run(
        command,
        env={**env, **environment, "PYTHONPATH": home},
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


def test_the_emulator_passes_everything():
    done = cli("validate", "--toolkit", "emulator", "--json", ASCENDFA_EMULATOR_DEVICES="2")
    report = json.loads(done.stdout)
    assert done.returncode == report["exit_code"] == 0, done.stdout
    results = {r["name"]: r for r in report["results"]}
    assert report["soc"].startswith("Ascend910")
    for case in CASES:
        has = case.dtype in CHIPS["ascend910b"].dtypes
        assert results[f"numerics.{case.name}"]["status"] == ("OK" if has else "SKIP")
    assert results["numerics.second_device"]["status"] == "OK"
    assert not [r for r in report["results"] if r["status"] == "FAIL"]


def test_exit_codes_of_the_command(tmp_path):
    assert cli("validate", "--toolkit", "/nowhere").returncode == 2
    assert cli("validate", "--device", "-1").returncode == 2
    assert cli("validate", "--toolkit", str(tmp_path), "--offline").returncode == 1
    if not list(Path("/dev").glob("davinci[0-9]*")):
        done = cli("validate", HOME=str(tmp_path))
        assert done.returncode == 3, done.stdout
        assert "this is no pass" in done.stdout
