"""What rules are made of: patterns, guards and templates are small expression trees, never Python functions.

    x, y = integers("x y")
    c = literal("c")
    rule("mod-of-multiple", (x * c) % c, 0, when=[c > 0], why="c divides x*c")

The same tree is a pattern on the left and a template on the right; over literals and facts it is a guard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False, slots=True)
class Expr:
    """A node: `head` is an operator's name, `cast`, or one of `LEAVES` and `QUESTIONS`, or `term` or `computed`."""

    head: str
    args: tuple[Any, ...] = ()

    def __add__(self, o: Any) -> Expr:
        return Expr("add", (self, lift(o)))

    def __radd__(self, o: Any) -> Expr:
        return Expr("add", (lift(o), self))

    def __sub__(self, o: Any) -> Expr:
        return Expr("sub", (self, lift(o)))

    def __rsub__(self, o: Any) -> Expr:
        return Expr("sub", (lift(o), self))

    def __mul__(self, o: Any) -> Expr:
        return Expr("mul", (self, lift(o)))

    def __rmul__(self, o: Any) -> Expr:
        return Expr("mul", (lift(o), self))

    def __truediv__(self, o: Any) -> Expr:
        return Expr("div", (self, lift(o)))

    def __floordiv__(self, o: Any) -> Expr:
        return Expr("floordiv", (self, lift(o)))

    def __mod__(self, o: Any) -> Expr:
        return Expr("mod", (self, lift(o)))

    def __lt__(self, o: Any) -> Expr:
        return Expr("lt", (self, lift(o)))

    def __le__(self, o: Any) -> Expr:
        return Expr("le", (self, lift(o)))

    def __gt__(self, o: Any) -> Expr:
        return Expr("lt", (lift(o), self))

    def __ge__(self, o: Any) -> Expr:
        return Expr("le", (lift(o), self))

    def equals(self, o: Any) -> Expr:
        """`==`, as a term or a guard."""
        return Expr("eq", (self, lift(o)))

    def differs(self, o: Any) -> Expr:
        """`!=`, as a term or a guard."""
        return Expr("ne", (self, lift(o)))

    def __repr__(self) -> str:
        return spell(self)


def lift(v: Any) -> Expr:
    """A pattern; a Python number as the pattern of that constant."""
    return v if isinstance(v, Expr) else Expr("const", (v,))


def _metavariables(names: str, kind: str, head: str = "var") -> Any:
    made = tuple(Expr(head, (n, kind)) for n in names.split())
    return made if len(made) > 1 else made[0]


def integers(names: str) -> Any:
    """Metavariables for values of any integer dtype, all of one dtype in a rule."""
    return _metavariables(names, "i")


def indices(names: str) -> Any:
    """Metavariables for index values, whose arithmetic is proved not to wrap."""
    return _metavariables(names, "x")


def floats(names: str) -> Any:
    """Metavariables for float values, all of one dtype in a rule."""
    return _metavariables(names, "f")


def predicates(names: str) -> Any:
    """Metavariables for bool values."""
    return _metavariables(names, "b")


def values(names: str) -> Any:
    """Metavariables for values of any dtype."""
    return _metavariables(names, "any")


def literal(names: str) -> Any:
    """Metavariables for integer constants."""
    return _metavariables(names, "i", "literal")


def constants(names: str) -> Any:
    """Metavariables for float constants."""
    return _metavariables(names, "f", "literal")


def elements(names: str) -> Any:
    """Metavariables for element types: what a cast is to."""
    return _metavariables(names, "element", "element")


def cast(value: Any, to: Any, mode: str = "wrap") -> Expr:
    """A conversion to `to`: an element type's name, or a metavariable for one."""
    return Expr("cast", (lift(value), Expr("element", (to, "named")) if isinstance(to, str) else to, mode))


def call(op: str, *args: Any) -> Expr:
    """An operator by its name in `specs/index.md`, for those without a Python spelling: `call("maximum", x, y)`.

    Raises ValueError for a name that is none, or another number of operands.
    """
    from ..terms.operators import OPERATORS

    if op not in OPERATORS:
        raise ValueError(f"there is no operator '{op}'")
    if OPERATORS[op].arity not in (-1, len(args)):
        raise ValueError(f"'{op}' takes {OPERATORS[op].arity} operands, not {len(args)}")
    return Expr(op, tuple(lift(a) for a in args))


def tensors(names: str) -> Any:
    """Metavariables for values of any type, tensors included."""
    return _metavariables(names, "t")


def attributes(names: str) -> Any:
    """Metavariables for fields that are no single value: a permutation, a shape, subscripts, a dtype."""
    return _metavariables(names, "attribute", "attribute")


def structure(kind: str, *fields: Any) -> Expr:
    """A term of the class `kind` with these fields, in order: `structure("Transpose", v, p)`."""
    return Expr("term", (kind, *(lift(f) for f in fields)))


def computed(name: str, *args: Any) -> Expr:
    """A named function of attributes and values: on the right it gives a field, as a guard a truth."""
    return Expr("computed", (name, *(lift(a) for a in args)))


def nodes(e: Expr) -> Iterator[Expr]:
    """The tree, from its root down."""
    yield e
    for a in e.args:
        if isinstance(a, Expr):
            yield from nodes(a)


def lo(x: Expr) -> Expr:
    """Fact: a proved lower bound of an integer value in every lane."""
    return Expr("fact", ("lower", x))


def hi(x: Expr) -> Expr:
    """Fact: a proved upper bound of an integer value in every lane."""
    return Expr("fact", ("upper", x))


def proved(comparison: Expr) -> Expr:
    """Fact: `x < y` or `x <= y` is proved in every lane, `x` and `y` metavariables."""
    return Expr("proved", (comparison,))


def multiple(x: Expr, c: Expr) -> Expr:
    """Fact: an index is proved to be a multiple of a positive constant."""
    return Expr("multiple", (x, c))


LEAVES = ("var", "literal", "attribute", "element")
"""Heads of metavariables; their arguments are a name and a kind."""
QUESTIONS = ("fact", "proved", "multiple")
"""Heads of what is asked of an analysis: it is known, or it is not."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`left` rewrites to `right` where every guard holds.  `numerics` is `exact`, or the permission that it needs."""

    name: str
    left: Expr
    right: Expr
    when: tuple[Expr, ...] = ()
    numerics: str = "exact"
    why: str = ""
    subject: str = field(default="", compare=False)

    @property
    def opaque(self) -> bool:
        """Whether the right side of a rule over scalars is computed by a function, which nothing proves."""
        return self.left.head != "term" and self.right.head == "computed"


def rule(name: str, left: Any, right: Any, *, when: Any = (), numerics: str = "exact", why: str = "") -> Rule:
    """The rewrite rule `left -> right`; `when` holds its guards, `numerics` the permission that it needs."""
    return Rule(name, left, lift(right), tuple(when), numerics, why)


def spell(e: Expr, level: int = 0) -> str:
    """The tree as mathematics, for catalogue and messages."""
    from ..terms.operators import OPERATORS

    if e.head in LEAVES:
        return str(e.args[0])
    if e.head == "cast":
        value, to, mode = e.args
        name = {"wrap": "cast", "saturate": "saturate_cast", "bits": "bitcast"}[mode]
        return f"{name}({spell(value)}, {to})"
    if e.head == "proved":
        return spell(e.args[0])
    if e.head == "multiple":
        return f"{spell(e.args[1])} divides {spell(e.args[0])}"
    if e.head in ("term", "computed"):
        return f"{e.args[0]}({', '.join(spell(a) for a in e.args[1:])})"
    if e.head == "const":
        return str(e.args[0]).lower() if isinstance(e.args[0], bool) else str(e.args[0])
    if e.head == "fact":
        return f"{'lo' if e.args[0] == 'lower' else 'hi'}({spell(e.args[1])})"
    op = OPERATORS[e.head]
    if not op.infix:
        return f"{op.name}({', '.join(spell(a) for a in e.args)})"
    text = f" {op.infix} ".join(spell(a, op.level + (i > 0)) for i, a in enumerate(e.args))
    return text if op.level >= level else f"({text})"
