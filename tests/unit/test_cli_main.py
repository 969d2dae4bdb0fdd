"""The command as a whole: its verbs, and what it says where its own needs are missing."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

from ascendfa import cli
from ascendfa.cli.app import app
from ascendfa.errors import AclError, ToolkitError

VERBS = {"info", "validate", "install", "uninstall", "list", "sweep", "bench", "trace"}


def test_help_names_every_verb():
    output = CliRunner().invoke(app, ["--help"]).output
    assert set(output.split()) >= VERBS


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_and_option_has_a_help(verb):
    done = CliRunner(env={"COLUMNS": "120"}).invoke(app, [verb, "--help"])
    assert done.exit_code == 0
    assert len(done.output.splitlines()) > 4


@pytest.mark.parametrize("arguments", [["nonsense"], ["validate", "--nonsense"], ["install"]])
def test_wrong_use_is_code_2(arguments):
    assert CliRunner().invoke(app, arguments).exit_code == 2


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_without_typer_it_says_what_to_install(monkeypatch, capsys, module):
    for name in [n for n in sys.modules if n.startswith(("ascendfa.cli.", module))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    assert "pip install 'ascendfa[cli]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        ToolkitError("libascendcl.so was not found"),
        AclError("aclInit", 500000, "internal error", "no driver", "install one"),
    ],
)
def test_errors_are_sentences_not_tracebacks(monkeypatch, tmp_path, error):
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("ascendfa.cli.list.opp_folder", fail)
    done = CliRunner().invoke(app, ["list", "--path", str(tmp_path)])
    assert done.exit_code == 1
    assert f"error: {error}" in done.output
    assert "Traceback" not in done.output
