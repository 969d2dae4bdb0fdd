"""The checks of op packages and libraries made to fail, one thing wrong at a time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import fake_cann
from support.checks import expect, lines

from ascendfa.cli.checks.early import check_early
from ascendfa.cli.checks.files import check_files
from ascendfa.cli.checks.libraries import check_libraries, check_shadowing
from ascendfa.cli.checks.result import Status
from ascendfa.cli.checks.signature import check_signature
from ascendfa.cli.checks.vendors import check_vendors


class TestVendors:
    def test_a_package_nobody_registered(self, machine):
        machine.config.write_text("load_priority=\n")
        expect(
            lines(check_vendors, machine.context())["vendor.registered"],
            Status.FAIL,
            "does not list it",
            "add ascendfa to load_priority",
        )

    def test_no_package(self, machine):
        shutil.rmtree(machine.vendor)
        machine.config.unlink()
        expect(
            lines(check_vendors, machine.context())["vendor.registered"],
            Status.FAIL,
            "ascendfa install",
        )

    def test_a_registered_folder_that_is_gone(self, machine):
        machine.environ["ASCEND_CUSTOM_OPP_PATH"] = "/nowhere/vendors/x"
        results = list(check_vendors(machine.context()))
        expect(results[0], Status.WARN, "/nowhere/vendors/x")
        expect(results[1], Status.OK, "config.ini")

    def test_a_custom_path_one_level_too_high(self, machine, op):
        machine.config.write_text("")
        custom = machine.system / "custom"
        inner = fake_cann.package(custom / "vendors/mine", op)
        machine.environ["ASCEND_CUSTOM_OPP_PATH"] = str(custom)
        expect(
            lines(check_vendors, machine.context())["vendor.registered"],
            Status.FAIL,
            f"export ASCEND_CUSTOM_OPP_PATH={inner}",
        )

    def test_a_custom_path_wins_and_is_named(self, machine, op):
        custom = fake_cann.package(machine.system / "custom/vendors/mine", op)
        machine.environ["ASCEND_CUSTOM_OPP_PATH"] = str(custom)
        result = lines(check_vendors, machine.context())
        expect(result["vendor.registered"], Status.OK, str(custom))
        expect(result["vendor.duplicates"], Status.WARN, f"{custom} wins", str(machine.vendor))

    @pytest.mark.parametrize(("path", "mode"), [("op_api/lib", 0o700), ("op_api/lib/x", 0o600)])
    def test_files_of_root_that_others_cannot_read(self, machine, path, mode):
        target = machine.vendor / path
        if path.endswith("x"):
            target.touch()
        target.chmod(mode)
        # Somebody else than who owns the files; the way there has to be open.
        for folder in machine.vendor.resolve().parents:
            if folder.stat().st_mode & 1 == 0:
                folder.chmod(folder.stat().st_mode | 0o011)
        expect(
            lines(check_vendors, machine.context(uid=54321))["vendor.readable"],
            Status.FAIL,
            str(target),
            "chmod -R a+rX",
        )

    def test_a_library_of_a_third_user(self, machine, monkeypatch):
        real = Path.stat

        def stat(self: Path, **options: Any) -> Any:
            status = real(self, **options)
            if self.name != "libcust_opapi.so":
                return status
            return type(status)([*status[:4], 4711, *status[5:10]])

        monkeypatch.setattr(Path, "stat", stat)
        expect(
            lines(check_vendors, machine.context(uid=0))["vendor.owner"],
            Status.FAIL,
            "4711",
            "chown",
        )

    def test_a_library_anybody_may_change(self, machine):
        machine.vendor.joinpath("op_api/lib/libcust_opapi.so").chmod(0o777)
        result = lines(check_vendors, machine.context())["vendor.owner"]
        expect(result, Status.WARN, "writable by everybody")

    def test_a_path_set_after_cann_was_opened(self, machine):
        machine.environ["ASCEND_CUSTOM_OPP_PATH"] = "/opt/vendors/mine"
        opened = machine.context(loaded=("/usr/lib/libascendcl.so",))
        expect(lines(check_early, opened)["vendor.early"], Status.FAIL, "before Python starts")
        expect(lines(check_early, machine.context())["vendor.early"], Status.OK)
        same = {"ASCEND_CUSTOM_OPP_PATH": "/opt/vendors/mine"}
        before = machine.context(loaded=("/usr/lib/libascendcl.so",), initial_environ=same)
        expect(lines(check_early, before)["vendor.early"], Status.OK)


class TestFiles:
    def test_no_op_library(self, machine):
        (machine.vendor / "op_api/lib/libcust_opapi.so").unlink()
        expect(lines(check_files, machine.context())["files.op_api"], Status.FAIL, "missing")

    def test_a_library_that_is_none(self, machine):
        (machine.vendor / "op_api/lib/libcust_opapi.so").write_text("version https://git-lfs")
        expect(lines(check_files, machine.context())["files.op_api"], Status.FAIL, "no ELF")

    def test_a_library_cut_short(self, machine):
        library = machine.vendor / "op_api/lib/libcust_opapi.so"
        library.write_bytes(library.read_bytes()[:2000])
        expect(lines(check_files, machine.context())["files.op_api"], Status.FAIL, "cut short")

    def test_a_package_for_another_host(self, machine):
        other = "aarch64" if machine.context().machine == "x86_64" else "x86_64"
        result = lines(check_files, machine.context(machine=other))
        expect(result["files.op_api"], Status.FAIL, other)
        expect(result["files.tiling"], Status.FAIL, other)

    def test_no_tiling_library(self, machine):
        shutil.rmtree(machine.vendor / "op_impl/ai_core/tbe/op_tiling")
        expect(lines(check_files, machine.context())["files.tiling"], Status.FAIL)

    def test_a_package_for_another_chip(self, machine):
        context = machine.context(unit="ascend910_93")
        expect(
            lines(check_files, context)["files.ops_info"], Status.FAIL, "ascend910b", "ascend910_93"
        )

    def test_a_damaged_description(self, machine):
        machine.unit_info.write_text("{")
        context = machine.context(unit=fake_cann.UNIT)
        expect(lines(check_files, context)["files.ops_info"], Status.FAIL)

    def test_no_kernels(self, machine):
        shutil.rmtree(machine.kernels)
        context = machine.context(unit=fake_cann.UNIT)
        expect(lines(check_files, context)["files.kernels"], Status.FAIL, "no kernel")

    @pytest.mark.parametrize("how", ["gone", "empty"])
    def test_a_description_without_its_binary(self, machine, how):
        binary = machine.kernels / "FlashAttention_0.o"
        if how == "gone":
            binary.unlink()
        else:
            binary.write_bytes(b"")
        context = machine.context(unit=fake_cann.UNIT)
        expect(lines(check_files, context)["files.kernels"], Status.FAIL, "FlashAttention_0.o")

    def test_a_damaged_kernel_description(self, machine):
        (machine.kernels / "FlashAttention_0.json").write_text(json.dumps({"x": 1}))
        context = machine.context(unit=fake_cann.UNIT)
        expect(lines(check_files, context)["files.kernels"], Status.FAIL, "binFileName")


class TestLibraries:
    def test_a_second_libopapi_on_the_library_path(self, machine):
        other = machine.system / "elsewhere"
        other.mkdir()
        (other / "libopapi.so").touch()
        machine.environ["LD_LIBRARY_PATH"] = f"{other}:{machine.root}/lib64"
        expect(
            lines(check_shadowing, machine.context())["libraries.shadow"], Status.FAIL, str(other)
        )

    def test_a_package_with_a_library_of_that_name(self, machine):
        (machine.vendor / "op_api/lib/libopapi.so").touch()
        expect(
            lines(check_shadowing, machine.context())["libraries.shadow"], Status.FAIL, "remove it"
        )

    def test_a_function_that_cann_has_too(self, machine, op):
        shutil.copy(op, machine.root / "lib64/libopapi.so")
        expect(
            lines(check_shadowing, machine.context())["libraries.shadow"],
            Status.FAIL,
            "aclnnFlashAttention",
        )

    @pytest.mark.parametrize(
        ("before", "after", "words"),
        [
            ("void* a0, ", "", "arguments"),
            ("double", "int64_t", "the first difference is argument"),
        ],
    )
    def test_a_package_of_another_version(self, machine, before, after, words):
        header = machine.vendor / "op_api/include/aclnn_flash_attention.h"
        expect(lines(check_signature, machine.context())["libraries.signature"], Status.OK)
        header.write_text(header.read_text().replace(before, after, 1))
        expect(
            lines(check_signature, machine.context())["libraries.signature"],
            Status.FAIL,
            words,
            "different versions",
            "scripts/build_op_package",
        )

    def test_a_missing_phase(self, machine):
        header = machine.vendor / "op_api/include/aclnn_flash_attention_grad.h"
        header.write_text("int aclnnFlashAttentionGradGetWorkspaceSize();")
        expect(
            lines(check_libraries, machine.context(offline=True))["libraries.symbols"],
            Status.FAIL,
            "aclnnFlashAttentionGrad, aclnnFlashAttentionGradGetWorkspaceSize",
        )

    def test_a_dependency_nobody_has(self, machine):
        absent = fake_cann.compile_c("int f() { return 0; }", machine.system / "libabsent.so")
        link = (f"-L{machine.system}", "-Wl,--no-as-needed", "-labsent")
        source = "int aclnnFlashAttentionGetWorkspaceSize; int aclnnFlashAttention;"
        fake_cann.compile_c(source, machine.vendor / "op_api/lib/libcust_opapi.so", *link)
        absent.unlink()
        expect(
            lines(check_libraries, machine.context(offline=True))["libraries.dependencies"],
            Status.FAIL,
            "libabsent.so",
        )
