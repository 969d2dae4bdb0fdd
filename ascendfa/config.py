"""Block sizes and other settings: the config object, the YAML files, and which of them wins."""

from __future__ import annotations

import numbers
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, field_validator

from ascendfa.errors import ArgumentTypeError, ConfigError, InvalidArgumentError
from ascendfa.problem import Problem
from ascendfa.yaml_files import load_yaml

__all__ = [
    "Blocks",
    "FlashAttentionConfig",
    "OpConfig",
    "Rule",
    "as_config",
    "config_folder",
    "load_op_config",
    "merge_argument",
    "op_config",
    "resolve_blocks",
    "tuned_folder",
]

MAX_BLOCK: Final = 1 << 16
GRANULE: Final = 16


def _check_block(value: int) -> int:
    if value % GRANULE:
        raise ValueError(f"must be a multiple of {GRANULE}, or 0 to let the plan choose")
    return value


class FlashAttentionConfig(BaseModel):
    """Settings of an attention call, for ``flash_attention(..., config=...)``.

    Attributes
    ----------
    causal, scale, deterministic
        As the arguments of the same name; None leaves them to the call.
    block_m, block_n
        Queries and keys per tile, multiples of 16. None leaves the choice to the YAML file of the
        chip, 0 to the plan of the op package.
    fp32_scores
        True: cores hand each other scores as float32 only. False, the default, lets the plan use
        float16 relative to a reference per row where that keeps the same error bound, which is
        faster on 910B and 910C (DESIGN.md, "Referenced scores"). The results differ by rounding,
        the log-sum-exp by up to 1e-3, or a few 1e-3 with thousands of identical keys far below a
        row's maximum. Of no effect on 910A, where scores stay on one core in float32.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    causal: StrictBool | None = None
    scale: float | None = Field(default=None, allow_inf_nan=False, strict=True)
    block_m: int | None = Field(default=None, ge=0, le=MAX_BLOCK, strict=True)
    block_n: int | None = Field(default=None, ge=0, le=MAX_BLOCK, strict=True)
    deterministic: StrictBool | None = None
    fp32_scores: StrictBool = False

    @field_validator("block_m", "block_n")
    @classmethod
    def _blocks(cls, value: int | None) -> int | None:
        return value if value is None else _check_block(value)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"])) or "FlashAttentionConfig"
            known = ", ".join(type(self).model_fields)
            allowed = f"one of {known}" if first["type"] == "extra_forbidden" else first["msg"]
            raise InvalidArgumentError(name, repr(first["input"]), allowed) from None


class When(BaseModel):
    """What a rule applies to; every condition that is given has to hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dtype: Literal["float16", "bfloat16", "float32"] | None = None
    head_dim: int | None = Field(default=None, gt=0, strict=True)
    head_dim_v: int | None = Field(default=None, gt=0, strict=True)
    causal: StrictBool | None = None
    min_seq_q: int = Field(default=0, ge=0, strict=True)
    max_seq_q: int | None = Field(default=None, ge=0, strict=True)
    min_seq_k: int = Field(default=0, ge=0, strict=True)
    max_seq_k: int | None = Field(default=None, ge=0, strict=True)

    def matches(self, problem: Problem) -> bool:
        """Whether a problem meets all conditions."""
        return (
            self.dtype in (None, problem.dtype)
            and self.head_dim in (None, problem.head_dim)
            and self.head_dim_v in (None, problem.head_dim_v)
            and self.causal in (None, problem.causal)
            and self.min_seq_q <= problem.seq_q
            and self.min_seq_k <= problem.seq_k
            and (self.max_seq_q is None or problem.seq_q <= self.max_seq_q)
            and (self.max_seq_k is None or problem.seq_k <= self.max_seq_k)
        )


class Rule(BaseModel):
    """Block sizes for some problems, and where the figures come from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: When = When()
    block_m: int = Field(ge=0, le=MAX_BLOCK, strict=True)
    block_n: int = Field(ge=0, le=MAX_BLOCK, strict=True)
    source: Literal["measured", "predicted", "manual"]

    @field_validator("block_m", "block_n")
    @classmethod
    def _blocks(cls, value: int) -> int:
        return _check_block(value)


class OpConfig(BaseModel):
    """One ``op_configs/<chip>/flash_attention.yaml``; the first rule that matches counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    chip: str
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Blocks:
    """Resolved block sizes; 0 lets the plan choose.

    Attributes
    ----------
    m, n
        Queries and keys per tile.
    source
        Who decided: ``call``, ``tuned`` (the user's own file), ``yaml`` or ``plan``.
    """

    m: int
    n: int
    source: Literal["call", "tuned", "yaml", "plan"]


def load_op_config(file: Path) -> OpConfig:
    """Read and validate the YAML file of a chip; see `load_yaml`."""
    return load_yaml(file, OpConfig)


def config_folder() -> Path:
    """Return the folder of the YAML files: ASCENDFA_CONFIG_DIR, else the ones shipped."""
    override = os.environ.get("ASCENDFA_CONFIG_DIR")
    if override:
        folder = Path(override)
        if not folder.is_dir():
            raise ConfigError(f"ASCENDFA_CONFIG_DIR={override} is not a folder")
        return folder
    package = Path(__file__).resolve().parent
    installed = package / "op_configs"
    return installed if installed.is_dir() else package.parent / "op_configs"


_cache: dict[Path, tuple[tuple[int, int], OpConfig]] = {}
_cache_lock = threading.Lock()


def tuned_folder() -> Path | None:
    """Return the folder of what the user tuned.

    None if ASCENDFA_CONFIG_DIR says where to look, or for a user without a home, as containers
    have them.
    """
    if os.environ.get("ASCENDFA_CONFIG_DIR"):
        return None
    base = os.environ.get("XDG_CONFIG_HOME")
    try:
        return (Path(base) if base else Path.home() / ".config") / "ascendfa" / "op_configs"
    except RuntimeError:
        return None


def op_config(chip: str) -> OpConfig:
    """Return the configuration of a chip, empty if there is no file; read again when it changes.

    Parameters
    ----------
    chip
        Compute unit, the name of the folder.
    """
    return _read(config_folder(), chip)


def _read(folder: Path, chip: str) -> OpConfig:
    file = folder / chip / "flash_attention.yaml"
    try:
        status = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return OpConfig(version=1, chip=chip)
    except OSError as error:
        raise ConfigError(
            f"cannot be reached: {error.strerror}; make it readable, or set ASCENDFA_CONFIG_DIR to "
            "the folder to use instead",
            str(file),
        ) from error
    stamp = (status.st_mtime_ns, status.st_size)
    with _cache_lock:
        cached = _cache.get(file)
    if cached is not None and cached[0] == stamp:
        return cached[1]
    loaded = load_op_config(file)
    if loaded.chip != chip:
        raise ConfigError(
            f"is for chip '{loaded.chip}', but lies in the folder of '{chip}'", str(file)
        )
    with _cache_lock:
        _cache[file] = (stamp, loaded)
    return loaded


def merge_argument(name: str, argument: Any, default: Any, configured: Any) -> Any:
    """Combine a call argument with the config's value of the same name.

    The config fills in what the call leaves at its default; two different explicit values are an
    error, because either choice would ignore one of them.
    """
    if configured is None:
        return argument
    if argument is default:
        return configured
    # Only the same type compares: what has a wrong type is refused where it is checked.
    if isinstance(argument, numbers.Real) and argument != configured:
        raise InvalidArgumentError(
            name, f"{argument!r}, while config.{name} is {configured!r}", "one of the two"
        )
    return argument


def resolve_blocks(problem: Problem, config: FlashAttentionConfig | None, chip: str) -> Blocks:
    """Choose the block sizes of a call: its config, what the user tuned, the chip's YAML, the plan.

    Each size is resolved by itself, so a call may fix one and leave the other.
    """
    block_m = config.block_m if config is not None else None
    block_n = config.block_n if config is not None else None
    if block_m is not None and block_n is not None:
        return Blocks(block_m, block_n, "call")
    by_call = block_m is not None or block_n is not None
    rule, source = _first_rule(problem, chip)
    if rule is None:
        return Blocks(block_m or 0, block_n or 0, "call" if by_call else "plan")
    return Blocks(
        rule.block_m if block_m is None else block_m,
        rule.block_n if block_n is None else block_n,
        "call" if by_call else source,
    )


def _first_rule(problem: Problem, chip: str) -> tuple[Rule | None, Literal["tuned", "yaml"]]:
    tuned = tuned_folder()
    if tuned is not None:
        for rule in _read(tuned, chip).rules:
            if rule.when.matches(problem):
                return rule, "tuned"
    rules = op_config(chip).rules
    return next((r for r in rules if r.when.matches(problem)), None), "yaml"


def as_config(config: object) -> FlashAttentionConfig | None:
    """Return the config argument, refusing other types (a dict would skip validation)."""
    if config is None or isinstance(config, FlashAttentionConfig):
        return config
    raise ArgumentTypeError(
        "config", f"a {type(config).__name__}", "a FlashAttentionConfig, or None"
    )
