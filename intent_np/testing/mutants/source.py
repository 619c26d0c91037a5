"""Mutations of Python functions: one change in a syntax tree, compiled, and put into the living function."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

OTHER: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.FloorDiv: ast.Mult, ast.Mult: ast.FloorDiv,
}  # fmt: skip
WORDS: Final = {
    "lt": "le", "le": "lt", "eq": "ne", "ne": "eq", "minimum": "maximum", "maximum": "minimum", "add": "sub",
    "sub": "add", "floordiv": "ceil_div", "ceil_div": "floordiv", "and": "or", "or": "and", "all": "any", "any": "all",
    "sum": "max", "max": "min", "min": "max", "least": "most", "most": "least", "lo": "hi", "hi": "lo",
}  # fmt: skip
"""Words that stand for the other of two: in names of functions, of fields, and in texts that name operators."""
MASKS: Final = ("valid", "mask", "other", "fill", "active")
COMBINING: Final = ("apply_combine",)
"""Functions of a combine and two tuples of states."""
ORDERED: Final = ("lt", "le", "sub", "floordiv", "mod", "ceil_div", "difference", "at_most")


@dataclass(frozen=True)
class Mutant:
    """One thing wrong: `name` says where, `kind` what, `change` shows it.  `applied()` makes it so for a while."""

    name: str
    kind: str
    change: str
    applied: Callable[[], AbstractContextManager[None]] = field(compare=False, repr=False)
    place: tuple[str, int, int] = field(default=("", 0, 0), compare=False)
    """The file and the lines of what is changed."""


@dataclass(frozen=True)
class Site:
    """A place in a function where something can be wrong: the edit is made in a copy of the tree."""

    kind: str
    before: str
    edit: Callable[[ast.AST], None]
    lines: tuple[int, int] = (0, 0)


Path = tuple[tuple[str, int | None], ...]


def sites(function: ast.FunctionDef) -> Iterator[Site]:
    """Everything that can be wrong in a function, in the order of the text."""
    whole = function.lineno, function.end_lineno or function.lineno
    if any("nanopass" in ast.unparse(d) for d in function.decorator_list):
        given = function.args.args[0].arg
        yield Site("forgotten pass", f"return {given}", lambda t: _return(t, given), whole)
    for path, node in _walk(function):
        if any(f in ("annotation", "returns", "decorator_list", "args") and d < 1 for d, (f, _) in enumerate(path)):
            continue
        lines = _lines(function, path, node) or whole
        yield from (replace(site, lines=lines) for site in _of_node(function, path, node))


def _lines(function: ast.AST, path: Path, node: ast.AST) -> tuple[int, int] | None:
    """The lines of the statement that a node is a part of; of one with others inside, those of the node."""
    around = [_at(function, path[:k]) for k in range(len(path), -1, -1)]
    statement = next((n for n in around if isinstance(n, ast.stmt)), node)
    shown = next((n for n in around if hasattr(n, "lineno")), node) if hasattr(statement, "body") else statement
    first = getattr(shown, "lineno", None)
    return None if first is None else (first, first if hasattr(shown, "body") else getattr(shown, "end_lineno", first))


def _of_node(function: ast.AST, path: Path, node: ast.AST) -> Iterator[Site]:
    text = ast.unparse(node)[:80] if isinstance(node, ast.expr | ast.stmt) else ""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            yield Site("wrong comparison", text, lambda t: _put(t, path, "ops", [OTHER[type(op)]()]))
        case ast.BoolOp(values=values):
            for i in range(len(values)):
                yield Site("dropped condition", text, lambda t, i=i: _drop(t, path, "values", i))  # type: ignore[misc]
        case ast.UnaryOp(op=ast.Not()):
            yield Site("dropped condition", text, lambda t: _replace(t, path, _at(t, path).operand))
        case ast.If(body=[ast.Continue() | ast.Return() | ast.Raise()]):
            if not isinstance(node.body[0], ast.Raise):
                yield Site(
                    "dropped condition", text.partition("\n")[0], lambda t: _put(t, path, "test", ast.Constant(False))
                )
        case ast.IfExp():
            yield Site("dropped condition", text, lambda t: _replace(t, path, _at(t, path).body))
        case ast.BinOp(op=op) if type(op) in OTHER and not isinstance(node.left, ast.JoinedStr):
            if not any(isinstance(x, ast.Constant) and isinstance(x.value, str) for x in (node.left, node.right)):
                yield Site("wrong operator", text, lambda t: _put(t, path, "op", OTHER[type(op)]()))
        case ast.Call(func=ast.Name(name), args=[_, _]) if name in ORDERED:
            yield Site("swapped operands", text, lambda t: _put(t, path, "args", _at(t, path).args[::-1]))
            if name in WORDS:
                yield Site("wrong operator", text, lambda t: _put(t, path, "func", ast.Name(WORDS[name], ast.Load())))
        case ast.Call(func=ast.Name(name), args=[_, _, _]) if name in COMBINING:
            yield Site(
                "swapped operands", text, lambda t: _put(t, path, "args", [_at(t, path).args[i] for i in (0, 2, 1)])
            )
        case ast.Call(func=ast.Name(name)) if name in WORDS:
            yield Site("wrong operator", text, lambda t: _put(t, path, "func", ast.Name(WORDS[name], ast.Load())))
        case ast.Constant(str(word)) if word in WORDS and path[-1][0] in ("args", "comparators"):
            yield Site("wrong operator", text, lambda t: _put(t, path, "value", WORDS[word]))
        case ast.Constant(int(n)) if not isinstance(n, bool) and n in (0, 1, 2) and path[-1][0] != "kwd_attrs":
            yield Site("off by one", text, lambda t: _put(t, path, "value", n + 1))
        case ast.Constant(bool(truth)) if path[-1][0] in ("args", "value", "elts"):
            yield Site("wrong constant", _around(function, path), lambda t: _put(t, path, "value", not truth))
        case ast.Dict(values=[_, _, *_]):
            yield Site("swapped operands", text, lambda t: _put(t, path, "values", _turned(_at(t, path).values)))
        case ast.Slice(lower=ast.Constant(int(n))):
            yield Site("off by one", text, lambda t: _put(t, (*path, ("lower", None)), "value", n + 1))
        case ast.Attribute(attr=name) if name in WORDS and name in ("lo", "hi"):
            yield Site("wrong bound", text, lambda t: _put(t, path, "attr", WORDS[name]))
        case ast.keyword(arg=str(name)) if name in MASKS and not isinstance(node.value, ast.Constant):
            yield Site(
                "lost mask",
                f"{name}={ast.unparse(node.value)}"[:80],
                lambda t: _put(t, path, "value", ast.Constant(None)),
            )
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield Site("dropped statement", text, lambda t: _replace(t, path, ast.Pass()))
        case ast.Tuple(elts=[a, b], ctx=ast.Load()) if path[-1][0] == "value" and ast.dump(a) != ast.dump(b):
            yield Site("swapped operands", text, lambda t: _put(t, path, "elts", _at(t, path).elts[::-1]))


def _around(function: ast.AST, path: Path) -> str:
    """The expression that a constant stands in."""
    around = (_at(function, path[:k]) for k in range(len(path) - 1, -1, -1))
    outer = next((n for n in around if isinstance(n, ast.expr | ast.stmt)), function)
    return ast.unparse(outer)[:80]


def _turned(values: list[Any]) -> list[Any]:
    return [*values[1:], values[0]]


def _walk(tree: ast.AST, path: Path = ()) -> Iterator[tuple[Path, ast.AST]]:
    yield path, tree
    for name, value in ast.iter_fields(tree):
        if isinstance(value, ast.AST):
            yield from _walk(value, (*path, (name, None)))
        elif isinstance(value, list):
            for i, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield from _walk(child, (*path, (name, i)))


def _at(tree: ast.AST, path: Path) -> Any:
    node: Any = tree
    for name, i in path:
        node = getattr(node, name) if i is None else getattr(node, name)[i]
    return node


def _put(tree: ast.AST, path: Path, name: str, value: Any) -> None:
    setattr(_at(tree, path), name, value)


def _return(function: Any, name: str) -> None:
    function.body = [ast.Return(ast.Name(name, ast.Load()))]


def _drop(tree: ast.AST, path: Path, name: str, i: int) -> None:
    node = _at(tree, path)
    values = getattr(node, name)
    del values[i]
    if len(values) == 1:
        _replace(tree, path, values[0])


def _replace(tree: ast.AST, path: Path, new: ast.AST) -> None:
    (name, i), parent = path[-1], _at(tree, path[:-1])
    if i is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[i] = new


# ---- in the living function


def compiled(
    module: types.ModuleType, tree: ast.Module, function: ast.AST, edit: Callable[[ast.AST], None]
) -> types.CodeType | None:
    """The code of a function with an edit, compiled where it stands in its module; None if it can't be."""
    where = _path_of(tree, function)
    try:
        code = compile(edited(tree, function, edit, alone=True), str(module.__file__), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, TypeError):
        return None
    names = [_at(tree, where[:k]).name for k in range(1, len(where) + 1) if hasattr(_at(tree, where[:k]), "name")]
    return _nested(code, names)


def edited(tree: ast.Module, function: ast.AST, edit: Callable[[ast.AST], None], alone: bool = False) -> ast.Module:
    """A module with an edit in a copy of one of its functions; with `alone`, there is nothing beside this function."""
    new: Any = copy.deepcopy(function)
    edit(new)
    where = _path_of(tree, function)
    for k in range(len(where) - 1, -1, -1):
        (name, i), parent = where[k], _at(tree, where[:k])
        body = [new if j == i else n for j, n in enumerate(getattr(parent, name))]
        around = copy.copy(parent)
        setattr(around, name, [n for n in body if n is new or not alone or isinstance(n, ast.ImportFrom)])
        new = around
    return ast.fix_missing_locations(new)  # type: ignore[no-any-return]


def _path_of(tree: ast.AST, node: ast.AST) -> Path:
    return next(path for path, found in _walk(tree) if found is node)


def _nested(code: types.CodeType, names: list[str]) -> types.CodeType | None:
    for name in names:
        inner = [c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name]
        if not inner:
            return None
        code = inner[-1]
    return code


def living(module: types.ModuleType, qualified: str) -> types.FunctionType | None:
    """The function object of a module by its qualified name, through the wrappers that hide it."""
    found: Any = module
    for name in qualified.split("."):
        found = vars(found).get(name) if hasattr(found, "__dict__") else None
    for attribute in ("function", "fget", "func", "__func__", "__wrapped__"):
        if found is not None and not isinstance(found, types.FunctionType) and hasattr(found, attribute):
            found = getattr(found, attribute)
    while isinstance(found, types.FunctionType) and hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    return found if isinstance(found, types.FunctionType) else None


def with_code(function: types.FunctionType, code: types.CodeType) -> Callable[[], AbstractContextManager[None]]:
    """The function with other code, for a while."""

    @contextmanager
    def applied() -> Iterator[None]:
        before = function.__code__
        function.__code__ = code
        try:
            yield
        finally:
            function.__code__ = before

    return applied
