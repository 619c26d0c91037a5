"""Rules compiled to Python: one function an operator, that tries the rules whose left side begins with it.

A commutative operator at the root of a pattern is tried in both orders; below it, patterns are written in the order
that the canonical form has (constants on the right).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..terms.dtypes import bool_, index
from ..terms.index import Apply, Const, Value
from ..terms.operators import OPERATORS
from .facts import lower, upper
from .pattern import Expr, Rule

Step = Callable[[Any], Any]
_KIND = {"i": "{}.type.is_integer", "x": "{}.type is index", "f": "{}.type.is_float", "b": "{}.type is bool_"}
_GUARD = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "floordiv": "//",
    "mod": "%",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
}


class _Matching:
    """Conditions and bindings of one pattern."""

    def __init__(self) -> None:
        self.conditions: list[str] = []
        self.bound: dict[str, str] = {}

    def match(self, p: Expr, at: str) -> None:
        if p.head in ("var", "literal"):
            name, kind = p.args
            if name in self.bound:
                self.conditions.append(f"{at} is {self.bound[name]}")
                return
            self.bound[name] = at
            if p.head == "literal":
                self.conditions.append(f"type({at}) is Const and {at}.type.is_integer")
            elif kind in _KIND:
                self.conditions.append(_KIND[kind].format(at))
        elif p.head == "const":
            v = p.args[0]
            self.conditions.append(f"type({at}) is Const and {at}.value == {_number(v)}")
            if isinstance(v, float) and v == 0.0:  # zeros differ by sign
                self.conditions.append(f"str({at}.value) == {str(v)!r}")
            if isinstance(v, bool):
                self.conditions.append(f"{at}.dtype is bool_")
        else:
            self.conditions.append(
                f"type({at}) is Apply and {at}.op is OP[{p.head!r}] and len({at}.args) == {len(p.args)}"
            )
            for i, a in enumerate(p.args):
                self.match(a, f"{at}.args[{i}]")


def _number(v: Any) -> str:
    return f"float('{v}')" if isinstance(v, float) and v - v != 0 else repr(v)


def _guard(e: Expr, bound: dict[str, str]) -> str:
    """A guard over literals and facts; a missing fact fails it (comparisons go through `known`)."""
    if e.head == "literal":
        return f"{bound[e.args[0]]}.value"
    if e.head == "const":
        return _number(e.args[0])
    if e.head == "fact":
        return f"{e.args[0]}({bound[e.args[1].args[0]]})"
    return f"({f' {_GUARD[e.head]} '.join(_guard(a, bound) for a in e.args)})"


def _facts(e: Expr) -> list[Expr]:
    return [e] if e.head == "fact" else [f for a in e.args if isinstance(a, Expr) for f in _facts(a)]


def _divisors(e: Expr) -> list[Expr]:
    """What a guard, or a constant, divides by: a rule does not fire where one is zero."""
    found = [d for a in e.args if isinstance(a, Expr) for d in _divisors(a)]
    return [*found, e.args[1]] if e.head in ("floordiv", "mod") and _literal_only(e) else found


def _literal_only(e: Expr) -> bool:
    return e.head in ("literal", "const") or (e.head in _GUARD and all(_literal_only(a) for a in e.args))


def _constants(e: Expr) -> list[Expr]:
    """The parts of a template that are computed from literals."""
    if e.head in _GUARD and _literal_only(e):
        return [e]
    return [x for a in e.args if isinstance(a, Expr) for x in _constants(a)]


def _build(e: Expr, bound: dict[str, str], like: str) -> str:
    """A template: nodes are built through `node`, so that what a rule makes is in normal form as well."""
    if e.head in ("var", "literal"):
        return bound[e.args[0]]
    if e.head == "const":
        return (
            "TRUE()"
            if e.args[0] is True
            else "FALSE()"
            if e.args[0] is False
            else f"constant({_number(e.args[0])}, {like})"
        )
    if _literal_only(e) and e.head in _GUARD:
        return f"wrapped({_guard(e, bound)}, {like})"
    return f"node(apply({e.head!r}, {', '.join(_build(a, bound, like) for a in e.args)}))"


def _like(r: Rule, bound: dict[str, str]) -> str:
    """Where a constant of the template takes its dtype from: a bound operand that is no predicate."""

    def first(e: Expr) -> str | None:
        if e.head in ("var", "literal"):
            return None if e.args[1] == "b" else bound[e.args[0]]
        return next((f for a in e.args if isinstance(a, Expr) and (f := first(a))), None)

    return f"{first(r.left) or 't'}.type"


def source(rules: Iterable[Rule]) -> dict[str, str]:
    """Python text of one matching function for each operator at a root."""
    by_root: dict[str, list[Rule]] = {}
    for r in rules:
        by_root.setdefault(r.left.head, []).append(r)
    out = {}
    for root, group in by_root.items():
        lines = ["def step(t, node):"]
        for r in group:
            orders = [r.left]
            if OPERATORS[root].commutative and len(r.left.args) == 2 and r.left.args[0].head != r.left.args[1].head:
                orders.append(Expr(root, r.left.args[::-1]))
            for left in orders:
                m = _Matching()
                m.match(left, "t")
                facts = [f"{f.args[0]}({m.bound[f.args[1].args[0]]}) is not None" for g in r.when for f in _facts(g)]
                like = _like(r, m.bound)
                fitting = [f"fits({_guard(e, m.bound)}, {like})" for e in _constants(r.right)]
                divisors = [f"{_guard(d, m.bound)} != 0" for g in (*r.when, r.right) for d in _divisors(g)]
                guards = [_guard(g, m.bound) for g in r.when]
                tests = [*(m.conditions[1:] or ["True"]), *dict.fromkeys((*facts, *divisors)), *guards, *fitting]
                lines.append(f"    if {' and '.join(tests)}:  # {r.name}")
                lines.append(f"        return {_build(r.right, m.bound, like)}, {r.name!r}")
        lines.append("    return None")
        out[root] = "\n".join(["# " + root, *lines]) + "\n"
    return out


def fits(v: int, d: Any) -> bool:
    """Whether a constant that a rule computes exists: index arithmetic does not wrap, that of other integers does."""
    return d is not index or d.range[0] <= v <= d.range[1]


def wrapped(v: int, d: Any) -> Const:
    """`v` modulo 2^w, as an element of `d`."""
    low = d.range[0]
    return Const((v - low) % 2**d.bits + low, d)


def compile_rules(rules: Iterable[Rule]) -> dict[str, Any]:
    """`{operator: step}`; a step gives (replacement, rule name) or None."""
    from ..terms.index import apply, const

    space: dict[str, Any] = {
        "Apply": Apply, "Const": Const, "OP": OPERATORS, "apply": apply, "bool_": bool_, "constant": const,
        "index": index,
        "fits": fits, "wrapped": wrapped, "lower": lower, "upper": upper, "TRUE": lambda: Const(True, bool_),
        "FALSE": lambda: Const(False, bool_),
    }  # fmt: skip
    steps = {}
    for root, text in source(rules).items():
        local = dict(space)
        exec(compile(text, f"<rules for {root}>", "exec"), local)
        steps[root] = local["step"]
    return steps


__all__ = ["Step", "Value", "compile_rules", "source"]
