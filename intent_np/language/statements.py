"""Statements: assignments in SSA form, branches that merge names by select, and loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import Any

from intent_np.errors import IntentError, counted
from intent_np.terms.core import Term, named
from intent_np.terms.dtypes import DType, bool_
from intent_np.terms.index import Const, Value
from intent_np.terms.logical import Branch, Buffer, Domain, LoopVar, element
from intent_np.terms.normal import Memory

from . import exits, loops
from .arithmetic import binary, negated, truth
from .context import capture, fail, static
from .elaborate import describe, is_literal, is_tensor, literal, select, shape_of
from .expressions import evaluate, subscript
from .frames import POISON, Frame, Missing, Poisoned
from .indexing import write
from .products import Record, alike, leaves, refilled


def run(f: Frame, name: str) -> Any:
    """Read the whole body of a helper: what it returns."""
    state = capture()
    f.names |= exits.entered()
    left = execute(f, f.source.tree.body, collect=False)
    result = f.names[exits.RESULT]
    if result is exits.NOTHING:
        result = None
    returns = exits.returns(f.source.tree.body)
    if isinstance(result, Missing):
        with state.at(f.source, returns[-1]):
            raise fail(result.code, **result.fields)
    if any(r.value is not None for r in returns) and not left:
        with state.at(f.source, f.source.tree.body[-1]):
            raise fail("E107", name=name)
    return result


def execute(f: Frame, body: Sequence[ast.stmt], collect: bool = True) -> bool:
    """Statements in order; whether nothing falls off their end, since each way leaves before it.

    With `collect`, an error is kept, the names it leaves undefined are poisoned, and reading goes on."""
    state = capture()
    for i, s in enumerate(body):
        rest = body[i + 1 :]
        try:
            with state.at(f.source, s):
                if isinstance(s, ast.If):
                    taken, ended = _if(f, s, rest, collect)
                    if taken or ended:
                        return ended
                else:
                    _statement(f, s, collect)
        except (IntentError, Poisoned) as problem:
            if not collect:
                raise
            if isinstance(problem, IntentError):
                state.errors.add(problem)
            f.names.update(dict.fromkeys(assigned([s]), POISON))
        gone = exits.left(f.names)
        if gone is True:
            return True
        if gone is not False:
            return exits.unless_left(f, gone, partial(execute, f, rest, collect))
    return False


def _statement(f: Frame, s: ast.stmt, collect: bool) -> None:
    match s:
        case ast.Assign(targets=targets, value=node):
            v = evaluate(f, node)
            for t in targets:
                assign(f, t, v)
        case ast.AnnAssign(target=target, annotation=annotation, value=node):
            _annotated(f, target, annotation, node)
        case ast.AugAssign(target=target, op=op, value=node):
            _augmented(f, target, op, node)
        case ast.Expr(value=ast.Constant(value=str())):
            pass
        case ast.Expr(value=ast.Compare(ops=[ast.Eq()])):
            raise fail("E102", construct="a comparison as a statement", suggestion="assign with a single =")
        case ast.Expr(value=node):
            evaluate(f, node)
        case ast.Pass():
            pass
        case ast.For() | ast.While():
            if s.orelse:
                word = "for" if isinstance(s, ast.For) else "while"
                hint = "set a flag before break, and ask it behind the loop"
                raise fail("E102", construct=f"else after a {word} loop", suggestion=hint)
            loops.loop(f, s, collect)
        case ast.Return(value=node):
            _leave(f, exits.RETURN)
            f.names[exits.RESULT] = None if node is None else evaluate(f, node)
        case ast.Continue():
            _leave(f, exits.CONTINUE)
        case ast.Break():
            _leave(f, exits.BREAK)
        case ast.Assert(test=test, msg=message):
            _assert(f, test, message)
        case _:
            known = "use assignments, if, for, while and calls"
            construct, hint = _REJECTED.get(type(s), (f"the statement {ast.unparse(s).split()[0]}", known))
            raise fail("E102", construct=construct, suggestion=hint)


def _leave(f: Frame, flag: str) -> None:
    refused = f.names.get(flag)
    if isinstance(refused, Missing):
        raise fail(refused.code, **refused.fields)
    f.names[flag] = True


_REJECTED: dict[type, tuple[str, str]] = {
    ast.Try: ("try", "guard with if, so that the failing case does not happen"),
    ast.With: ("with", "write the statements without it"),
    ast.Delete: ("del", "leave the name alone: unused values cost nothing"),
    ast.Global: ("global", "pass the value as a parameter"),
    ast.Nonlocal: ("nonlocal", "return the value from the helper"),
    ast.FunctionDef: ("a function inside a kernel", "define it outside and decorate it with @intent.fn"),
    ast.ClassDef: ("a class inside a kernel", "define it outside"),
    ast.Import: ("import inside a kernel", "import at the top of the file"),
    ast.ImportFrom: ("import inside a kernel", "import at the top of the file"),
    ast.Raise: ("raise", "a kernel can't fail; write the outcome to an I.Out parameter"),
    ast.Match: ("match", "use if and elif"),
    ast.AsyncFor: ("async for", "use I.parallel"),
    ast.AsyncWith: ("async with", "write the statements without it"),
}


# ---- assignment --------------------------------------------------------------------------------------------------


def assign(f: Frame, target: ast.expr, v: Any) -> None:
    """Give `v` to a name, to the parts of a tuple, or to elements of a view."""
    state = capture()
    match target:
        case ast.Name(id=name):
            if isinstance(v, Value | Domain | Buffer) and not isinstance(v, Const):
                named(v, name)
            _kept_in_reach(f, name, v)
            f.names[name] = v
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            if any(isinstance(t, ast.Starred) for t in parts):
                raise fail("E102", construct="* in the target of an assignment", suggestion="name every component")
            if isinstance(v, Record):
                v = v.values
            if not isinstance(v, tuple) or len(v) != len(parts):
                raise _unpacked(len(parts), v)
            for t, x in zip(parts, v, strict=True):
                assign(f, t, x)
        case ast.Subscript(value=base, slice=items):
            where = evaluate(f, base)
            with state.at(f.source, target):
                if not isinstance(where, Memory):
                    raise fail("E118", what=describe(where))
                write(where, evaluate(f, items), v)
        case _:
            raise fail(
                "E102", construct="this target of an assignment", suggestion="assign to names and to elements of views"
            )


def _kept_in_reach(f: Frame, name: str, v: Any) -> None:
    """E102 for an assignment that would only hide a view that the kernel writes."""
    old = f.names.get(name)
    if isinstance(old, Memory) and isinstance(v, Value) and old.mode in ("out", "inout"):  # type: ignore[attr-defined]
        where = ", ".join(":" * len(old.shape)) or "()"  # type: ignore[attr-defined]
        fix = f"assign to its elements, {name}[{where}] = ..., or use another name"
        raise fail("E102", construct=f"an assignment to the name of {describe(old)}", suggestion=fix)


def _unpacked(count: int, v: Any) -> Exception:
    """E116: a value that does not have as many components as there are names."""
    given, fix = describe(v), ""
    if isinstance(v, tuple):
        given = counted(len(v), "component")
    elif isinstance(v, LoopVar):
        given, fix = "one coordinate", "use enumerate(region) for ordinals beside coordinates"
    elif isinstance(v, Value):
        fix = "take the elements by their index: v[0], v[1]" if shape_of(v) else "assign it to one name"
    return fail("E116", names=counted(count, "name"), given=given, found=describe(v), fix=fix)


def _annotated(f: Frame, target: ast.expr, annotation: ast.expr, node: ast.expr | None) -> None:
    """`name: I.f32 = 0` gives a literal its dtype."""
    wanted = evaluate(f, annotation)
    if node is None or not isinstance(wanted, DType):
        raise fail(
            "E102", construct="this annotation", suggestion="annotate a literal with its dtype: total: I.f32 = 0.0"
        )
    v = static(evaluate(f, node))
    if is_literal(v):
        v = literal(v, wanted)
    elif not isinstance(v, Value) or element(v.type) is not wanted:
        raise fail("E209", name=ast.unparse(target), dtype=wanted, found_dtype=describe(v), found=describe(v))
    assign(f, target, v)


def _augmented(f: Frame, target: ast.expr, op: ast.operator, node: ast.expr) -> None:
    """`a += b` is `a = a + b`; the subscript of a view is evaluated once."""
    if isinstance(target, ast.Subscript):
        where, items = evaluate(f, target.value), evaluate(f, target.slice)
        if not isinstance(where, Memory):
            raise fail("E118", what=describe(where))
        with capture().at(f.source, target):
            old = subscript(where, items)
        v = binary(op, old, evaluate(f, node))
        with capture().at(f.source, target):
            write(where, items, v)
        return
    if not isinstance(target, ast.Name):
        raise fail(
            "E102", construct="this target of an assignment", suggestion="assign to names and to elements of views"
        )
    old = evaluate(f, ast.copy_location(ast.Name(target.id, ast.Load()), target))
    if isinstance(old, Memory):
        where = ", ".join(":" * len(old.shape)) or "()"  # type: ignore[attr-defined]
        hint = f"name the elements: {target.id}[{where}]"
        raise fail("E102", construct=f"an assignment to the name of {describe(old)}", suggestion=hint)
    assign(f, target, binary(op, old, evaluate(f, node)))


def _assert(f: Frame, test: ast.expr, message: ast.expr | None) -> None:
    if isinstance(test, ast.Tuple) and test.elts:
        hint = "leave the brackets away: assert condition, text"
        raise fail("E102", construct="an assertion of a tuple, which always holds,", suggestion=hint)
    held = evaluate(f, test)
    if isinstance(held, Value) and not isinstance(held, Const):
        raise fail("E102", construct="assert on a runtime value", suggestion="assert what is known when compiling")
    if not truth(held):
        text = message.value if isinstance(message, ast.Constant) else ast.unparse(test)
        names = dict.fromkeys(n.id for n in ast.walk(test) if isinstance(n, ast.Name))
        known = [f"{n} = {describe(f.names[n])}" for n in names if is_literal(f.names.get(n))]
        raise fail("E119", text=text, found=", ".join(known))


def assigned(body: Sequence[ast.stmt]) -> list[str]:
    """Names that statements may assign, in order of first appearance."""
    found: dict[str, None] = {}
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                found[n.id] = None
            elif isinstance(n, ast.FunctionDef | ast.ClassDef):
                found[n.name] = None
            elif isinstance(n, ast.alias):
                found[n.asname or n.name.partition(".")[0]] = None
    return list(found)


# ---- branches ----------------------------------------------------------------------------------------------------


def _if(f: Frame, s: ast.If, rest: Sequence[ast.stmt], collect: bool) -> tuple[bool, bool]:
    """A branch: whether it read `rest` too, and whether each way leaves.

    Where one side is certain to leave, what stands behind the branch belongs to the other one, whose condition holds
    there."""
    state = capture()
    condition = evaluate(f, s.test)
    if not isinstance(condition, Value) or isinstance(condition, Const):
        return False, execute(f, s.body if truth(condition) else s.orelse, collect)
    if is_tensor(condition) or element(condition.type) is not bool_:
        found, fix = describe(condition), "compare it: value != 0"
        if is_tensor(condition) and not shape_of(condition):
            fix = "take its element: condition[()]"
        elif is_tensor(condition):
            fix = "use I.select(condition, a, b) for each element, or I.reduce.any or I.reduce.all for all of them"
        with state.at(f.source, s.test):
            raise fail("E202", operation="if", dtype=found, expected="a bool scalar", found=found, fix=fix)
    leaves = exits.certain(s.body), exits.certain(s.orelse)
    taken = any(leaves)
    before, written = dict(f.names), dict(state.written)
    sides = []
    for body, fact, other in ((s.body, condition, leaves[1]), (s.orelse, negated(condition), leaves[0])):
        f.names, state.written = dict(before), dict(written)
        with state.block(fact) as effects:
            ended = execute(f, [*body, *rest] if other else body, collect)
        sides.append((f.names, tuple(effects), ended))
    (then_names, then, then_ends), (else_names, otherwise, else_ends) = sides
    state.written = written
    f.names = merged(condition, then_names, else_names, (then_ends, else_ends))
    if then or otherwise:
        state.emit(Branch(condition, then, otherwise))
    return taken, then_ends and else_ends


def merged(
    condition: Value, a: dict[str, Any], b: dict[str, Any], ended: tuple[bool, bool] = (False, False)
) -> dict[str, Any]:
    """The names behind a branch.  Behind a side that left nothing is read, so that it need not define a name."""
    names: dict[str, Any] = {}
    for n in {**a, **b}:
        x, y = a.get(n), b.get(n)
        if n in exits.FLAGS:
            names[n] = x if isinstance(x, Missing) else exits.either(condition, a.get(n, False), b.get(n, False))
        elif n not in a or ended[0] and isinstance(x, Missing):
            names[n] = y if ended[0] else Missing("E112", {"name": n})
        elif n not in b or ended[1] and isinstance(y, Missing):
            names[n] = x if ended[1] else Missing("E112", {"name": n})
        else:
            names[n] = merge(condition, n, x, y)
    return names


def merge(condition: Value, name: str, a: Any, b: Any) -> Any:
    """One name behind a branch: a select where the sides differ."""
    if a is b or is_literal(a) and is_literal(b) and type(a) is type(b) and repr(a) == repr(b):
        return a
    if POISON in (a, b):
        return POISON
    if exits.NOTHING in (a, b):  # a result is asked for only where there is one
        return b if a is exits.NOTHING else a
    if isinstance(a, Missing) or isinstance(b, Missing):
        return a if isinstance(a, Missing) else b
    changed = Missing("E207", {"name": name, "found": f"{describe(a)} on one path, {describe(b)} on the other"})
    if not alike(a, b):
        return changed
    if isinstance(a, tuple | Record):
        pairs = zip(leaves(a), leaves(b), strict=True)
        result = refilled(a, [merge(condition, name, x, y) for x, y in pairs])
        return next((v for v in leaves(result) if isinstance(v, Missing)), result)
    if not all(isinstance(v, Value) or is_literal(v) for v in (a, b)):
        return a if a == b and not isinstance(a, Term) else changed
    try:
        v = select(condition, a, b)
    except IntentError:
        return changed
    if any((shape_of(x) if isinstance(x, Value) else ()) != shape_of(v) for x in (a, b)):
        return changed
    return named(v, name if name.isidentifier() else "result")
