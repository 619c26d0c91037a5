"""Rules broken on purpose, derived from the rules: each guard left out or loosened, each constant off by one, each
operand in another's place.

    mod-small without 'x < y'      x % y  ->  x      where 0 <= lo(x)
    mod-small with 'x <= y'        x % y  ->  x      where 0 <= lo(x), x <= y

Not every mutant is wrong: a guard may only keep what is undefined as it is written.  What matters is that each is
either refuted, with its counterexample, or right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ...rules.pattern import Expr, Rule, nodes
from ...terms.operators import OPERATORS

OTHER = {"lt": "le", "le": "lt"}


@dataclass(frozen=True)
class Mutant:
    """A changed rule: how it was changed (`guard`, `literal`, `operand`, `comparison`), and where, in words."""

    rule: Rule
    of: str
    kind: str
    change: str


def mutants(r: Rule) -> Iterator[Mutant]:
    """Every mutant of a rule, in order; rules over terms have mutants of their guards alone."""
    for kind, change, changed in (*_guards(r), *_comparisons(r), *_literals(r), *_operands(r), *_places(r)):
        if repr((changed.left, changed.right, changed.when)) != repr((r.left, r.right, r.when)):
            yield Mutant(replace(changed, why=""), r.name, kind, change)


Changes = Iterator[tuple[str, str, Rule]]
Change = Callable[[Expr], list[Expr]]


def _guards(r: Rule) -> Changes:
    for i, g in enumerate(r.when):
        yield "guard", f"without '{g}'", replace(r, when=(*r.when[:i], *r.when[i + 1 :]))


def _comparisons(r: Rule) -> Changes:
    """Strict for loose in a guard, and the other way round."""
    for i, g in enumerate(r.when):
        for new in _everywhere(g, lambda e: [Expr(OTHER[e.head], e.args)] if e.head in OTHER else []):
            yield "comparison", f"with '{new}'", replace(r, when=(*r.when[:i], new, *r.when[i + 1 :]))


def _literals(r: Rule) -> Changes:
    """Constants off by one, on the right and in guards."""

    def near(e: Expr) -> list[Expr]:
        v = e.args[0] if e.head == "const" else None
        if isinstance(v, bool):
            return [Expr("const", (not v,))]
        return [Expr("const", (v + by,)) for by in (1, -1)] if isinstance(v, (int, float)) else []

    yield from _right("literal", r, near)
    for i, g in enumerate(r.when):
        for new in _everywhere(g, near):
            yield "literal", f"with '{new}'", replace(r, when=(*r.when[:i], new, *r.when[i + 1 :]))


def _operands(r: Rule) -> Changes:
    """Operands of an operator that does not commute, exchanged."""

    def exchanged(e: Expr) -> list[Expr]:
        if e.head not in OPERATORS or OPERATORS[e.head].commutative or len(e.args) < 2:
            return []
        return [Expr(e.head, (*e.args[:-2], e.args[-1], e.args[-2]))]

    yield from _right("operand", r, exchanged)


def _places(r: Rule) -> Changes:
    """A metavariable on the right in the place of another of its kind."""
    known = {e.args: e for e in nodes(r.left) if e.head in ("var", "literal")}

    def other(e: Expr) -> list[Expr]:
        if e.head not in ("var", "literal"):
            return []
        return [k for k in known.values() if k.args != e.args and (k.head, k.args[1]) == (e.head, e.args[1])]

    yield from _right("operand", r, other)


def _right(kind: str, r: Rule, change: Change) -> Changes:
    for new in _everywhere(r.right, change):
        yield kind, f"becoming '{new}'", replace(r, right=new)


def _everywhere(e: Expr, change: Change) -> Iterator[Expr]:
    """The tree with one node changed, in every way and at every place."""
    yield from change(e)
    for i, a in enumerate(e.args):
        if isinstance(a, Expr):
            for new in _everywhere(a, change):
                yield Expr(e.head, (*e.args[:i], new, *e.args[i + 1 :]))
