"""Edits of statements: leave some out, keep the inside of a loop or branch, put definitions where they are used."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from .tree import Path, Substituted, at, blocks, names, walk

Edit = Callable[[ast.Module], None]


def dropped(tree: ast.Module) -> Iterator[Edit]:
    """Without a run of statements: all of a block but one, halves, quarters, ..., single ones; later ones first, since
    what they use is not needed any more without them."""
    found = list(blocks(tree))
    lengths = sorted({n for _, _, block in found for n in _halves(len(block))}, reverse=True)
    for length in lengths:
        for path, field, block in found:
            if length in _halves(len(block)):
                for end in range(len(block), 0, -length):
                    begin = max(0, end - length)
                    if end - begin < len(block) or field == "orelse":
                        yield _without(path, field, begin, end)
    for path, node in walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        ):
            for i in range(len(node.value.elts)):
                yield _without_member(path, i)


def _halves(n: int) -> list[int]:
    out = []
    while n > 0:
        out.append(n)
        n //= 2
    return out


def _without(path: Path, field: str, begin: int, end: int) -> Edit:
    def edit(tree: ast.Module) -> None:
        del getattr(at(tree, path), field)[begin:end]

    return edit


def _without_member(path: Path, i: int) -> Edit:
    def edit(tree: ast.Module) -> None:
        node = at(tree, path)
        target, value = node.targets[0], node.value
        del target.elts[i], value.elts[i]
        if len(target.elts) == 1:
            node.targets, node.value = [target.elts[0]], value.elts[0]

    return edit


def unwrapped(tree: ast.Module) -> Iterator[Edit]:
    """A branch or loop replaced by what it holds; the member of a loop is its first."""
    for path, field, block in blocks(tree):
        for i, statement in enumerate(block):
            match statement:
                case ast.If():
                    for branch in ("body", "orelse"):
                        yield _opened(path, field, i, branch, {})
                case ast.While():
                    yield _opened(path, field, i, "body", {})
                case ast.For(target=ast.Name(name)):
                    yield _opened(path, field, i, "body", {name: ast.Constant(0)})
                case ast.For(target=ast.Tuple(members)) if all(isinstance(m, ast.Name) for m in members):
                    yield _opened(path, field, i, "body", {m.id: ast.Constant(0) for m in members})  # type: ignore[attr-defined]


def _opened(path: Path, field: str, i: int, branch: str, values: dict[str, ast.expr]) -> Edit:
    def edit(tree: ast.Module) -> None:
        block = getattr(at(tree, path), field)
        inside = [Substituted(values).visit(s) for s in getattr(block[i], branch)]
        block[i : i + 1] = [s for s in inside if not isinstance(s, ast.Break | ast.Continue)]

    return edit


def propagated(tree: ast.Module) -> Iterator[Edit]:
    """A name that is given a value once and used once, or is another name, replaced by it."""
    for path, field, block in blocks(tree):
        for i, statement in enumerate(block):
            match statement:
                case ast.Assign(targets=[ast.Name(name)], value=value):
                    if isinstance(value, ast.Name | ast.Constant) or _once(tree, name):
                        yield _propagated(path, field, i, name)


def _once(tree: ast.Module, name: str) -> bool:
    return names(tree, ast.Store).count(name) == 1 and names(tree, ast.Load).count(name) == 1


def _propagated(path: Path, field: str, i: int, name: str) -> Edit:
    def edit(tree: ast.Module) -> None:
        block = getattr(at(tree, path), field)
        value: Any = block[i].value
        del block[i]
        # inside the function that holds the statement
        function = at(tree, path[:1])
        Substituted({name: value}).visit(function)

    return edit
