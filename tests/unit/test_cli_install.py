"""Install, uninstall and list: whole trees before and after, and failures half way."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support import fake_cann
from typer.testing import CliRunner, Result

from ascendfa.cli import vendor_tree
from ascendfa.cli.app import app
from ascendfa.cli.soc_names import unit_for
from ascendfa.errors import UnknownChipError


@pytest.fixture
def package(tmp_path: Path) -> Path:
    library = tmp_path / "library"
    library.write_bytes(b"new library")
    return fake_cann.package(tmp_path / "built/vendors/ascendfa", library)


@pytest.fixture
def opp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The opp folder of an installation with one other vendor."""
    opp = tmp_path / "cann/opp"
    other = opp / "vendors/other"
    (other / "op_api/lib").mkdir(parents=True)
    (other / "op_api/lib/libcust_opapi.so").write_bytes(b"other")
    (opp / "vendors/config.ini").write_text("# kept\nload_priority=other,gone\nmode=1\n")
    monkeypatch.setenv("ASCEND_OPP_PATH", str(opp))
    monkeypatch.delenv("ASCEND_CUSTOM_OPP_PATH", raising=False)
    return opp


@pytest.fixture
def cli() -> Callable[..., Result]:
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_install_registers_first_and_keeps_everything_else(cli, package, opp):
    before = tree(opp)
    done = cli("install", package)
    assert done.exit_code == 0, done.output
    after = tree(opp)
    assert after.pop("vendors/config.ini") == (
        b"# kept\nload_priority=ascendfa,other,gone\nmode=1\n"
    )
    before.pop("vendors/config.ini")
    added = {k: v for k, v in after.items() if k not in before}
    assert {k: after[k] for k in before} == before
    expected = {f"vendors/ascendfa/{k}" for k in tree(package)}
    assert set(added) == expected | {"vendors/ascendfa/bin/set_env.bash"}
    assert "restart" in done.output


def test_uninstall_undoes_install(cli, package, opp):
    before = tree(opp)
    assert cli("install", package).exit_code == 0
    done = cli("uninstall")
    assert done.exit_code == 0, done.output
    assert tree(opp) == before
    assert sorted(p.name for p in (opp / "vendors").iterdir()) == ["config.ini", "other"]


def test_a_config_ini_that_install_made_goes_with_uninstall(cli, package, tmp_path, monkeypatch):
    monkeypatch.setenv("ASCEND_OPP_PATH", str(tmp_path / "fresh"))
    assert cli("install", package).exit_code == 0
    assert (tmp_path / "fresh/vendors/config.ini").read_text() == "load_priority=ascendfa\n"
    assert cli("uninstall").exit_code == 0
    assert list((tmp_path / "fresh/vendors").iterdir()) == []


def test_a_second_install_replaces_and_is_listed_once(cli, package, opp):
    assert cli("install", package).exit_code == 0
    (opp / "vendors/ascendfa/stale").touch()
    done = cli("install", package)
    assert "replaced" in done.output
    assert not (opp / "vendors/ascendfa/stale").exists()
    assert "load_priority=ascendfa,other,gone\n" in (opp / "vendors/config.ini").read_text()


def test_others_may_read_what_is_installed(cli, package, opp):
    for path in package.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert cli("install", package).exit_code == 0
    for path in (opp / "vendors/ascendfa", *(opp / "vendors/ascendfa").rglob("*")):
        mode = path.stat().st_mode & 0o777
        assert mode == (0o755 if path.is_dir() else 0o644), path
    assert (opp / "vendors/config.ini").stat().st_mode & 0o444 == 0o444


@pytest.mark.parametrize("step", ["copy", "rename", "register"])
@pytest.mark.parametrize("first", [True, False])
def test_a_failure_half_way_leaves_the_old_state(cli, package, opp, monkeypatch, step, first):
    if not first:
        assert cli("install", package).exit_code == 0
        (opp / "vendors/ascendfa/old").touch()
    before = tree(opp)

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    if step == "copy":
        monkeypatch.setattr(vendor_tree, "open_to_readers", full)
    elif step == "register":
        monkeypatch.setattr(vendor_tree, "_write_priority", full)
    else:
        real = Path.rename

        def rename(self: Path, target: Path) -> Path:
            if self.name == "new":
                full()
            return real(self, target)

        monkeypatch.setattr(Path, "rename", rename)
    done = cli("install", package)
    assert done.exit_code == 1
    assert "No space left" in done.output
    assert "nothing was changed" in done.output
    assert tree(opp) == before
    assert not [p for p in (opp / "vendors").iterdir() if p.name.startswith(".")]


def test_a_failure_of_uninstall_leaves_the_package(cli, package, opp, monkeypatch):
    assert cli("install", package).exit_code == 0
    before = tree(opp)

    def full(*arguments: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(vendor_tree, "_write_priority", full)
    done = cli("uninstall")
    assert (done.exit_code, "Read-only" in done.output) == (1, True)
    assert tree(opp) == before


def test_two_installations_at_once(cli, package, opp):
    with vendor_tree._locked(opp / "vendors"):
        done = cli("install", package)
    assert (done.exit_code, "another installation" in done.output) == (1, True)


def test_a_folder_of_ones_own(cli, package, opp, tmp_path):
    before = tree(opp)
    done = cli("install", package, "--path", tmp_path / "mine")
    folder = tmp_path / "mine/vendors/ascendfa"
    assert done.exit_code == 0
    assert f"export ASCEND_CUSTOM_OPP_PATH={folder}" in done.output
    assert tree(opp) == before
    assert not (tmp_path / "mine/vendors/config.ini").exists()
    script = f"source {folder}/bin/set_env.bash && echo $ASCEND_CUSTOM_OPP_PATH"
    env = {**os.environ, "ASCEND_CUSTOM_OPP_PATH": "/before"}
    sourced = subprocess.run(
        ["bash", "-uc", script], capture_output=True, text=True, check=True, env=env
    )
    assert sourced.stdout.strip() == f"{folder}:/before"
    assert cli("uninstall", "--path", tmp_path / "mine").exit_code == 0
    assert not folder.exists()


@pytest.mark.parametrize("form", ["tar", "packages", "holder"])
def test_other_forms_of_a_package(cli, package, opp, tmp_path, form):
    if form == "tar":
        given = tmp_path / "package.tar.gz"
        with tarfile.open(given, "w:gz") as archive:
            archive.add(package, "packages/vendors/ascendfa")
    elif form == "packages":
        given = tmp_path / "out"
        (given / "packages").mkdir(parents=True)
        package.parent.rename(given / "packages/vendors")
    else:
        given = package.parent.parent
    assert cli("install", given).exit_code == 0
    assert (opp / "vendors/ascendfa/op_api/lib/libcust_opapi.so").read_bytes() == b"new library"


class TestRefusals:
    def refused(self, done: Result, *words: str) -> None:
        assert done.exit_code == 1
        for word in words:
            assert word in done.output

    def test_what_is_no_package(self, cli, opp, tmp_path):
        self.refused(cli("install", tmp_path / "none"), "does not exist")
        (tmp_path / "text").write_text("hello")
        self.refused(cli("install", tmp_path / "text"), "no .run installer")
        (tmp_path / "folder").mkdir()
        self.refused(cli("install", tmp_path / "folder"), "found none")

    def test_an_installer_that_fails(self, cli, opp, tmp_path):
        (tmp_path / "x.run").write_text("#!/bin/bash\necho checksum error >&2\nexit 3\n")
        self.refused(cli("install", tmp_path / "x.run"), "code 3", "checksum error")

    def test_an_archive_that_reaches_outside(self, cli, opp, tmp_path):
        (tmp_path / "evil").write_text("x")
        with tarfile.open(tmp_path / "x.tar", "w") as archive:
            archive.add(tmp_path / "evil", "../evil")
        self.refused(cli("install", tmp_path / "x.tar"), "../evil")

    def test_no_toolkit(self, cli, package, monkeypatch, tmp_path):
        for name in ("ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        self.refused(cli("install", package), "--path DIR")

    def test_uninstalling_what_is_not_there(self, cli, opp):
        self.refused(cli("uninstall", "nobody"), "no vendor 'nobody'", "other")
        self.refused(cli("uninstall", "../other"), "no vendor name")
        (opp / "vendors/data").mkdir()
        self.refused(cli("uninstall", "data"), "left alone")
        assert (opp / "vendors/data").is_dir()

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_this_user_may_not_write(self, cli, package, opp):
        (opp / "vendors").chmod(0o555)
        self.refused(cli("install", package), "not writable")


def test_list_names_order_operators_and_what_is_hidden(cli, package, opp, tmp_path, monkeypatch):
    assert cli("install", package).exit_code == 0
    custom = tmp_path / "mine/vendors/mine"
    package.rename(tmp_path / "moved")
    custom.parent.mkdir(parents=True)
    (tmp_path / "moved").rename(custom)
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(custom))
    fake_cann.package(opp / "vendors/loose", custom / "op_api/lib/libcust_opapi.so")
    packages = json.loads(cli("list", "--json").output)
    assert [(p["vendor"], p["registered_by"]) for p in packages] == [
        ("mine", "ASCEND_CUSTOM_OPP_PATH"),
        ("ascendfa", "config.ini"),
        ("other", "config.ini"),
        ("gone", "config.ini"),
        ("loose", ""),
    ]
    assert packages[0]["hidden"] == []
    assert packages[1]["hidden"] == ["FlashAttention"]
    assert packages[3]["problem"] == "no such folder"
    assert "nobody: not used" in cli("list").output


@pytest.mark.parametrize(
    ("typed", "unit"),
    [
        ("Ascend910B3", "ascend910b"),
        ("ascend910b4-1", "ascend910b"),
        ("910B2C", "ascend910b"),
        ("910b", "ascend910b"),
        ("ascend910b", "ascend910b"),
        ("Ascend910_9391", "ascend910_93"),
        ("ascend910_93", "ascend910_93"),
        ("910C", "ascend910_93"),
        ("Ascend910ProB", "ascend910"),
        ("ascend910proa", "ascend910"),
        ("910A", "ascend910"),
        ("ascend910", "ascend910"),
        ("Ascend910_9589", "ascend950"),
        ("950", "ascend950"),
    ],
)
def test_soc_names_people_type(typed, unit):
    assert unit_for(typed) == unit


@pytest.mark.parametrize("typed", ["Ascend910", "910", "Ascend910B", "ASCEND910b"])
def test_soc_names_that_mean_several_chips(typed):
    with pytest.raises(UnknownChipError, match="ambiguous"):
        unit_for(typed)


@pytest.mark.parametrize("typed", ["", "310", "Ascend310P3", "Ascend910B9x", "h100"])
def test_soc_names_nobody_knows(typed):
    with pytest.raises(UnknownChipError, match="unknown"):
        unit_for(typed)
