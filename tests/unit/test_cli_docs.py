"""The guides say what the code does: every variable, line and command in them exists, and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ascendfa.cli.app import app
from ascendfa.cli.checks import cases
from ascendfa.native import codes

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "ascend_kernels"
if not (KERNELS / "TROUBLESHOOTING.md").is_file():
    pytest.skip("runs in a checkout only", allow_module_level=True)
GUIDE = (KERNELS / "TROUBLESHOOTING.md").read_text()
INSTALL = (KERNELS / "INSTALL.md").read_text()


def sources(*patterns: str) -> str:
    files = [f for p in patterns for f in ROOT.glob(p) if f.is_file()]
    return "\n".join(f.read_text(errors="replace") for f in files)


def test_every_variable_that_is_read_is_explained():
    code = sources("ascendfa/**/*.py", "ascend_kernels/emulator/**/*.cpp", "scripts/lib/env.sh")
    read = set(re.findall(r"""["'](ASCENDFA_[A-Z_]*[A-Z])["']""", code))
    read |= set(re.findall(r"\$\{(ASCENDFA_[A-Z_]+)", code))
    assert {"ASCENDFA_BACKEND", "ASCENDFA_EMULATOR_MODE", "ASCENDFA_VENV"} <= read
    explained = set(re.findall(r"`(ASCENDFA_[A-Z_]+)`", GUIDE))
    assert read - explained == set()
    assert explained - read == set()


def test_every_line_of_a_report_is_explained():
    code = sources("ascendfa/cli/checks/*.py")
    heads = "cann|device|vendor|files|libraries|launch|build"
    named = set(re.findall(rf'"((?:{heads})\.[a-z_+-]+)"', code)) | {"python", "torch", "torch_npu"}
    table = GUIDE[GUIDE.index("| line | looks at |") : GUIDE.index("## Environment variables")]
    explained = {n for n in re.findall(r"`([a-z_.+-]+)`", table) if not n.startswith("numerics")}
    assert named - explained == set()
    assert {n for n in explained - named if n not in ("--build",)} == set()
    for case in cases.GRADIENT_CASES:
        assert f"`numerics.{case.name}`" in table
    assert f"`numerics.{cases.CASES[0].name}` … `numerics.{cases.CASES[-1].name}`" in table


def test_every_code_of_the_table_has_a_meaning():
    table = GUIDE[GUIDE.index("| code | from |") : GUIDE.index("## Reading a validate report")]
    numbers = {int(n) for n in re.findall(r"\b\d{6}\b", table)}
    assert len(numbers) > 20
    for number in numbers:
        assert codes.meaning(number) != "unknown code", number


def test_every_command_of_the_guides_exists():
    told = re.findall(
        r"ascendfa (info|validate|install|uninstall|list|sweep|bench|trace)\b", INSTALL
    )
    assert set(told) >= {"validate", "install", "uninstall", "list", "sweep", "bench", "info"}
    for text in (INSTALL, GUIDE):
        for line in re.findall(r"^ascendfa .*$", text, re.MULTILINE):
            words = line.split()
            output = CliRunner(env={"COLUMNS": "200"}).invoke(app, [words[1], "--help"]).output
            for option in (w for w in words if w.startswith("--")):
                assert option in output, line


def test_links_lead_somewhere():
    for guide in (INSTALL, GUIDE):
        for target in re.findall(r"\]\(([^)#]*)", guide):
            assert not target or (KERNELS / target).exists(), target
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", GUIDE, re.MULTILINE)
    }
    for guide in (INSTALL, GUIDE):
        for anchor in re.findall(r"\]\([^)]*#([^)]+)\)", guide):
            assert anchor in anchors
