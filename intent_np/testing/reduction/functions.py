"""Edits of functions: helpers put where they are called, parameters, outputs and axes left out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .tree import Path, Substituted, at, copied, functions, is_kernel, names, put, walk

Edit = Callable[[ast.Module], None]


def dropped(tree: ast.Module) -> Iterator[Edit]:
    """Without a statement of the module: helpers, constants and imports that nothing names any more."""
    for i in range(len(tree.body) - 1, -1, -1):
        yield lambda new, i=i: new.body.__delitem__(i)  # type: ignore[misc]


# ---- parameters


def dropped_outputs(tree: ast.Module) -> Iterator[Edit]:
    """Without a parameter and all statements of the kernel that name it."""
    for k, function in enumerate(functions(tree)):
        if is_kernel(function):
            for argument in reversed(function.args.args):
                yield _without(k, argument.arg, all_uses=True)


def dropped_parameters(tree: ast.Module) -> Iterator[Edit]:
    """Without a parameter that nothing names; a constexpr is replaced by its default."""
    for k, function in enumerate(functions(tree)):
        if not is_kernel(function):
            continue
        used = {n for s in function.body for n in names(s)}
        for argument in reversed(function.args.args):
            if argument.arg not in used:
                yield _without(k, argument.arg, all_uses=False)
            elif (default := _defaults(function).get(argument.arg)) is not None:
                yield _fixed(k, argument.arg, default)


def merged_parameters(tree: ast.Module) -> Iterator[Edit]:
    """With one parameter in the place of another of the same type."""
    for k, function in enumerate(functions(tree)):
        if is_kernel(function):
            given = function.args.args
            for i, later in enumerate(given):
                for earlier in given[:i]:
                    if later.annotation and ast.dump(later.annotation) == ast.dump(earlier.annotation or later):
                        yield _fixed(k, later.arg, ast.Name(earlier.arg, ast.Load()))


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    given = function.args.args
    return {
        a.arg: d for a, d in zip(given[len(given) - len(function.args.defaults) :], function.args.defaults, strict=True)
    }


def _remove(function: ast.FunctionDef, name: str) -> None:
    defaults = _defaults(function)
    function.args.args = [a for a in function.args.args if a.arg != name]
    function.args.defaults = [defaults[a.arg] for a in function.args.args if a.arg in defaults]


def _without(k: int, name: str, all_uses: bool) -> Edit:
    def edit(tree: ast.Module) -> None:
        function = functions(tree)[k]
        _remove(function, name)
        if all_uses:
            _prune(function, name)

    return edit


def _prune(owner: ast.AST, name: str) -> None:
    """Drop the innermost statements that name it, and the loops and branches that are empty then."""
    for field in ("body", "orelse"):
        kept = []
        for statement in getattr(owner, field, []):
            if isinstance(statement, ast.If | ast.For | ast.While):
                head = statement.iter if isinstance(statement, ast.For) else statement.test
                if name in names(head):
                    continue
                _prune(statement, name)
                if statement.body:
                    kept.append(statement)
            elif name not in names(statement):
                kept.append(statement)
        if hasattr(owner, field):
            setattr(owner, field, kept)


def _fixed(k: int, name: str, value: ast.expr) -> Edit:
    def edit(tree: ast.Module) -> None:
        function = functions(tree)[k]
        _remove(function, name)
        place: dict[str, ast.expr] = {name: value}
        function.body = [Substituted(place).visit(s) for s in function.body]

    return edit


# ---- axes


def dropped_axes(tree: ast.Module) -> Iterator[Edit]:
    """Without an axis of a view, or without an extent of all; without the subscripts there, and the loops over them."""
    for k, function in enumerate(functions(tree)):
        if not is_kernel(function):
            continue
        shapes = {a.arg: s for a in function.args.args if (s := _shape(a)) is not None}
        entries = [(name, i, ast.dump(e)) for name, shape in shapes.items() for i, e in enumerate(shape)]
        for extent in dict.fromkeys(e for _, _, e in entries):
            yield _flattened(k, [(name, i) for name, i, e in entries if e == extent])
        for name, i, _ in entries:
            yield _flattened(k, [(name, i)])


def _shape(argument: ast.arg) -> list[ast.expr] | None:
    match argument.annotation:
        case ast.Subscript(slice=ast.Tuple([_, ast.Tuple(shape), *_])):
            return shape
    return None


def _flattened(k: int, axes: list[tuple[str, int]]) -> Edit:
    def edit(tree: ast.Module) -> None:
        function = functions(tree)[k]
        members: set[str] = set()
        for name, i in reversed(axes):
            shape = next(_shape(a) for a in function.args.args if a.arg == name) or []
            for path, node in list(walk(function)):
                match node:
                    case ast.Subscript(ast.Name(view)) if view == name:
                        members |= _unsubscripted(function, path, node, i, len(shape))
                    case ast.Assign([ast.Tuple(targets)], ast.Attribute(ast.Name(view), "shape")) if view == name:
                        if len(targets) == len(shape):
                            del targets[i]
            del shape[i]
        for member in sorted(members):
            _unlooped(function, member)

    return edit


def _unsubscripted(function: ast.FunctionDef, path: Path, node: ast.Subscript, i: int, rank: int) -> set[str]:
    """Drop what stands for an axis in a subscript; the name that stood there, if it is one."""
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if i >= len(entries):
        return set()
    gone, rest = entries[i], [*entries[:i], *entries[i + 1 :]]
    if not rest and rank > 1:
        rest = [ast.Slice()]
    put(function, (*path, ("slice", None)), rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load()))
    return {gone.id} if isinstance(gone, ast.Name) else set()


def _unlooped(function: ast.FunctionDef, member: str) -> None:
    """Without the loop over a member, which is 0 then."""
    for path, node in list(walk(function)):
        match node:
            case ast.For(target=ast.Name(name)) if name == member:
                *way, (field, at_) = path
                block = getattr(at(function, tuple(way)), field)
                block[at_ : at_ + 1] = node.body  # type: ignore[operator]
                break
            case ast.For(target=ast.Tuple(targets), iter=ast.Call(args=[ast.Tuple(domains)]) as call):
                here = [isinstance(t, ast.Name) and t.id == member for t in targets]
                if any(here) and len(targets) == len(domains):
                    del targets[here.index(True)], domains[here.index(True)]
                    if len(targets) == 1:
                        node.target, call.args = targets[0], [domains[0]]
                    break
    else:
        return
    zero: dict[str, ast.expr] = {member: ast.Constant(0)}
    function.body = [Substituted(zero).visit(s) for s in function.body]


# ---- helpers


def inlined(tree: ast.Module) -> Iterator[Edit]:
    """Without a helper: its body where it is called.  Statements of the body stand before the one that calls."""
    helpers = {f.name: f for f in functions(tree) if not is_kernel(f)}
    for name, helper in helpers.items():
        called = [path for path, node in walk(tree) if _calls(node, name)]
        uses = sum(n == name for n in names(tree))
        if called and len(called) == uses and isinstance(helper.body[-1], ast.Return):
            yield _inlined(name)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _inlined(name: str) -> Edit:
    def edit(tree: ast.Module) -> None:
        helper = next(f for f in functions(tree) if f.name == name)
        for count in range(1000):
            path = next((p for p, node in walk(tree) if _calls(node, name)), None)
            if path is None:
                break
            _expand(tree, path, helper, count)
        tree.body.remove(helper)

    return edit


def _expand(tree: ast.Module, path: Path, helper: ast.FunctionDef, count: int) -> None:
    call: ast.Call = at(tree, path)
    parameters = [a.arg for a in helper.args.args]
    values = {**_defaults(helper), **dict(zip(parameters, call.args, strict=False))}
    values |= {k.arg: k.value for k in call.keywords if k.arg}
    taken = set(names(tree))
    local = {n for s in helper.body for n in names(s, ast.Store)}
    renamed = {n: f"{n}_{count}" if n in taken or n in values else n for n in sorted(local)}
    body = [_renamed(Substituted(values).visit(copied(s)), renamed) for s in helper.body]
    result = body.pop()
    assert isinstance(result, ast.Return)
    put(tree, path, result.value or ast.Constant(None))
    # the innermost statement around the call
    for n in range(len(path), 0, -1):
        field, i = path[n - 1]
        if field in ("body", "orelse") and i is not None:
            getattr(at(tree, path[: n - 1]), field)[i:i] = body
            return


def _renamed(statement: ast.stmt, new: dict[str, str]) -> ast.stmt:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and node.id in new:
            node.id = new[node.id]
    return statement
