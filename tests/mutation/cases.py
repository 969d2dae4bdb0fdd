"""The calls that mutants are run on, and what may go without a report."""

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
    Case(heads=41, seq_q=128, seq_k=1100, dim=128, causal=False),
    Case(heads=24, seq_q=300, seq_k=700, dim=64, causal=True),
    Case(heads=3, seq_q=90, seq_k=340, dim=192, value_dim=256, causal=False, block_n=128),
    # A second band with too few rows for the second vector core, and many tiles.
    Case(heads=2, seq_q=130, seq_k=800, dim=64, causal=False, block_n=64),
    # The same; the last tile is the second band's alone, which shifts the slots of the next task.
    Case(heads=40, seq_q=130, seq_k=770, dim=64, causal=True, block_n=64),
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
        window=(30, 20),
        terms=("bias", "mask", "alibi", "softcap"),
    ),
    # By itself, what follows a term is not what follows it in company.
    *(
        Case(heads=2, seq_q=40, seq_k=128, dim=64, causal=False, terms=(term,))
        for term in ("bias", "mask", "alibi", "softcap")
    ),
)


# Pairs of calls that may go without a report, as long as their ring is not touched elsewhere. They
# cannot be deleted: in the source a ring's calls belong to all of its rounds. Each entry names the
# functions and calls.
REDUNDANT = {
    "StoreWeights: staging_ring_.Release() + WriteResults: staging_ring_.Acquire()": (
        "the partial product that is awaited in between was computed from those weights"
    ),
}
