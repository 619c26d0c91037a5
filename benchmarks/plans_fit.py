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
from typing import Any, NamedTuple

from intent_np.planning import machine
from intent_np.planning.choose import HELD, meets
from intent_np.planning.machine import UNITS, Launch, costs, seconds

MEASURED = Path(__file__).parent / "results" / "plans-h200.json"
START = {
    "l2": 1e13, "tensor": 6e14, "draw": 1e11, "arrival": 3e-7, "start": 3e-7, "barrier": 1e-7,
    "meeting": 5e-9, "change": 2e-7, "dependent": 3.0, "overlap": 2.5, "phases": 2.5, "company": 0.1, "tail": 0.2,
    "spill": 1.0, "launch": 5e-6, "l1_kept": 160e3, "l1_lost": 190e3,
}  # fmt: skip
"""What is fitted, and where from: round numbers.  All else is from the data sheet, or counted in machine code."""

PROCESSORS = 132
APART = 0.03
ROUNDS = 30
FINE = 0.01  # a step at which a constant is known well enough
CLIP = 0.25  # of a squared logarithm: what the model does not describe must not bend what it does

Row = Mapping[str, Any]
Costs = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.plans_fit", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", default=[str(MEASURED)])
    parser.add_argument("--write", action="store_true", help="write the constants to intent_np/planning/costs.json")
    options = parser.parse_args()
    rows = measured(*options.files)
    used = dict(costs())
    start = {**used, **START}
    print(f"{len(rows)} plans of {len({r['workload'] for r in rows})} workloads")
    print("constants as they are:", told(rows, used))
    fitted = fit(rows, start)
    print("fitted to all:        ", told(rows, fitted))
    print("kernels not seen:     ", crossed(rows, start))
    print({name: float(f"{fitted[name]:.4g}") for name in START})
    if options.write:
        write(fitted)


def measured(*files: str | Path, records: Iterable[Row] | None = None) -> list[Row]:
    """The plans of some files, or `records`, that have been measured, each once."""
    every = (
        records if records is not None else (r for f in files or (MEASURED,) for r in json.loads(Path(f).read_text()))
    )
    found: dict[str, Row] = {}
    for r in every:
        if "work" in r and "ms" in r:
            found.setdefault(json.dumps([r["workload"], r["work"], r["launch"], r["ms"]]), r)
    return list(found.values())


def predicted(r: Row, c: Costs) -> float:
    """Milliseconds by the model."""
    return seconds([r["work"][u] for u in UNITS], Launch(**r["launch"]), PROCESSORS, c) * 1e3


def loss(rows: Iterable[Row], c: Costs) -> float:
    return statistics.fmean(min(math.log(predicted(r, c) / r["ms"]) ** 2, CLIP) for r in rows)


def fit(rows: list[Row], start: Costs, rounds: int = ROUNDS) -> Costs:
    """Coordinate descent on the logarithms: the same result on every machine."""
    best, c = loss(rows, start), dict(start)
    step = dict.fromkeys(START, 0.5)
    for _ in range(rounds):
        if max(step.values()) < FINE:
            break
        for name in START:
            for factor in (1 + step[name], 1 / (1 + step[name])):
                tried = {**c, name: c[name] * factor}
                if (new := loss(rows, tried)) < best - 1e-9:
                    best, c = new, tried
                    break
            else:
                step[name] *= 0.6
    return c


class Figures(NamedTuple):
    """How well prices order plans: pairs that they order rightly, and regrets, one a workload."""

    right: int
    pairs: int
    regrets: list[float]

    def __str__(self) -> str:
        median, mean, most = statistics.median(self.regrets), statistics.fmean(self.regrets), max(self.regrets)
        pairs = f"{self.right} of {self.pairs} pairs in order"
        return f"{pairs}; regret {median:.1%} median, {mean:.1%} mean, {most:.0%} at most"


def crossed(rows: list[Row], start: Costs) -> Figures:
    """Each kernel priced by what was fitted to the others."""
    prices: dict[int, float] = {}
    for kernel in sorted({r["kernel"] for r in rows}):
        c = fit([r for r in rows if r["kernel"] != kernel], start)
        prices |= {i: predicted(r, c) for i, r in enumerate(rows) if r["kernel"] == kernel}
    return figures(rows, [prices[i] for i in range(len(rows))])


def told(rows: list[Row], c: Costs) -> Figures:
    return figures(rows, [predicted(r, c) for r in rows])


def figures(rows: list[Row], prices: list[float]) -> Figures:
    """Pairs of plans of one workload in order, and the regret of taking the one with the least price."""
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
        taken = _taken(rows, own, prices)
        regrets.append(rows[taken]["ms"] / min(rows[i]["ms"] for i in own) - 1)
    return Figures(right, pairs, regrets)


def _taken(rows: list[Row], own: list[int], prices: list[float]) -> int:
    """The plan that is chosen at these prices: one that holds its rows for one with loops in whose iterations the
    warps meet, unless that is clearly cheaper."""
    cheapest = min(own, key=lambda i: prices[i])
    most = prices[cheapest] * (HELD if meets([rows[cheapest]["work"][u] for u in UNITS]) else 1.0)
    held = [i for i in own if not rows[i]["launch"]["looped"] and prices[i] <= most]
    return min(held or own, key=lambda i: prices[i])


def write(c: Costs) -> None:
    """The constants in the model's file, whose other lines stay as they are."""
    path = Path(machine.__file__).with_name("costs.json")
    lines = path.read_text().splitlines()
    for i, line in enumerate(lines):
        name = line.strip().partition(":")[0].strip('"')
        if name in START:
            lines[i] = f'  "{name}": {float(f"{c[name]:.4g}")!r},'
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
