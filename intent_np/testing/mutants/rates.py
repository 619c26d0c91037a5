"""What a measurement comes to: how many mutants were noticed, by kind and by what they are of, and the survivors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .reasons import reason
from .source import Mutant


def summary(
    chosen: Sequence[Mutant], random: dict[str, Any], rest: dict[str, Any], trials: int, count: int
) -> dict[str, Any]:
    """Rates, by kind and by what a mutant is of, and the survivors."""
    fates = []
    for m in chosen:
        first, second = random.get(m.name), rest.get(m.name)
        if first is None:
            continue
        by = "random" if first["how"] else "suite" if second and second["how"] else ""
        seen = second if by == "suite" else first
        fates.append({**{n: v for n, v in seen.items() if n != "part"}, "by": by, "reason": reason(m.name)})  # type: ignore[union-attr]

    def table(of: Callable[[dict[str, Any]], str]) -> dict[str, list[int]]:
        every, by = Counter(map(of, fates)), Counter((of(f), f["by"]) for f in fates)
        return {k: [n, by[k, "random"], by[k, "random"] + by[k, "suite"]] for k, n in sorted(every.items())}

    noticed = Counter(f["by"] for f in fates)
    whole = max(len(fates), 1)
    return {
        "mutants": len(chosen),
        "measured": len(fates),
        "kernels": count,
        "compiled": trials,
        "random": noticed["random"],
        "killed": noticed["random"] + noticed["suite"],
        "rate_random": round(noticed["random"] / whole, 4),
        "rate": round((noticed["random"] + noticed["suite"]) / whole, 4),
        "by_kind": table(lambda f: str(f["kind"]).partition(" in guard")[0].rstrip(" 0123456789")),
        "by_owner": table(lambda f: "rules" if f["name"].startswith("rule ") else f["name"].partition(".")[0]),
        "by_how": dict(Counter(f["how"] for f in fates).most_common()),
        "survivors": [f for f in fates if f["by"] != "random"],
        "fates": fates,
    }


def told(made: dict[str, Any]) -> str:
    """The summary as Markdown."""
    if "candidates" in made:
        counts = f"{made['witnessed']} of {made['candidates']} candidates have a witness, {made['kept']} are kept"
        return f"{counts}; none of {', '.join(made['without'])}"
    lines = [
        f"{made['measured']} mutants of {made['mutants']} measured.",
        f"{made['kernels']} random kernels alone kill {made['random']} ({100 * made['rate_random']:.1f} %),",
        f"the suite {made['killed']} ({100 * made['rate']:.1f} %).",
        "",
        "| kind | mutants | random kernels | suite |",
        "|---|---|---|---|",
        *(f"| {k} | {n} | {r} | {s} |" for k, (n, r, s) in made["by_kind"].items()),
        "",
        "| of | mutants | random kernels | suite |",
        "|---|---|---|---|",
        *(f"| {k} | {n} | {r} | {s} |" for k, (n, r, s) in made["by_owner"].items()),
        "",
    ]
    for f in made["survivors"]:
        where = f"killed by {f['trial']}: {f['what']}" if f["by"] else "survives"
        tried = f"{f['tried']} of {f['reaching']} kernels, {f['changed']} programs differ"
        lines.append(f"- `{f['name']}` `{f['change']}`: {where} ({tried}) {f['reason']}")
    return "\n".join(lines)


def as_json(made: dict[str, Any]) -> str:
    """The summary for a program, every fate included."""
    return json.dumps(made, indent=1)
