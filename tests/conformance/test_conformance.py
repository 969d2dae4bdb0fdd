"""Sample kernels over the Ascend C API, with answers worked out by hand, built with the toolkit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent
PROGRAMS = sorted([p.stem for p in SOURCES.glob("*.asc")] + ["by_property"])


def toolkit_root() -> Path:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if override:
        return Path(override)
    import ascendfa

    return Path(ascendfa.__file__).parent / "_toolkit"


def run(command: list[str], env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    root = toolkit_root()
    if not (root / "bin" / "ascc").exists():
        pytest.skip(f"no toolkit at {root}; build one with pip install .")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ASCEND", "CMAKE_PREFIX"))}
    text = run(["bash", "-c", f"source {root}/set_env.sh && env -0"], kept)
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


@pytest.fixture(scope="module")
def programs(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("conformance")
    run(["cmake", "-S", str(SOURCES), "-B", str(folder)], environment)
    run(["cmake", "--build", str(folder), "-j2"], environment)
    return folder


@pytest.mark.parametrize("mode", ["check", "fast"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(programs: Path, environment: dict[str, str], program: str, mode: str) -> None:
    env = {**environment, "ASCENDFA_EMULATOR_MODE": mode, "ASCENDFA_EMULATOR_SOC": "Ascend910B3"}
    text = run([str(programs / program), mode], env)
    assert text.splitlines()[-1] == "conforms"


def test_kernel_output_names_the_core(programs: Path, environment: dict[str, str]) -> None:
    text = run([str(programs / "launch")], environment)
    assert "[AIV Block 1/2] number 7, half 0.500000\n" in text


def test_other_chip_is_refused(programs: Path, environment: dict[str, str]) -> None:
    env = {**environment, "ASCENDFA_EMULATOR_SOC": "Ascend910A"}
    done = subprocess.run([str(programs / "by_property")], capture_output=True, text=True, env=env)
    assert done.returncode == 1
    assert "was compiled for dav-2201, the device is Ascend910A" in done.stderr


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("void f(); void g() { f<<<1, 0, nullptr>>>(); }", "no __global__ function of that name"),
        ("__global__ __mix__(1, 3) void f();", "__mix__(1, 3) is not supported"),
        ("__global__ __vector__ void f() {} void g() { f<<<1, 0, nullptr; }", "without >>>"),
        (
            "__global__ __vector__ void f(int) {}\nvoid g() { f<<<1, 0, nullptr>>>(nullptr); }",
            ":2:",
        ),
    ],
)
def test_driver_names_the_mistake(
    environment: dict[str, str], tmp_path: Path, source: str, message: str
) -> None:
    file = tmp_path / "kernel.asc"
    file.write_text(source)
    command = ["ascc", "-c", str(file), "-o", str(tmp_path / "kernel.o")]
    command[0] = str(Path(environment["ASCEND_HOME_PATH"]) / "bin" / "ascc")
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode != 0
    assert message in done.stderr, done.stderr
