"""Reading the text form back, derived from the same declarations as the printer.

`parse(text, language)` interns in the arena in force and gives the very term that was printed.  Errors name the line.
"""

from __future__ import annotations

import json
import re
import struct
import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import gpu
from .core import Field, Literal, Term, arena
from .dtypes import DTYPES, DType
from .index import Apply, AxisLike, Const, Physical, Value, apply, const
from .language import Language
from .normal import Coord
from .operators import OPERATORS, Op
from .template import Block, Hole, Optional, Text, keyword, parts
from .text import NUMBER

_TOKEN = re.compile(
    r"[ \t]+|(?P<number>(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+(?!\.\d)))|(?P<word>[A-Za-z_](?:\w|\.(?!\.))*)"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<symbol>\.\.|//|\*\*|<<|>>|<=|>=|==|!=|&&|\|\||.)"
)
CLOSING = (")", "]", "}", ":", ";", "=")
_INFIX = {op.infix: op for op in OPERATORS.values() if op.infix}


@dataclass(slots=True)
class Token:
    """A word, number, string or symbol of a text, and where it stands; `first` in a line behind `indent` spaces."""

    kind: str
    text: str
    line: int
    column: int
    indent: int
    first: bool


class ParseError(ValueError):
    """Text that is no term of the language: the token, what was expected, and the words that may stand there."""

    def __init__(self, token: Token, found: str, expected: str = "", candidates: Iterable[str] = ()) -> None:
        super().__init__(f"line {token.line}: " + (f"expected {expected}, found {found}" if expected else found))
        self.token, self.found, self.expected, self.candidates = token, found, expected, tuple(candidates)


def tokens(text: str) -> list[Token]:
    """The tokens of a text, and one that says that it ends."""
    out: list[Token] = []
    for n, line in enumerate(text.splitlines(), 1):
        indent, first = len(line) - len(line.lstrip()), True
        for m in _TOKEN.finditer(line):
            if m.lastgroup:
                out.append(Token(m.lastgroup, m[0], n, m.start() + 1, indent, first))
                first = False
    out.append(Token("end", "", len(text.splitlines()) + 1, 1, -1, True))
    return out


@cache
def _literal_tokens(text: str) -> tuple[str, ...]:
    return tuple(t.text for t in tokens(text)[:-1])


class Parser:
    """Recursive descent over the templates of one language."""

    def __init__(self, text: str, language: Language) -> None:
        self.toks, self.at, self.language = tokens(text), 0, language
        self.env: dict[str, Term] = {}
        self.by_keyword: dict[str, list[type[Term]]] = {}
        for c in language.terms:
            if k := keyword(c):
                self.by_keyword.setdefault(k, []).append(c)

    # ---- tokens

    @property
    def tok(self) -> Token:
        """The token in hand."""
        return self.toks[self.at]

    def fail(self, expected: str, candidates: Iterable[str] = ()) -> ParseError:
        """The error that something else was expected here."""
        found = repr(self.tok.text) if self.tok.text else "the end"
        return ParseError(self.tok, found, expected, candidates)

    def next(self) -> Token:
        """Take the token in hand, whatever it is."""
        self.at += 1
        return self.toks[self.at - 1]

    def accept(self, text: str) -> bool:
        """Take the token in hand if it is this text."""
        # ">>" may close two brackets at once
        if self.tok.text == text and self.tok.kind != "string":
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Take this text; ParseError where it is not there."""
        if not self.accept(text):
            raise self.fail(repr(text))

    def literal(self, text: str) -> None:
        """Take the tokens of a text; ParseError where they are not there."""
        for t in _literal_tokens(text):
            self.expect(t)

    def peek_literal(self, text: str) -> bool:
        """Whether an optional group begins here; it never begins a line, where a name may look the same."""
        wanted, found = _literal_tokens(text), self.toks[self.at :]
        return bool(wanted) and not self.tok.first and [t.text for t in found[: len(wanted)]] == list(wanted)

    # ---- the whole text

    def program(self) -> Term:
        while self.tok.kind == "word" and self.toks[self.at + 1].text == "=":
            name = self.next().text
            self.expect("=")
            identity = self.word() if self.accept("as") else name
            t = self.definition(identity)
            self.env[name] = t
            arena().names.setdefault(t, name)
        name = self.tok.text
        t = self.expression(Term, 0)
        if self.tok.kind != "end":
            raise self.fail("the end")
        # an axis as a whole would be spelled: a name that stands for one is its coordinate
        return self.coerce(t, Value) if self.env.get(name) is t and isinstance(t, AxisLike) else t

    def definition(self, name: str) -> Term:
        if self.tok.text == "variable" and gpu.Var in self.language.terms:
            return self.variable(name)
        for c in self.by_keyword.get(self.tok.text, []) if self.tok.kind == "word" else []:
            if c.binds:
                return self.template(c, name)
        return self.expression(Term, 0)

    def variable(self, name: str) -> Term:
        """`variable f32 over [BM]`: a name that statements define elsewhere."""
        self.expect("variable")
        dtypes = self.attribute(tuple[DType, ...], "over")
        self.literal("over [")
        varies = tuple(self.sequence(Physical, "]"))
        self.expect("]")
        return self.build(lambda: gpu.Var(name, dtypes[0] if len(dtypes) == 1 else dtypes, varies))  # type: ignore[no-any-return]

    # ---- expressions

    def expression(self, sort: type[Term], level: int) -> Any:
        left = self.primary(sort)
        while self.tok.kind == "symbol" and not self.tok.first and isinstance(left, (Value, AxisLike)):
            op = _INFIX.get(self.tok.text)
            if op is None or op.level < max(level, 1):
                break
            self.next()
            left = self.coerce(left, Value)
            args = [left, self.expression(Value, op.level + 1)]
            while op.arity < 0 and self.tok.text == op.infix:
                self.next()
                args.append(self.expression(Value, op.level + 1))
            left = self.build(lambda op=op, args=args: apply(op, *args))
        return self.coerce(left, sort)

    def build(self, make: Any) -> Any:
        try:
            return make()
        except (TypeError, OverflowError) as e:
            raise ParseError(self.toks[self.at - 1], str(e)) from e

    def coerce(self, t: Any, sort: type[Term]) -> Any:
        if isinstance(t, AxisLike) and not isinstance(t, Physical) and issubclass(sort, Value):
            return Coord(t)
        if not isinstance(t, sort):
            for c in self.language.terms:  # a class that only wraps a field, such as At
                wrap = parts(c)
                if (
                    issubclass(c, sort)
                    and len(wrap) == 1
                    and isinstance(wrap[0], Hole)
                    and c is not gpu.Var
                    and c is not Coord
                ):
                    return self.build(lambda c=c: c(self.coerce(t, c.fields[0].sort)))
        return t

    def primary(self, sort: type[Term]) -> Any:
        t = self.tok
        if t.kind == "number" or (t.kind != "string" and (t.text == "-" or NUMBER.match(t.text))):
            return self.constant()
        if self.accept("("):
            inner = self.expression(Term, 0)
            self.expect(")")
            return inner
        if t.kind != "word":
            raise self.fail("a term")
        if gpu.Let in self.language.terms and self.toks[self.at + 1].text == "=" and not issubclass(sort, Value):
            return self.let()
        if t.text in self.env:
            return self.env[self.next().text]
        after = self.toks[self.at + 1].text
        if t.text in OPERATORS and after == "(":
            return self.call()
        for c in self.by_keyword.get(t.text, []):
            if not c.binds or issubclass(c, sort):
                return self.template(c, None)
        raise self.fail(f"a term of {self.language.name} or a name defined above", (*self.by_keyword, *self.env))

    def constant(self) -> Const:
        v = self.number()
        if isinstance(v, bool):
            return self.build(lambda: Const(v, DTYPES["bool"]))
        if self.tok.text == ":" and self.toks[self.at + 1].text in DTYPES and not self.toks[self.at + 1].first:
            self.next()
            d = DTYPES[self.next().text]
            return self.build(lambda: const(v, d) if d.is_float and isinstance(v, float) else Const(v, d))
        return self.build(lambda: Const(v, DTYPES["index"]))

    def number(self) -> bool | int | float:
        sign = -1 if self.accept("-") else 1
        t = self.next().text
        if t in ("true", "false"):
            return t == "true"
        if t.startswith("nan_"):
            return float(struct.unpack("<d", struct.pack("<Q", int(t[4:], 16)))[0])
        if t in ("inf", "nan"):
            return sign * float(t)
        try:
            return sign * (float(t) if re.search(r"[.eE]", t) else int(t))
        except ValueError:
            self.at -= 1
            raise self.fail("a number") from None

    def call(self) -> Term:
        op = OPERATORS[self.next().text]
        self.expect("(")
        args = self.sequence(Value, ")")
        self.expect(")")
        return self.build(lambda: apply(op, *args))  # type: ignore[no-any-return]

    def sequence(self, sort: type[Term], *stop: str) -> list[Any]:
        if self.tok.text in stop or self.tok.first or self.tok.text in CLOSING:
            return []
        items = [self.expression(sort, 1)]
        while self.accept(","):
            items.append(self.expression(sort, 1))
        return items

    def let(self) -> Term:
        name = self.next().text
        self.expect("=")
        value = self.expression(Term, 0)
        if isinstance(value, gpu.Update):
            self.env[name] = found = gpu.variable(name, value.view.dtype, value.lanes)
            return self.build(lambda: gpu.Fetch(found, value))  # type: ignore[no-any-return]
        value = self.coerce(value, Value)
        var = gpu.variable(name, value.type, value.lanes)
        self.env[name] = var
        return self.build(lambda: gpu.Let(var, value))  # type: ignore[no-any-return]

    # ---- templates

    def template(self, cls: type[Any], name: str | None) -> Any:
        indent = self.tok.indent
        values: dict[str, Any] = {} if name is None or "name" not in cls.__match_args__ else {"name": name}
        fields = {f.name: f for f in cls.fields}
        layout = parts(cls)
        for i, p in enumerate(layout):
            if isinstance(p, Text):
                self.literal(p.text)
            elif isinstance(p, Hole):
                values[p.field] = self.field(
                    fields[p.field], cls, self._closers(layout[i + 1 :]), 0 if p.last and i else 1
                )
            elif isinstance(p, Block):
                values[p.field] = self.block(fields[p.field].sort, indent)
            else:
                self.group(p, fields, values, cls, self._closers(layout[i + 1 :]))
        ordered = [values.get(f.name, () if f.required and f.name not in values else f.default) for f in cls.fields]
        return self.build(lambda: cls(*ordered))

    def _closers(self, rest: Any) -> frozenset[str]:
        """The tokens that an empty list may be followed by: the next literal, or an optional group before it."""
        out: set[str] = set()
        for p in rest:
            head = p.before[0] if isinstance(p, Optional) else p
            text = head.text if isinstance(head, Text) else ""
            out.update(_literal_tokens(text)[:1])
            if isinstance(p, Text) and _literal_tokens(text):
                break
        return frozenset(out)

    def group(
        self, p: Optional, fields: dict[str, Field], values: dict[str, Any], cls: Any, rest: frozenset[str]
    ) -> None:
        if p.field in values or not self.peek_literal(p.before[0].text):  # type: ignore[union-attr]
            return
        for i, q in enumerate(inner := (*p.before, Hole(p.field), *p.after)):
            if isinstance(q, Text):
                self.literal(q.text)
            elif fields[q.field].sort is bool:
                values[q.field] = True
            else:
                values[q.field] = self.field(fields[q.field], cls, self._closers(inner[i + 1 :]) or rest, 1)

    def block(self, sort: type[Term], indent: int) -> tuple[Any, ...]:
        out = []
        while self.tok.first and self.tok.indent > indent and self.tok.kind != "end":
            out.append(self.expression(sort, 0))
        return tuple(out)

    def field(self, f: Field, cls: Any, closers: frozenset[str], level: int) -> Any:
        if f.sort is gpu.Var:
            return self.variables(f, cls)
        if f.kind in ("term", "maybe"):
            return self.expression(f.sort, level)
        if f.kind == "terms":
            return tuple(self.sequence(f.sort, *closers))
        return self.number() if f.sort is Literal else self.attribute(f.sort, *closers)

    def variables(self, f: Field, cls: Any) -> Any:
        """Names that a loop or a kernel defines as scalar indices, or names that exist already."""
        one = f.kind == "term"
        names = [] if not one and self.tok.kind != "word" else [self.word()]
        while not one and self.accept(","):
            names.append(self.word())
        for n in names:
            if f.name in cls.defines:
                self.env[n] = gpu.Var(n, DTYPES["index"])
            elif not isinstance(self.env.get(n), gpu.Var):
                raise self.fail(f"variables that are defined above; {n} is none")
        found = tuple(self.env[n] for n in names)
        return found[0] if one else found

    # ---- attributes

    def word(self) -> str:
        t = self.next()
        if t.kind == "string":
            return str(json.loads(t.text))
        if t.kind != "word":
            self.at -= 1
            raise self.fail("a word")
        return t.text

    def attribute(self, annotation: Any, *closers: str) -> Any:
        if typing.get_origin(annotation) is types.UnionType:
            annotation = typing.get_args(annotation)[0]
        if typing.get_origin(annotation) is tuple:
            item = typing.get_args(annotation)[0]
            if self.tok.text in closers and self.tok.kind != "string":
                return ()
            nested = typing.get_origin(item) is tuple
            out = [self._nested(item) if nested else self.attribute(item)]
            while self.accept(","):
                out.append(self._nested(item) if nested else self.attribute(item))
            return tuple(out)
        if annotation in (int, bool):
            return self.number()
        text = self.word()
        table: Any = DTYPES if annotation is DType else OPERATORS if annotation is Op else None
        if table is not None and text not in table:
            self.at -= 1
            raise self.fail(f"a {annotation.__name__}")
        return table[text] if table is not None else text

    def _nested(self, item: Any) -> Any:
        self.expect("(")
        inner = self.attribute(item, ")")
        self.expect(")")
        return inner


def parse(text: str, language: Language) -> Any:
    """The term whose text this is; `ParseError` with the line otherwise."""
    parser = Parser(text, language)
    try:
        return parser.program()
    except RecursionError:
        raise ParseError(parser.tok, "nested too deeply; define a part of it") from None


__all__ = ["Apply", "ParseError", "Parser", "parse"]
