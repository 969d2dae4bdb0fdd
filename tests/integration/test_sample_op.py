"""A custom operator package of the usual form, built against the installed toolkit and called
through its generated aclnn functions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parent / "sample_op"
LIBRARY_RESERVE = 16 << 20  # what the kernel library keeps in front of the workspace on 910B


def toolkit_root() -> Path:
    override = os.environ.get("ASCENDFA_EMULATOR_HOME")
    if override:
        return Path(override)
    import ascendfa

    return Path(ascendfa.__file__).parent / "_toolkit"


@pytest.fixture(scope="module")
def toolkit() -> Path:
    root = toolkit_root()
    if not (root / "lib64" / "libnnopbase.so").exists():
        pytest.skip(f"no toolkit at {root}; build one with pip install .")
    return root


def run(command: list[str], env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def environment(toolkit: Path) -> dict[str, str]:
    """What sourcing set_env.sh leaves behind, in an otherwise clean environment."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ASCEND", "CMAKE_PREFIX"))}
    text = run(["bash", "-c", f"source {toolkit}/set_env.sh && env -0"], kept)
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


@pytest.fixture(scope="module")
def build(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    run(
        [
            "cmake",
            "-S",
            str(SAMPLE),
            "-B",
            str(folder),
            "-Dvendor_name=sample",
            "-DASCEND_COMPUTE_UNIT=ascend910b;ascend910",
        ],
        environment,
    )
    run(
        ["cmake", "--build", str(folder), "-j2", "--target", "all", "binary", "package"],
        environment,
    )
    return folder


@pytest.fixture(scope="module")
def opp(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package installed by its own installer."""
    root = tmp_path_factory.mktemp("opp")
    (installer,) = build.glob("custom_opp_*.run")
    (root / "vendors").mkdir()
    (root / "vendors" / "config.ini").write_text("load_priority=elsewhere\n")
    run([str(installer)], {**os.environ, "ASCEND_OPP_PATH": str(root)})
    return root


@pytest.fixture
def scenario(opp: Path, toolkit: Path, environment: dict[str, str]):
    def call(name: str, **extra: str) -> dict:
        env = {
            **environment,
            "ASCEND_OPP_PATH": str(opp),
            "SAMPLE_TOOLKIT": str(toolkit),
            "SAMPLE_VENDOR": str(opp / "vendors" / "sample"),
            **extra,
        }
        return json.loads(run([sys.executable, str(SAMPLE / "scale_add_client.py"), name], env))

    return call


def test_the_generated_header_has_canns_argument_order(build: Path):
    header = (build / "autogen" / "aclnn_scale_add.h").read_text()
    start = header.index("aclnnScaleAddGetWorkspaceSize(")
    arguments = header[start : header.index(")", start)].split("(")[1]
    assert [a.strip() for a in arguments.split(",")] == [
        "const aclTensor *x",
        "const aclTensor *y",
        "const aclTensor *biasOptional",
        "double alpha",
        "int64_t misBehave",
        "const aclTensor *out",
        "uint64_t *workspaceSize",
        "aclOpExecutor **executor",
    ]


def test_the_installed_tree_has_canns_layout(opp: Path):
    vendor = opp / "vendors" / "sample"
    for path in (
        "op_api/include/aclnn_scale_add.h",
        "op_api/lib/libcust_opapi.so",
        "op_impl/ai_core/tbe/op_tiling/liboptiling.so",
        "op_impl/ai_core/tbe/config/ascend910b/aic-ascend910b-ops-info.json",
        "op_impl/ai_core/tbe/kernel/config/ascend910b/binary_info_config.json",
        "op_impl/ai_core/tbe/sample_impl/dynamic/scale_add.cpp",
        "bin/set_env.bash",
        "version.info",
    ):
        assert (vendor / path).exists(), path
    assert (opp / "vendors" / "config.ini").read_text() == "load_priority=sample,elsewhere\n"
    kernels = vendor / "op_impl/ai_core/tbe/kernel"
    assert len(list((kernels / "ascend910b/scale_add").glob("*.json"))) == 2
    assert len(list((kernels / "ascend910/scale_add").glob("*.so"))) == 2


# One rounding of the product and one of the sum, |values| < 16: 2 * 2^-11 * 16 in half.
@pytest.mark.parametrize(
    ("name", "bound"), [("float16", 0.016), ("float32", 2e-6), ("bias", 4e-6), ("strided", 2e-6)]
)
@pytest.mark.parametrize("mode", ["check", "fast"])
def test_results(scenario, name: str, bound: float, mode: str):
    result = scenario(name, ASCENDFA_EMULATOR_MODE=mode)
    assert result["code"] == 0, result
    assert result["error"] <= bound
    copies = 4096 * 4 if name == "strided" else 0
    assert result["workspace"] == LIBRARY_RESERVE + copies


def test_macro_tiling_data_list_defaults_and_in_place_updates(scenario, build: Path):
    header = (build / "autogen" / "aclnn_affine.h").read_text()
    assert "const aclTensor *xRef,\n    const aclIntArray *offsetsOptional,\n    uint64_t" in header
    result = scenario("in_place")
    assert result["code"] == 0, result
    assert result["workspace"] == 0
    assert result["error"] <= 4e-6  # values below 32: one rounding each of product and sum


def test_the_coupled_chip_runs_its_own_binary(scenario):
    result = scenario("float16", ASCENDFA_EMULATOR_SOC="Ascend910A")
    assert result["code"] == 0, result
    assert result["error"] <= 0.016
    assert result["workspace"] == 2 << 20


def test_a_trap_is_an_error_with_a_report_and_the_process_goes_on(scenario):
    result = scenario("trap")
    assert result["bad"]["phase"] == 2
    assert result["bad"]["code"] == 507035  # vector core exception
    for word in ("DataCopy", "MTE2", "scale_add"):
        assert word in result["bad"]["message"], result["bad"]["message"]
    assert result["good"]["code"] == 0
    assert result["good"]["error"] <= 0.016


def test_bad_calls_are_refused_in_the_first_phase(scenario):
    result = scenario("refused")
    assert result["absent"] == {"code": 161001, "size": 0, "message": result["absent"]["message"]}
    assert "'x' is null" in result["absent"]["message"]
    assert result["dtype"]["code"] == 561003
    assert "x: int32" in result["dtype"]["message"]
    assert "x: float16" in result["dtype"]["message"]
    assert result["shape"]["code"] == 561002
    assert result["strided"]["code"] == 161002
    assert "'y' must be contiguous" in result["strided"]["message"]
    for name in ("dtype", "shape", "strided"):
        assert result[name]["phase"] == 1
        assert result[name]["executor"] is None


def test_an_empty_result_needs_no_launch(scenario):
    result = scenario("empty")
    assert result["code"] == 0
    assert result["workspace"] == 0


def test_an_executor_serves_one_call(scenario):
    result = scenario("executor")
    assert result["small"] == 161002
    assert "were asked for" in result["small_text"]
    assert result["again"] == 161002
    assert "used or destroyed" in result["again_text"]


def test_an_op_of_no_installed_package_names_where_it_looked(scenario, tmp_path: Path):
    (tmp_path / "vendors").mkdir()
    (tmp_path / "vendors" / "config.ini").write_text("load_priority=nobody\n")
    result = scenario("float32", ASCEND_OPP_PATH=str(tmp_path))
    assert result["code"] == 561112
    assert f"{tmp_path}/vendors/nobody" in result["message"]


def test_the_custom_path_wins_and_may_hold_the_package(scenario, opp: Path, tmp_path: Path):
    (tmp_path / "vendors").mkdir()
    result = scenario(
        "float32",
        ASCEND_OPP_PATH=str(tmp_path),
        ASCEND_CUSTOM_OPP_PATH=str(opp / "vendors" / "sample"),
    )
    assert result["code"] == 0, result


def test_a_kernel_that_does_not_compile_fails_the_build(environment, tmp_path: Path):
    import shutil

    source = tmp_path / "source"
    shutil.copytree(SAMPLE, source)
    kernel = source / "op_kernel" / "scale_add.cpp"
    kernel.write_text(kernel.read_text().replace("AscendC::Muls(", "AscendC::NoSuchCall("))
    run(
        ["cmake", "-S", str(source), "-B", str(tmp_path / "build"), "-Dvendor_name=sample"],
        environment,
    )
    done = subprocess.run(
        ["cmake", "--build", str(tmp_path / "build")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "NoSuchCall" in done.stdout + done.stderr


@pytest.mark.parametrize(("unit", "text"), [("ascend900", "unknown"), ("ascend950", "No kernel")])
def test_chips_without_kernels_are_named(environment, tmp_path: Path, unit: str, text: str):
    done = subprocess.run(
        [
            "cmake",
            "-S",
            str(SAMPLE),
            "-B",
            str(tmp_path),
            "-Dvendor_name=sample",
            f"-DASCEND_COMPUTE_UNIT={unit}",
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert unit in done.stderr
    assert text in done.stderr
