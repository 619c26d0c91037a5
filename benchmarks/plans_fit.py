"""Fit the constants of the plans' cost model to measured plans, and say how well it orders them.

    python -m benchmarks.plans_fit                       # benchmarks/results/plans-h200.json
    python -m benchmarks.plans_fit out/plans.json --write

Each row is a plan with the work that the model sees in it and its measured milliseconds.  Two figures tell whether the
model can choose plans: the share of pairs of one workload, more than 3 % apart, that it orders rightly, and the regret,
by how much the plan that it takes is slower than the best one measured.  Both are also given for kernels that the fit
has not seen.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from intent_np.planning import machine
from intent_np.planning.machine import Launch, costs, seconds

HERE = Path(__file__).parent
FREE = (
    "memory", "l2", "tensor", "issue_share", "special_share", "iteration", "barrier", "barrier_warp", "in_flight",
    "busy_warps", "busy_power", "overlap", "loop_registers", "whole_registers", "spill", "last_wave", "launch",
)  # fmt: skip
PROCESSORS = 132
APART = 0.03
ROUNDS = 30
CLIP = 0.25  # of a squared logarithm: what the model does not describe must not bend what it does

Row = Mapping[str, Any]
Costs = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.plans_fit", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", default=[str(HERE / "results" / "plans-h200.json")])
    parser.add_argument("--write", action="store_true", help="write the constants to intent_np/planning/costs.json")
    options = parser.parse_args()
    rows = [r for f in options.files for r in json.loads(Path(f).read_text()) if "work" in r and "ms" in r]
    start = dict(costs())
    print(f"{len(rows)} plans of {len({r['workload'] for r in rows})} workloads")
    print("constants as they are:", told(rows, start))
    fitted = fit(rows, start)
    print("fitted to all:        ", told(rows, fitted))
    print("kernels not seen:     ", crossed(rows, start))
    print({name: float(f"{fitted[name]:.4g}") for name in FREE})
    if options.write:
        write(fitted)


def predicted(r: Row, c: Costs) -> float:
    """Milliseconds by the model."""
    return seconds(list(r["work"]), Launch(**r["launch"]), PROCESSORS, c) * 1e3


def loss(rows: Iterable[Row], c: Costs) -> float:
    return statistics.fmean(min(math.log(predicted(r, c) / r["ms"]) ** 2, CLIP) for r in rows)


def fit(rows: list[Row], start: Costs, rounds: int = ROUNDS) -> Costs:
    """Coordinate descent on the logarithms: the same result on every machine."""
    best, c = loss(rows, start), dict(start)
    step = dict.fromkeys(FREE, 0.5)
    for _ in range(rounds):
        for name in FREE:
            for factor in (1 + step[name], 1 / (1 + step[name])):
                tried = {**c, name: c[name] * factor}
                if (new := loss(rows, tried)) < best - 1e-9:
                    best, c = new, tried
                    break
            else:
                step[name] *= 0.6
    return c


def crossed(rows: list[Row], start: Costs) -> str:
    """Each kernel priced by what was fitted to the others."""
    prices: dict[int, float] = {}
    for kernel in sorted({r["kernel"] for r in rows}):
        c = fit([r for r in rows if r["kernel"] != kernel], start, ROUNDS // 2)
        prices |= {i: predicted(r, c) for i, r in enumerate(rows) if r["kernel"] == kernel}
    return figures(rows, [prices[i] for i in range(len(rows))])


def told(rows: list[Row], c: Costs) -> str:
    return figures(rows, [predicted(r, c) for r in rows])


def figures(rows: list[Row], prices: list[float]) -> str:
    """Pairs in order, and the regret: median, mean and largest."""
    right = pairs = 0
    regrets = []
    workloads: dict[str, list[int]] = {}
    for i, r in enumerate(rows):
        workloads.setdefault(r["workload"], []).append(i)
    for own in workloads.values():
        for a in own:
            for b in own:
                if a < b and abs(math.log(rows[a]["ms"] / rows[b]["ms"])) > APART:
                    pairs += 1
                    right += (rows[a]["ms"] < rows[b]["ms"]) == (prices[a] < prices[b])
        taken = min(own, key=lambda i: prices[i])
        regrets.append(rows[taken]["ms"] / min(rows[i]["ms"] for i in own) - 1)
    median, mean, most = statistics.median(regrets), statistics.fmean(regrets), max(regrets)
    return f"{right} of {pairs} pairs in order; regret {median:.1%} median, {mean:.1%} mean, {most:.0%} at most"


def write(c: Costs) -> None:
    """The constants in the model's file, whose other lines stay as they are."""
    path = Path(machine.__file__).with_name("costs.json")
    lines = path.read_text().splitlines()
    for i, line in enumerate(lines):
        name = line.strip().partition(":")[0].strip('"')
        if name in FREE:
            lines[i] = f'  "{name}": {float(f"{c[name]:.4g}")!r},'
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
