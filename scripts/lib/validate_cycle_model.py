"""Sets the cycle model's predictions beside times measured on hardware by others.

Every prediction is of a kernel that runs on the emulator. Calibration rows may inform constants;
hold-out rows never do. The refitted columns show the model with constants moved, within their
ranges, to what the calibration rows alone would ask for: the defaults stay at the published
figures.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import predict

Profile = dict[str, Any]

# What single calibration rows imply: 8192^3 was loaded at 84.4 bytes per cycle, and stored, as the
# GEMMs were, in 200 cycles and the rest at 82.5.
REFIT = {"gm_to_l1": 84.4, "l0c_to_gm": 82.5}


@dataclass(frozen=True)
class Row:
    """One published figure.

    Attributes
    ----------
    name, source
        What was measured, and by whom.
    measured_us
        As published.
    band
        Relative error to expect; None where nobody stated one.
    soc, case
        What to predict.
    pipe
        The figure is this pipe's busy time; the cores' own time, without the launch, when empty.
    """

    name: str
    source: str
    measured_us: float
    band: float | None
    soc: str
    case: predict.Case
    pipe: str = ""

    def predicted(self, profile: Profile) -> float:
        return profile["kernel_us"] * (profile["busy"][self.pipe] if self.pipe else 1.0)


# PTO-ISA's GEMM on A3, fp16 to fp32: edge, us, and the shares of that time that it publishes.
GEMM_PIPES = {"AIC.M": "cube", "AIC.MTE1": "L1 to L0", "AIC.MTE2": "loads", "AIC.FIX": "stores"}
GEMM = [
    (1536, 38.8, (0.545, 0.422, 0.722, 0.077)),
    (3072, 206.7, (0.790, 0.620, 0.909, 0.058)),
    (6144, 1506.0, (0.867, 0.681, 0.952, 0.031)),
    (7680, 3168.0, (0.806, 0.630, 0.984, 0.024)),
]


def calibration() -> list[Row]:
    """The published programs launch their kernel once, after copying in: from a cold L2."""
    product = predict.matmul(8192, out="float16", sample="MM", grid=(4, 6))
    rows = [
        Row("matmul 8192³ fp16, cube", "MM", 3076, 0.02, "Ascend910B1", product, "AIC.M"),
        Row("matmul 8192³ fp16, MTE2", "MM", 3436, 0.15, "Ascend910B1", product, "AIC.MTE2"),
    ]
    for size, measured, _ in GEMM:
        case = predict.matmul(size, sample="PTO", grid=(4, 6))
        rows.append(Row(f"GEMM {size}³", "PTO", measured, 0.15, "Ascend910_9391", case))
    for conflicts, measured in ((True, 12.85), (False, 6.95)):
        case = predict.add(8192, 8192, step=4 if conflicts else 6)
        name = f"add 8192², vector, bank conflicts {'yes' if conflicts else 'no'}"
        rows.append(Row(name, "ADD", measured, 0.10, "Ascend910B1", case, "AIV.V"))
    return rows


def further() -> list[Row]:
    """Figures of the same programs beside the anchors; the adds say what a cold read is."""
    product = predict.matmul(8192, out="float16", sample="MM", grid=(4, 6))
    adds = {step: predict.add(8192, 8192, step=step) for step in (1, 2, 3, 4)}
    return [
        Row("matmul 8192³ fp16, L1 to L0", "MM", 2534, None, "Ascend910B1", product, "AIC.MTE1"),
        Row("matmul 8192³ fp16, slowest core", "MM", 4012, None, "Ascend910B1", product),
        Row("add 8192², one core, 8 KiB", "ADD", 6909.1, None, "Ascend910B1", adds[1]),
        Row("add 8192², all cores, 8 KiB", "ADD", 297.1, None, "Ascend910B1", adds[2]),
        Row("add 8192², all cores, 32 KiB", "ADD", 261.5, None, "Ascend910B1", adds[3]),
        Row("add 8192², 32 KiB, two slots", "ADD", 257.6, None, "Ascend910B1", adds[4]),
    ]


# H=1, D=128, fp16, non-causal on 910B2: S, PTO's kernel, CANN's through torch_npu.
HOLD_OUT: list[tuple[int, float | None, float]] = [
    (1024, 21.0, 58.5),
    (2048, 32.5, 70.8),
    (4096, 88.9, 118.3),
    (8192, 292.6, 353.0),
    (16384, 909.0, 1118.0),
    (32768, 3263.0, 3646.0),
]
LONG = (65536, None, 12150.0)

# Cycles per 128 x 128 tile that the facts' byte counts and rates give for a query block of 128 and
# key tiles of 512; no hardware measurement of a single core is published.
BUDGET = {
    "AIC.M": (1024, 1024),
    "AIC.MTE1": (640, 768),
    "AIC.FIX": (1223, 1223),
    "AIC.MTE2": (1260, 1260),
    "AIV.MTE2": (700, 700),
    "AIV.MTE3": (150, 150),
    "AIV.V": (1000, 1250),
}
ONE_CORE_KEYS = 8192
# One core, 128 queries, D=128 on A3, by PTO's kernel: keys, us.
ONE_CORE = [(1024, 42.08), (2048, 51.44), (4096, 43.80), (8192, 74.54)]


def hold_out_cases() -> list[predict.Case]:
    """PTO's program brings the inputs to the L2 first."""
    return [predict.flash_attention(1, row[0], row[0], warm_l2=True) for row in HOLD_OUT]


def one_core_cases() -> list[predict.Case]:
    return [predict.flash_attention(1, 128, keys, warm_l2=True) for keys, _ in ONE_CORE]


def run(soc: str, cases: list[predict.Case]) -> list[Profile]:
    print(f"predicting {len(cases)} launches on {soc} ...", file=sys.stderr, flush=True)
    return predict.predict(soc, cases)


def run_rows(rows: list[Row]) -> list[tuple[Profile, Profile, Profile]]:
    """Predict each row: from a cold L2, from a warm one, and refitted."""
    found: dict[str, list[Profile]] = {}
    for soc in sorted({row.soc for row in rows}):
        cases = [row.case for row in rows if row.soc == soc]
        warm = [{**case, "warm_l2": True} for case in cases]
        refit = [{**case, "parameters": REFIT} for case in cases]
        found[soc] = run(soc, [*cases, *warm, *refit])
    results = []
    for row in rows:
        mine = found[row.soc]
        at = [r for r in rows if r.soc == row.soc].index(row)
        count = len(mine) // 3
        results.append((mine[at], mine[count + at], mine[2 * count + at]))
    return results


def error(predicted: float, measured: float | None) -> str:
    if measured is None:
        return ""
    return f"{(predicted / measured - 1) * 100:+.1f} %"


def table(head: list[str], body: list[list[str]]) -> str:
    """Format as Markdown, which also reads well on a terminal."""
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in [head, ["-" * w for w in widths], *body]
    ]
    return "\n".join(lines)


def within(row: Row, value: float) -> str:
    if row.band is None:
        return ""
    return "yes" if abs(value / row.measured_us - 1) <= row.band else "NO"


def report_calibration(rows: list[Row], results: list[tuple[Profile, Profile, Profile]]) -> str:
    body = []
    for row, (cold, warm, refit) in zip(rows, results, strict=True):
        value = row.predicted(cold)
        body.append(
            [
                row.name,
                row.source,
                f"{row.measured_us:g}",
                f"{value:.1f}",
                error(value, row.measured_us),
                "" if row.band is None else f"±{row.band * 100:.0f} %",
                within(row, value),
                error(row.predicted(warm), row.measured_us),
                error(row.predicted(refit), row.measured_us),
            ]
        )
    head = ["calibration", "source", "measured µs", "predicted µs", "error", "expected", "within"]
    return table([*head, "warm L2", "refitted"], body)


def report_gemm_pipes(profiles: list[Profile]) -> str:
    body = []
    for (size, measured, shares), profile in zip(GEMM, profiles, strict=True):
        row = [f"{size}³"]
        for pipe, share in zip(GEMM_PIPES, shares, strict=True):
            busy = profile["busy"][pipe] * profile["kernel_us"]
            row += [f"{share * measured:.1f} / {busy:.1f}", error(busy, share * measured)]
        body.append(row)
    head = ["GEMM, busy µs"]
    for name in GEMM_PIPES.values():
        head += [f"{name}, measured / predicted", "error"]
    return table(head, body)


def report_hold_out(profiles: list[tuple[Profile, Profile]]) -> str:
    body = []
    for (length, pto, cann), (published, refit) in zip(HOLD_OUT, profiles, strict=True):
        value = published["predicted_us"]
        body.append(
            [
                f"{length}",
                "" if pto is None else f"{pto:g}",
                f"{cann:g}",
                f"{value:.1f}",
                error(value, pto),
                error(value, cann),
                f"{published['kernel_us']:.1f}",
                error(published["kernel_us"], pto),
                error(refit["predicted_us"], pto),
                f"{published['limit']} {published['busy'][published['limit']]:.0%}",
            ]
        )
    head = ["S", "PTO µs", "CANN µs", "ours, predicted µs", "to PTO", "to CANN"]
    return table([*head, "without launch", "to PTO", "refitted, to PTO", "busiest pipe"], body)


def report_one_core(profile: Profile) -> str:
    tiles = ONE_CORE_KEYS / 128
    cycles = profile["cycles"] / tiles
    body = []
    for pipe, (low, high) in BUDGET.items():
        mine = profile["busy"][pipe] * cycles
        budget = f"{low}" if low == high else f"{low}-{high}"
        body.append([pipe, budget, f"{mine:.0f}", f"{profile['busy'][pipe]:.0%}"])
    body.append(["whole tile", "1638 (L2 reads)", f"{cycles:.0f}", ""])
    return table(
        ["one core, per 128x128 tile", "bytes/rate, cycles", "busy, cycles", "share"], body
    )


def report_one_core_times(profiles: list[Profile]) -> str:
    body = [
        [
            f"{keys}",
            f"{measured:g}",
            f"{profile['kernel_us']:.1f}",
            f"{profile['predicted_us']:.1f}",
        ]
        for (keys, measured), profile in zip(ONE_CORE, profiles, strict=True)
    ]
    return table(["one core, keys", "PTO's kernel, µs", "ours, predicted", "with launch"], body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="S=65536 too: 4 GB, two minutes more")
    if parser.parse_args().long:
        HOLD_OUT.append(LONG)
    predict.build_anchors()
    rows = [*calibration(), *further()]
    results = run_rows(rows)
    print(report_calibration(rows, results))
    print(f"\nrefitted: {', '.join(f'{k} {v:g}' for k, v in REFIT.items())}\n")
    gemm = [cold for row, (cold, _, _) in zip(rows, results, strict=True) if row.source == "PTO"]
    print(report_gemm_pipes(gemm), "\n")
    one_core = run("Ascend910_9391", one_core_cases())
    print(report_one_core(one_core[-1]), "\n")
    print(report_one_core_times(one_core))
    print("\nhold-out: flash attention on 910B2, 24 cores, H=1, D=128, fp16, non-causal")
    cases = hold_out_cases()
    both = run("Ascend910B2", [*cases, *({**case, "parameters": REFIT} for case in cases)])
    print(report_hold_out(list(zip(both[: len(cases)], both[len(cases) :], strict=True))))


if __name__ == "__main__":
    main()
