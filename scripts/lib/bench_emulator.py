"""Ratio of the emulated kernel's host time to torch SDPA (CPU, fp32), same threads, one run.

Each mode of the emulator runs in a process of its own, because the mode is read once. Samples of
the two sides alternate, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

THREADS = os.cpu_count() or 1


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(shape: tuple[int, ...], repeats: int, seed: int) -> None:
    import torch

    import ascendfa

    torch.set_num_threads(THREADS)
    rng = np.random.default_rng(seed)
    q, k, v = (rng.standard_normal(shape).astype(np.float16) for _ in range(3))
    tq, tk, tv = (torch.from_numpy(x).float() for x in (q, k, v))
    sdpa = torch.nn.functional.scaled_dot_product_attention
    for causal in (False, True):
        ours, theirs = [], []
        for _ in range(repeats + 1):
            ours.append(timed(lambda c=causal: ascendfa.flash_attention(q, k, v, causal=c)))
            theirs.append(timed(lambda c=causal: sdpa(tq, tk, tv, is_causal=c)))
        mine, torch_time = float(np.median(ours[1:])), float(np.median(theirs[1:]))
        mode = os.environ["ASCENDFA_EMULATOR_MODE"]
        print(
            f"{mode:>5}  causal={causal!s:<5}  emulator {mine * 1e3:8.1f} ms"
            f"  torch SDPA fp32 {torch_time * 1e3:7.1f} ms  ratio {mine / torch_time:5.1f}x",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="1,8,1024,128", help="B,H,S,D (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--mode", choices=("fast", "check"), help="one mode only, in this process")
    args = parser.parse_args()
    shape = tuple(int(x) for x in args.shape.split(","))
    if args.mode:
        measure(shape, args.repeats, args.seed)
        return
    print(f"B,H,S,D = {args.shape}, fp16, {THREADS} threads, median of {args.repeats}")
    for mode in ("fast", "check"):
        env = {**os.environ, "ASCENDFA_EMULATOR_MODE": mode, "ASCENDFA_BACKEND": "emulator"}
        env["ASCENDFA_EMULATOR_THREADS"] = str(THREADS)
        subprocess.run([sys.executable, *sys.argv, "--mode", mode], env=env, check=True)


if __name__ == "__main__":
    main()
