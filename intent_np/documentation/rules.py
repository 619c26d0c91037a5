"""The catalogue of rules."""

from __future__ import annotations

from ..rules.pattern import Rule
from ..rules.rule_set import Table
from ..rules.tables import BUILTIN


def catalogue() -> str:
    """Every rule by table: formula, guards, why, and how it is known to be right."""
    from ..testing.rules.kept import verdicts

    status = {v.rule: v.status for v in verdicts(BUILTIN, jobs=2)}
    counts = {s: sum(v == s for v in status.values()) for s in dict.fromkeys(status.values())}
    lines = [f"{len(status)} rules: {', '.join(f'{n} {s}' for s, n in sorted(counts.items()))}.", ""]
    for table in BUILTIN.tables:
        lines += [
            f"## {table.name}",
            "",
            table.about,
            "",
            "| rule | | becomes | where | why | |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_row(r, status[r.name], table) for r in table.rules]
        lines.append("")
        if table.tempting:
            lines += ["Tempting, and wrong:", "", "| no rule | | is not | where | since |", "|---|---|---|---|---|"]
            lines += [_row(r, "", table).removesuffix("|  |") + "|" for r in table.tempting]
            lines.append("")
    return "\n".join(lines)


def _row(r: Rule, status: str, table: Table) -> str:
    cells = (r.name, code(r.left), code(r.right), ", ".join(code(g) for g in r.when), r.why, status)
    return "| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |"


def code(e: object) -> str:
    """Mathematics as a code span."""
    return f"`{e}`"
