"""scripts/build_op_package: from sources to an installed package that computes; refusals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "lib" / "build_op_package.py"


def toolkit_root() -> Path:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if override:
        return Path(override)
    import ascendfa

    return Path(ascendfa.__file__).parent / "_toolkit"


def clean_environment(**extra: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ASCEND")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**kept, "PATH": path, "PYTHONPATH": str(ROOT), **extra}


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (toolkit_root() / "lib64" / "libnnopbase.so").exists():
        pytest.skip("no emulator toolkit")
    folder = tmp_path_factory.mktemp("package")
    done = run(
        SCRIPT,
        *("--soc", "Ascend910B3,910b", "--vendor", "built", "--jobs", "2"),
        *("--toolkit", toolkit_root(), "--output", folder, "--build-dir", folder / "build"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ascend910b: FlashAttention" in done.stdout
    (product,) = folder.glob("*.run")
    assert f"ascendfa install {product} --toolkit emulator" in done.stdout
    return product


def test_the_package_installs_validates_and_uninstalls(package, tmp_path):
    home = {"ASCENDFA_EMULATOR_HOME": str(toolkit_root())}
    done = run("-m", "ascendfa.cli", "install", package, "--path", tmp_path, **home)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "vendors" / "built"
    assert f"export ASCEND_CUSTOM_OPP_PATH={folder}" in done.stdout
    home["ASCEND_CUSTOM_OPP_PATH"] = str(folder)
    done = run("-m", "ascendfa.cli", "validate", "--toolkit", "emulator", "--json", **home)
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    lines = {r["name"]: r for r in report["results"]}
    assert str(folder) in lines["vendor.registered"]["message"]
    assert lines["vendor.duplicates"]["status"] == "WARN"
    assert lines["numerics.causal"]["status"] == "OK"
    done = run("-m", "ascendfa.cli", "uninstall", "built", "--path", tmp_path, **home)
    assert (done.returncode, folder.exists()) == (0, False)
    assert "unset ASCEND_CUSTOM_OPP_PATH" in done.stdout


@pytest.mark.parametrize(
    ("soc", "words"),
    [
        ("Ascend910", "ambiguous"),
        ("910b,Ascend910B", "ambiguous"),
        ("Ascend310P3", "unknown"),
        ("950", "no kernels in this version"),
    ],
)
def test_chips_it_cannot_build_for(soc, words):
    done = run(SCRIPT, "--soc", soc)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_without_cann_it_says_how_to_get_it(tmp_path):
    if Path("/usr/local/Ascend").exists():
        pytest.skip("this machine has CANN")
    # -S: without site-packages, as on a server that has CANN and nothing else.
    done = run("-S", SCRIPT, "--soc", "910b", HOME=str(tmp_path))
    assert done.returncode == 1
    assert "no CANN is in the usual places" in done.stderr
    assert "source /usr/local/Ascend/cann/set_env.sh" in done.stderr


@pytest.fixture
def cann(tmp_path: Path) -> Path:
    root = tmp_path / "Ascend/cann"
    (root / "lib64/cmake").mkdir(parents=True)
    (root / "lib64/libascendcl.so").touch()
    (root / "lib64/cmake/asc-config.cmake").write_text('message(FATAL_ERROR "broken package")')
    (root / "bin").mkdir()
    (root / "bin/bisheng").touch()
    (root / "version.info").write_text("Version=9.0.0\n")
    (root / "set_env.sh").write_text(f"export CMAKE_PREFIX_PATH={root}/lib64/cmake\n")
    return root


def build(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(
        SCRIPT,
        *("--soc", "910b", "--output", tmp_path, "--build-dir", tmp_path / "build"),
        HOME=str(tmp_path),
        **environment,
    )


def test_it_finds_cann_in_a_usual_place_and_shows_why_a_build_fails(cann, tmp_path):
    done = build(tmp_path)
    assert done.returncode == 1
    assert f"toolkit {cann} (cann 9.0.0, usual place)" in done.stdout
    assert "broken package" in done.stderr
    assert "build.log" in done.stderr
    assert not list(tmp_path.glob("*.run"))


def test_it_names_everything_that_is_missing_at_once(cann, tmp_path):
    (cann / "version.info").write_text("Version=8.0.0\n")
    (cann / "bin/bisheng").unlink()
    (cann / "lib64/cmake/asc-config.cmake").unlink()
    done = build(tmp_path, CXX="no-such-compiler")
    assert done.returncode == 1
    for words in ("CANN 8.0.0", "no-such-compiler", "asc-config.cmake", "bisheng"):
        assert words in done.stderr
    assert done.stderr.count("fix: ") == 4


def test_a_vendor_name_that_is_no_folder_name(tmp_path):
    done = run(SCRIPT, "--soc", "910b", "--vendor", "../x")
    assert (done.returncode, "--vendor ../x" in done.stderr) == (2, True)
