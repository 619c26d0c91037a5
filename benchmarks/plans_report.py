"""The table of plans for people, and what has to hold of it: how far the e-graph's plan is from the best one measured,
how much it gains on the two fixed policies, and how well the model orders plans of kernels that it was not fitted to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from intent_np.planning.machine import costs

from .plans_fit import START, Figures, crossed, measured, told

FEW = 8
"""Candidates of which all are measured."""

WITHIN, GAIN = 0.05, 0.10
PAIRS, MEDIAN, WORST = 0.90, 0.03, 0.15

Record = Mapping[str, Any]

HEAD = (
    "kernel, extents", "candidates", "keep", "recompute", "e-graph", "optimum by the model", "best measured",
    "e-graph over it", "unasked", "by rule",
)  # fmt: skip


def report(records: list[dict[str, Any]]) -> str:
    """A table in Markdown with the model's and the measured milliseconds of each policy, and the verdicts."""
    workloads: dict[str, list[Record]] = {}
    for r in records:
        if "ms" in r:
            workloads.setdefault(r["workload"], []).append(r)
    lines = [_row(HEAD), _row(["---"] * len(HEAD))]
    lines += [_row(_line(name, own)) for name, own in workloads.items()]
    return "\n".join([*lines, "", *verdicts(workloads), "", *_model(measured(records=records))])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _line(name: str, own: list[Record]) -> list[str]:
    by = {r["label"]: r for r in own}
    best = min(own, key=lambda r: r["ms"])
    chosen = by.get("egraph")
    optimum = next((f"{r['optimum_ms']:.3f}" for r in own if "optimum_ms" in r), "")
    count = str(next((r["candidates"] for r in own if "candidates" in r), ""))
    over = f"{chosen['ms'] / best['ms'] - 1:+.1%}" if chosen else ""
    return [
        name, count, *(_both(by.get(p)) for p in ("keep", "recompute", "egraph")), optimum,
        f"{best['ms']:.3f} ({best['label']}, {best['warps']} warps)", over,
        *(_ms(by.get(p)) for p in ("auto", "directed")),
    ]  # fmt: skip


def _both(r: Record | None) -> str:
    """What the model says, and the clock."""
    return f"{r['model_ms']:.3f}, {r['ms']:.3f}" if r else ""


def _ms(r: Record | None) -> str:
    return f"{r['ms']:.3f}" if r else ""


def verdicts(workloads: Mapping[str, list[Record]]) -> list[str]:
    """What holds of the measured plans of all workloads."""
    over, gains, unasked = {}, {}, {}
    for name, own in workloads.items():
        by = {r["label"]: r["ms"] for r in own}
        if "egraph" not in by:
            continue
        best = min(r["ms"] for r in own)
        over[name] = by["egraph"] / best - 1
        gains[name] = min(by[p] for p in ("keep", "recompute") if p in by) / by["egraph"] - 1
        if {"auto", "directed"} <= by.keys():
            unasked[name] = by["directed"] / by["auto"] - 1
    few = {
        n: x for n, x in over.items() if next((r["candidates"] for r in workloads[n] if "candidates" in r), 0) <= FEW
    }
    worse = [f"{n} {x:+.1%}" for n, x in over.items() if x > WITHIN]
    better = [f"{n} {x:.0%}" for n, x in gains.items() if x >= GAIN]
    slower = [f"{n} {-x:.0%}" for n, x in unasked.items() if x < -WITHIN]
    right = sum(x <= WITHIN for x in few.values())
    return [
        _verdict(
            right == len(few),
            f"the e-graph's plan is within {WITHIN:.0%} of the best measured one of {right} of {len(few)} workloads"
            f" with at most {FEW} candidates, and of {sum(x <= WITHIN for x in over.values())} of all {len(over)}"
            + (f"; beyond: {', '.join(worse)}" if worse else ""),
        ),
        _verdict(
            len(better) >= 2,
            f"it is at least {GAIN:.0%} faster than both fixed policies on {len(better)}:"
            f" {', '.join(better) or 'none'}",
        ),
        _verdict(
            not slower,
            f"what is taken unasked is faster than the rules by 5 % and more on"
            f" {sum(x > WITHIN for x in unasked.values())} of {len(unasked)}, and slower on"
            f" {len(slower)}{': ' if slower else ''}{', '.join(slower)}",
        ),
    ]


def _model(rows: list[Record]) -> list[str]:
    if not rows:
        return []
    used, apart = told(rows, dict(costs())), crossed(rows, {**costs(), **START})
    return [_ordered("with the constants in use", used), _ordered("of kernels that were left out of the fit", apart)]


def _ordered(what: str, f: Figures) -> str:
    """Whether the model orders plans well enough."""
    median, worst = sorted(f.regrets)[len(f.regrets) // 2], max(f.regrets)
    fine = f.right >= PAIRS * f.pairs and median <= MEDIAN and worst <= WORST
    return _verdict(fine, f"{what}: {f.right / max(1, f.pairs):.1%} of pairs; {f}")


def _verdict(fine: bool, text: str) -> str:
    return f"* {'holds' if fine else '**does not hold**'}: {text}"
