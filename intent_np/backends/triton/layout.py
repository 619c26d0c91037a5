"""Long lines of generated Python, broken the way a formatter breaks them.

Works on text: the printer writes one line a statement, and brackets, commas and operators are all there is to break at.
"""

from __future__ import annotations

import re
from itertools import pairwise

WIDTH = 110
STEP = "    "

# from the loosest; a line is broken at all operators of the loosest kind that it has outside brackets
_OPERATORS = (r"<=|>=|==|!=|<|>", r"\|", r"\^", r"&", r"<<|>>", r"[+-]", r"\*|//|/|%")


def wrap(line: str, indent: str = "", width: int = WIDTH) -> list[str]:
    """`line`, without its indentation, as lines that fit; a piece without a place to break stays long."""
    if len(indent) + len(line) <= width:
        return [indent + line]
    target = re.match(r"[\w, ]+ [-+*]?= |return ", line)
    head = target[0] if target else ""
    body = line[len(head) :]
    results = _split(body, ",") if head == "return " else []
    if len(results) > 1:
        lines = [f"{indent}{head}("]
        for r in results:
            lines += _with_tail(wrap(r.strip(), indent + STEP, width - 1), ",")
        return [*lines, f"{indent})"]
    opened = _closing_bracket(body)
    if opened is not None:
        inner = body[opened + 1 : -1]
        parts = _split(inner, ",")
        if len(parts) > 1 or body[opened] == "[":
            lines = [indent + head + body[: opened + 1]]
            for p in parts:
                lines += _with_tail(wrap(p.strip(), indent + STEP, width - 1), ",")
            return [*lines, indent + body[-1]]
        if opened > 0 or len(_terms(inner)) > 1:
            return [indent + head + body[: opened + 1], *_broken(inner, indent + STEP, width), indent + body[-1]]
    if len(_terms(body)) > 1:
        if not head:
            return _broken(body, indent, width)
        return [f"{indent}{head}(", *_broken(body, indent + STEP, width), f"{indent})"]
    return [indent + line]


def _broken(text: str, indent: str, width: int) -> list[str]:
    """An expression inside brackets: on one line if it fits, else an operand a line."""
    if len(indent) + len(text) <= width:
        return [indent + text]
    terms = _terms(text)
    if len(terms) == 1:
        return wrap(text, indent, width)
    lines: list[str] = []
    for t in terms:
        lines += wrap(t, indent, width)
    return lines


def _with_tail(lines: list[str], tail: str) -> list[str]:
    return [*lines[:-1], lines[-1] + tail]


def _closing_bracket(text: str) -> int | None:
    """Where the bracket opens that closes at the end of `text`, if no operator stands in front of it."""
    if text[-1:] not in (")", "]"):
        return None
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += text[i] in ")]"
        depth -= text[i] in "(["
        if depth == 0:
            return i if len(_terms(text[:i])) == 1 else None
    return None


def _split(text: str, separator: str) -> list[str]:
    """`text` cut at a separator outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p for p in [*parts, text[start:]] if p.strip()]


def _terms(text: str) -> list[str]:
    """The operands at the loosest operator outside brackets, each with its operator in front."""
    depth, flat = 0, []
    for c in text:
        depth -= c in ")]"
        flat.append(c if depth == 0 else "\0")
        depth += c in "(["
    outside = "".join(flat)
    for operator in _OPERATORS:
        places = [m.start() for m in re.finditer(rf"(?<=[^\s=]) (?:{operator}) ", outside)]
        if places:
            cuts = [0, *(p + 1 for p in places), len(text)]
            return [text[a:b].strip() for a, b in pairwise(cuts)]
    return [text]
