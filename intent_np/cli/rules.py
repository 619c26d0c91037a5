"""`intent-np rules`: the catalogue of rewrite rules, what proves them, and what a corpus is like without one."""

from __future__ import annotations

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
    if as_json:
        print_json({"rules": [{"name": v.rule, **_record(v)} for v in found]})
    else:
        cells = [(v.table, v.rule, "failed" if not v.ok else v.status, v.seconds, v.detail) for v in found]
        print_table(("table", "rule", "status", "seconds", ""), [(*c[:3], f"{c[3]:.2f}", c[4]) for c in cells])
        print(summary(found))
        for v in found:
            if v.program:
                print(f"\n# {v.rule} is refuted\n{v.program.rstrip()}")
    if not all(v.ok for v in found):
        raise typer.Exit(FAILED)


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
