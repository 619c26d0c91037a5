"""Rules compiled to Python: one function an operator, that tries the rules whose left side begins with it.

The operands of a commutative operator are tried in both orders.  A pattern of a conjunction or disjunction at the root
fits any that has such parts among its own, and the others stay; below the root its last part stands for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

from ..terms.dtypes import DTYPES, bool_, index
from ..terms.index import Apply, Cast, Const, Value
from ..terms.operators import OPERATORS
from .facts import at_most, less, lower, multiple_of, upper
from .pattern import LEAVES, Expr, Rule, nodes

Step = Callable[[Any], Any]
_KIND = {"i": "{}.type.is_integer", "x": "{}.type is index", "f": "{}.type.is_float", "b": "{}.type is bool_"}
_GUARD = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "lt": "<", "le": "<=", "eq": "==", "ne": "!=",
    "bit_and": "&", "bit_or": "|", "bit_xor": "^",
}  # fmt: skip
MANY = ("and", "or")


class _Matching:
    """The lines that match one pattern, each a condition or a loop, and what they bind."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.bound: dict[str, str] = {"result": "t.type"}
        self.loops = 0

    def require(self, condition: str) -> None:
        self.lines.append(f"if {condition}:")

    def match(self, p: Expr, at: str, root: bool = False) -> None:
        match p.head:
            case "var" | "literal":
                self._variable(p, at)
            case "const":
                self._constant(p.args[0], at)
            case "cast":
                value, to, mode = p.args
                self.require(f"type({at}) is Cast and {at}.mode == {mode!r}")
                self._element(to, f"{at}.dtype")
                self.match(value, f"{at}.value")
            case _ if p.head in MANY:
                self.require(f"type({at}) is Apply and {at}.op is OP[{p.head!r}]")
                self._parts(p, at, root)
            case _:
                self.require(f"type({at}) is Apply and {at}.op is OP[{p.head!r}]")
                for i, a in enumerate(p.args):
                    self.match(a, f"{at}.args[{i}]")

    def _variable(self, p: Expr, at: str) -> None:
        name, kind = p.args
        if name in self.bound:
            self.require(f"{at} is {self.bound[name]}")
            return
        self.bound[name] = at
        if p.head == "literal":
            self.require(f"type({at}) is Const and {at}.type.is_{'float' if kind == 'f' else 'integer'}")
        elif kind in _KIND:
            self.require(_KIND[kind].format(at))

    def _constant(self, v: Any, at: str) -> None:
        same = f"type({at}) is Const and {at}.value == {_number(v)}"
        if isinstance(v, bool):
            self.require(f"{same} and {at}.dtype is bool_")
        elif v == 0 and isinstance(v, float):  # zeros differ by sign
            self.require(f"{same} and str({at}.value) == {str(v)!r}")
        elif isinstance(v, int):  # of any type of numbers
            self.require(f"{same} and {at}.dtype is not bool_" + f" and str({at}.value)[0] != '-'" * (v == 0))
        else:
            self.require(same)

    def _element(self, to: Expr, at: str) -> None:
        name, kind = to.args
        if kind == "named":
            self.require(f"{at} is DTYPES[{name!r}]")
        elif name in self.bound:
            self.require(f"{at} is {self.bound[name]}")
        else:
            self.bound[name] = at

    def _parts(self, p: Expr, at: str, root: bool) -> None:
        """Some operands of a connective, each by a loop over all; at the root the others are left over."""
        *parts, last = p.args
        found: list[str] = []
        for part in (*parts, last) if root else parts:
            one = f"u{self.loops}"
            self.loops += 1
            self.lines.append(f"for {one} in {at}.args:")
            for other in found:
                self.require(f"{one} is not {other}")
            found.append(one)
            self.match(part, one)
        others = f"[a for a in {at}.args if a not in ({', '.join(found)},)]"
        if root:
            self.bound["others"] = others
        else:
            rest = f"r{self.loops}"
            self.loops += 1
            self.lines.append(f"for {rest} in (joined({p.head!r}, {others}),):")
            self.match(last, rest)


def _number(v: Any) -> str:
    return f"float('{v}')" if isinstance(v, float) and v - v != 0 else repr(v)


def _guard(e: Expr, bound: dict[str, str]) -> str:
    """A guard over literals, facts and element types."""
    match e.head:
        case "literal":
            return f"{bound[e.args[0]]}.value"
        case "const":
            return _number(e.args[0])
        case "fact":
            return f"{e.args[0]}({bound[e.args[1].args[0]]})"
        case "proved":
            (comparison,) = e.args
            a, b = (_part(x, bound) for x in comparison.args)
            return f"{'less' if comparison.head == 'lt' else 'at_most'}({a}, {b})"
        case "multiple":
            x, c = e.args
            return f"({bound[c.args[0]]}.value > 0 and multiple_of({bound[x.args[0]]}, {bound[c.args[0]]}.value))"
        case "computed":
            return f"{e.args[0]}({', '.join(bound[a.args[0]] for a in e.args[1:])})"
    return f"({f' {_GUARD[e.head]} '.join(_guard(a, bound) for a in e.args)})"


def _part(e: Expr, bound: dict[str, str]) -> str:
    return f"constant({e.args[0]})" if e.head == "const" else bound[e.args[0]]


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
    if e.head in LEAVES:
        return f"DTYPES[{e.args[0]!r}]" if e.args[1] == "named" else bound[e.args[0]]
    if e.head == "const":
        v = e.args[0]
        return f"Const({v}, bool_)" if isinstance(v, bool) else f"constant({_number(v)}, {like})"
    if e.head == "cast":
        return f"node(Cast({_build(e.args[0], bound, like)}, {_build(e.args[1], bound, like)}, {e.args[2]!r}))"
    if e.head == "computed":
        return f"{e.args[0]}({', '.join(_build(a, bound, like) for a in e.args[1:])})"
    if _literal_only(e) and e.head in _GUARD:
        return f"wrapped({_guard(e, bound)}, {like})"
    return f"node(apply({e.head!r}, {', '.join(_build(a, bound, like) for a in e.args)}))"


def _like(r: Rule, bound: dict[str, str]) -> str:
    """Where a constant of the template takes its dtype from: the result, or a bound operand that is no predicate."""

    def first(e: Expr) -> str | None:
        if e.head in ("var", "literal"):
            return None if e.args[1] == "b" else bound[e.args[0]]
        return next((f for a in e.args if isinstance(a, Expr) and (f := first(a))), None)

    return "t.type" if r.left.head == "select" else f"{first(r.left) or 't'}.type"


def orders(e: Expr) -> list[Expr]:
    """A pattern with the operands of its commutative operators in every order that differs."""
    if not any(isinstance(a, Expr) for a in e.args):
        return [e]
    below = [orders(a) if isinstance(a, Expr) else [a] for a in e.args]
    found = [Expr(e.head, tuple(args)) for args in product(*below)]
    if (
        e.head in OPERATORS
        and OPERATORS[e.head].commutative
        and e.head not in MANY
        and repr(e.args[0]) != repr(e.args[1])
    ):
        found += [Expr(f.head, f.args[::-1]) for f in found]
    return found


def source(rules: Iterable[Rule], telling: bool = False) -> dict[str, str]:
    """Python text of one matching function for each operator at a root; `telling`, they also give what metavariables
    stand for."""
    by_root: dict[str, list[Rule]] = {}
    for r in rules:
        by_root.setdefault(r.left.head, []).append(r)
    out = {}
    for root, group in by_root.items():
        lines = [f"# {root}", "def step(t, node):"]
        for r in group:
            for left in orders(r.left):
                lines += _lines(r, left, telling)
        out[root] = "\n".join([*lines, "    return None"]) + "\n"
    return out


def _lines(r: Rule, left: Expr, telling: bool) -> list[str]:
    """What tries one order of a rule's left side."""
    m = _Matching()
    m.match(left, "t", root=True)
    if left.head != "cast":
        m.lines.pop(0)  # the function is of this operator
    facts = [f"{f.args[0]}({m.bound[f.args[1].args[0]]}) is not None" for g in r.when for f in _facts(g)]
    like = _like(r, m.bound)
    fitting = [f"fits({_guard(e, m.bound)}, {like})" for e in _constants(r.right)]
    divisors = [f"{_guard(d, m.bound)} != 0" for g in (*r.when, r.right) for d in _divisors(g)]
    guards = [_guard(g, m.bound) for g in r.when]
    tests = [*dict.fromkeys((*facts, *divisors)), *guards, *fitting]
    if tests:
        m.require(" and ".join(tests))
    built = _build(r.right, m.bound, like)
    if r.left.head in MANY:
        built = f"joined({r.left.head!r}, [*{m.bound['others']}, {built}])"
    if r.opaque:
        m.lines += [f"for new in ({built},):", "if new is not None and new is not t:"]
        built = "new"
    out = _nested(m.lines)
    depth = len(out) + 1
    told = ", {" + ", ".join(f"{n!r}: {at}" for n, at in m.bound.items() if n != "result") + "}" if telling else ""
    return [f"    # {r.name}", *out, f"{'    ' * depth}return {built}, {r.name!r}{told}"]


def _nested(lines: list[str]) -> list[str]:
    """Conditions and loops, each inside those before it; conditions in a row are one line."""
    merged: list[str] = []
    for line in lines:
        if merged and merged[-1].startswith("if ") and line.startswith("if "):
            merged[-1] = f"{merged[-1][:-1]} and {line[3:]}"
        else:
            merged.append(line)
    return ["    " * (i + 1) + line for i, line in enumerate(merged)]


def fits(v: int, d: Any) -> bool:
    """Whether a constant that a rule computes exists: index arithmetic does not wrap, that of other integers does."""
    return d is not index or d.range[0] <= v <= d.range[1]


def wrapped(v: int, d: Any) -> Const:
    """`v` modulo 2^w, as an element of `d`."""
    low = d.range[0]
    return Const((v - low) % 2**d.bits + low, d)


def compile_rules(
    rules: Iterable[Rule], functions: Mapping[str, Any] | None = None, telling: bool = False
) -> dict[str, Any]:
    """`{operator: step}`; a step gives (replacement, rule name) or None, and, `telling`, what metavariables stand for.
    `functions` are what guards and templates compute with, by name."""
    from ..terms.index import apply, const
    from .scalar_attributes import FUNCTIONS

    def joined(op: str, parts: list[Value]) -> Value:
        return apply(op, *parts) if len(parts) > 1 else parts[0] if parts else Const(op == "and", bool_)

    space: dict[str, Any] = {
        "Apply": Apply, "Cast": Cast, "Const": Const, "OP": OPERATORS, "DTYPES": DTYPES, "apply": apply,
        "bool_": bool_, "constant": const, "index": index, "fits": fits, "wrapped": wrapped, "lower": lower,
        "upper": upper, "less": less, "at_most": at_most, "multiple_of": multiple_of, "joined": joined,
        **FUNCTIONS, **(functions or {}),
    }  # fmt: skip
    steps = {}
    for root, text in source(rules, telling).items():
        local = dict(space)
        exec(compile(text, f"<rules for {root}>", "exec"), local)
        steps[root] = local["step"]
    return steps


__all__ = ["Step", "Value", "compile_rules", "nodes", "orders", "source"]
