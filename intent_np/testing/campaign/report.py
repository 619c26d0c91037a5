"""The summary of a campaign: as JSON for programs, and as one page without a network for people."""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from .journal import Journal
from .regression import name_of


def summary(journal: Journal) -> dict[str, Any]:
    """Counts, and every finding with its reduced kernel; the same for the same journal, whatever its order."""
    seeds, reduced = journal.seeds, journal.reduced
    constructs = Counter(c for line in seeds.values() for c in line.get("constructs", ()))
    seconds: Counter[str] = Counter()
    for line in seeds.values():
        seconds.update(line["seconds"])
    settings = journal.settings or {}
    differences = []
    for key, lines in sorted(journal.findings.items()):
        small, test = reduced.get(key, {}), f"findings/{name_of(key)}.py"
        differences.append({
            "key": key,
            "seeds": [line["seed"] for line in lines],
            "failure": small.get("failure", lines[0]["failure"]),
            "text": small.get("text", ""),
            "arrays": small.get("arrays", {}),
            "tried": small.get("tried", 0),
            "why": small.get("why", ""),
            "test": test if (journal.path.parent / test).exists() else "",
        })  # fmt: skip
    return {
        "kernels": len(seeds),
        "seed": settings.get("first", 0),
        "oracles": settings.get("oracles", []),
        "settings": settings,
        "status": dict(sorted(Counter(line["status"] for line in seeds.values()).items())),
        "calls": sum(line["calls"] for line in seeds.values()),
        "slow": sorted(seed for seed, line in seeds.items() if "slow" in line),
        "seconds": {n: round(t, 2) for n, t in sorted(seconds.items())},
        "not_lowered": dict(sorted(constructs.items(), key=lambda c: (-c[1], c[0]))),
        "differences": differences,
    }


def write(folder: Path, made: dict[str, Any]) -> None:
    """`report.json` and `report.html`."""
    for name, text in (("report.json", json.dumps(made, indent=2) + "\n"), ("report.html", page(made))):
        part = folder / f".{name}.{os.getpid()}"
        part.write_text(text)
        os.replace(part, folder / name)


STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .15rem .9rem .15rem 0; text-align: left; vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; }
.ok { color: #18794e; } .bad { color: #cd2b31; }
"""


def page(made: dict[str, Any]) -> str:
    """One HTML page that needs nothing else."""
    e = html.escape
    bad = made["differences"]
    state = f'<span class="bad">{len(bad)} findings</span>' if bad else '<span class="ok">no findings</span>'
    body = [
        f"<h1>Random kernels: {state}</h1>",
        f"<p>{made['kernels']} kernels from seed {made['seed']} on, {made['calls']} calls compared by "
        f"{e(', '.join(made['oracles']))}.</p>",
        "<h2>Kernels</h2>", _table(made["status"]),
        "<h2>Seconds by stage</h2>", _table(made["seconds"]),
    ]  # fmt: skip
    if made["not_lowered"]:
        body += ["<h2>Not lowered yet</h2>", _table(made["not_lowered"])]
    if bad:
        body.append("<h2>Findings</h2>")
    for one in bad:
        f = one["failure"]
        told = [f"{len(one['seeds'])} kernels: seeds {', '.join(map(str, one['seeds'][:12]))}"]
        if recipe := f["recipe"]:
            told.append(f"the call {dict(recipe['extents'])} {recipe['layout']} {recipe['values']}")
        if f["holds"]:
            told.append(f"compiled {f['holds']}")
        body += [
            f"<details open><summary>{e(one['key'])}</summary>",
            f"<p>{e('; '.join(told))}</p>",
            f"<pre>{e(f['message'])}</pre>",
            f"<pre>{e(one['text'])}</pre>" if one["text"] else "",
            f'<p><a href="{e(one["test"])}">{e(one["test"])}</a></p>' if one["test"] else "",
            f"<p>Not reduced: {e(one['why'])}</p>" if one["why"] else "",
            "</details>",
        ]
    title = "intent-np fuzz"
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    return (
        f'<!doctype html><html lang="en"><head>{head}<style>{STYLE}</style></head><body>{"".join(body)}</body></html>\n'
    )


def _table(rows: dict[str, Any]) -> str:
    cells = (
        f'<tr><td>{html.escape(str(n))}</td><td class="n">{html.escape(str(v))}</td></tr>' for n, v in rows.items()
    )
    return f"<table>{''.join(cells)}</table>"
