from __future__ import annotations

from pathlib import Path

import pytest

from ascendfa import FlashAttentionConfig, errors
from ascendfa.config import Blocks, config_folder, load_op_config, op_config, resolve_blocks
from ascendfa.problem import ArraySpec, Problem, make_problem

RULES = """\
version: 1
chip: ascend910b
rules:
  - when: {dtype: float16, head_dim: 128, min_seq_k: 1024}
    block_m: 128
    block_n: 512
    source: predicted
  - when: {causal: true}
    block_m: 64
    block_n: 256
    source: manual
"""


def problem(seq_k: int = 64, head_dim: int = 128, causal: bool = False) -> Problem:
    def spec(seq: int) -> ArraySpec:
        strides = (seq * head_dim, seq * head_dim, head_dim, 1)
        return ArraySpec("numpy", "float16", "cpu", (1, 1, seq, head_dim), strides)

    return make_problem(spec(16), spec(seq_k), spec(seq_k), causal=causal)


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ASCENDFA_CONFIG_DIR", str(tmp_path))

    def write(text: str, chip: str = "ascend910b") -> Path:
        file = tmp_path / chip / "flash_attention.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    return write


def test_every_shipped_file_is_valid_and_in_its_own_folder():
    files = sorted(config_folder().glob("*/flash_attention.yaml"))
    assert files
    for file in files:
        assert load_op_config(file).chip == file.parent.name


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (problem(seq_k=1024), Blocks(128, 512, "yaml")),
        (problem(seq_k=1023), Blocks(0, 0, "plan")),
        (problem(seq_k=1023, causal=True), Blocks(64, 256, "yaml")),
        (problem(seq_k=2048, head_dim=64), Blocks(0, 0, "plan")),
        (problem(seq_k=2048, causal=True), Blocks(128, 512, "yaml")),
    ],
)
def test_the_first_matching_rule_decides(write, case, expected):
    write(RULES)
    assert resolve_blocks(case, None, "ascend910b") == expected


def test_the_call_beats_the_file_for_each_size_by_itself(write):
    write(RULES)
    big = problem(seq_k=1024)
    both = FlashAttentionConfig(block_m=32, block_n=48)
    assert resolve_blocks(big, both, "ascend910b") == Blocks(32, 48, "call")
    assert resolve_blocks(big, FlashAttentionConfig(block_m=32), "ascend910b") == Blocks(
        32, 512, "call"
    )
    assert resolve_blocks(problem(), FlashAttentionConfig(block_n=32), "ascend910b") == Blocks(
        0, 32, "call"
    )
    plan = FlashAttentionConfig(block_m=0, block_n=0)
    assert resolve_blocks(big, plan, "ascend910b") == Blocks(0, 0, "call")


def test_a_chip_without_a_file_leaves_the_sizes_to_the_plan(write):
    assert resolve_blocks(problem(), None, "ascend910") == Blocks(0, 0, "plan")


def test_a_changed_file_is_read_again(write):
    write(RULES)
    assert resolve_blocks(problem(seq_k=1024), None, "ascend910b").n == 512
    write(RULES.replace("block_n: 512", "block_n: 1024"))
    assert resolve_blocks(problem(seq_k=1024), None, "ascend910b").n == 1024


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (RULES.replace("version: 1", "version: 1\ncolour: red"), 2, "unknown key 'colour'"),
        (RULES.replace("    block_n: 512", "    block_k: 512"), 6, "unknown key 'rules.0.block_k'"),
        (RULES.replace("{causal: true}", "{casual: true}"), 8, "unknown key 'rules.1.when.casual'"),
        (RULES.replace("block_n: 512", "block_n: 100"), 6, "multiple of 16"),
        (RULES.replace("block_n: 512", "block_n: -16"), 6, "greater than or equal to 0"),
        (RULES.replace("block_n: 512", "block_n: '512'"), 6, "valid integer"),
        (RULES.replace("block_n: 512", "block_n: 65552"), 6, "less than or equal"),
        (RULES.replace("source: manual", "source: rumour"), 11, "'measured', 'predicted'"),
        (RULES.replace("{causal: true}", "{dtype: float61}"), 8, "'float16', 'bfloat16'"),
        ("&all [*all]\n", 1, "the document"),
        (RULES.replace("version: 1", "version: 2"), 1, "'version' is 2"),
        (RULES.replace("    block_m: 64\n", ""), 8, "'rules.1.block_m' is missing"),
        (RULES.replace("chip: ascend910b\n", ""), 1, "'chip' is missing"),
        (
            RULES.replace("block_m: 64", "block_m: 64\n    block_m: 32"),
            10,
            "duplicate key 'block_m'",
        ),
        (RULES.replace("chip: asc", "chip: [asc"), 3, "not valid YAML"),
        ("- version: 1\n", 1, "the document"),
        ("1: 2\n", 1, "key 1 is not a string"),
        ("", 1, "is empty"),
        ("version: 1\nchip: !!python/object:os.system x\n", 2, "not valid YAML"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(write, text, line, message):
    file = write(text)
    with pytest.raises(errors.ConfigError) as caught:
        op_config("ascend910b")
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(file), line)
    assert str(caught.value).startswith(f"{file}:{line}: ")


def test_unreadable_bytes_are_a_config_error(write):
    write("").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(errors.ConfigError, match="cannot be read"):
        op_config("ascend910b")


def test_a_file_that_cannot_be_reached_is_a_config_error(write):
    file = write("")
    file.unlink()
    file.symlink_to(file)
    with pytest.raises(errors.ConfigError, match=f"^{file}: cannot be reached: "):
        op_config("ascend910b")


def test_users_without_a_home_have_tuned_nothing(monkeypatch, tmp_path):
    monkeypatch.delenv("ASCENDFA_CONFIG_DIR", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert resolve_blocks(problem(), None, "no_such_chip").source == "plan"
    monkeypatch.delenv("XDG_CONFIG_HOME")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert resolve_blocks(problem(), None, "no_such_chip").source == "plan"


def test_a_file_in_the_wrong_folder_is_refused(write):
    write(RULES, chip="ascend910_93")
    with pytest.raises(errors.ConfigError, match="is for chip 'ascend910b'"):
        op_config("ascend910_93")


def test_a_config_folder_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv("ASCENDFA_CONFIG_DIR", "/nonexistent/folder")
    with pytest.raises(errors.ConfigError, match="ASCENDFA_CONFIG_DIR=/nonexistent/folder"):
        config_folder()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"block_m": 100}, "^block_m: got 100.*multiple of 16"),
        ({"block_n": -16}, "^block_n: got -16"),
        ({"block_n": 16.0}, "^block_n"),
        ({"block_n": True}, "^block_n"),
        ({"scale": float("nan")}, "^scale: got nan"),
        ({"causal": 1}, "^causal"),
        ({"fp32_scores": None}, "^fp32_scores: got None"),
        ({"fp32_scores": 1}, "^fp32_scores: got 1"),
        ({"blocks": 16}, "^blocks: .*one of causal, scale, block_m, block_n, deterministic"),
    ],
)
def test_a_bad_config_object_names_the_field(values, message):
    with pytest.raises(errors.InvalidArgumentError, match=message):
        FlashAttentionConfig(**values)


def test_a_config_object_is_immutable():
    with pytest.raises(ValueError, match="frozen"):
        FlashAttentionConfig(block_m=16).block_m = 32
