"""The `syntax` of a term, compiled once into the parts that printer and parser walk.

    "load {view}[{index}]{ valid (|valid|) fill $fill}"

`{f}` is a field, `{f:block}` statements one a line and indented, `{before|f|after}` an optional group, present when the
field differs from its default and an earlier group has not written it; `$g` inside it is a further field.  A bool field
in an optional group is the group's presence.  `{{` and `}}` are braces.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

cache: Any = functools.cache  # the type checker takes term classes for unhashable


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Hole:
    """A field; `last` when nothing follows it, so that it needs no parentheses."""

    field: str
    last: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Statements, one a line."""

    field: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A group that is present when its field differs from the default."""

    field: str
    before: tuple[Text | Hole, ...]
    after: tuple[Text | Hole, ...]


Part = Text | Hole | Block | Optional

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}|:]+)\}|\{(\w+):block\}|\{([^{}|]*)\|(\w+)\|([^{}|]*)\}|([^{}]+)")
_INNER = re.compile(r"\$(\w+)|([^$]+)")


def _inner(text: str) -> tuple[Text | Hole, ...]:
    return tuple(Hole(m[1]) if m[1] else Text(m[2]) for m in _INNER.finditer(text))


@cache
def parts(cls: Any) -> tuple[Part, ...]:
    """The parts of a class' syntax; the generic call form when it declares none."""
    syntax = cls.syntax or f"{cls.__name__}({', '.join('{' + f.name + '}' for f in cls.fields)})"
    out: list[Part] = []
    for m in _PIECE.finditer(syntax):
        if m[0] in ("{{", "}}"):
            out.append(Text(m[0][0]))
        elif m[1]:
            out.append(Hole(m[1]))
        elif m[2]:
            out.append(Block(m[2]))
        elif m[4]:
            out.append(Optional(m[4], _inner(m[3]), _inner(m[5])))
        else:
            out.append(Text(m[6]))
    if isinstance(out[-1], Hole):
        out[-1] = Hole(out[-1].field, last=True)
    return tuple(out)


@cache
def keyword(cls: Any) -> str | None:
    """The word that a term's text begins with, if it begins with one."""
    first = parts(cls)[0]
    m = re.match(r"[A-Za-z_]\w*", first.text) if isinstance(first, Text) else None
    return m[0] if m else None


@cache
def delimited(cls: Any) -> bool:
    """Whether the text stands by itself as an operand, without parentheses."""
    syntax = cls.syntax or "x()"
    return bool(re.match(r"^\w+[(<].*\)$", syntax)) or bool(re.match(r"^\{\w+\}$", syntax))
