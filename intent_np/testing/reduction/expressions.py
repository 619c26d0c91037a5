"""Edits of expressions: an operand or a number in their place, fewer keywords, smaller literals, plain types."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .tree import DTYPES, Path, at, copied, inside, put, walk

Edit = Callable[[ast.Module], None]
FIXED = ("annotation", "decorator_list", "func", "returns", "targets", "target", "names")
"""Fields below which no value stands."""


def replaced(tree: ast.Module) -> Iterator[Edit]:
    """An operand in the place of an expression, or a number; large expressions first."""
    for path, node in inside(tree):
        if not isinstance(node, ast.expr) or _fixed(path) or isinstance(node, ast.Constant | ast.Slice | ast.Starred):
            continue
        for below, _ in _operands(node):
            yield _put(path, lambda old, below=below: copied(at(old, below)))  # type: ignore[misc]
        if not _is_type(node) and not isinstance(at(tree, path[:-1]), ast.Subscript | ast.Attribute):
            for value in (0, 1, 1.0, True):
                yield _put(path, lambda _, value=value: ast.Constant(value))  # type: ignore[misc]
        if isinstance(node, ast.BoolOp) and len(node.values) > 2:
            for i in range(len(node.values)):
                yield _put(path, lambda old, i=i: ast.BoolOp(old.op, old.values[:i] + old.values[i + 1 :]))  # type: ignore[misc, attr-defined]


def _fixed(path: Path) -> bool:
    return any(field in FIXED for field, _ in path)


def _operands(node: ast.expr) -> Iterator[tuple[Path, ast.expr]]:
    for path, child in walk(node):
        if len(path) == 1 and isinstance(child, ast.expr) and path[0][0] not in ("func", "slice"):
            if not isinstance(child, ast.Constant | ast.Slice) and not _is_type(child):
                yield path, child
        if len(path) == 2 and path[0][0] == "keywords" and isinstance(child, ast.expr):
            if not isinstance(child, ast.Constant) and not _is_type(child):
                yield path, child


def _is_type(node: ast.AST) -> bool:
    """`I.f32`, and the language itself."""
    return isinstance(node, ast.Attribute) and node.attr in DTYPES or isinstance(node, ast.Name) and node.id == "I"


def _put(path: Path, new: Callable[[ast.expr], ast.expr]) -> Edit:
    return lambda tree: put(tree, path, new(at(tree, path)))


def dropped_keywords(tree: ast.Module) -> Iterator[Edit]:
    """A call without one of its keywords, or without its last argument; a subscript by `:` in the place of an index."""
    for path, node in inside(tree):
        match node:
            case ast.Call(args=args, keywords=keywords):
                for i in range(len(keywords)):
                    yield lambda new, path=path, i=i: at(new, path).keywords.__delitem__(i)  # type: ignore[misc]
                if args and not _fixed(path):
                    yield lambda new, path=path: at(new, path).args.pop()  # type: ignore[misc]
            case ast.Slice(lower, upper, step) if lower or upper or step:
                yield _put(path, lambda _: ast.Slice())


def simplified_dtypes(tree: ast.Module) -> Iterator[Edit]:
    """Another element type in the place of one, everywhere at once; then in one place."""
    used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in DTYPES}
    for old in sorted(used, key=DTYPES.index, reverse=True):
        for new in DTYPES[: DTYPES.index(old)][:6]:
            yield _retyped(old, new)
    for path, node in inside(tree):
        if isinstance(node, ast.Attribute) and node.attr in DTYPES[1:]:
            for new in DTYPES[: DTYPES.index(node.attr)][:2]:
                yield lambda tree, path=path, new=new: setattr(at(tree, path), "attr", new)  # type: ignore[misc]


def _retyped(old: str, new: str) -> Edit:
    def edit(tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == old:
                node.attr = new

    return edit


def shrunk_literals(tree: ast.Module) -> Iterator[Edit]:
    """A smaller number in the place of one, everywhere, then in one place; names for arithmetic in shapes."""
    found = [(path, node.value) for path, node in inside(tree) if isinstance(node, ast.Constant)]
    for number in sorted({v for _, v in found if type(v) is int and v > 1}, reverse=True):
        for new in _smaller(number):
            yield _everywhere(number, new)
    for path, value in found:
        for new in _smaller(value):
            yield _put(path, lambda _, new=new: ast.Constant(new))  # type: ignore[misc]


def _smaller(value: object) -> list[object]:
    match value:
        case bool() | None:
            return []
        case int():
            return list(dict.fromkeys(v for v in (0, 1, 2, value // 2, value - 1) if abs(v) < abs(value)))
        case float():
            rounded = float(round(value)) if value == value and abs(value) < 1e9 else 2.0
            return list(dict.fromkeys(v for v in (0.0, 1.0, 2.0, rounded) if v != value))
        case str():
            words = [w for w in value.replace("(", " ").replace(")", " ").replace(",", " ").split() if w.isidentifier()]
            return list(dict.fromkeys(w for w in words if len(w) < len(value)))
    return []


def _everywhere(old: int, new: object) -> Edit:
    def edit(tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and type(node.value) is int and node.value == old:
                node.value = new  # type: ignore[assignment]

    return edit
