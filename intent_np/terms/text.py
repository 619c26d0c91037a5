"""Printing terms: one text form for every language, derived from the declarations.

Named things (views, extents, axes, combines, …) and values used more than once are definitions in front of the
program, so that text stays linear in the graph:

    M = extent
    x = view in f16[M] strides [1]
    row = axis 0..M
    program @relu(x, M) {
      store y[row] = maximum(load x[row], 0.0:f16)
    }

`parse.py` reads it back: `parse(show(t)) is t`.
"""

from __future__ import annotations

import json
import math
import re
import struct
from functools import cache
from typing import Any

from .core import CLASSES, Field, Literal, Term, arena, attribute_name, children, walk
from .dtypes import DType
from .operators import OPERATORS
from .template import Block, Hole, Text, delimited, keyword, parts

INDENT = "  "
WORD = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*\Z")
NUMBER = re.compile(r"(inf|nan|nan_[0-9a-f]{16}|true|false)\Z")
RESERVED = {"as", "none", "variable"} | set(OPERATORS)
DEEP = 40  # an expression with more levels is cut into definitions, so that nobody recurses without end
LARGE = 100  # a value with more nodes is defined and not repeated, where statements name what else is shared


def reserved(name: str) -> bool:
    """Whether `name` is a word of the text form, so that a definition needs another one."""
    return name in RESERVED or NUMBER.match(name) is not None or name in _keywords(len(CLASSES))


@cache
def _keywords(classes: int) -> frozenset[str]:
    """The keywords of so many declared classes."""
    return frozenset(keyword(c) for c in CLASSES.values())


def number(v: bool | int | float) -> str:
    """A literal: `true`, `3`, `0.5`, `-inf`, `nan`; any NaN but Python's with its bits."""
    if isinstance(v, float) and v != v:
        bits: int = struct.unpack("<Q", struct.pack("<d", v))[0]
        return "nan" if bits == 0x7FF8 << 48 else f"nan_{bits:016x}"
    return str(v).lower() if isinstance(v, bool) else repr(v)


def shortest(v: float, d: DType) -> str:
    """The shortest decimal that rounds to `v` in its dtype."""
    # the cache would take -0.0 for 0.0
    return number(v) if v - v != 0 or d.bits > 32 else "-" * (math.copysign(1, v) < 0) + _shortest(abs(v), d)


@cache
def _shortest(v: float, d: DType) -> str:
    from ..numerics.literals import FORMATS, round_to

    tries = (f"{v:.{digits}g}" for digits in range(1, 18))
    text = next(t for t in tries if round_to(float(t), FORMATS[d.name]) == v)
    return text if "." in text or "e" in text else text + ".0"


def word(v: str) -> str:
    """A word as it is, any other text in quotes."""
    return v if WORD.match(v) else json.dumps(v)


def attribute(v: Any) -> str:
    """An attribute's text: words, numbers, and tuples of them."""
    if isinstance(v, tuple):
        return ", ".join(f"({attribute(x)})" if isinstance(x, tuple) else attribute(x) for x in v)
    if isinstance(v, (bool, int, float)):
        return number(v)
    return word(v) if isinstance(v, str) else attribute_name(v)


def _inline(t: Term) -> bool:
    """Terms whose text is as short as a name."""
    return type(t).__name__ in ("Const", "Coord", "Var", "At", "NewAxis", "Along", "Arg")


def _has_name(t: Term) -> bool:
    return "name" in type(t).__match_args__  # type: ignore[attr-defined]


def _variable(t: Term) -> bool:
    return type(t).__name__ == "Var"


class Printer:
    """Prints one root; `definitions` are chosen first, so that every use is a name.

    Without `share` only what needs a name has one, and what stands more than `levels` deep is left out.
    """

    def __init__(self, root: Term, share: bool = True, levels: int = 10**9) -> None:
        self.root, self.levels = root, levels
        # the statements of these name what is shared
        self.statements = type(root).__name__ in ("Kernel", "Function", "Launch")
        self.whole = root.binds and _has_name(root)  # then it is defined too: a definition gives the name
        self.names: dict[Term, str] = {}
        self.guards: dict[Term, tuple[Term, ...]] = {}
        terms = walk(root)
        self.taken = {t.name for t in terms if _variable(t)}  # type: ignore[attr-defined]
        defined = self._definitions(terms) if share else {t for t in terms if t.binds and t is not root}
        # a variable that stands outside of the statements that define it is declared
        outside = walk(*(t for t in defined if not t.binds)) if self.statements else terms if share else []
        self.free = {t for t in outside if _variable(t)}
        self.defined = [t for t in terms if t in defined or t in self.free]
        for t in sorted(self.defined, key=lambda t: (t not in self.free, getattr(t, "name", None) is None)):
            self.names[t] = self._fresh(t)

    def _definitions(self, terms: list[Term]) -> set[Term]:
        """What binds, what is used more than once, and what would make an expression too deep."""
        uses: dict[Term, int] = {}
        for t in terms:
            for c in children(t):
                uses[c] = uses.get(c, 0) + 1
        size: dict[Term, int] = {}
        depth: dict[Term, int] = {}
        out = set()
        for t in terms:
            below = children(t)
            size[t], depth[t] = 1 + sum(size[c] for c in below), 1 + max((depth[c] for c in below), default=0)
            shared = uses.get(t, 0) > 1 and below and not _inline(t) and (size[t] > LARGE or not self.statements)
            definable = t.type is not None or not self.statements
            if (t is not self.root or self.whole) and (t.binds or (definable and (shared or depth[t] > DEEP))):
                out.add(t)
                size[t], depth[t] = 1, 0
        return out

    def _fresh(self, t: Term) -> str:
        hint = getattr(t, "name", None) or arena().names.get(t) or (keyword(type(t)) or type(t).__name__).lower()[0]
        base = hint if WORD.match(hint) else "t"
        name, i = base, 1
        if t in self.free and name not in self.names.values():
            return name  # as in the statements, for the first variable of that name
        while name in self.taken or reserved(name):
            name, i = f"{base}_{i}", i + 1
        self.taken.add(name)
        return name

    def text(self) -> str:
        lines = [f"{self.names[t]} = {self._identity(t)}{self._definition(t)}" for t in self.defined]
        if self.statements:  # there, statements define the variables
            self.names = {t: n for t, n in self.names.items() if t not in self.free}
        return "\n".join([*lines, self.expression(self.root, 0, 0)]) + "\n"

    def _definition(self, t: Any) -> str:
        if not _variable(t):
            return self.spelled(t, 0, 0)
        dtypes = ", ".join(map(str, t.dtype)) if isinstance(t.dtype, tuple) else str(t.dtype)
        return f"variable {dtypes} over [{', '.join(self.names[p] for p in t.varies)}]"

    def _identity(self, t: Term) -> str:
        """`as N` where the definition could not be called by the name that is part of the term."""
        if _has_name(t) and t.name != self.names[t]:  # type: ignore[attr-defined]
            return f"as {word(t.name)} "  # type: ignore[attr-defined]
        return ""

    def expression(self, t: Any, level: int, depth: int) -> str:
        """`t` as an operand at precedence `level`."""
        if t in self.names:
            return self.names[t]
        return self.spelled(t, level, depth)

    def spelled(self, t: Any, level: int, depth: int) -> str:
        """`t` itself, even where it has a name."""
        if not self.levels:
            return "…"
        self.levels -= 1
        try:
            return self._spelled(t, level, depth)
        finally:
            self.levels += 1

    def _spelled(self, t: Any, level: int, depth: int) -> str:
        kind = type(t).__name__
        if kind == "Const":
            text = shortest(t.value, t.dtype) if t.dtype.is_float else number(t.value)
            return text if t.dtype.name in ("index", "bool") else f"{text}:{t.dtype}"
        if kind == "Apply":
            return self._apply(t, level, depth)
        text = self.template(t, depth)
        return text if level == 0 or delimited(type(t)) else f"({text})"

    def _apply(self, t: Any, level: int, depth: int) -> str:
        op = t.op
        if not op.infix:
            return f"{op.name}({', '.join(self.expression(a, 1, depth) for a in t.args)})"
        first = op.level if op.name not in ("lt", "le", "eq", "ne") else op.level + 1
        args = self.guards.get(t, t.args)
        sides = [
            self.expression(a, first if i == 0 and op.arity > 0 else op.level + 1, depth) for i, a in enumerate(args)
        ]
        text = f" {op.infix} ".join(sides)
        return text if op.level >= level else f"({text})"

    def template(self, t: Term, depth: int) -> str:
        fields = {f.name: f for f in t.fields}
        if "valid" in fields and "index" in fields:
            self._order_guard(t)
        out, said = "", set[str]()
        for i, p in enumerate(parts(type(t))):
            if isinstance(p, Text):
                text = "\n" + p.text.lstrip() if out.endswith("\0") else p.text
                out += text.replace("\n", "\n" + INDENT * depth)
            elif isinstance(p, Hole):
                out += self.field(t, fields[p.field], 0 if p.last and i else 1, depth)
            elif isinstance(p, Block):
                for s in getattr(t, p.field):
                    out = out.rstrip("\0") + "\n" + INDENT * (depth + 1) + self.expression(s, 0, depth + 1)
                out += "\0"
            elif p.field not in said and not self._default(t, fields[p.field]):
                said.update(q.field for q in p.before + p.after if isinstance(q, Hole))
                inner = [*p.before, *((Hole(p.field),) if fields[p.field].sort is not bool else ()), *p.after]
                out += "".join(
                    q.text if isinstance(q, Text) else self.field(t, fields[q.field], 1, depth) for q in inner
                )
        return out.replace("\0", "")

    def _order_guard(self, t: Any) -> None:
        """A guard reads in the order of the index that it guards; parsing sorts it again."""
        if type(t.valid).__name__ == "Apply" and t.valid.op.arity < 0:
            first = lambda p: next((i for i, x in enumerate(t.index) if x.lanes & p.lanes), 99)  # noqa: E731
            self.guards[t.valid] = tuple(sorted(t.valid.args, key=first))

    def _default(self, t: Term, f: Field) -> bool:
        v = getattr(t, f.name)
        if f.required:
            return v is None or v == ()
        return v is None if f.kind == "maybe" else v == f.default and type(v) is type(f.default)

    def field(self, t: Term, f: Field, level: int, depth: int) -> str:
        v = getattr(t, f.name)
        if f.kind in ("term", "maybe"):
            return self.expression(v, level, depth) if v is not None else "none"
        if f.kind == "terms":
            return ", ".join(self.expression(x, 1, depth) for x in v)
        return number(v) if f.sort is Literal else attribute(v)


def show(t: Term) -> str:
    """The whole text of a term, definitions first."""
    return Printer(t).text()


def brief(t: Term, limit: int = 160) -> str:
    """One line for messages: names instead of definitions, cut at `limit` characters."""
    p = Printer(t, share=False, levels=max(1, limit // 12))  # many nodes may share few children
    line = " ".join(p.expression(t, 0, 0).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
