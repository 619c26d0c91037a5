"""Rules over scalars as an egglog program: what a term is, what is known of it, and one rewrite a rule.

    (rewrite (Mod v-x v-y) v-x :when ((= t-x (type v-x)) (kind t-x "index") … (< upper-x lower-y)))

A rule is exported if egglog can say it: not where a function computes a side, a guard or a type.  Conjunctions and
disjunctions have two operands there; constants are computed for indices alone, whose arithmetic does not wrap; floats
are told by their text, since egglog's zeros are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from ..terms.dtypes import DTYPES
from ..terms.operators import OPERATORS
from .matcher import MANY, orders
from .pattern import Expr, Rule, nodes

LITERAL = {"add": "+", "sub": "-", "mul": "*", "mod": "%", "lt": "<", "le": "<=", "eq": "=", "ne": "!="}
"""What egglog's integers have in common with Python's; their quotients are cut towards zero, and left out."""
KINDS = {"i": "integer", "x": "index", "f": "float", "b": "truth", "any": ""}


def exportable(r: Rule) -> bool:
    """Whether egglog can say a rule."""
    whole = [n for e in (r.left, r.right, *r.when) for n in nodes(e)]
    return all(n.head in _SAYABLE for n in whole) and not any(map(_computes, (r.right, *r.when)))


_SAYABLE = {"var", "literal", "const", "fact", "proved", *OPERATORS}


def _computes(e: Expr) -> bool:
    """Whether a constant is computed by something that egglog's integers do not have."""
    own = _is_number(e) and e.head not in ("literal", "const", *LITERAL)
    return own or any(_computes(a) for a in e.args if isinstance(a, Expr))


def _is_number(e: Expr) -> bool:
    return e.head in ("literal", "const") or e.head in OPERATORS and all(map(_is_number, e.args))


def program(rules: Iterable[Rule]) -> str:
    """The whole program: declarations, and the rules that can be said, each under a comment with its name."""
    lines = [*_declarations()]
    for r in rules:
        if exportable(r):
            lines.append(f"; {r.name}: {r.left} -> {r.right}")
            lines += dict.fromkeys(_Writing(r).rewrite(left) for left in _both(r.left))
    return "\n".join(lines) + "\n"


def _both(e: Expr) -> list[Expr]:
    """The orders of a pattern, those of conjunctions and disjunctions of two included."""
    found = orders(e)
    if e.head in MANY and len(e.args) == 2:
        found += [Expr(f.head, f.args[::-1]) for f in found]
    return found


def _declarations() -> Iterable[str]:
    yield "(datatype Value"
    yield "  (Leaf String String)"
    yield "  (Whole i64 String)"
    yield "  (Real String String)"
    yield "  (Truth bool)"
    for op in OPERATORS.values():
        yield f"  ({_name(op.name)}{' Value' * (2 if op.arity < 0 else op.arity)})"
    yield ")"
    yield "(function type (Value) String :no-merge)"
    yield "(function lower (Value) i64 :merge (max old new))"
    yield "(function upper (Value) i64 :merge (min old new))"
    yield "(relation kind (String String))"
    for d in DTYPES.values():
        kinds = ["integer"] * d.is_integer + ["float"] * d.is_float + ["index"] * (d.name == "index")
        yield from (f'(kind "{d.name}" "{k}")' for k in [*kinds, *(["truth"] if d.name == "bool" else [])])
    yield "(rule ((= e (Leaf n t))) ((set (type e) t)))"
    yield "(rule ((= e (Whole n t))) ((set (type e) t) (set (lower e) n) (set (upper e) n)))"
    yield "(rule ((= e (Real n t))) ((set (type e) t)))"
    yield '(rule ((= e (Truth n))) ((set (type e) "bool")))'
    for op in OPERATORS.values():
        names = [f"a{i}" for i in range(2 if op.arity < 0 else op.arity)]
        term = f"(= e ({_name(op.name)} {' '.join(names)}))"
        if op.result == "bool":
            yield f'(rule ({term}) ((set (type e) "bool")))'
        else:
            yield f"(rule ({term} (= t (type {names[-1]}))) ((set (type e) t)))"
    for connective, unit in (("And", "true"), ("Or", "false")):  # what constructors of terms do by themselves
        zero = "false" if unit == "true" else "true"
        yield f"(rewrite ({connective} a b) ({connective} b a))"
        yield f"(rewrite ({connective} a a) a)"
        yield f"(rewrite ({connective} a (Truth {unit})) a)"
        yield f"(rewrite ({connective} a (Truth {zero})) (Truth {zero}))"
    for op_name, low, high in (("add", "(+ la lb)", "(+ ha hb)"), ("sub", "(- la hb)", "(- ha lb)")):
        for which, value, parts in (("lower", low, low), ("upper", high, high)):
            known = " ".join(f"(= {p} ({'lower' if p[0] == 'l' else 'upper'} {p[1]}))" for p in parts[3:-1].split())
            yield f'(rule ((= e ({_name(op_name)} a b)) (= "index" (type e)) {known}) ((set ({which} e) {value})))'


def _name(op: str) -> str:
    """An operator's constructor: egglog has functions of its own in small letters."""
    return op.title().replace("_", "")


class _Writing:
    """One rule as text; what its guards need stands in `facts`, in order."""

    def __init__(self, r: Rule) -> None:
        self.rule = r
        self.fresh = (f"k{i}" for i in count())
        self.facts: list[str] = []
        self.typed: set[str] = set()

    def rewrite(self, left: Expr) -> str:
        """`(rewrite …)` for one order of the left side."""
        self.facts, self.typed = [], set()
        shape = self.pattern(left)
        like = self._like(left)
        for g in self.rule.when:
            self.facts.append(self.guard(g))
        made = self.template(self.rule.right, like)
        when = f" :when ({' '.join(dict.fromkeys(self.facts))})" if self.facts else ""
        return f"(rewrite {shape} {made}{when})"

    def pattern(self, e: Expr) -> str:
        if e.head == "var":
            name, kind = e.args
            self._type(name)
            if KINDS[kind]:
                self.facts.append(f'(kind t-{name} "{KINDS[kind]}")')
            return f"v-{name}"
        if e.head == "literal":
            self.facts.append(f'(kind t-{e.args[0]} "integer")')
            return f"(Whole {e.args[0]} t-{e.args[0]})"
        if e.head == "const":
            return self._constant(e.args[0], next(self.fresh))
        return f"({_name(e.head)} {' '.join(map(self.pattern, e.args))})"

    def _type(self, name: str) -> None:
        if name not in self.typed:
            self.typed.add(name)
            self.facts.append(f"(= t-{name} (type v-{name}))")

    def _constant(self, v: Any, t: str) -> str:
        if isinstance(v, bool):
            return f"(Truth {str(v).lower()})"
        return f"(Whole {v} {t})" if isinstance(v, int) else f'(Real "{v!r}" {t})'

    def _like(self, left: Expr) -> str:
        """The type of the constants on the right."""
        names = [n.args[0] for n in nodes(left) if n.head in ("var", "literal") and n.args[1] != "b"]
        return f"t-{names[0]}" if names else '"bool"'

    def guard(self, e: Expr) -> str:
        if e.head == "proved":
            (comparison,) = e.args
            a, b = comparison.args
            return f"({LITERAL[comparison.head]} {self._bound('upper', a)} {self._bound('lower', b)})"
        return f"({LITERAL[e.head]} {' '.join(self.number(a) for a in e.args)})"

    def number(self, e: Expr) -> str:
        """A literal, a bound, or what is computed of them."""
        if e.head == "fact":
            return self._bound(*e.args)
        if e.head in ("literal", "const"):
            return str(e.args[0])
        return f"({LITERAL[e.head]} {' '.join(map(self.number, e.args))})"

    def _bound(self, which: str, of: Expr) -> str:
        if of.head == "const":
            return str(of.args[0])
        name = f"{which}-{of.args[0]}"
        self.facts.append(f"(= {name} ({which} v-{of.args[0]}))")
        return name

    def template(self, e: Expr, like: str) -> str:
        if e.head == "var":
            return f"v-{e.args[0]}"
        if e.head == "literal":
            return f"(Whole {e.args[0]} t-{e.args[0]})"
        if e.head == "const":
            return self._constant(e.args[0], like)
        if _is_number(e):
            self.facts.append(f'(= {like} "index")')
            name = next(self.fresh)
            self.facts.append(f"(= {name} {self.number(e)})")
            return f"(Whole {name} {like})"
        return f"({_name(e.head)} {' '.join(self.template(a, like) for a in e.args)})"
