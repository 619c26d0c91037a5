"""Syntax trees as the reducer sees them: addresses of nodes, sizes, and text."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any, Final

Path = tuple[tuple[str, int | None], ...]
"""The way from the root to a node: fields, with positions in those that are lists."""

DTYPES: Final = (
    "f32", "i32", "index", "bool", "i64", "f64", "f16", "bf16", "u32", "u8", "i8", "u64", "i16", "u16", "f8e5m2",
    "f8e4m3fn",
)  # fmt: skip
"""Element types, the plain ones first."""

LISTS: Final = ("body", "orelse")
WIDTH: Final = 120


def walk(tree: ast.AST, path: Path = ()) -> Iterator[tuple[Path, ast.AST]]:
    """All nodes below, outer ones first, with their addresses."""
    yield path, tree
    for field, value in ast.iter_fields(tree):
        if isinstance(value, ast.AST):
            yield from walk(value, (*path, (field, None)))
        elif isinstance(value, list):
            for i, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield from walk(child, (*path, (field, i)))


def inside(tree: ast.Module) -> Iterator[tuple[Path, ast.AST]]:
    """All nodes of functions: what else stands in a module is executed, and kept as it is or left out."""
    for i, statement in enumerate(tree.body):
        if isinstance(statement, ast.FunctionDef):
            yield from walk(statement, (("body", i),))


def at(tree: ast.AST, path: Path) -> Any:
    """The node at an address."""
    node: Any = tree
    for field, i in path:
        node = getattr(node, field) if i is None else getattr(node, field)[i]
    return node


def put(tree: ast.AST, path: Path, new: ast.AST) -> None:
    """Put a node at an address."""
    *way, (field, i) = path
    parent = at(tree, tuple(way))
    if i is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[i] = new


def copied(tree: Any) -> Any:
    """A tree that can be changed."""
    return copy.deepcopy(tree)


def blocks(tree: ast.Module) -> Iterator[tuple[Path, str, list[ast.stmt]]]:
    """Each list of statements inside a function, outer ones first: the address of its owner, its field, itself."""
    for path, node in inside(tree):
        if isinstance(node, ast.stmt):
            for field in LISTS:
                if found := getattr(node, field, None):
                    yield path, field, found


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """The functions of the module, in order: helpers and kernels."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def is_kernel(function: ast.FunctionDef) -> bool:
    """Whether its decorator makes it a kernel."""
    names = {ast.unparse(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] for d in function.decorator_list}
    return bool(names & {"kernel", "jit"})


def names(tree: ast.AST, context: type[ast.expr_context] | None = None) -> list[str]:
    """The names used below, in one context or any."""
    found = (node for _, node in walk(tree) if isinstance(node, ast.Name))
    return [node.id for node in found if context is None or isinstance(node.ctx, context)]


class Substituted(ast.NodeTransformer):
    """Names read below, replaced by expressions."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        new = self.values.get(node.id)
        return copied(new) if new is not None and isinstance(node.ctx, ast.Load) else node


def size(tree: ast.Module) -> tuple[int, int, int, int]:
    """What a kept edit makes smaller: functions, parameters of kernels, statements, and the weight of the rest."""
    defined = functions(tree)
    parameters = sum(len(f.args.args) + len(f.args.kwonlyargs) for f in defined if is_kernel(f))
    nodes = list(ast.walk(tree))
    return len(defined), parameters, sum(isinstance(n, ast.stmt) for n in nodes), sum(map(_weight, nodes))


def _weight(node: ast.AST) -> int:
    if isinstance(node, ast.Constant):
        v = node.value
        if isinstance(v, bool) or v is None:
            return 40
        if isinstance(v, int):
            return 40 + min(abs(v), 10) + min(abs(v).bit_length(), 20) + (v < 0)
        if isinstance(v, float):
            return (
                42
                + (min(int(abs(v)), 10) if v == v and abs(v) < 1e9 else 15)
                + 5 * (v != round(v, 0) if abs(v) < 1e9 else 1)
            )
        return 45 + len(str(v))
    if isinstance(node, ast.Name):
        return 60
    if isinstance(node, ast.Attribute):
        return 60 + (DTYPES.index(node.attr) if node.attr in DTYPES else 0)
    return 0 if isinstance(node, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop) else 60


def printed(tree: ast.Module) -> str:
    """The text of a tree; a signature that is too long for a line has a line for each parameter."""
    ast.fix_missing_locations(tree)
    lines: list[str] = []
    for statement in tree.body:
        text = ast.unparse(statement)
        if isinstance(statement, ast.FunctionDef):
            lines += ["", "", *_wrapped(statement, text).splitlines()]
        else:
            lines += text.splitlines()
    text = "\n".join(lines).strip("\n") + "\n"
    return text if '"' in text else text.replace("'", '"')


def _wrapped(function: ast.FunctionDef, text: str) -> str:
    lines = text.splitlines()
    row = len(function.decorator_list)
    if len(lines[row]) <= WIDTH:
        return text
    bare = copied(function)
    bare.decorator_list, bare.body = [], [ast.Pass()]
    bare.args.args, bare.args.defaults = [], []
    defaults = [None] * (len(function.args.args) - len(function.args.defaults)) + list(function.args.defaults)
    if function.args.kwonlyargs or function.args.vararg or function.args.kwarg or function.args.posonlyargs:
        return text
    shown = []
    for argument, default in zip(function.args.args, defaults, strict=True):
        one = ast.unparse(argument)
        shown.append(f"    {one}{f' = {ast.unparse(default)}' if default is not None else ''},")
    return "\n".join([*lines[:row], f"def {function.name}(", *shown, "):", *lines[row + 1 :]])
