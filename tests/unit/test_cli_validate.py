"""Every check of ``ascendfa validate`` made to fail, one thing wrong at a time."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from support import fake_cann
from support.checks import expect, lines
from support.fake_cann import Machine

from ascendfa.cli.checks.cann import check_cann
from ascendfa.cli.checks.compiler import check_compiler
from ascendfa.cli.checks.context import Context
from ascendfa.cli.checks.driver import check_driver
from ascendfa.cli.checks.libraries import check_shadowing
from ascendfa.cli.checks.order import CHECKS
from ascendfa.cli.checks.python import check_python
from ascendfa.cli.checks.result import Status
from ascendfa.cli.validate import exit_code, run


def test_nothing_fails_offline_on_a_complete_machine(machine):
    results = list(run(machine.context(offline=True)))
    assert {r.status for r in results} <= {Status.OK, Status.SKIP}, results
    static = [r for r in results if r.status is Status.OK]
    assert len(static) >= 17
    assert {r.name for r in results if r.status is Status.SKIP} >= {
        "device.soc",
        "libraries.open",
        "launch.first_phase",
        "numerics.causal",
    }
    assert exit_code(results, machine.context(offline=True)) == 0


def test_without_an_npu_nothing_passes(machine):
    for node in (machine.system / "dev").iterdir():
        node.unlink()
    context = machine.context()
    results = list(run(context))
    assert not any(r.status is Status.FAIL for r in results), results
    assert exit_code(results, context) == 3


def test_without_cann_and_npu_there_is_no_npu_but_with_one_cann_is_missing(tmp_path):
    bare = Context(system=tmp_path, environ={})
    expect(lines(check_cann, bare)["cann.root"], Status.SKIP, "--toolkit emulator")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "davinci0").touch()
    expect(
        lines(check_cann, Context(system=tmp_path, environ={}))["cann.root"],
        Status.FAIL,
        "ASCEND_HOME_PATH",
        "source",
    )


def test_a_check_that_breaks_is_a_failure_and_stops_no_other(machine, monkeypatch):
    def broken(context: Context) -> Any:
        raise RuntimeError("boom")
        yield

    broken.__name__ = "check_broken"
    monkeypatch.setattr("ascendfa.cli.validate.CHECKS", (broken, *CHECKS[:1]))
    results = list(run(machine.context()))
    expect(results[0], Status.FAIL, "boom")
    assert results[1].name == "python"


class TestPython:
    def versions(self, torch: str | None, torch_npu: str | None) -> dict[str, Any]:
        return {"versions": {"torch": torch, "torch_npu": torch_npu}}

    def test_an_old_python(self, machine):
        expect(
            lines(check_python, machine.context(python=(3, 9, 2)))["python"], Status.FAIL, "3.9.2"
        )

    def test_torch_npu_of_another_release(self, machine):
        context = machine.context(**self.versions("2.13.0+cpu", "2.7.1"))
        expect(lines(check_python, context)["torch_npu"], Status.FAIL, "torch-npu==2.13.0")

    @pytest.mark.parametrize("torch_npu", ["2.1.0.post12", "2.1.0"])
    def test_torch_npu_of_the_same_release(self, machine, torch_npu):
        context = machine.context(**self.versions("2.1.0+cpu", torch_npu))
        expect(lines(check_python, context)["torch_npu"], Status.OK)

    def test_torch_npu_alone(self, machine):
        context = machine.context(**self.versions(None, "2.13.0"))
        result = lines(check_python, context)
        expect(result["torch"], Status.SKIP)
        expect(result["torch_npu"], Status.FAIL, "pip install torch==2.13.0")

    def test_torch_without_torch_npu_on_a_device(self, machine):
        context = machine.context(**self.versions("2.13.0", None))
        expect(lines(check_python, context)["torch_npu"], Status.WARN)


class TestCann:
    def test_a_root_without_libraries(self, machine):
        shutil.rmtree(machine.root / "lib64")
        expect(lines(check_cann, machine.context())["cann.root"], Status.FAIL, "libascendcl.so")

    def test_an_old_version(self, machine):
        (machine.root / "version.info").write_text("Version=8.0.RC3\n")
        expect(lines(check_cann, machine.context())["cann.version"], Status.FAIL, "8.0.RC3", "8.5")

    def test_no_version(self, machine):
        (machine.root / "version.info").unlink()
        expect(lines(check_cann, machine.context())["cann.version"], Status.WARN)

    @pytest.mark.parametrize("name", ["ASCEND_HOME_PATH", "LD_LIBRARY_PATH", "ASCEND_OPP_PATH"])
    def test_an_environment_that_was_not_sourced(self, machine, name):
        del machine.environ[name]
        result = lines(check_cann, machine.context())
        expect(result["cann.root"], Status.OK)
        expect(result["cann.set_env"], Status.FAIL, name, f"source {machine.root}/set_env.sh")

    def test_an_opp_folder_that_is_gone(self, machine):
        machine.environ["ASCEND_OPP_PATH"] = "/nowhere/opp"
        expect(lines(check_cann, machine.context())["cann.set_env"], Status.FAIL, "/nowhere/opp")

    def test_the_environment_of_another_installation(self, machine):
        other = machine.system / "other"
        shutil.copytree(machine.root / "lib64", other / "lib64")
        context = machine.context(asked=str(other))
        expect(lines(check_cann, context)["cann.set_env"], Status.FAIL, "another installation")

    def test_a_root_of_links_into_the_folder_of_a_version(self, machine, op):
        version = machine.root.parent / "cann-8.5.0"
        machine.root.rename(version)
        machine.root.mkdir()
        for entry in version.iterdir():
            (machine.root / entry.name).symlink_to(entry)
        shutil.copy(
            fake_cann.compile_c("int f;", machine.system / "x.so"), version / "lib64/libopapi.so"
        )
        assert lines(check_cann, machine.context())["cann.set_env"].status is Status.OK
        result = lines(check_shadowing, machine.context())["libraries.shadow"]
        expect(result, Status.OK)


class TestCompiler:
    @pytest.fixture
    def tools(self, machine: Machine) -> Machine:
        machine.program("g++", "exit 0")
        machine.program("cmake", "echo cmake version 3.27.1")
        machine.program("make", "exit 0")
        (machine.root / "lib64/cmake").mkdir()
        (machine.root / "lib64/cmake/asc-config.cmake").touch()
        (machine.root / "bin").mkdir()
        (machine.root / "bin/bisheng").touch()
        machine.environ["PATH"] = str(machine.bin)
        return machine

    def test_is_silent_unless_asked(self, tools):
        assert lines(check_compiler, tools.context()) == {}

    def test_complete(self, tools):
        result = lines(check_compiler, tools.context(build=True))
        assert {r.status for r in result.values()} == {Status.OK}, result

    @pytest.mark.parametrize(
        ("program", "name", "fix"),
        [("g++", "c++", "g++"), ("cmake", "cmake", "cmake"), ("make", "make", "make")],
    )
    def test_a_missing_tool(self, tools, program, name, fix):
        (tools.bin / program).unlink()
        result = lines(check_compiler, tools.context(build=True))[f"build.{name}"]
        expect(result, Status.FAIL, f"apt-get install -y {fix}")

    def test_a_compiler_without_cxx17(self, tools):
        tools.program("g++", "echo \"unrecognized '-std=c++17'\" >&2; exit 1")
        result = lines(check_compiler, tools.context(build=True))["build.c++"]
        expect(result, Status.FAIL, "unrecognized")

    def test_an_old_cmake(self, tools):
        tools.program("cmake", "echo cmake version 3.10.2")
        result = lines(check_compiler, tools.context(build=True))["build.cmake"]
        expect(result, Status.FAIL, "3.10", "cmake>=")

    def test_a_toolkit_without_the_cmake_package(self, tools):
        (tools.root / "lib64/cmake/asc-config.cmake").unlink()
        result = lines(check_compiler, tools.context(build=True))["build.asc"]
        expect(result, Status.FAIL, "ASC")

    def test_a_toolkit_without_the_kernel_compiler(self, tools):
        (tools.root / "bin/bisheng").unlink()
        result = lines(check_compiler, tools.context(build=True))["build.bisheng"]
        expect(result, Status.FAIL, "bisheng")


class TestDriver:
    def test_a_device_that_is_not_there(self, machine):
        expect(
            lines(check_driver, machine.context(device=7))["device.nodes"],
            Status.FAIL,
            "davinci7",
            "davinci0, davinci1",
        )

    def test_a_container_without_the_manager(self, machine):
        (machine.system / "dev/davinci_manager").unlink()
        expect(
            lines(check_driver, machine.context())["device.nodes"],
            Status.FAIL,
            "--device /dev/davinci_manager",
        )

    def test_nodes_this_user_may_not_open(self, machine, monkeypatch):
        monkeypatch.setattr("os.access", lambda path, _: "devmm" not in str(path))
        expect(
            lines(check_driver, machine.context())["device.nodes"],
            Status.FAIL,
            "devmm_svm",
            "HwHiAiUser",
        )

    def test_no_driver_version(self, machine):
        (machine.driver / "version.info").unlink()
        expect(lines(check_driver, machine.context())["device.driver"], Status.WARN, "mount")

    def test_no_driver_library(self, machine):
        (machine.driver / "lib64/driver/libascend_hal.so").unlink()
        expect(
            lines(check_driver, machine.context())["device.driver"], Status.FAIL, "libascend_hal.so"
        )

    @pytest.mark.parametrize(
        ("script", "word"),
        [("echo 'dcmi failed'; exit 1", "dcmi failed"), ("echo '| 0 910B3 | Alarm |'", "Alarm")],
    )
    def test_npu_smi_only_warns(self, machine, script, word):
        machine.program("npu-smi", script)
        expect(lines(check_driver, machine.context())["device.npu-smi"], Status.WARN, word)

    def test_no_npu_smi(self, machine):
        (machine.bin / "npu-smi").unlink()
        expect(lines(check_driver, machine.context())["device.npu-smi"], Status.WARN)
