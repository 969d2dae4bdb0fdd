"""Which toolkit runs when torch_npu has one loaded; a stand-in for torch_npu, nothing computes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ascendfa import errors
from ascendfa.native import backend as backend_module
from ascendfa.native.backend import choose


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASCENDFA_BACKEND", "ASCENDFA_EMULATOR_HOME", "ASCEND_HOME_PATH"):
        monkeypatch.delenv(name, raising=False)


def library(folder: Path, *others: str) -> Path:
    folder.mkdir(parents=True)
    for name in ("libascendcl.so", *others):
        (folder / name).touch()
    return folder / "libascendcl.so"


@pytest.fixture
def loaded(monkeypatch):
    """Pretend that torch_npu has loaded a library."""

    def pretend(path: Path) -> None:
        monkeypatch.setattr(backend_module, "framework_library", lambda: path)

    return pretend


@pytest.fixture
def emulator(tmp_path, loaded) -> Path:
    loaded(library(tmp_path / "toolkit" / "lib64", "libdavinci_emulator.so"))
    return tmp_path / "toolkit"


@pytest.fixture
def cann(tmp_path, loaded) -> Path:
    root = tmp_path / "cann-9.0.0"
    loaded(library(root / "x86_64-linux" / "lib64"))
    (root / "opp").mkdir()
    return root


def test_an_emulator_in_the_process_is_used_wherever_it_lies(emulator):
    assert (choose().name, choose().root) == ("emulator", emulator)
    assert choose().reason == "torch_npu has loaded it"


def test_the_root_of_cann_is_where_its_operators_are(cann):
    assert (choose().name, choose().root) == ("npu", cann)


def test_the_root_is_what_the_environment_calls_it_if_it_is_the_same(cann, monkeypatch):
    home = cann.parent / "latest"
    home.mkdir()
    (home / "lib64").symlink_to(cann / "x86_64-linux" / "lib64")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    assert choose().root == home


def test_another_cann_in_the_environment_does_not_count(cann, monkeypatch, tmp_path):
    other = tmp_path / "other"
    library(other / "lib64")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(other))
    assert choose().root == cann


@pytest.mark.parametrize(("fixture", "asked"), [("emulator", "npu"), ("cann", "emulator")])
def test_asking_for_the_other_backend_is_an_error(fixture, asked, monkeypatch, request):
    request.getfixturevalue(fixture)
    monkeypatch.setenv("ASCENDFA_BACKEND", asked)
    with pytest.raises(errors.BackendError, match="torch_npu has loaded"):
        choose()


def test_asking_for_another_emulator_is_an_error(emulator, monkeypatch, tmp_path):
    monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(emulator))
    assert choose().root == emulator
    monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(tmp_path))
    with pytest.raises(errors.BackendError, match="ASCENDFA_EMULATOR_HOME"):
        choose()


def test_an_unknown_backend_is_named_all_the_same(emulator, monkeypatch):
    monkeypatch.setenv("ASCENDFA_BACKEND", "cuda")
    with pytest.raises(errors.ConfigError, match="cuda"):
        choose()


def test_without_torch_npu_nothing_is_looked_for():
    assert "torch_npu" not in sys.modules
    assert backend_module.framework_library() is None


def test_the_loaded_library_is_found_by_its_name(tmp_path):
    target = tmp_path / "lib64" / "libascendcl.so"
    target.parent.mkdir()
    source = tmp_path / "acl.c"
    source.write_text("int aclInit(const char* path) { return path != 0; }")
    build = ["cc", "-shared", "-fPIC", "-Wl,-soname,libascendcl.so", "-o", target, source]
    subprocess.run(build, check=True)
    code = f"""
        import ctypes, sys, types
        sys.path[:] = {sys.path!r}
        from ascendfa.native.backend import framework_library
        sys.modules["torch_npu"] = types.ModuleType("torch_npu")
        assert framework_library() is None
        ctypes.CDLL({str(target)!r})
        print(framework_library())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(target)
