"""Finding, opening and refusing toolkits; nothing here computes."""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from pathlib import Path

import pytest
from support.stub_toolkit import compile_part

from ascendfa import errors
from ascendfa.native import backend as backend_module
from ascendfa.native import loader
from ascendfa.native.backend import Backend, choose
from ascendfa.native.loader import Toolkit, vendor_libraries


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("BACKEND", "EMULATOR_HOME")
    for name in [f"ASCENDFA_{n}" for n in names] + [
        "ASCEND_HOME_PATH",
        "ASCEND_OPP_PATH",
        "ASCEND_CUSTOM_OPP_PATH",
    ]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(backend_module, "_said", set())
    monkeypatch.setattr(loader, "_loaded", None)


@pytest.fixture
def cann(tmp_path: Path) -> Path:
    """A folder that looks like a CANN installation from outside."""
    library = tmp_path / "cann" / "lib64" / "libascendcl.so"
    library.parent.mkdir(parents=True)
    library.touch()
    return tmp_path / "cann"


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_module, "device_nodes", lambda: [Path("/dev/davinci0")])


def at(root: Path, name: str = "emulator") -> Backend:
    return Backend(name, root, "a test says so")  # type: ignore[arg-type]


class TestChoice:
    def test_without_cann_it_is_the_emulator_said_once_in_the_log(self, caplog):
        caplog.set_level(logging.INFO, logger="ascendfa")
        first, second = choose(), choose()
        assert first == second
        assert (first.name, first.reason) == ("emulator", "ASCEND_HOME_PATH is not set")
        assert len(caplog.records) == 1

    def test_the_packaged_toolkit_is_the_default_root(self):
        assert choose().root == Path(loader.__file__).parent.parent / "_toolkit"

    def test_an_emulator_home_replaces_it(self, monkeypatch, tmp_path):
        monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(tmp_path))
        assert choose().root == tmp_path

    @pytest.mark.usefixtures("device")
    def test_cann_with_a_device_is_preferred(self, monkeypatch, cann):
        monkeypatch.setenv("ASCEND_HOME_PATH", str(cann))
        assert (choose().name, choose().root) == ("npu", cann)

    def test_cann_without_a_device_leaves_the_emulator_with_a_warning(
        self, monkeypatch, cann, caplog
    ):
        monkeypatch.setenv("ASCEND_HOME_PATH", str(cann))
        monkeypatch.setattr(backend_module, "device_nodes", lambda: [])
        assert choose().name == "emulator"
        assert "no /dev/davinci" in choose().reason
        assert [r.levelname for r in caplog.records] == ["WARNING"]

    @pytest.mark.parametrize("with_device", [True, False])
    def test_a_broken_cann_is_an_error_and_no_fall_back(self, monkeypatch, tmp_path, with_device):
        nodes = [Path("/dev/davinci0")] if with_device else []
        monkeypatch.setattr(backend_module, "device_nodes", lambda: nodes)
        monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
        with pytest.raises(errors.BackendError, match="libascendcl.so"):
            choose()

    @pytest.mark.usefixtures("device")
    def test_the_environment_can_insist_on_the_emulator(self, monkeypatch, cann):
        monkeypatch.setenv("ASCEND_HOME_PATH", str(cann))
        monkeypatch.setenv("ASCENDFA_BACKEND", "emulator")
        assert (choose().name, choose().reason) == ("emulator", "ASCENDFA_BACKEND=emulator")

    def test_insisting_on_the_npu_needs_cann(self, monkeypatch):
        monkeypatch.setenv("ASCENDFA_BACKEND", "npu")
        with pytest.raises(errors.BackendError, match="ASCEND_HOME_PATH is not set"):
            choose()

    def test_an_unknown_backend_lists_the_known_ones(self, monkeypatch):
        monkeypatch.setenv("ASCENDFA_BACKEND", "cuda")
        with pytest.raises(errors.ConfigError, match="cuda; allowed are npu and emulator"):
            choose()

    def test_a_backend_prints_name_reason_and_root(self, tmp_path):
        assert str(at(tmp_path)) == f"emulator (a test says so; toolkit {tmp_path})"


class TestVendors:
    def make(self, folder: Path) -> Path:
        library = folder / "op_api" / "lib" / "libcust_opapi.so"
        library.parent.mkdir(parents=True)
        library.touch()
        return library

    def test_custom_paths_come_first_then_config_ini_in_its_order(self, monkeypatch, tmp_path):
        vendors = tmp_path / "opp" / "vendors"
        a, b, custom = (self.make(p) for p in (vendors / "a", vendors / "b", tmp_path / "mine"))
        self.make(vendors / "unlisted")
        (vendors / "config.ini").write_text("load_priority=b,a,gone\n")
        monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{tmp_path / 'absent'}:{tmp_path / 'mine'}:")
        assert vendor_libraries(at(tmp_path))[0] == [custom, b, a]

    def test_without_any_vendor_the_config_file_is_named(self, tmp_path):
        found, looked = vendor_libraries(at(tmp_path))
        assert (found, looked) == ([], [tmp_path / "opp" / "vendors" / "config.ini"])

    def test_cann_takes_its_opp_path_from_the_environment(self, monkeypatch, tmp_path):
        vendors = tmp_path / "elsewhere" / "vendors"
        library = self.make(vendors / "a")
        (vendors / "config.ini").write_text("load_priority=a")
        monkeypatch.setenv("ASCEND_OPP_PATH", str(tmp_path / "elsewhere"))
        assert vendor_libraries(at(tmp_path, "npu"))[0] == [library]
        assert vendor_libraries(at(tmp_path, "emulator"))[0] == []

    def test_a_garbled_config_ini_is_an_error(self, tmp_path):
        vendors = tmp_path / "opp" / "vendors"
        vendors.mkdir(parents=True)
        (vendors / "config.ini").write_text("[broken\nx")
        with pytest.raises(errors.LibraryNotFoundError, match="config.ini is not a valid"):
            vendor_libraries(at(tmp_path))


class TestOpening:
    @pytest.fixture
    def root(self, tmp_path: Path, stub_root: Path) -> Path:
        """A copy of the stub toolkit to break; links keep the libraries the same files."""
        root = tmp_path / "toolkit"
        for file in stub_root.rglob("*"):
            if file.is_file():
                target = root / file.relative_to(stub_root)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(file)
        return root

    def test_a_whole_toolkit_opens(self, root):
        op = root / "opp" / "vendors" / "ascendfa" / "op_api" / "lib" / "libcust_opapi.so"
        assert Toolkit(at(root)).op_library == op

    def test_a_missing_runtime_says_where_it_was_looked_for(self, tmp_path):
        with pytest.raises(errors.LibraryNotFoundError, match=f"{tmp_path}/lib64") as caught:
            Toolkit(at(tmp_path))
        assert "libascendcl.so" in str(caught.value)
        assert "ASCENDFA_EMULATOR_HOME" in str(caught.value)

    def test_a_missing_nnopbase_is_named(self, root):
        (root / "lib64" / "libnnopbase.so").unlink()
        with pytest.raises(errors.LibraryNotFoundError, match=r"libnnopbase\.so was not found at"):
            Toolkit(at(root))

    def test_a_missing_op_package_lists_the_places(self, root):
        op = root / "opp" / "vendors" / "ascendfa" / "op_api" / "lib" / "libcust_opapi.so"
        op.unlink()
        with pytest.raises(errors.LibraryNotFoundError, match="op package") as caught:
            Toolkit(at(root))
        assert str(op) in str(caught.value)

    def test_a_library_that_is_none_is_refused_with_the_linkers_reason(self, root):
        target = root / "lib64" / "libnnopbase.so"
        target.unlink()
        target.write_text("no ELF file")
        with pytest.raises(errors.LibraryNotFoundError, match="cannot be opened"):
            Toolkit(at(root))

    def test_an_op_package_without_the_symbol_names_library_and_function(self, root):
        op = root / "opp" / "vendors" / "ascendfa" / "op_api" / "lib" / "libcust_opapi.so"
        op.unlink()
        acl = (root / "lib64" / "libascendcl.so").resolve()
        compile_part("PART_OP", op, str(acl), "-DWITHOUT_FIRST_PHASE")
        with pytest.raises(errors.SymbolNotFoundError) as caught:
            Toolkit(at(root))
        assert "aclnnFlashAttentionGetWorkspaceSize" in str(caught.value)
        assert str(op) in str(caught.value)

    def test_a_runtime_without_a_symbol_names_it(self, root):
        library = root / "lib64" / "libnnopbase.so"
        library.unlink()
        acl = (root / "lib64" / "libascendcl.so").resolve()
        compile_part("PART_OP", library, str(acl))
        with pytest.raises(errors.SymbolNotFoundError, match="no function aclCreateTensor"):
            Toolkit(at(root))

    def test_another_vendors_package_is_passed_over(self, root, stub_root):
        other = root / "opp" / "vendors" / "other" / "op_api" / "lib" / "libcust_opapi.so"
        other.parent.mkdir(parents=True)
        other.symlink_to(stub_root / "lib64" / "libnnopbase.so")
        config = root / "opp" / "vendors" / "config.ini"
        config.unlink()
        config.write_text("load_priority=other,ascendfa\n")
        assert "ascendfa" in Toolkit(at(root)).op_library.parts


class TestProcessWideToolkit:
    @pytest.fixture
    def on_stub(self, monkeypatch, stub_root):
        monkeypatch.setenv("ASCENDFA_BACKEND", "emulator")
        monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(stub_root))

    def test_threads_share_one_toolkit(self, on_stub):
        opened = []
        threads = [
            threading.Thread(target=lambda: opened.append(loader.toolkit())) for _ in "12345"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(opened) == 5
        assert len(set(map(id, opened))) == 1

    def test_a_failed_opening_can_be_tried_again(self, monkeypatch, tmp_path, stub_root):
        monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(tmp_path))
        with pytest.raises(errors.LibraryNotFoundError):
            loader.toolkit()
        monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(stub_root))
        assert loader.toolkit().backend.root == stub_root

    def test_a_second_toolkit_in_one_process_is_refused(self, on_stub, monkeypatch, tmp_path):
        loader.toolkit()
        monkeypatch.setenv("ASCENDFA_EMULATOR_HOME", str(tmp_path))
        with pytest.raises(errors.BackendError, match="already runs on"):
            loader.toolkit()
        assert loader.current_backend().root != tmp_path

    def test_a_forked_child_is_told_to_spawn(self, on_stub):
        loader.toolkit()
        reader, writer = multiprocessing.Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            try:
                loader.toolkit()
                writer.send("no error")
            except errors.BackendError as error:
                writer.send(str(error))
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        assert "spawn" in reader.recv()
