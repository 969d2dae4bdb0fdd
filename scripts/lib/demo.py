"""The demonstration behind scripts/demo: our kernel against a float64 reference, a few shapes."""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import ascendfa
from ascendfa.reference import attention_reference

SHAPES = [
    # batch, heads, seq_q, seq_k, head_dim, causal
    (1, 1, 1, 1, 64, True),
    (1, 2, 77, 77, 64, True),
    (2, 2, 128, 300, 128, True),
    (1, 4, 512, 512, 128, True),
    (1, 2, 513, 130, 128, False),
    (1, 8, 1024, 1024, 128, True),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=2026, help="seed of the random inputs")
    seed = parser.parse_args().seed
    console = Console()
    backend = ascendfa.backend()
    console.print(f"backend: [bold]{backend}[/bold]")

    rng = np.random.default_rng(seed)
    table = Table(title=f"causal attention, fp16, against a float64 reference (seed {seed})")
    columns = ("B", "H", "Sq", "Sk", "D", "causal", "max error", "lse error", "host s")
    for name in columns:
        table.add_column(name, justify="right")
    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console
    )
    worst = 0.0
    with progress:
        task = progress.add_task("running", total=len(SHAPES))
        for b, h, sq, sk, d, causal in SHAPES:
            progress.update(task, description=f"B{b} H{h} Sq{sq} Sk{sk} D{d}")
            q = rng.standard_normal((b, h, sq, d)).astype(np.float16)
            k, v = (rng.standard_normal((b, h, sk, d)).astype(np.float16) for _ in range(2))
            start = time.perf_counter()
            out, lse = ascendfa.flash_attention(q, k, v, causal=causal, return_lse=True)
            seconds = time.perf_counter() - start
            want, want_lse = attention_reference(q, k, v, causal=causal)
            seen = np.isfinite(want_lse)
            error = float(np.abs(out.astype(np.float64) - want).max())
            lse_error = float(np.abs(lse[seen] - want_lse[seen]).max()) if seen.any() else 0.0
            worst = max(worst, error)
            cells = (b, h, sq, sk, d, "yes" if causal else "no")
            table.add_row(*map(str, cells), f"{error:.2e}", f"{lse_error:.1e}", f"{seconds:.2f}")
            progress.advance(task)
    console.print(table)
    if worst > 5e-3:
        raise SystemExit(f"error {worst:.2e} is more than fp16 rounding explains")
    console.print("The result of every shape agrees with the reference to fp16 rounding.")


if __name__ == "__main__":
    main()
