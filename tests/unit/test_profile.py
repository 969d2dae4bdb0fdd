"""The Python side of profiling, against a library with canned predictions."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ascendfa import emulator
from ascendfa.emulator import picture, symbols
from ascendfa.errors import (
    AscendFAError,
    BackendError,
    ConfigError,
    InvalidArgumentError,
    LibraryNotFoundError,
    SymbolNotFoundError,
    ToolkitError,
)

SOURCE = Path(__file__).resolve().parent.parent / "support" / "stub_profile.c"
HEADER = (
    SOURCE.parent.parent.parent / "ascend_kernels" / "emulator" / "include" / "dav" / "profile.h"
)


def _compile(folder: Path, source: Path) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C compiler")
    library = folder / symbols.EMULATOR
    subprocess.run(
        [
            compiler,
            "-x",
            "c",
            "-shared",
            "-fPIC",
            "-Wl,-soname,stub_profile.so",
            "-o",
            library,
            source,
        ],
        check=True,
    )
    return library


@pytest.fixture(scope="module")
def stub_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("toolkit")
    (home / "lib64").mkdir()
    _compile(home / "lib64", SOURCE)
    return home


@pytest.fixture(autouse=True)
def _on_the_stub(stub_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDFA_BACKEND", "emulator")
    monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(stub_home))


def test_table_has_every_function_of_the_header() -> None:
    declared = {
        word.split("(")[0]
        for line in HEADER.read_text().splitlines()
        if line.startswith("DAV_API")
        for word in line.split()
        if word.startswith("davProfile")
    }
    assert declared == set(symbols.SYMBOLS)


def test_session_gives_figures_of_all_launches() -> None:
    with emulator.profile() as p:
        pass
    assert [k.name for k in p.kernels] == ["first", "second"]
    assert p.predicted_us == 40
    assert p.error_band == 0.3
    # Weighted by cycles: (0.8 * 100 + 0.4 * 300) / 400.
    assert p.busy == {"AIC.M": pytest.approx(0.5)}
    assert p.wait == {"AIC.M": pytest.approx(0.1)}
    assert p.bytes == {"GM->L1": 8192}
    assert p.l2 == {"read_hit": 2, "read_miss": 4, "written": 6, "write_back": 8, "hbm": 12}
    assert "predicted" in str(p)
    assert "±30%" in str(p)


def test_function_runs_inside_the_session() -> None:
    p = emulator.profile(lambda a, *, b: a + b, 1, b=2)
    assert p.result == 3
    assert len(p.kernels) == 2


def test_function_that_fails_closes_the_session() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        emulator.profile(fail)
    with emulator.profile():
        pass


def test_parameters_reach_the_model(tmp_path: Path) -> None:
    with emulator.profile(parameters={"cross_flag": 500}, warm_l2=True) as p:
        pass
    p.write_trace(tmp_path / "t.json", kernel=1, groups=3)
    about = json.loads((tmp_path / "t.json").read_text())["otherData"]
    options = "cross_flag=500.0,warm_l2=1.0,timing_only=0.0"
    assert about == {"kernel": 1, "groups": 3, "options": options}
    p.write_trace(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["otherData"]["kernel"] == -1


def test_unknown_parameter_is_refused() -> None:
    with pytest.raises(ConfigError, match="warp"):
        emulator.profile(parameters={"warp": 9}).__enter__()


def test_second_session_is_refused_and_the_first_goes_on() -> None:
    with emulator.profile() as p, pytest.raises(ConfigError, match="already open"):
        emulator.profile().__enter__()
    assert len(p.kernels) == 2


def test_launch_without_a_prediction_is_an_error() -> None:
    with pytest.raises(ToolkitError, match="stopped"):
        emulator.profile(print, parameters={"cross_flag": 66})


def test_trace_only_after_the_end_and_of_the_latest(tmp_path: Path) -> None:
    with emulator.profile() as p, pytest.raises(AscendFAError, match="ended"):
        p.write_trace(tmp_path / "t.json")
    p.write_trace(tmp_path / "t.json")
    with emulator.profile():
        pass
    with pytest.raises(AscendFAError, match="next one"):
        p.write_trace(tmp_path / "t.json")


def test_unwritable_trace_is_an_error(tmp_path: Path) -> None:
    with emulator.profile() as p:
        pass
    with pytest.raises(ToolkitError, match="cannot create"):
        p.write_trace(tmp_path / "no" / "such" / "t.json")


def test_picture_is_a_png_of_readable_size(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with emulator.profile() as p:
        pass
    p.write_png(tmp_path / "t.png", groups=2)
    data = (tmp_path / "t.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert width >= 1200
    assert height >= 150


@pytest.mark.parametrize(
    ("argument", "value"),
    [("kernel", 2), ("kernel", -1), ("groups", 0), ("window_us", (3.0, 1.0))],
)
def test_picture_refuses_what_is_not_there(tmp_path: Path, argument: str, value: object) -> None:
    pytest.importorskip("matplotlib")
    with emulator.profile() as p:
        pass
    with pytest.raises(InvalidArgumentError, match=argument):
        p.write_png(tmp_path / "t.png", **{argument: value})


def test_spans_are_cut_and_merged() -> None:
    spans = [(0.0, 1.0), (1.0, 2.0), (5.0, 6.0), (9.0, 20.0)]
    assert picture._visible(spans, (0.5, 10.0)) == [(0.5, 1.5), (5.0, 1.0), (9.0, 1.0)]
    assert picture._busy_share(spans, (0.0, 10.0)) == pytest.approx(0.4)
    assert picture._busy_share([(0.0, 4.0), (1.0, 5.0)], (0.0, 10.0)) == pytest.approx(0.5)


def test_device_backend_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64" / "libascendcl.so").touch()
    monkeypatch.setenv("ASCENDFA_BACKEND", "npu")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    with pytest.raises(BackendError, match="emulated device only"):
        emulator.profile().__enter__()


def test_missing_library_says_where_it_looked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(tmp_path))
    with pytest.raises(LibraryNotFoundError, match=str(tmp_path)):
        emulator.profile().__enter__()


def test_library_without_the_functions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lib64").mkdir()
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    _compile(tmp_path / "lib64", source)
    monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(tmp_path))
    with pytest.raises(SymbolNotFoundError, match="davProfileBegin"):
        emulator.profile().__enter__()
