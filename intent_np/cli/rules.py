"""`intent-np rules`: the catalogue of rewrite rules, what proves them, and what a corpus is like without one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from intent_np.rules.rule_set import RuleSet

Files = Annotated[
    list[str] | None, typer.Option("--rules", help="A Python file that declares RULES; repeat for several.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

rules = typer.Typer(help="List, show and check the rewrite rules.", no_args_is_help=True, rich_markup_mode=None)


def rule_set_of(files: list[str] | None) -> RuleSet:
    """The built-in rules, those of installed packages and those of these files."""
    from intent_np.rules.loading import rule_set

    return rule_set(files or ())


@rules.command(name="list")
def list_(files: Files = None, as_json: AsJson = False) -> None:
    """List the rules in the order in which they are tried."""
    from intent_np.cli.output import print_json, print_table

    known = rule_set_of(files)
    rows = [described(r, t.name) for t in known.tables for r in t.rules]
    if as_json:
        print_json({"rules": rows})
    else:
        print_table(("table", "rule", "left", "right", "where"), [tuple(row[c] for c in COLUMNS) for row in rows])


COLUMNS = ("table", "name", "left", "right", "where")


def described(r: Any, table: str) -> dict[str, str]:
    """A rule for a table or `--json`."""
    where = ", ".join(map(str, r.when))
    return {"table": table, "name": r.name, "left": str(r.left), "right": str(r.right), "where": where, "why": r.why}


@rules.command()
def show(
    name: Annotated[str, typer.Argument(help="The rule's name.")],
    files: Files = None,
) -> None:
    """Show one rule: its formula, why it holds, what is known of it, and the matcher that is generated from it."""
    from intent_np.rules import matcher, structures

    known = rule_set_of(files)
    r = known.rule(name)
    table = known.table(r)
    (verdict,) = checked(known, [name])
    print(f"{r.name}: {r.left}  ->  {r.right}")
    for guard in r.when:
        print(f"    where {guard}")
    print(f"    {r.why or 'for all values'} ({table.name}, {r.numerics}, {verdict.status})")
    if verdict.detail:
        print(f"    {verdict.detail}")
    texts = matcher.source([r]) if table.language is None else structures.source([r], table.language)
    print("\n" + "\n".join(texts.values()).rstrip())


@rules.command()
def check(
    names: Annotated[list[str] | None, typer.Argument(metavar="[RULE]...", help="Only these rules.")] = None,
    files: Files = None,
    again: Annotated[bool, typer.Option("--again", help="Judge anew what is known.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save what refutes a rule in this folder, as RULE.py.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove the rules, or try them where they can't be proved; a wrong one comes with a program that shows it.

    Exits with 1 if a rule is refuted.
    """
    from intent_np.cli import FAILED
    from intent_np.cli.output import print_json, print_table

    known = rule_set_of(files)
    for name in names or ():
        known.rule(name)
    found = checked(known, names, jobs, again)
    shown = [v for v in found if v.program]
    if out is not None and shown:
        out.mkdir(parents=True, exist_ok=True)
        for v in shown:
            (out / f"{v.rule}.py").write_text(v.program, encoding="utf-8")
    if as_json:
        print_json({"rules": [{"name": v.rule, **_record(v)} for v in found]})
    else:
        cells = [(v.table, v.rule, v.status, v.seconds, v.detail) for v in found]
        print_table(("table", "rule", "status", "seconds", ""), [(*c[:3], f"{c[3]:.2f}", c[4]) for c in cells])
        print(summary(found))
        for v in shown:
            print(f"\n# {v.rule} is refuted\n{v.program.rstrip()}")
    if not all(v.ok for v in found):
        raise typer.Exit(FAILED)


@rules.command()
def export(
    egglog: Annotated[bool, typer.Option("--egglog", help="As an egglog program, the one form there is.")] = True,
    files: Files = None,
) -> None:
    """Print the rules over scalars as an egglog program, but for those that a function computes something for."""
    from intent_np.rules.egglog_text import program

    print(program(r for t in rule_set_of(files).tables if t.language is None for r in t.rules), end="")


@rules.command()
def trace(
    places: Annotated[list[str], typer.Argument(metavar="FILE[:KERNEL]...", help="Python files or folders.")],
    rule: Annotated[list[str] | None, typer.Option(help="Only these rules; repeat for several.")] = None,
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """List which rules fire in which pass, with the terms before and behind and the author's line.

    On the way to Triton for the kernel's first size, on sm_90.
    """
    from intent_np.cli.output import print_json, print_table
    from intent_np.corpus.cases import entries
    from intent_np.corpus.firings import firings

    known = rule_set_of(files)
    wanted = {known.rule(name).name for name in rule or ()}
    found = [(e, f) for e in entries(places) for f in firings(e, known) if not wanted or f.rule in wanted]
    if as_json:
        records = [
            {"kernel": e.title, "pass": f.step, "rule": f.rule, "before": f.before, "after": f.after, "times": f.times,
             "file": f.span and f.span.file, "line": f.span and f.span.line}
            for e, f in found
        ]  # fmt: skip
        print_json({"firings": records})
    else:
        columns = ("rule", "pass", "kernel", "line", "times", "before", "after")
        rows = [(f.rule, f.step, e.title, f.span and f.span.line, f.times, *_short(f)) for e, f in found]
        print_table(columns, rows)


def _short(f: Any) -> tuple[str, str]:
    before, after = (text if len(text) <= 60 else text[:57] + "..." for text in (f.before, f.after))
    return before, after


@rules.command()
def ablate(
    places: Annotated[list[str], typer.Argument(metavar="FILE[:KERNEL]...", help="Python files or folders.")],
    rule: Annotated[str, typer.Option(help="The rule to leave out.")],
    files: Files = None,
    as_json: AsJson = False,
) -> None:
    """Compare kernels with and without a rule, as they come to Triton for their first size on sm_90.

    Counted are distinct terms of the gpu program, operations on values and on indices among them, and loads; bytes and
    flops of all instances together; registers a thread, estimated; and lines of the source that differ.
    """
    from dataclasses import asdict

    from intent_np.cli.output import print_json, print_table
    from intent_np.corpus.ablation import ablated
    from intent_np.corpus.cases import entries

    found = ablated(entries(places), rule_set_of(files), rule)
    if as_json:
        sizes = [{"before": a.before and asdict(a.before), "after": a.after and asdict(a.after)} for a in found]
        print_json(
            {"kernels": [{"kernel": a.kernel, "lines": a.lines, **s} for a, s in zip(found, sizes, strict=True)]}
        )
        return
    counts = ("terms", "operations", "index_operations", "loads", "bytes", "flops", "registers")
    rows = [(a.kernel, *(_change(a, c) for c in counts), a.lines) for a in found]
    print_table(("kernel", *(c.replace("_", " ") for c in counts), "lines"), rows)


def _change(a: Any, count: str) -> str:
    """A count with the rule, and without it where that differs."""
    pair = [getattr(s, count) if s else "-" for s in (a.before, a.after)]
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} -> {pair[1]}"


def _record(v: Any) -> dict[str, Any]:
    return {"table": v.table, "status": v.status, "seconds": v.seconds, "detail": v.detail, "program": v.program}


def summary(found: list[Any]) -> str:
    """How many rules have each status."""
    from intent_np.testing.rules.verdict import STATUSES

    count = {s: sum(v.status == s for v in found) for s in STATUSES}
    return f"{len(found)} rules: " + ", ".join(f"{n} {s}" for s, n in count.items() if n)


def checked(known: RuleSet, names: list[str] | None = None, jobs: int = 1, again: bool = False) -> list[Any]:
    """The verdicts; E805 without z3."""
    from intent_np.testing.rules import needed

    needed()
    from intent_np.testing.rules.kept import verdicts

    return verdicts(known, names, jobs, again)
