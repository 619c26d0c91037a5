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

import re
from functools import cache
from typing import Any

from .core import CLASSES, Field, Literal, Term, arena, attribute_name, children, walk
from .dtypes import DType
from .operators import OPERATORS
from .template import Block, Hole, Optional, Text, delimited, keyword, parts

INDENT = "  "
WORD = re.compile(r"[A-Za-z_][\w.]*\Z")
RESERVED = {"true", "false", "inf", "nan", "as", "none"} | set(OPERATORS)


def reserved(name: str) -> bool:
    """Whether `name` is a word of the text form, so that a definition needs another one."""
    return name in RESERVED or any(keyword(c) == name for c in CLASSES.values())


def number(v: bool | int | float) -> str:
    """A literal: `true`, `3`, `0.5`, `-inf`, `nan`."""
    return str(v).lower() if isinstance(v, bool) else repr(v)


@cache
def shortest(v: float, d: DType) -> str:
    """The shortest decimal that rounds to `v` in its dtype."""
    from ..numerics import literal

    if v - v != 0 or d.bits > 32:
        return number(v)
    tries = (f"{v:.{digits}g}" for digits in range(1, 18))
    text = next(t for t in tries if float(literal(float(t), d)) == v and number(float(t))[0] == number(v)[0])
    return text if "." in text or "e" in text else text + ".0"


def word(v: str) -> str:
    return v if WORD.match(v) else '"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"'


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


class Printer:
    """Prints one root; `definitions` are chosen first, so that every use is a name."""

    def __init__(self, root: Term, share: bool = True) -> None:
        self.root: Term = root
        self.names: dict[Term, str] = {}
        self.guards: dict[Term, tuple[Term, ...]] = {}
        uses: dict[Term, int] = {}
        terms = walk(root)
        for t in terms:
            for c in children(t):
                uses[c] = uses.get(c, 0) + 1
        # the statements of these name what is shared
        share = share and type(root).__name__ not in ("Kernel", "Function", "Launch")
        self.defined = [
            t for t in terms
            if t is not root and (t.binds or (share and uses.get(t, 0) > 1 and not _inline(t) and children(t)))
        ]  # fmt: skip
        taken = {t.name for t in terms if type(t).__name__ == "Var"}  # type: ignore[attr-defined]
        for t in sorted(self.defined, key=lambda t: getattr(t, "name", None) is None):
            self.names[t] = self._fresh(t, taken)

    def _fresh(self, t: Term, taken: set[str]) -> str:
        hint = getattr(t, "name", None) or arena().names.get(t) or (keyword(type(t)) or type(t).__name__).lower()[0]
        base = hint if WORD.match(hint) else "t"
        name, i = base, 1
        while name in taken or reserved(name):
            name, i = f"{base}_{i}", i + 1
        taken.add(name)
        return name

    def text(self) -> str:
        lines = [f"{self.names[t]} = {self._identity(t)}{self.spelled(t, 0, 0)}" for t in self.defined]
        return "\n".join([*lines, self.expression(self.root, 0, 0)]) + "\n"

    def _identity(self, t: Term) -> str:
        """`as N` where the definition could not be called by the name that is part of the term."""
        if any(f.name == "name" for f in t.fields) and t.name != self.names[t]:  # type: ignore[attr-defined]
            return f"as {word(t.name)} "  # type: ignore[attr-defined]
        return ""

    def expression(self, t: Any, level: int, depth: int) -> str:
        """`t` as an operand at precedence `level`."""
        if t in self.names:
            return self.names[t]
        return self.spelled(t, level, depth)

    def spelled(self, t: Any, level: int, depth: int) -> str:
        """`t` itself, even where it has a name."""
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
        sides = [self.expression(a, first if i == 0 and op.arity > 0 else op.level + 1, depth) for i, a in enumerate(args)]
        text = f" {op.infix} ".join(sides)
        return text if op.level >= level else f"({text})"

    def template(self, t: Term, depth: int) -> str:
        fields = {f.name: f for f in t.fields}
        if "valid" in fields and "index" in fields:
            self._order_guard(t)
        out = ""
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
            elif not self._default(t, fields[p.field]):
                inner = [*p.before, *((Hole(p.field),) if fields[p.field].sort is not bool else ()), *p.after]
                out += "".join(q.text if isinstance(q, Text) else self.field(t, fields[q.field], 1, depth) for q in inner)
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
    p = Printer(t, share=False)
    line = " ".join(p.expression(t, 0, 0).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
