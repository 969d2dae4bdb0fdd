"""The anchor kernels compute what they claim; timing them alone gives the time of running them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

LIB = Path(__file__).resolve().parents[2] / "scripts" / "lib"
sys.path.insert(0, str(LIB))

import predict  # noqa: E402
import validate_cycle_model as validation  # noqa: E402

SOC = "Ascend910B1"  # 24 cube cores, 48 vector cores

COMPUTE = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import predict
from ascendfa.native.acl import acl
case, folder = json.loads(sys.argv[2]), sys.argv[3]
arrays = list(np.load(folder + "/in.npz").values())
runtime = acl()
with runtime.device(0):
    np.savez(folder + "/out.npz", *predict.launch_case(runtime, case, arrays))
"""


@pytest.fixture(scope="module", autouse=True)
def anchors(tmp_path_factory: pytest.TempPathFactory) -> None:
    if not (predict.toolkit_root() / "lib64" / "libnnopbase.so").exists():
        pytest.skip("no toolkit; build one with pip install .")
    predict.BUILD = tmp_path_factory.mktemp("anchors")
    predict.build_anchors()


def compute(case: predict.Case, arrays: list[Any], folder: Path) -> Any:
    """Run a case in check mode, in a process of its own."""
    np.savez(folder / "in.npz", *arrays)
    environment = {
        **os.environ,
        "ASCENDFA_BACKEND": "emulator",
        "ASCENDFA_EMULATOR_SOC": SOC,
        "ASCENDFA_EMULATOR_MODE": "check",
        "ASCEND_CUSTOM_OPP_PATH": str(predict.vendor_folder()),
        "ASCENDFA_ANCHOR_BUILD": str(predict.BUILD),
    }
    command = [sys.executable, "-c", COMPUTE, str(LIB), json.dumps(case), str(folder)]
    # Away from the checkout, whose package has no toolkit inside.
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(folder / "out.npz") as outputs:
        return outputs["arr_0"]


@pytest.mark.parametrize(
    ("sample", "grid"), [("", (0, 0)), ("PTO", (2, 1)), ("PTO", (4, 2)), ("MM", (2, 3))]
)
def test_matmul_multiplies(tmp_path: Path, sample: str, grid: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal((1, 512, 1024)).astype(np.float16)
    b = rng.standard_normal((1, 1024, 1024)).astype(np.float16)
    case = predict.product(1, 512, 1024, 1024, sample=sample, grid=grid)
    c = compute(case, [a, b], tmp_path)
    exact = a[0].astype(np.float64) @ b[0].astype(np.float64).T
    # fp32 sums of 1024 products of size one.
    assert np.abs(c[0] - exact).max() < 1024 * 2**-23 * 8


@pytest.mark.parametrize("step", [1, 2, 3, 4, 6])
def test_add_adds(tmp_path: Path, step: int) -> None:
    rng = np.random.default_rng(4)
    x, y = (rng.standard_normal((100, 4096)).astype(np.float16) for _ in range(2))
    z = compute(predict.add(100, 4096, step=step), [x, y], tmp_path)
    assert np.array_equal(z, x + y)


def test_matmul_of_narrow_shapes(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    a = rng.standard_normal((2, 256, 384)).astype(np.float16)
    b = rng.standard_normal((2, 128, 384)).astype(np.float16)
    c = compute(predict.product(2, 256, 128, 384), [a, b], tmp_path)
    exact = a.astype(np.float64) @ b.astype(np.float64).transpose(0, 2, 1)
    assert np.abs(c - exact).max() < 384 * 2**-23 * 8


def softmax(x: Any) -> Any:
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("columns", [512, 4096])
def test_softmax(tmp_path: Path, columns: int) -> None:
    x = np.random.default_rng(6).standard_normal((1, 32, columns)).astype(np.float16) * 8
    y = compute(predict.softmax(1, 32, columns, 0.5), [x], tmp_path)
    exact = softmax(x.astype(np.float64) * 0.5)
    assert np.abs(y - exact).max() < exact.max() * 2**-11 + 1e-6


def test_lockstep_attention(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    q, k, v = (rng.standard_normal((1, 2, 384, 128)).astype(np.float16) for _ in range(3))
    out = compute(predict.lockstep_attention(2, 384), [q, k, v], tmp_path)
    wide = [x.astype(np.float64) for x in (q, k, v)]
    scores = wide[0] @ wide[1].transpose(0, 1, 3, 2) * 128**-0.5
    assert np.abs(out - softmax(scores) @ wide[2]).max() < 2e-3


CASES = {
    "matmul": predict.matmul(768, sample="PTO", grid=(2, 3), out="float16"),
    "add": predict.add(500, 1024, step=4),
    "attention": predict.flash_attention(3, 300, 777, 64),
    "causal": predict.flash_attention(5, 257, 257, causal=True),
    "softmax": predict.softmax(1, 160, 1024, 1.0),
    "lockstep": predict.lockstep_attention(3, 256),
    "repeated": predict.flash_attention(2, 256, 1024, warm_l2=True),
}


def test_predictions_stay_within_what_the_measurements_allow() -> None:
    """Times measured on hardware by others, and the error to expect."""
    rows = validation.calibration()
    results = validation.run_rows(rows)
    assert len(rows) == 8
    for row, (cold, _, _) in zip(rows, results, strict=True):
        assert row.predicted(cold) == pytest.approx(row.measured_us, rel=row.band), row.name


def test_timing_alone_gives_the_time_of_running() -> None:
    cases = list(CASES.values())
    timed = predict.predict(SOC, cases)
    run = predict.predict(SOC, [{**case, "timing_only": False} for case in cases])
    for name, a, b in zip(CASES, timed, run, strict=True):
        assert a == b, name
        assert a["cycles"] > 0, name


def test_a_launch_has_one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = list(CASES.values())
    monkeypatch.setenv("ASCENDFA_EMULATOR_THREADS", "1")
    alone = predict.predict(SOC, cases)
    monkeypatch.setenv("ASCENDFA_EMULATOR_THREADS", "5")
    assert predict.predict(SOC, cases) == alone
