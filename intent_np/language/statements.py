"""Statements: assignments in SSA form, branches that merge names by select, and loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from intent_np.errors import IntentError
from intent_np.terms.core import Term, named
from intent_np.terms.dtypes import DType, bool_
from intent_np.terms.index import Const, Value
from intent_np.terms.logical import Branch, Domain, element
from intent_np.terms.normal import View

from . import loops
from .arithmetic import binary, negated, truth
from .context import capture, fail, static
from .elaborate import describe, is_literal, literal, select, shape_of
from .expressions import evaluate, subscript
from .frames import POISON, Frame, Missing, Poisoned
from .indexing import write
from .products import Record, alike, leaves, refilled


@dataclass(frozen=True)
class Ended:
    """How a block was left: by `return` with a value, or by `continue`."""

    kind: str
    value: Any = None


def run(f: Frame, name: str) -> Any:
    """Read the whole body of a helper: what it returns."""
    state = capture()
    ended = execute(f, f.source.tree.body, collect=False)
    if ended is not None:
        return ended.value
    if any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(f.source.tree)):
        with state.at(f.source, f.source.tree):
            raise fail("E107", name=name)
    return None


def execute(f: Frame, body: Sequence[ast.stmt], collect: bool = True) -> Ended | None:
    """Statements in order.  With `collect`, an error is kept, the names it leaves undefined are poisoned, and reading
    goes on."""
    state = capture()
    for i, s in enumerate(body):
        try:
            with state.at(f.source, s):
                if isinstance(s, ast.If):
                    done, ended = _if(f, s, body[i + 1 :], collect)
                    if done:
                        return ended
                elif (ended := _statement(f, s, collect)) is not None:
                    return ended
        except (IntentError, Poisoned) as problem:
            if not collect:
                raise
            if isinstance(problem, IntentError):
                state.errors.add(problem)
            f.names.update(dict.fromkeys(assigned([s]), POISON))
    return None


def _statement(f: Frame, s: ast.stmt, collect: bool) -> Ended | None:
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
        case ast.Expr(value=node):
            evaluate(f, node)
        case ast.Pass():
            pass
        case ast.For():
            if s.orelse:
                raise fail("E102", construct="else after a for loop", suggestion="put the statements behind the loop")
            loops.loop(f, s, collect)
        case ast.Return(value=node):
            return Ended("return", None if node is None else evaluate(f, node))
        case ast.Continue():
            return Ended("continue")
        case ast.Assert(test=test, msg=message):
            _assert(f, test, message)
        case _:
            construct, hint = _REJECTED.get(
                type(s), (f"the statement {type(s).__name__}", "use assignments, if, for and calls")
            )
            raise fail("E102", construct=construct, suggestion=hint)
    return None


_REJECTED: dict[type, tuple[str, str]] = {
    ast.While: ("while", "use an ordered for over a domain"),
    ast.Break: ("break", "guard the rest of the loop with if"),
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
            if isinstance(v, Value | Domain) and not isinstance(v, Const):
                named(v, name)
            f.names[name] = v
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            if isinstance(v, Record):
                v = v.values
            if not isinstance(v, tuple) or len(v) != len(parts):
                raise fail("E116", count=len(parts), found=describe(v))
            for t, x in zip(parts, v, strict=True):
                assign(f, t, x)
        case ast.Subscript(value=base, slice=items):
            where = evaluate(f, base)
            with state.at(f.source, target):
                if not isinstance(where, View):
                    raise fail("E118", what=describe(where))
                write(where, evaluate(f, items), v)
        case _:
            raise fail(
                "E102", construct="this target of an assignment", suggestion="assign to names and to elements of views"
            )


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
        if not isinstance(where, View):
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
    assign(f, target, binary(op, old, evaluate(f, node)))


def _assert(f: Frame, test: ast.expr, message: ast.expr | None) -> None:
    held = evaluate(f, test)
    if isinstance(held, Value) and not isinstance(held, Const):
        raise fail("E102", construct="assert on a runtime value", suggestion="assert what is known when compiling")
    if not truth(held):
        text = message.value if isinstance(message, ast.Constant) else ast.unparse(test)
        raise fail("E119", text=text)


def assigned(body: Sequence[ast.stmt]) -> list[str]:
    """Names that statements may assign, in order of first appearance."""
    found: dict[str, None] = {}
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                found[n.id] = None
    return list(found)


# ---- branches ----------------------------------------------------------------------------------------------------


def _if(f: Frame, s: ast.If, rest: Sequence[ast.stmt], collect: bool) -> tuple[bool, Ended | None]:
    """A branch.  Where one side may leave the block early, the statements behind it belong to the sides, and the
    first result says that they have been read."""
    state = capture()
    condition = evaluate(f, s.test)
    if not isinstance(condition, Value) or isinstance(condition, Const):
        ended = execute(f, s.body if truth(condition) else s.orelse, collect)
        return ended is not None, ended
    if shape_of(condition) or element(condition.type) is not bool_:
        raise fail(
            "E202",
            operation="if",
            dtype=describe(condition),
            expected="a bool scalar",
            found=describe(condition),
            fix="use I.select(condition, a, b) elementwise, or compare",
        )
    leaves_early = any(isinstance(n, ast.Return | ast.Continue) for b in (*s.body, *s.orelse) for n in ast.walk(b))
    tail = list(rest) if leaves_early else []
    before, written = dict(f.names), dict(state.written)
    sides = []
    for body, fact in ((s.body, condition), (s.orelse, negated(condition))):
        f.names = dict(before)
        with state.block(fact) as effects:
            ended = execute(f, [*body, *tail], collect)
        sides.append((f.names, tuple(effects), ended))
    (then_names, then, then_end), (else_names, otherwise, else_end) = sides
    state.written = {**written, **state.written}
    f.names = merged(condition, then_names, else_names)
    if then or otherwise:
        state.emit(Branch(condition, then, otherwise))
    if not leaves_early:
        return False, None
    return True, _ended(condition, then_end, else_end)


def _ended(condition: Value, a: Ended | None, b: Ended | None) -> Ended | None:
    returned = [e for e in (a, b) if e is not None and e.kind == "return"]
    if not returned:
        return None  # a continue ends an iteration exactly as falling off its end does
    if len(returned) < 2:
        if returned[0].value is None:
            return None  # a bare return behind which nothing is left
        raise fail("E107", name=capture().calls[-1].name)
    v = merge(condition, "the result", returned[0].value, returned[1].value)
    if isinstance(v, Missing):
        raise fail(v.code, **v.fields)
    return Ended("return", v)


def merged(condition: Value, a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """The names behind a branch."""
    names: dict[str, Any] = {}
    for n in {**a, **b}:
        if n not in a or n not in b:
            names[n] = Missing("E112", {"name": n})
        else:
            names[n] = merge(condition, n, a[n], b[n])
    return names


def merge(condition: Value, name: str, a: Any, b: Any) -> Any:
    """One name behind a branch: a select where the sides differ."""
    if a is b or is_literal(a) and is_literal(b) and type(a) is type(b) and repr(a) == repr(b):
        return a
    if POISON in (a, b):
        return POISON
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
    return named(v, name)
