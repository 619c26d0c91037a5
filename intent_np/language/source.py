"""The author's text: the syntax tree of a function, and spans into the file that it came from.

Works wherever `linecache` finds the lines: scripts, modules, notebooks, and `exec` of registered text.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from intent_np.errors import Span, error
from intent_np.parsing import parse


@dataclass(frozen=True, eq=False)
class Source:
    """A function's syntax tree; `first` is the file line of the tree's line 1, `indent` the columns cut off."""

    file: str
    first: int
    indent: int
    lines: tuple[str, ...]
    tree: ast.FunctionDef

    @property
    def text(self) -> str:
        """The whole definition, decorators included: what makes an edited body another kernel."""
        return "\n".join(self.lines)

    def span(self, node: ast.AST, caller: Span | None = None) -> Span:
        """Where a node stands in the file, which `caller` calls; a node of several lines is marked to the end of its
        first."""
        row = getattr(node, "lineno", 1) - 1
        line = self.lines[row] if row < len(self.lines) else ""
        start = _characters(line, getattr(node, "col_offset", 0))
        stop = _characters(line, node.end_col_offset) if getattr(node, "end_lineno", None) == row + 1 else len(line)  # type: ignore[attr-defined]
        margin = self.indent
        return Span(self.file, self.first + row, margin + start + 1, margin + stop + 1, " " * margin + line, caller)

    def has(self, span: Span | None) -> bool:
        """Whether a place is in this text, or in what it calls."""
        last = self.first + len(self.lines)
        places = () if span is None else (span, *span.callers())
        return any(s.file == self.file and self.first <= s.line < last for s in places)


def _characters(line: str, offset: int) -> int:
    """Syntax trees count bytes of UTF-8, people count characters."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


def lines_of(function: Callable[..., Any]) -> list[str]:
    """The lines of the file that a function stands in, as they are now; none where nothing keeps them.

    Asked where the function is defined: a file that is edited afterwards says what other functions than this mean."""
    linecache.checkcache(function.__code__.co_filename)
    return linecache.getlines(function.__code__.co_filename, function.__globals__)


def read(function: Callable[..., Any], file: list[str]) -> Source:
    """The source of a Python function among the lines of its file, or E003."""
    code = function.__code__
    lines = (file or lines_of(function))[code.co_firstlineno - 1 :]
    if not lines:
        raise error("E003", name=function.__name__)
    block = inspect.getblock(lines)
    text = textwrap.dedent("".join(block))
    indent = len(block[0]) - len(text.splitlines(keepends=True)[0])
    try:
        tree = parse(text).body[0]
    except SyntaxError as problem:
        raise error("E003", name=function.__name__) from problem
    if not isinstance(tree, ast.FunctionDef):
        raise error("E003", name=function.__name__)
    return Source(code.co_filename, code.co_firstlineno, indent, tuple(text.splitlines()), tree)
