"""Sweeps without a device: what a file asks for, what is kept, and the rules that come of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.sweeps import ORIGIN, record, shape

from ascendfa.config import (
    FlashAttentionConfig,
    load_op_config,
    resolve_blocks,
    tuned_folder,
)
from ascendfa.errors import ConfigError
from ascendfa.problem import ArraySpec, make_problem
from ascendfa.tuning.report import fastest, heat_map, promote, rules
from ascendfa.tuning.space import Candidate, Shape, expand, load_sweep
from ascendfa.tuning.store import Store, kernel_hash


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "sweep.yaml"
    file.write_text("version: 1\nchip: ascend910b\n" + text)
    return file


class TestSpace:
    def test_lists_stand_for_every_combination(self, tmp_path):
        file = write(
            tmp_path,
            "shapes:\n"
            "  - {heads: [8, 16], heads_k: 4, seq_q: [128, 256], head_dim: 64}\n"
            "  - {batch: 2, heads: 3, seq_q: 77, seq_k: [100, 200], head_dim: [64, 128]}\n"
            "dtypes: [float16, bfloat16]\ncausal: [false, true]\n"
            "block_m: [0, 64]\nblock_n: 128\n",
        )
        candidates, refused = expand(load_sweep(file))
        assert refused == []
        assert len({c.shape for c in candidates}) == (2 * 2 + 2 * 2) * 2 * 2
        assert len(candidates) == 32 * 2
        first = Shape("float16", 1, 8, 4, 128, 128, 64, False)
        assert candidates[0] == Candidate(first, 0, 128)
        lengths = {(c.shape.seq_q, c.shape.seq_k) for c in candidates if c.shape.batch == 2}
        assert lengths == {(77, 100), (77, 200)}

    def test_impossible_tiles_name_buffer_and_bytes(self, tmp_path):
        file = write(
            tmp_path,
            "shapes:\n  - {heads: 1, seq_q: 64, head_dim: 64}\n"
            "block_m: [64, 512]\nblock_n: [128, 1024]\n",
        )
        candidates, refused = expand(load_sweep(file))
        assert [(c.block_m, c.block_n) for c in candidates] == [(64, 128)]
        by_tile = {(r.block_m, r.block_n): r for r in refused}
        assert set(by_tile) == {(64, 1024), (512, 128), (512, 1024)}
        # Two fp32 products of 512 x 128 in 128 KiB.
        tile = by_tile[512, 128]
        assert (tile.buffer, tile.needed, tile.limit) == ("L0C", 2 * 512 * 128 * 4, 128 * 1024)
        assert by_tile[64, 1024].buffer == ""
        assert "block_n" in by_tile[64, 1024].reason

    @pytest.mark.parametrize(
        ("text", "line", "words"),
        [
            ("shapes: [{heads: 1, seq: 4, head_dim: 8}]\nblock_m: 0\nblock_n: 0", 3, "seq_q"),
            ("shape: []", 3, "known keys are version, chip"),
            ("shapes: []\nblock_m: 0\nblock_n: 0", 3, "shapes"),
            ("shapes: [{heads: 1, seq_q: 4, head_dim: 8}]\nblock_m: 17\nblock_n: 0", 4, "block_m"),
            ("shapes: [{heads: 0, seq_q: 4, head_dim: 8}]\nblock_m: 0\nblock_n: 0", 3, "heads"),
            (
                "shapes: [{heads: 1, seq_q: 4, head_dim: 8}]\nblock_m: 0\nblock_n: 0\n"
                "dtypes: [float64]",
                6,
                "float16",
            ),
        ],
    )
    def test_what_is_wrong_in_a_file_is_named_with_its_line(self, tmp_path, text, line, words):
        with pytest.raises(ConfigError, match=words) as caught:
            load_sweep(write(tmp_path, text + "\n"))
        assert caught.value.line == line

    def test_a_chip_of_another_unit(self, tmp_path):
        text = (
            "soc: Ascend910A\nshapes: [{heads: 1, seq_q: 4, head_dim: 8}]\nblock_m: 0\nblock_n: 0"
        )
        with pytest.raises(ConfigError, match="Ascend910A is of unit ascend910"):
            load_sweep(write(tmp_path, text))

    def test_heads_that_do_not_divide(self, tmp_path):
        text = "shapes: [{heads: 6, heads_k: 4, seq_q: 4, head_dim: 8}]\nblock_m: 0\nblock_n: 0"
        with pytest.raises(ConfigError, match="multiples of heads_k 4"):
            load_sweep(write(tmp_path, text))

    def test_lengths_share_a_bucket_by_their_power_of_two(self):
        assert shape(1024).bucket == shape(2047).bucket
        assert shape(1023).bucket != shape(1024).bucket
        assert shape(causal=True).bucket != shape().bucket
        assert shape(batch=4, heads_q=16).bucket == shape().bucket


class TestStore:
    def test_what_is_added_is_found_by_another_run(self, tmp_path):
        file = tmp_path / "deep" / "store.json"
        kept = record((64, 128), 12.5)
        Store(file).add(kept)
        store = Store(file)
        assert store.find(ORIGIN, kept.candidate) == kept
        assert store.find(ORIGIN, replace(kept.candidate, block_m=128)) is None

    @pytest.mark.parametrize("field", ["soc", "cann", "kernel", "source", "chip"])
    def test_results_of_another_origin_do_not_count(self, tmp_path, field):
        store = Store(tmp_path / "store.json")
        kept = record((64, 128), 12.5)
        store.add(kept)
        other = replace(ORIGIN, **{field: "measured" if field == "source" else "other"})
        assert store.find(other, kept.candidate) is None

    def test_the_file_says_bucket_and_source(self, tmp_path):
        Store(tmp_path / "s.json").add(record((64, 128), 12.5))
        (entry,) = json.loads((tmp_path / "s.json").read_text())["records"]
        assert entry["source"] == "predicted"
        assert entry["bucket"] == "float16-d128-full-q1024-k1024"
        assert (entry["cann"], entry["kernel"], entry["chip"]) == ("9.0.0", "abc", "ascend910b")

    def test_a_failed_write_leaves_the_old_file(self, tmp_path, monkeypatch):
        file = tmp_path / "s.json"
        Store(file).add(record((64, 128), 12.5))
        before = file.read_bytes()

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space"):
            Store(file).add(record((64, 256), 13.0))
        assert file.read_bytes() == before
        assert list(tmp_path.iterdir()) == [file]

    @pytest.mark.parametrize(
        "text", ["", "[]", '{"version": 1}', '{"version": 1, "records": [{}]}', '{"version": 2}']
    )
    def test_a_file_that_is_no_store(self, tmp_path, text):
        (tmp_path / "s.json").write_text(text)
        with pytest.raises(ConfigError):
            Store(tmp_path / "s.json")

    def test_the_kernel_hash_follows_the_binaries(self, tmp_path):
        kernel = tmp_path / "op_impl/ai_core/tbe/kernel/ascend910b/flash_attention/x.o"
        kernel.parent.mkdir(parents=True)
        kernel.write_bytes(b"one")
        first = kernel_hash(tmp_path, "ascend910b")
        assert kernel_hash(tmp_path, "ascend910b") == first
        kernel.write_bytes(b"two")
        assert kernel_hash(tmp_path, "ascend910b") != first


class TestRules:
    def test_the_fastest_right_result_wins(self):
        group = [
            record((64, 128), 5.0, problem="wrong result"),
            record((128, 512), 10.0),
            record((64, 512), 20.0),
        ]
        best = fastest(group)
        assert best is not None
        assert (best.candidate.block_m, best.candidate.block_n) == (128, 512)
        (rule,) = rules(group)
        assert (rule.block_m, rule.block_n, rule.source) == (128, 512, "predicted")
        assert fastest([record((64, 128), 5.0, problem="refused")]) is None

    def test_no_rule_for_what_is_as_good_as_the_plan(self):
        (rule,) = rules([record((0, 0), 10.0), record((64, 512), 9.9)])
        assert (rule.block_m, rule.block_n) == (0, 0)
        (rule,) = rules([record((0, 0), 10.0), record((64, 512), 9.0)])
        assert (rule.block_m, rule.block_n) == (64, 512)

    def test_neighbours_and_masks_with_the_same_blocks_share_a_rule(self):
        found = [
            record(blocks, us, seq=seq, causal=causal)
            for causal in (False, True)
            for seq, best in ((512, (64, 128)), (1024, (128, 512)), (2048, (128, 512)))
            for blocks, us in (((64, 128), 10.0), ((128, 512), 10.0))
            for us in [us if blocks == best else 2 * us]
        ]
        long, short = rules(found)
        assert (long.when.min_seq_q, long.when.causal, long.block_n) == (1024, None, 512)
        assert (short.when.min_seq_q, short.when.causal, short.block_n) == (512, None, 128)
        # Few queries against many keys: neither was tried.
        assert (long.when.max_seq_k, short.when.max_seq_k) == (None, 1023)

    def test_problems_of_a_bucket_agree_on_the_least_loss(self):
        found = [
            record((64, 128), 10.0, heads_q=8),
            record((128, 128), 11.0, heads_q=8),
            record((64, 128), 200.0, heads_q=32, heads_k=32),
            record((128, 128), 100.0, heads_q=32, heads_k=32),
        ]
        (rule,) = rules(found)
        assert rule.block_m == 128


class TestPromote:
    OLD = (
        "# About this file.\n\nversion: 1\nchip: ascend910b\nrules:\n"
        "  - when: {dtype: float16, head_dim: 128}\n    block_m: 16\n    block_n: 16\n"
        "    source: predicted\n"
        "  # Tried by hand,\n  # long ago.\n"
        "  - when: {dtype: float16, head_dim: 64}\n    block_m: 32\n    block_n: 32\n"
        "    source: predicted\n"
        "  - when: {dtype: float16, head_dim: 128, min_seq_q: 4096}\n    block_m: 48\n"
        "    block_n: 48\n    source: measured\n"
        "  - when: {}\n    block_m: 128\n    block_n: 512\n    source: manual\n"
    )

    def test_a_prediction_replaces_predictions_of_its_kind_only(self, tmp_path):
        file = tmp_path / "ascend910b" / "flash_attention.yaml"
        file.parent.mkdir()
        file.write_text(self.OLD)
        written, _ = promote([record((64, 512), 9.0)], tmp_path)
        assert written == file
        assert file.read_text().startswith("# About this file.\n")
        assert "not measured on hardware" in file.read_text()
        found = load_op_config(file).rules
        assert file.read_text().count("  # Tried by hand,\n  # long ago.\n") == 2
        # What was measured comes before, what is by hand after.
        assert [(r.block_m, r.source) for r in found] == [
            (48, "measured"),
            (64, "predicted"),
            (32, "predicted"),
            (128, "manual"),
        ]

    def test_a_measurement_replaces_both(self, tmp_path):
        file = tmp_path / "ascend910b" / "flash_attention.yaml"
        file.parent.mkdir()
        file.write_text(self.OLD)
        promote([record((64, 512), 9.0, origin=replace(ORIGIN, source="measured"))], tmp_path)
        found = load_op_config(file).rules
        assert [(r.block_m, r.source) for r in found] == [
            (64, "measured"),
            (32, "predicted"),
            (128, "manual"),
        ]

    def test_nothing_right_is_nothing_to_promote(self, tmp_path):
        with pytest.raises(ConfigError, match="nothing to promote"):
            promote([record((64, 512), 9.0, problem="wrong result")], tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_a_damaged_file_is_left_alone(self, tmp_path):
        file = tmp_path / "ascend910b" / "flash_attention.yaml"
        file.parent.mkdir()
        file.write_text("version: 1\nchip: ascend910b\nrulez: []\n")
        with pytest.raises(ConfigError, match="rulez"):
            promote([record((64, 512), 9.0)], tmp_path)
        assert "rulez" in file.read_text()


class TestTheUsersOwnFile:
    @pytest.fixture
    def folders(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.delenv("ASCENDFA_CONFIG_DIR", raising=False)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
        monkeypatch.setattr("ascendfa.config.config_folder", lambda: tmp_path / "shipped")
        return tmp_path

    def blocks(self, **config: int) -> tuple[int, int, str]:
        spec = ArraySpec("numpy", "float16", "cpu", (1, 8, 1024, 128), (1 << 20, 1 << 17, 128, 1))
        problem = make_problem(spec, spec, spec)
        chosen = resolve_blocks(problem, FlashAttentionConfig(**config), "ascend910b")
        return chosen.m, chosen.n, chosen.source

    def test_it_counts_before_the_shipped_one_and_after_the_call(self, folders):
        assert self.blocks() == (0, 0, "plan")
        promote([record((64, 512), 9.0)], folders / "shipped")
        assert self.blocks() == (64, 512, "yaml")
        own = tuned_folder()
        assert own == folders / "home/ascendfa/op_configs"
        promote([record((128, 256), 9.0)], own)
        assert self.blocks() == (128, 256, "tuned")
        assert self.blocks(block_m=16) == (16, 256, "call")

    def test_a_named_folder_is_the_only_one(self, folders, monkeypatch):
        promote([record((128, 256), 9.0)], folders / "home/ascendfa/op_configs")
        monkeypatch.setenv("ASCENDFA_CONFIG_DIR", str(folders / "shipped"))
        assert tuned_folder() is None
        assert self.blocks() == (0, 0, "plan")

    def test_a_folder_that_cannot_be_written(self, folders):
        (folders / "shipped").write_text("a file")
        with pytest.raises(ConfigError, match="--user"):
            promote([record((128, 256), 9.0)], folders / "shipped")


def test_the_heat_map_is_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    found = [record((m, n), m + n + 1.0) for m in (0, 64) for n in (128, 256)]
    found.append(record((128, 128), 0.0, problem="refused"))
    heat_map(found, tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    heat_map([record((64, 64), 0.0, problem="refused")], tmp_path / "none.png")
