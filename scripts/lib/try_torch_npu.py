"""The demonstration behind scripts/try_torch_npu: attention of tensors with device="npu"."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

# Read when torch_npu loads the runtime.
os.environ.setdefault("ASCENDFA_EMULATOR_DEVICES", "2")

import numpy as np
import torch
import torch_npu
from rich.console import Console
from rich.table import Table

import ascendfa
from ascendfa.reference import attention_reference

Tensor = torch.Tensor
Inputs = tuple[Tensor, Tensor, Tensor]
# A few roundings of fp16 results of magnitude 1 to 4.
LIMIT = 5e-3


def on_the_current_stream(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (x.to("npu") for x in (q, k, v))
    return ascendfa.flash_attention(q, k, v, causal=True)


def on_the_second_device(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (x.to("npu:1") for x in (q, k, v))
    return ascendfa.flash_attention(q, k, v, causal=True)


def on_views_of_one_projection(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Views [B, H, S, D] of memory [B, S, 3, H, D], read through their strides."""
    packed = torch.stack([x.transpose(1, 2) for x in (q, k, v)], dim=2).to("npu")
    return ascendfa.flash_attention(*(x.transpose(1, 2) for x in packed.unbind(2)), causal=True)


def beside_a_copying_stream(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One stream uploads from pinned memory, the other waits for it on the device."""
    upload = torch.npu.Stream()
    with torch.npu.stream(upload):
        q, k, v = (x.pin_memory().to("npu", non_blocking=True) for x in (q, k, v))
    torch.npu.current_stream().wait_stream(upload)
    return ascendfa.flash_attention(q, k, v, causal=True)


CASES: list[Callable[[Tensor, Tensor, Tensor], Tensor]] = [
    on_the_current_stream,
    on_the_second_device,
    on_views_of_one_projection,
    beside_a_copying_stream,
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="1,4,256,64", help="B,H,S,D (default %(default)s)")
    parser.add_argument("--seed", type=int, default=2026)
    args = parser.parse_args()
    shape = tuple(int(x) for x in args.shape.split(","))
    console = Console()
    console.print(
        f"torch {torch.__version__}, torch_npu {torch_npu.__version__}, "
        f"{torch.npu.device_count()} x {torch.npu.get_device_name(0)}"
    )
    rng = np.random.default_rng(args.seed)
    arrays = [rng.standard_normal(shape).astype(np.float16) for _ in range(3)]
    q, k, v = (torch.from_numpy(x) for x in arrays)
    want = attention_reference(*arrays, causal=True)[0]

    table = Table(title=f"causal attention, fp16, B,H,S,D = {args.shape}, against float64")
    for name in ("case", "result on", "max error", "host s"):
        table.add_column(name)
    worst = 0.0
    for case in CASES:
        start = time.perf_counter()
        out = case(q, k, v)
        torch.npu.synchronize(out.device)
        seconds = time.perf_counter() - start
        error = float(np.abs(out.cpu().double().numpy() - want).max())
        worst = max(worst, error)
        name = case.__name__.replace("_", " ")
        table.add_row(name, str(out.device), f"{error:.2e}", f"{seconds:.2f}")
    console.print(f"backend: [bold]{ascendfa.backend()}[/bold]", soft_wrap=True)
    console.print(table)
    if not worst <= LIMIT:
        raise SystemExit(f"error {worst:.2e} is more than fp16 rounding explains")
    console.print("Every result agrees with the reference to fp16 rounding.")


if __name__ == "__main__":
    main()
