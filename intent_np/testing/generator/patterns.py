"""What rules are about, as values: the left side of a rule with its metavariables drawn.

A new rule is met by random kernels without a line here.  Whether its guards hold is a matter of what is drawn:
coordinates with known ends, and constants about those.
"""

from __future__ import annotations

from typing import Any

from ...rules.pattern import Expr, Rule, nodes
from ...rules.tables import BUILTIN
from ...terms.dtypes import DTYPES
from ...terms.operators import OPERATORS, Op
from .choices import Choices
from .pointwise import WRITTEN

DIVIDING = ("floordiv", "mod", "ceil_div")
ROUNDING = ("add", "sub", "mul", "div", "fma")
"""Operators of floats that round alike on every machine, but for a contraction: nothing may be decided on them."""
CASTS = {"wrap": "cast", "saturate": "saturate_cast", "bits": "bitcast"}


class MisfitError(Exception):
    """What was drawn has no type."""


def fitting(dtype: str) -> list[Rule]:
    """The rules over scalars that values of a dtype, and predicates, may stand in."""
    d = DTYPES[dtype]
    kinds = {"b", "any", "element", "named"} | ({"i", "x"} if dtype == "index" else {"f"} if d.is_float else {"i"})
    return [r for t in BUILTIN.tables if t.language is None for r in t.rules if _kinds(r) <= kinds]


def is_of(r: Rule, dtype: str) -> bool:
    """Whether a rule is about values like those of a dtype, and no others."""
    return ("x" if dtype == "index" else "f" if DTYPES[dtype].is_float else "i") in _kinds(r)


def _kinds(r: Rule) -> set[str]:
    return {e.args[1] for e in nodes(r.left) if e.head in ("var", "literal", "element")}


class Instance:
    """A rule's left side over the parts of a statement: its text and its dtype."""

    def __init__(self, parts: Any, r: Rule) -> None:
        self.parts, self.choices = parts, parts.block.choices
        self.bound: dict[str, tuple[str, str]] = {}
        self.divisors = {d.args[0] for e in nodes(r.left) if e.head in DIVIDING and (d := e.args[1]).head == "var"}
        self.casts = any(e.head == "cast" for e in nodes(r.left))
        self.any = "bool" if self.choices.chance(40 if self.casts else 15) else parts.dtype
        self.text, self.dtype = self.spelled(r.left)
        if self.dtype == "bool" and any(e.head in ROUNDING for e in nodes(r.left)) and parts.element.is_float:
            raise MisfitError

    def spelled(self, e: Expr) -> tuple[str, str]:
        parts = self.parts
        match e.head:
            case "var":
                return self.variable(*e.args)
            case "literal":
                known = [k for k in parts.constants if e.args[0] not in self.divisors or parts.divides(k)]
                return self.once(e.args[0], lambda: (self.constant(known), parts.dtype))
            case "const":
                v = e.args[0]
                return (str(v), "bool") if isinstance(v, bool) else (number(v), parts.dtype)
            case "cast":
                value, to, mode = e.args
                text, own = self.spelled(value)
                target: str = to.args[0] if to.args[1] == "named" else self.once(to.args[0], self.element)[1]
                return converted(parts.typed(text), own, target, mode), target
        return self.operator(OPERATORS[e.head], e.args)

    def operator(self, op: Op, args: tuple[Expr, ...]) -> tuple[str, str]:
        sides = [self.spelled(a) for a in args]
        first = 1 if op.name == "select" else 0
        # numbers take the type of what stands beside them
        dtype = next((d for t, d in sides[first:] if not self.free(t)), self.parts.dtype)
        texts = [t for t, _ in sides[first:]]
        if any(not fits(t, dtype) if self.free(t) else d != dtype for t, d in sides[first:]):
            raise MisfitError
        if first:
            texts = [sides[0][0], *(f"I.cast({t}, I.{dtype})" if self.free(t) else t for t in texts)]
        elif not op.accepts(DTYPES[dtype]) or all(map(self.free, texts)):  # Python would compute numbers alone
            raise MisfitError
        if first and sides[0][1] != "bool":
            raise MisfitError
        if op.name in DIVIDING and texts[1] == "0" or op.name in ("shl", "shr") and not texts[1].isdigit():
            raise MisfitError
        if op not in WRITTEN or len(texts) != (op.arity if op.arity > 0 else 2):
            raise MisfitError
        return WRITTEN[op].format(*texts), "bool" if op.result == "bool" else dtype

    def free(self, text: str) -> bool:
        """Whether text is a number, of no type yet."""
        plain = text.strip("(-)").replace(".", "", 1).isdigit() or "float(" in text and "I." not in text
        return plain or text in self.parts.constants or text in ("True", "False")

    def variable(self, name: str, kind: str) -> tuple[str, str]:
        parts, c = self.parts, self.choices

        def drawn() -> tuple[str, str]:
            if kind == "b" or kind == "any" and self.any == "bool":
                return parts.predicate(c.integer(0, 1)), "bool"
            if name in self.divisors:
                return parts.divisor(), parts.dtype
            if c.chance(25):
                return parts.number(1, True), parts.dtype
            return (
                c.choice(parts.constants) if c.chance(20) else c.choice([*parts.leaves, *parts.made[-1:]])
            ), parts.dtype

        return self.once(name, drawn)

    def constant(self, known: list[str]) -> str:
        """One of some constants: often one that there is already, or a negative one."""
        c = self.choices
        again = [t for t, _ in self.bound.values() if t in known]
        negative = [k for k in known if "-" in k]
        if again and c.chance(15):
            return again[-1]
        return c.choice(negative) if negative and c.chance(20) else c.choice(known)

    def element(self) -> tuple[str, str]:
        known = [d for d in dict.fromkeys(self.parts.block.writer.dtypes) if d != "bool"]
        return "", self.parts.dtype if self.choices.chance(35) else self.choices.choice(known)

    def once(self, name: str, draw: Any) -> tuple[str, str]:
        if name not in self.bound:
            self.bound[name] = draw()
        return self.bound[name]


def fits(text: str, dtype: str) -> bool:
    """Whether a number is a literal of a dtype."""
    d = DTYPES[dtype]
    if text in ("True", "False") or dtype == "bool":
        return text in ("True", "False") and dtype == "bool"
    if "float" in text:
        return d.is_float and dtype != "f8e4m3fn"
    return d.is_float or "." not in text and (d.is_signed or "-" not in text or text == "0")


def number(v: Any) -> str:
    """A constant of a rule as Python."""
    if isinstance(v, float) and v - v != 0:
        return 'float("nan")' if v != v else 'float("inf")' if v > 0 else '(-float("inf"))'
    return repr(v) if not str(v).startswith("-") else f"({v!r})"


def converted(text: str, own: str, to: str, mode: str) -> str:
    """A conversion that the language has, and that has a value whatever comes."""
    source, target = DTYPES[own], DTYPES[to]
    if mode == "bits" and (
        source.bits != target.bits or "bool" in (own, to) and own != to or source.is_float != target.is_float
    ):
        raise MisfitError
    if mode == "wrap" and source.is_float and not target.is_float and own != "bool":
        raise MisfitError
    if mode == "wrap" and to == "f8e4m3fn" and own != "bool" and own != to:
        raise MisfitError
    return f"I.{CASTS[mode]}({text}, I.{to})"


def instance(parts: Any, rules: list[Rule], choices: Choices) -> tuple[str, str]:
    """Text and dtype of the left side of some rule; of a leaf where none of a few fits."""
    for _ in range(6):
        try:
            made = Instance(parts, choices.choice(rules))
        except MisfitError:
            continue
        return made.text, made.dtype
    return parts.leaf(), parts.dtype
