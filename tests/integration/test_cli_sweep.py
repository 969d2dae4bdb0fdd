"""``ascendfa sweep``, ``trace``, ``bench`` and ``info`` as commands, on the emulator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SWEEP = """
version: 1
chip: ascend910b
soc: Ascend910B4
shapes:
  - {heads: 2, seq_q: [64, 128], head_dim: 64}
causal: [false, true]
block_m: [0, 32, 512]
block_n: [128]
"""


def environment(tmp_path: Path, **extra: str) -> dict[str, str]:
    import ascendfa

    home = str(Path(ascendfa.__file__).resolve().parents[1])
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("ASCEND_", "ASCENDFA_BACKEND"))
    }
    return {**kept, "PYTHONPATH": home, "ASCENDFA_TUNED": str(tmp_path / "tuned.json"), **extra}


def cli(tmp_path: Path, *arguments: object, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ascendfa.cli", *map(str, arguments)],
        env=environment(tmp_path, **extra),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    file = tmp_path / "sweep.yaml"
    file.write_text(SWEEP)
    return file


def records(tmp_path: Path) -> list[dict]:
    return json.loads((tmp_path / "tuned.json").read_text())["records"]


def test_a_prediction_sweep_from_file_to_configuration(tmp_path, sweep_file):
    pytest.importorskip("matplotlib")
    options = ("--predict", "--plot", "map.png", "--promote", "--configs", tmp_path / "configs")
    done = cli(tmp_path, "sweep", sweep_file, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    # 512 rows of a product do not fit L0C; said before anything runs.
    assert done.stdout.index("524288") < done.stdout.index("best blocks")
    found = records(tmp_path)
    assert len(found) == 2 * 2 * 2
    for entry in found:
        assert entry["source"] == "predicted"
        assert entry["soc"] == "Ascend910B4"
        assert entry["median_us"] > 0
        assert entry["samples"] == 0
        assert 0 < entry["error"] <= entry["tolerance"]
    assert "PREDICTED" in done.stdout
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    written = (tmp_path / "configs/ascend910b/flash_attention.yaml").read_text()
    assert "source: predicted" in written
    assert "not measured on hardware" in written

    again = cli(tmp_path, "sweep", sweep_file, "--predict")
    assert "8 of 8 are in" in again.stdout
    assert records(tmp_path) == found


def test_control_c_keeps_what_is_done_and_the_next_run_resumes(tmp_path, sweep_file):
    sweep_file.write_text(SWEEP.replace("[64, 128]", "[64, 128, 192, 256, 320, 384, 448, 512]"))
    process = subprocess.Popen(
        [sys.executable, "-m", "ascendfa.cli", "sweep", str(sweep_file), "--predict"],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    store = tmp_path / "tuned.json"
    deadline = time.monotonic() + 120
    while not store.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 130, output
    assert "stopped" in output
    kept = records(tmp_path)
    assert 0 < len(kept) < 32
    done = cli(tmp_path, "sweep", sweep_file, "--predict")
    assert done.returncode == 0
    assert f"{len(kept)} of 32 are in" in done.stdout
    assert records(tmp_path)[: len(kept)] == kept
    assert len(records(tmp_path)) == 32


def test_the_emulator_cannot_be_measured(tmp_path, sweep_file):
    done = cli(tmp_path, "sweep", sweep_file)
    assert done.returncode == 1
    assert "predict" in done.stderr
    done = cli(tmp_path, "sweep", sweep_file, ASCENDFA_BACKEND="emulator")
    assert (done.returncode, "--predict" in done.stderr) == (1, True)


def test_wrong_use_and_wrong_files(tmp_path, sweep_file):
    assert cli(tmp_path, "sweep", sweep_file, "--configs", "x").returncode == 2
    done = cli(tmp_path, "sweep", tmp_path / "none.yaml")
    assert (done.returncode, "none.yaml" in done.stderr) == (1, True)
    sweep_file.write_text(SWEEP.replace("[0, 32, 512]", "[512]"))
    done = cli(tmp_path, "sweep", sweep_file, "--predict")
    assert (done.returncode, "every candidate is impossible" in done.stderr) == (1, True)


def test_trace_writes_what_perfetto_reads_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    done = cli(
        tmp_path,
        *("trace", "--shape", "1,2,128,64", "--causal", "--soc", "Ascend910B2"),
        *("--output", "t.json", "--png", "t.png", "--window", "0,5"),
    )
    assert done.returncode == 0, done.stderr
    assert "Ascend910B2" in done.stdout
    assert "predicted" in done.stdout
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert {"Mmad"} <= {e["name"] for e in events if e["ph"] == "X"} or len(events) > 100
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "options",
    [
        ("--shape", "1,2,3"),
        ("--shape", "1,x,3,4"),
        ("--heads-k", "3"),
        ("--dtype", "int8"),
        ("--window", "5"),
        ("--window", "5,1"),
    ],
)
def test_trace_refuses_what_it_does_not_understand(tmp_path, options):
    done = cli(tmp_path, "trace", *options)
    assert (done.returncode, options[1] in done.stderr) == (2, True)


def test_bench_says_what_is_predicted_and_what_is_measured(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    options = ("--seq", "64,96", "--heads", "2", "--head-dim", "64", "--repeats", "2")
    done = cli(tmp_path, "bench", *options, "--causal", "--json", "--plot", "b.png")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(r["name"], r["shape"]["seq_q"]) for r in rows] == [
        (name, seq) for seq in (64, 96) for name in ("ascendfa", "unfused", "torch SDPA")
    ]
    assert all(row["us"] > 0 for row in rows)
    assert {r["source"] for r in rows if r["name"] == "ascendfa"} == {"Ascend910B3, predicted"}
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
    assert "predicted" in cli(tmp_path, "bench", *options).stdout


def test_info_names_backend_reason_and_packages(tmp_path):
    done = cli(tmp_path, "info", "--json")
    facts = json.loads(done.stdout)
    assert facts["backend"]["name"] == "emulator"
    assert facts["backend"]["reason"] == "ASCEND_HOME_PATH is not set"
    (toolkit,) = [t for t in facts["toolkits"] if t["kind"] == "emulator"]
    assert toolkit["usable"]
    assert any("FlashAttention" in p["ops"] for p in toolkit["packages"])
    assert "ascend910b" in facts["chips"]
    text = cli(tmp_path, "info", ASCENDFA_BACKEND="npu").stdout
    assert "ASCEND_HOME_PATH is not set; run" in " ".join(text.split())
