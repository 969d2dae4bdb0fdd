"""Predicted time of attention on one chip, beside published figures and the cube's limit.

B=1, H=32, D=128, fp16: our kernel; the same computation unfused, as product, softmax and product
through global memory; and a flash attention whose cube and vector cores take turns. Ours, unfused
and lock-step are predictions of the cycle model, of a repeated run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import predict
from validate_cycle_model import table

Profile = dict[str, Any]

HEADS, DIM = 32, 128
LENGTHS = (512, 1024, 2048, 4096)

# Milliseconds, B=1, H=32, D=128, fp16, non-causal forward.
STANDARD_910 = {512: 0.8, 1024: 3.2, 2048: 12.5, 4096: 49.8}
FLASH_910 = {512: 0.6, 1024: 1.2, 2048: 2.8, 4096: 6.2}
CANN_910B3 = {4096: 1.7}
# fp16 TFLOP/s.
PEAK = {
    "Ascend910A": 262.0,
    "Ascend910B1": 363.7,
    "Ascend910B2": 353.9,
    "Ascend910B3": 294.9,
    "Ascend910B4": 245.8,
}
# The unfused and the lock-step kernels are written for cube and vector cores apart.
WITHOUT_OTHERS = ("Ascend910A",)


def limit_ms(soc: str, heads: int, length: int, dim: int = DIM) -> float:
    """Time of the two products alone at the cube's peak."""
    return 4 * heads * length**2 * dim / PEAK[soc] / 1e9


def unfused(length: int) -> list[predict.Case]:
    return [
        predict.product(HEADS, length, length, DIM, out="float16", warm_l2=True),
        predict.softmax(HEADS, length, length, DIM**-0.5, warm_l2=True),
        # The values come transposed, which costs this side nothing.
        predict.product(HEADS, length, DIM, length, out="float16", warm_l2=True),
    ]


def ours(heads: int, length: int, dim: int = DIM, **options: bool) -> predict.Case:
    return predict.flash_attention(heads, length, length, dim, warm_l2=True, **options)


def milliseconds(*profiles: Profile) -> float:
    return sum(p["predicted_us"] for p in profiles) / 1e3


def busiest(profile: Profile, count: int = 4) -> str:
    ranked = sorted(profile["busy"].items(), key=lambda item: -item[1])
    return ", ".join(f"{pipe} {share:.0%}" for pipe, share in ranked[:count])


def figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


class Bench:
    """The predictions of one run, by length."""

    def __init__(self, soc: str) -> None:
        self.soc = soc
        cases: list[predict.Case] = []
        others = soc not in WITHOUT_OTHERS
        for length in LENGTHS:
            cases += [ours(HEADS, length), ours(HEADS, length, causal=True)]
            if others:
                cases += [
                    ours(HEADS, length, fp32_scores=True),
                    predict.lockstep_attention(HEADS, length, warm_l2=True),
                    *unfused(length),
                ]
        profiles = iter(predict.predict(soc, cases))
        self.ours: dict[int, Profile] = {}
        self.causal: dict[int, Profile] = {}
        self.fp32: dict[int, Profile] = {}
        self.lockstep: dict[int, Profile] = {}
        self.unfused: dict[int, float] = {}
        for length in LENGTHS:
            self.ours[length] = next(profiles)
            self.causal[length] = next(profiles)
            if others:
                self.fp32[length] = next(profiles)
                self.lockstep[length] = next(profiles)
                self.unfused[length] = milliseconds(next(profiles), next(profiles), next(profiles))

    def series(self) -> dict[str, dict[int, float]]:
        """Name to milliseconds by length, for table and plot."""
        return {
            "standard, 910 (published)": STANDARD_910,
            "flash, 910 (published)": FLASH_910,
            f"unfused, {self.soc[6:]}": self.unfused,
            f"lock-step, {self.soc[6:]}": {n: milliseconds(p) for n, p in self.lockstep.items()},
            "CANN class, 910B3": CANN_910B3,
            f"ours, {self.soc[6:]}": {n: milliseconds(self.ours[n]) for n in LENGTHS},
            f"ours causal, {self.soc[6:]}": {n: milliseconds(self.causal[n]) for n in LENGTHS},
            f"ours, fp32 scores, {self.soc[6:]}": {
                n: milliseconds(p) for n, p in self.fp32.items()
            },
            f"cube limit, {self.soc[6:]}": {n: limit_ms(self.soc, HEADS, n) for n in LENGTHS},
        }

    def times(self) -> str:
        series = self.series()
        body = [[str(n), *(figure(s.get(n)) for s in series.values())] for n in LENGTHS]
        return table(["S, ms", *series], body)

    def limits(self) -> str:
        body = []
        for n in LENGTHS:
            mine = self.ours[n]
            share = milliseconds(self.causal[n]) / milliseconds(mine)
            body.append(
                [
                    str(n),
                    f"{mine['cube_utilisation']:.1%}",
                    busiest(mine),
                    f"{mine['launch_us'] / mine['predicted_us']:.0%}",
                    f"{share:.2f}",
                    f"±{mine['error_band']:.0%}",
                ]
            )
        head = ["S", "cube utilisation", "busiest pipes", "launch share", "causal / full", "band"]
        return table(head, body)

    def plot(self, path: Path) -> None:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as error:
            raise SystemExit("the plot needs matplotlib: pip install matplotlib") from error
        drawing = Figure(figsize=(9, 6), layout="constrained")
        FigureCanvasAgg(drawing)
        axes = drawing.add_subplot()
        for name, points in self.series().items():
            published = "published" in name or "CANN" in name
            line = ":" if "limit" in name else "--" if published else "-"
            axes.plot(
                list(points),
                list(points.values()),
                line,
                marker="s" if published else "o",
                linewidth=2.5 if name.startswith("ours") else 1.5,
                label=name if published or "limit" in name else f"{name} (predicted)",
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(LENGTHS, [str(n) for n in LENGTHS])
        axes.set_xlabel("sequence length")
        axes.set_ylabel("ms")
        axes.grid(which="both", alpha=0.25)
        axes.legend(fontsize=9)
        axes.set_title(
            f"Attention forward, B=1 H={HEADS} D={DIM} fp16; predictions of a cycle model"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        drawing.savefig(path, dpi=120, format="png")


def others(soc: str) -> str:
    """Long sequences and a small head dimension."""
    problems = [(5, 16384, 128), (1, 32768, 128), (32, 4096, 64)]
    profiles = predict.predict(soc, [ours(*problem) for problem in problems])
    body = [
        [
            f"H={heads} S={length} D={dim}",
            figure(milliseconds(profile)),
            figure(limit_ms(soc, heads, length, dim)),
            f"{profile['cube_utilisation']:.1%}",
            busiest(profile),
        ]
        for (heads, length, dim), profile in zip(problems, profiles, strict=True)
    ]
    head = ["problem", "ours, ms", "cube limit, ms", "cube utilisation", "busiest pipes"]
    return table(head, body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soc", default="Ascend910B3", choices=sorted(PEAK))
    parser.add_argument(
        "--plot", type=Path, default=predict.ROOT / "build" / "bench_predicted.png", metavar="PNG"
    )
    args = parser.parse_args()
    if args.soc not in WITHOUT_OTHERS:
        predict.build_anchors()
    bench = Bench(args.soc)
    print(f"{bench.times()}\n\nours, non-causal:\n{bench.limits()}\n\n{others(args.soc)}")
    bench.plot(args.plot)
    print(f"\nplot: {args.plot}")


if __name__ == "__main__":
    main()
