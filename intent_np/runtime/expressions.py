"""Integer expressions that the host evaluates: grids, extents, strides and promises.

The text is that of the terms: names (extents, scalar parameters, strides such as `x_s0`), integers,
`|| && == != < <= > >= + - * // %`, `cast(a, i32)`, and the calls below.  It is parsed to closures and never reaches
`eval`, so a saved artifact cannot smuggle code in.  `//` and `%` are Python's; a comparison is 1 or 0.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Final

Values = Mapping[str, int]
_Run = Callable[[Values], int]

_TOKEN: Final = re.compile(r"\s*(\d+|[A-Za-z_][\w.]*|\|\||&&|==|!=|<=|>=|//|[-+*%<>(),:])")

_BINARY: Final[dict[str, tuple[int, Callable[[int, int], int]]]] = {
    "||": (1, lambda a, b: int(bool(a) or bool(b))),
    "&&": (2, lambda a, b: int(bool(a) and bool(b))),
    "==": (3, lambda a, b: int(a == b)),
    "!=": (3, lambda a, b: int(a != b)),
    "<": (3, lambda a, b: int(a < b)),
    "<=": (3, lambda a, b: int(a <= b)),
    ">": (3, lambda a, b: int(a > b)),
    ">=": (3, lambda a, b: int(a >= b)),
    "+": (5, lambda a, b: a + b),
    "-": (5, lambda a, b: a - b),
    "*": (6, lambda a, b: a * b),
    "//": (6, lambda a, b: a // b),
    "%": (6, lambda a, b: a % b),
}
_CALLS: Final[dict[str, tuple[int, Callable[..., int]]]] = {
    "min": (2, min),
    "max": (2, max),
    "minimum": (2, min),
    "maximum": (2, max),
    "cdiv": (2, lambda a, b: -(-a // b)),
    "ceil_div": (2, lambda a, b: -(-a // b)),
    "select": (3, lambda condition, a, b: a if condition else b),
    "not": (1, lambda a: int(not a)),
    "neg": (1, lambda a: -a),
    "abs": (1, abs),
}


class Expression:
    """A parsed expression; call it with the values of its `names`.

    Raises `ValueError` for text outside the grammar, `KeyError` for a name without a value, and
    `ZeroDivisionError`.
    """

    __slots__ = ("_root", "names", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._root = _Parser(text).whole()
        self.names: frozenset[str] = frozenset(self._root.names())

    def __call__(self, values: Values) -> int:
        return self._root.run(values)

    def solve(self, result: int, values: Values) -> tuple[str, int] | None:
        """The one name without a value, and the value that makes the expression equal to `result`.

        None unless exactly one name is missing, it occurs once, and only under `+`, `-` and `*`.
        """
        return self._root.solve(result, values)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


@functools.lru_cache(maxsize=4096)
def expression(text: str) -> Expression:
    """The expression of `text`, parsed once."""
    return Expression(text)


class _Node:
    __slots__ = ("operands", "run", "what")

    def __init__(self, what: str | int, operands: tuple[_Node, ...], run: _Run) -> None:
        self.what, self.operands, self.run = what, operands, run

    def names(self) -> list[str]:
        if isinstance(self.what, str) and not self.operands:
            return [self.what]
        return [name for one in self.operands for name in one.names()]

    def solve(self, result: int, values: Values) -> tuple[str, int] | None:
        missing = [name for name in self.names() if name not in values]
        if len(missing) != 1:
            return None
        if not self.operands:
            return missing[0], result
        if self.what not in ("+", "-", "*"):
            return None
        left, right = self.operands
        if missing[0] in left.names():
            known = right.run(values)
            inner, other = left, {"+": result - known, "-": result + known}
        else:
            known = left.run(values)
            inner, other = right, {"+": result - known, "-": known - result}
        if self.what == "*":
            return inner.solve(result // known, values) if known and result % known == 0 else None
        return inner.solve(other[self.what], values)


class _Parser:
    """Precedence climbing over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None:
                raise ValueError(f"unexpected {text[at:].strip()[:1]!r} in expression {text!r}")
            self.tokens.append(match[1])
            at = match.end()
        self.tokens.append("")
        self.at = 0

    def take(self, expected: str | None = None) -> str:
        token = self.tokens[self.at]
        if expected is not None and token != expected:
            raise ValueError(f"expected {expected or 'the end'!r}, found {token or 'the end'!r} in {self.text!r}")
        self.at += 1
        return token

    def whole(self) -> _Node:
        node = self.binary(0)
        self.take("")
        return node

    def binary(self, above: int) -> _Node:
        left = self.unary()
        while (token := self.tokens[self.at]) in _BINARY and _BINARY[token][0] > above:
            self.take()
            level, operate = _BINARY[token]
            left = _applied(token, operate, left, self.binary(level))
        return left

    def unary(self) -> _Node:
        token = self.take()
        if token == "-":
            return _applied("neg", lambda a: -a, self.unary())
        if token == "(":
            node = self.binary(0)
            self.take(")")
            return node
        if token.isdigit():
            self.skip_type()
            value = int(token)
            return _Node(value, (), lambda values: value)
        if token in ("true", "false"):
            flag = int(token == "true")
            return _Node(flag, (), lambda values: flag)
        if token[:1].isalpha() or token[:1] == "_":
            return self.call(token) if self.tokens[self.at] == "(" else _Node(token, (), lambda values: values[token])
        raise ValueError(f"unexpected {token or 'end'!r} in expression {self.text!r}")

    def skip_type(self) -> None:
        """A typed literal, `3:i32`: the host computes in exact integers, whatever the width."""
        if self.tokens[self.at] == ":":
            self.take()
            self.take()

    def wrapping(self) -> Callable[[int], int]:
        """What a conversion to the integer dtype at hand does."""
        dtype = self.take()
        if dtype == "bool":
            return lambda value: int(bool(value))
        bits = 64 if dtype == "index" else int(dtype[1:]) if re.fullmatch("[iu](8|16|32|64)", dtype) else 0
        if not bits:
            raise ValueError(f"a conversion to {dtype or 'nothing'} in expression {self.text!r}")
        low = 0 if dtype[0] == "u" else -(2 ** (bits - 1))
        return lambda value: (value - low) % 2**bits + low

    def call(self, name: str) -> _Node:
        self.take("(")
        arguments = [self.binary(0)]
        while self.tokens[self.at] == ",":
            self.take()
            if name == "cast" and len(arguments) == 1:
                wrap = self.wrapping()
                self.take(")")
                return _applied(name, wrap, arguments[0])
            arguments.append(self.binary(0))
        self.take(")")
        if name not in _CALLS or len(arguments) != _CALLS[name][0]:
            raise ValueError(f"there is no {name} of {len(arguments)} arguments, in expression {self.text!r}")
        return _applied(name, _CALLS[name][1], *arguments)


def _applied(what: str, operate: Callable[..., int], *operands: _Node) -> _Node:
    runs = tuple(one.run for one in operands)
    if len(runs) == 2:
        first, second = runs
        return _Node(what, operands, lambda values: operate(first(values), second(values)))
    return _Node(what, operands, lambda values: operate(*(run(values) for run in runs)))
