"""What the scorecard says: ratios to the best peer, their means, and the worst."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from .cases import WINDOWS, visible
from .rows import SCORECARD, Row
from .supervise import Record
from .tables import said, short, table

LEFT_OUT = 2  # of our best rows, which no mean may hide behind
WORST = 3


def ratio(record: Record) -> float | None:
    """Our time over that of the best peer; None without either, and where our results are others."""
    others = [ms for name, ms in record.get("ms", {}).items() if name != "ours"] if record["ok"] else []
    return record["ms"]["ours"] / min(others) if others else None


def report(records: Mapping[str, Record]) -> str:
    """Markdown: the ranked rows, the others, the means, the worst, and what shapes cost."""
    rows = [row for row in SCORECARD if row.title in records]
    lines = [*_rows([row for row in rows if row.ranked], records), ""]
    if others := [row for row in rows if not row.ranked]:
        lines += ["Not ranked:", "", *_rows(others, records), ""]
    found = {row: value for row in rows if row.ranked and (value := ratio(records[row.title])) is not None}
    if len(found) > LEFT_OUT:
        ordered = sorted(found.items(), key=lambda pair: pair[1])
        rest = [value for _, value in ordered[LEFT_OUT:]]
        mean, most = statistics.geometric_mean(rest), ordered[-1][1]
        lines += [
            f"{len(found)} rows: geometric mean {mean:.3f} without our {LEFT_OUT} best, "
            f"median {statistics.median(found.values()):.3f}, most {most:.2f}",
            "",
            "The worst:",
            *(f"* {row.title}: {value:.2f}. {row.reason}".rstrip() for row, value in ordered[: -WORST - 1 : -1]),
        ]
    lines += ["", *_shapes(records)]
    if absent := [(r["title"], n, why) for r in records.values() for n, why in r.get("absent", {}).items()]:
        lines += ["", "Peers that are missing:", *(f"* {title}, {name}: {why[:200]}" for title, name, why in absent)]
    return "\n".join(lines)


def _rows(rows: list[Row], records: Mapping[str, Record]) -> list[str]:
    head = ("workload", "ours ms", "best peer ms", "which", "ours/best", "the other peers ms", "TB/s", "TFLOP/s", "")
    made = []
    for row in rows:
        record = records[row.title]
        times = record.get("ms", {})
        others = sorted((ms, name) for name, ms in times.items() if name != "ours")
        best = {"ms": others[0][0]} if others else {}
        found = ratio(record)
        made.append(
            (
                row.title,
                short(times, "ours"),
                short(best, "ms"),
                others[0][1] if others else "",
                "" if found is None else f"{found:.2f}",
                ", ".join(f"{name} {ms:.3g}" for ms, name in others[1:]),
                f"{record['tb_per_s']:.2f}" if times else "",
                f"{record['tflop_per_s']:.0f}" if times else "",
                said(record),
            )
        )
    return table(head, made)


def _shapes(records: Mapping[str, Record]) -> list[str]:
    """Times where only a part of the work is left, over that of all of it, beside the share of the work."""
    cases = {r["case"]: r["ms"]["ours"] for r in records.values() if "ms" in r and "matmul f16" not in r["title"]}
    if square := records.get("matmul f16 8192x8192x8192", {}).get("ms"):
        cases["square"] = square["ours"]
    if triangular := records.get("triangular matmul f16 8192x8192", {}).get("ms"):
        cases["triangular"] = triangular["ours"]
    pairs = [("triangular", "square", 0.5)]
    pairs += [(f"attention{f}_causal{r}", f"attention{f}{r}", 0.5) for f, r in (("", ""), ("", "_relaxed"))]
    pairs += [("attention_fold_causal", "attention_fold", 0.5)]
    pairs += [(f"attention_window_{w}", "attention_relaxed", visible(w)) for w in WINDOWS]
    rows = [
        (part, whole, f"{share:.3f}", f"{cases[part] / cases[whole]:.3f}")
        for part, whole, share in pairs
        if part in cases and whole in cases
    ]
    return table(("part", "whole", "share of the work", "share of the time"), rows) if rows else []
