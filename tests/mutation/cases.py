"""The calls that mutants are run on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One call of flash_attention on random numbers."""

    heads: int
    seq_q: int
    seq_k: int
    dim: int
    causal: bool
    block_n: int = 0
    value_dim: int = 0  # 0: dim
    window: tuple[int, int] = (-1, -1)
    terms: tuple[str, ...] = ()  # of bias, mask, alibi, softcap
    rise: float = 0.0  # of the last key's score over the first one's
    scale: float | None = None
    loud: int = 0  # heads, the first ones, whose scores are far too wide for fp16


@dataclass(frozen=True)
class Target:
    """A kernel, and an emulated chip to run it on."""

    unit: str
    soc: str
    cases: tuple[Case, ...]
    dtype: str = "float16"


# Small ones first: most mutants die there. Together they reach every call: tails in rows and keys,
# more key tiles than the pipeline is deep, several tasks per core (20 cores), several slices per
# tile, blocks without keys, cores without rows, products of fewer than ten fractals, tasks of a
# single step, heads wider than a product, every term of the scores.
CASES = (
    Case(heads=2, seq_q=150, seq_k=600, dim=64, causal=True, block_n=128),
    Case(heads=45, seq_q=33, seq_k=330, dim=128, causal=False, block_n=64),
    Case(heads=15, seq_q=300, seq_k=40, dim=64, causal=True),
    Case(heads=3, seq_q=5, seq_k=300, dim=64, causal=False),
    Case(heads=85, seq_q=17, seq_k=33, dim=64, causal=False),
    Case(heads=41, seq_q=128, seq_k=1100, dim=128, causal=False, block_n=256),
    Case(heads=24, seq_q=300, seq_k=700, dim=64, causal=True),
    Case(heads=3, seq_q=90, seq_k=340, dim=192, value_dim=256, causal=False, block_n=128),
    # A second band with too few rows for the second vector core, and many tiles.
    Case(heads=2, seq_q=130, seq_k=800, dim=64, causal=False, block_n=64),
    # The same; the last tile is the second band's alone, which shifts the slots of the next task.
    Case(heads=40, seq_q=130, seq_k=770, dim=64, causal=True, block_n=64),
    # Wide heads, several products per tile; more products for the values than for the scores.
    Case(heads=2, seq_q=90, seq_k=600, dim=192, causal=False, block_n=256),
    Case(heads=2, seq_q=90, seq_k=1100, dim=64, value_dim=256, causal=False, block_n=256),
    # So wide that the query block reaches the cube slice by slice.
    Case(heads=2, seq_q=90, seq_k=340, dim=320, value_dim=400, causal=False, block_n=128),
    Case(heads=85, seq_q=17, seq_k=33, dim=320, causal=False),
    Case(heads=2, seq_q=90, seq_k=600, dim=320, value_dim=64, causal=False, block_n=512),
    Case(
        heads=2,
        seq_q=90,
        seq_k=340,
        dim=64,
        causal=False,
        block_n=128,
        window=(60, 20),
        terms=("bias", "mask", "alibi", "softcap"),
    ),
    # By itself, what follows a term is not what follows it in company.
    *(
        Case(heads=2, seq_q=40, seq_k=128, dim=64, causal=False, terms=(term,))
        for term in ("bias", "mask", "alibi", "softcap")
    ),
    # A few rows behind two whole bands: a vector core without queries, for more steps than the
    # outputs of the task before are behind.
    Case(heads=40, seq_q=258, seq_k=2100, dim=16, causal=False, terms=("bias",)),
    # Referenced scores, from 1024 keys on: tasks of two bands and of one, a value tile in one slot
    # and in two; samples that a causal mask cuts.
    Case(heads=2, seq_q=150, seq_k=1100, dim=16, causal=False),
    Case(heads=45, seq_q=80, seq_k=1030, dim=16, value_dim=128, causal=True),
    Case(heads=80, seq_q=150, seq_k=1100, dim=16, causal=False),
    Case(heads=80, seq_q=200, seq_k=1030, dim=16, value_dim=128, causal=True),
    Case(heads=60, seq_q=100, seq_k=1024, dim=64, causal=True),
    # A tile whose second piece only the first of two bands needs: both pieces go with the second
    # band's last keys, after the next weights have been asked for.
    Case(heads=40, seq_q=250, seq_k=1420, dim=16, causal=True, block_n=384),
    Case(heads=3, seq_q=1030, seq_k=1030, dim=16, causal=True),
    # Short steps of two tasks in a row, behind which the second product takes several chunks: a
    # sample that follows loads where only values have been.
    Case(heads=18, seq_q=1200, seq_k=1200, dim=16, causal=True, block_n=384),
    # More tasks of a group than a batch of verdicts holds.
    Case(heads=661, seq_q=16, seq_k=1024, dim=16, causal=False),
    # The first task of each group has to be repeated, which ends its batch early: two verdicts.
    Case(heads=240, seq_q=70, seq_k=1024, dim=16, causal=False, loud=20),
    # So has every task.
    Case(heads=200, seq_q=70, seq_k=1024, dim=16, causal=False, loud=200),
)


# For the core that is cube and vector unit (32 cores): also several tasks per core, tasks computed
# twice, rows narrower than a copy or no multiple of it, fewer rows than a copy.
COUPLED_CASES = (
    Case(heads=2, seq_q=150, seq_k=300, dim=64, causal=True),
    Case(heads=70, seq_q=40, seq_k=200, dim=64, causal=False),
    Case(heads=33, seq_q=20, seq_k=600, dim=128, causal=False),
    Case(heads=2, seq_q=140, seq_k=400, dim=64, causal=False, rise=30.0),
    Case(heads=70, seq_q=20, seq_k=200, dim=64, causal=False, rise=30.0, scale=-0.125),
    Case(heads=2, seq_q=150, seq_k=300, dim=64, causal=False, window=(40, 20)),
    Case(heads=2, seq_q=150, seq_k=300, dim=64, causal=False, window=(3, 2)),
    Case(heads=15, seq_q=300, seq_k=40, dim=64, causal=True),
    Case(heads=2, seq_q=40, seq_k=150, dim=64, causal=False, block_n=64),
    Case(heads=2, seq_q=37, seq_k=150, dim=40, value_dim=24, causal=False),
    Case(heads=2, seq_q=37, seq_k=150, dim=8, value_dim=8, causal=False),
    Case(heads=70, seq_q=5, seq_k=70, dim=64, causal=False),
    Case(heads=2, seq_q=128, seq_k=1100, dim=128, causal=False, block_n=64),
    Case(heads=2, seq_q=70, seq_k=520, dim=256, causal=False),
    Case(heads=70, seq_q=33, seq_k=256, dim=128, causal=False, block_n=64),
    Case(heads=70, seq_q=5, seq_k=3, dim=8, causal=True),
    # Terms, whose tensors end where no block does: together, and by themselves.
    Case(
        heads=70,
        seq_q=40,
        seq_k=200,
        dim=64,
        causal=False,
        terms=("bias", "mask", "alibi", "softcap"),
    ),
    *(
        Case(heads=2, seq_q=40, seq_k=200, dim=64, causal=False, terms=(term,))
        for term in ("bias", "mask", "alibi", "softcap")
    ),
    # Padding rows takes barriers for all pipes, behind which much can hide. Without: tasks of one
    # strip, several tasks of several strips and two blocks of output.
    Case(heads=100, seq_q=16, seq_k=64, dim=64, causal=False),
    Case(heads=70, seq_q=128, seq_k=256, dim=64, causal=False),
    # Values that come straight, long before the barriers of those that do not.
    Case(heads=2, seq_q=128, seq_k=1064, dim=64, causal=False),
    # More tasks per core than have a place for their checks.
    Case(heads=4200, seq_q=16, seq_k=16, dim=16, causal=False),
)

# The chip of a generation with the fewest cores: several tasks for each of them cost the least.
TARGETS = {
    "2201": Target("ascend910b", "Ascend910B4", CASES),
    "1001": Target("ascend910", "Ascend910A", COUPLED_CASES),
}
