"""Expressions: what a node of the author's syntax tree means, as a term or as a Python value known now."""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Sequence
from typing import Any

from intent_np.errors import IntentError, suggestion
from intent_np.terms.core import find
from intent_np.terms.index import Const, Value
from intent_np.terms.logical import Branch, Domain, Read, Take, element, shape_of
from intent_np.terms.normal import Memory

from . import calls, pointwise
from .advice import foreign, instead
from .arithmetic import binary, compare, is_bool, logic, negated, truth, unary
from .context import capture, fail, static
from .declare import Intrinsic
from .elaborate import describe, is_literal, is_tensor, select
from .frames import Frame
from .indexing import Slice, read, subregion
from .names import captured, lookup
from .products import Record, alike, leaves, refilled
from .ragged import Ragged


def evaluate(f: Frame, node: ast.expr) -> Any:
    """The meaning of an expression here."""
    state = capture()
    with state.at(f.source, node):
        result = _evaluate(f, node)
        if not isinstance(node, ast.Name | ast.Attribute):
            state.also_at(result)
    return result


def _evaluate(f: Frame, node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=v):
            return _constant(v)
        case ast.Name(id=name):
            return lookup(f, name)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(evaluate(f, p) for p in parts)
        case ast.Attribute(value=base, attr=name):
            return attribute(evaluate(f, base), name)
        case ast.Subscript(value=base, slice=items):
            return subscript(evaluate(f, base), evaluate(f, items))
        case ast.Slice(lower=low, upper=high, step=step):
            return Slice(*(None if p is None else evaluate(f, p) for p in (low, high, step)))
        case ast.BinOp(left=left, op=op, right=right):
            return binary(op, evaluate(f, left), evaluate(f, right))
        case ast.UnaryOp(op=op, operand=operand):
            return unary(op, evaluate(f, operand))
        case ast.BoolOp(op=op, values=values):
            return _connective(f, op, values)
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _chain(f, left, ops, others)
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            return _conditional(f, test, then, otherwise)
        case ast.Call():
            return _call(f, node)
    construct, hint = _REJECTED.get(
        type(node), (f"the construct {type(node).__name__}", "write it with assignments and operators")
    )
    raise fail("E102", construct=construct, suggestion=hint)


_REJECTED: dict[type, tuple[str, str]] = {
    ast.ListComp: ("a list comprehension", "use tensors over domains: x[row, columns] reads a whole row"),
    ast.SetComp: ("a set comprehension", "use tensors over domains"),
    ast.DictComp: ("a dict comprehension", "use tensors over domains"),
    ast.GeneratorExp: ("a generator expression", "use I.reduce over a tensor, or an ordered for loop"),
    ast.Lambda: ("lambda", "define a helper decorated with @intent.fn"),
    ast.NamedExpr: (":= inside an expression", "assign on a line of its own"),
    ast.Dict: ("a dict", "use a tuple, or I.record(name=value)"),
    ast.Set: ("a set", "use a tuple"),
    ast.JoinedStr: ("an f-string", 'print with I.debug_print("x = {}", x)'),
    ast.Await: ("await", "a kernel has no concurrency of its own; see I.parallel"),
    ast.Yield: ("yield", "write results to an I.Out parameter"),
    ast.YieldFrom: ("yield from", "write results to an I.Out parameter"),
    ast.Starred: ("* here", "name the components"),
}


def _constant(v: Any) -> Any:
    if v is None or v is Ellipsis or isinstance(v, bool | int | float | str):
        return v
    raise fail("E102", construct=f"the literal {v!r}", suggestion="use a bool, an int or a float")


def attribute(base: Any, name: str) -> Any:
    """`base.name`."""
    if isinstance(base, types.ModuleType):
        try:
            return captured(f"{base.__name__}.{name}", capture().surroundings.member(base, name))
        except IntentError as problem:
            problem.span = capture().span
            raise
        except AttributeError:
            names = [n for n in dir(base) if not n.startswith("_")]
            raise fail("E101", name=name, candidates=names, fix=instead(name)) from None
    if isinstance(base, Intrinsic):
        try:
            return getattr(base, name)
        except IntentError as problem:
            problem.span = capture().span
            raise
    if isinstance(base, type) and issubclass(base, enum.Enum):
        if name not in base.__members__:
            raise _without(f"the enum {base.__name__}", name, list(base.__members__))
        return base[name]
    if isinstance(base, enum.Enum) and name in ("name", "value"):
        return getattr(base, name)
    if isinstance(base, Record):
        if name not in base.names:
            raise _without("the record", name, list(base.names))
        return base.values[base.names.index(name)]
    if isinstance(base, Memory | Value):
        shape = base.shape if isinstance(base, Memory) else shape_of(base)  # type: ignore[attr-defined]
        found = {
            "shape": lambda: tuple(map(static, shape)),
            "dtype": lambda: element(base.type),
            "ndim": lambda: len(shape),
        }.get(name)
        if found:
            return found()
    if isinstance(base, Memory | Value):
        raise _without(describe(base), name, ["shape", "dtype", "ndim"], instead(name))
    raise _without(describe(base), name, [], foreign(name) or "leave it out: only values and records have attributes")


def _without(what: str, name: str, names: list[str], fix: str = "") -> IntentError:
    """E117: what has no such attribute, but perhaps a similar one."""
    hint = suggestion(name, names)
    fix = fix or (f"did you mean {hint}?" if hint else "")
    return fail("E117", name=name, what=what, found=f".{name}", expected=", ".join(names), fix=fix)


def subscript(base: Any, items: Any) -> Any:
    """`base[items]`."""
    if isinstance(base, Memory):
        return read(base, items)
    if isinstance(base, Domain):
        if not isinstance(items, Slice):
            hint = "write the coordinate itself, or cut a subregion with domain[begin:end]"
            raise fail("E102", construct="a coordinate of a domain", suggestion=hint)
        return subregion(base, items)
    if isinstance(base, Ragged):
        return base[items]
    if isinstance(base, Record):
        base = base.values
    if isinstance(base, tuple):
        items = static(items)
        if isinstance(items, Slice) and all(
            p is None or isinstance(static(p), int) for p in (items.begin, items.end, items.step)
        ):
            return base[slice(static(items.begin), static(items.end), static(items.step))]
        if not isinstance(items, int) or isinstance(items, bool):
            raise fail(
                "E102",
                construct="a runtime subscript of a tuple",
                suggestion="use an integer that is known when compiling",
            )
        if not -len(base) <= items < len(base):
            fix = (
                f"use a position below {len(base)}; negative ones count from the end" if base else "put something in it"
            )
            raise fail("E308", index=items, axis=0, name="the tuple", extent=len(base), fix=fix)
        return base[items]
    if isinstance(base, Value):
        return read(base, items)
    raise fail(
        "E102", construct=f"a subscript of {describe(base)}", suggestion="subscript views, tensors, domains and tuples"
    )


# ---- operators that decide what is read ---------------------------------------------------------------------------


def _connective(f: Frame, op: ast.boolop, nodes: list[ast.expr]) -> Any:
    """`and`, `or`: elementwise; what is known now decides without reading the rest, as in Python.

    Behind a scalar the rest is asked only where that leaves it open: it may rely on it, as an index on its bound."""
    name = "and" if isinstance(op, ast.And) else "or"
    state = capture()
    total: Any = None
    for node in nodes:
        if total is not None:
            _asked(name, total)
        scalar = isinstance(total, Value) and not is_tensor(total)
        fact = (total if name == "and" else negated(total),) if scalar else ()
        with state.block(*fact) as effects:
            v = evaluate(f, node)
        _performed_if(fact, effects)
        if total is not None:
            _asked(name, v)
        if is_literal(v) or v is None:
            if bool(v) is (name == "or"):
                return v
        elif total is None:
            total = v
        elif scalar and is_bool(v) and not is_tensor(v) and any(True for _ in find(v, (Read, Take))):
            total = select(total, *((v, False) if name == "and" else (True, v)))
        else:
            total = logic(name, (total, v), name)
    return name == "and" if total is None else total


def _asked(name: str, v: Any) -> None:
    """E202 for an operand of `and` or `or` that is no bool, beside one that only the run knows."""
    if not is_bool(v):
        logic(name, (v,), name)


def _performed_if(fact: tuple[Value, ...], effects: list[Any], otherwise: Sequence[Any] = ()) -> None:
    """Perform what evaluating an operand did, where the operand is evaluated."""
    state = capture()
    if fact and (effects or otherwise):
        state.emit(Branch(fact[0], tuple(effects), tuple(otherwise)))
    else:
        for e in effects:
            state.emit(e)


def _chain(f: Frame, first: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]) -> Any:
    """`a < b <= c`: the conjunction of its links, each operand evaluated once."""
    links = []
    left = evaluate(f, first)
    for op, node in zip(ops, others, strict=True):
        right = evaluate(f, node)
        links.append(compare(op, left, right))
        left = right
    known_links = [p for p in links if is_literal(p)]
    open_links = [p for p in links if not is_literal(p)]
    if not all(known_links):
        return False
    if not open_links:
        return True
    return open_links[0] if len(open_links) == 1 else logic("and", tuple(open_links), "and")


def _conditional(f: Frame, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> Any:
    """`a if c else b`: select, or one of them where the condition is known."""
    condition = evaluate(f, test)
    if not isinstance(condition, Value) or isinstance(condition, Const):
        return evaluate(f, then if truth(condition) else otherwise)
    if not is_bool(condition):
        found, fix = describe(condition), "compare it: value != 0"
        raise fail("E202", operation="a condition", dtype=found, expected="bool", found=found, fix=fix)
    return _selected(f, condition, then, otherwise)


def _selected(f: Frame, condition: Value, then: ast.expr, otherwise: ast.expr) -> Any:
    """The choice between two expressions.  Behind a scalar each is evaluated where it is chosen, so that it may rely on
    the condition, as an index on its bound; a tensor holds for each element on its own, and guards none."""
    state = capture()
    if is_tensor(condition):
        return _either(condition, evaluate(f, then), evaluate(f, otherwise))
    with state.block(condition) as done:
        a = evaluate(f, then)
    with state.block(negated(condition)) as instead:
        b = evaluate(f, otherwise)
    _performed_if((condition,), done, instead)
    return _either(condition, a, b)


def _either(condition: Value, a: Any, b: Any) -> Any:
    """One of two values; of two products, component by component."""
    if isinstance(a, tuple | Record) and alike(a, b):
        return refilled(a, [select(condition, x, y) for x, y in zip(leaves(a), leaves(b), strict=True)])
    return select(condition, a, b)


# ---- calls -------------------------------------------------------------------------------------------------------


def _call(f: Frame, node: ast.Call) -> Any:
    function = evaluate(f, node.func)
    if function is pointwise.select and (operands := _operands(node, ("condition", "then", "otherwise"))):
        condition = evaluate(f, operands[0])
        if isinstance(condition, Value) and is_bool(condition) and not isinstance(condition, Const):
            return _selected(f, condition, *operands[1:])
        return calls.call(function, (condition, *(evaluate(f, o) for o in operands[1:])), {})
    args: list[Any] = []
    for a in node.args:
        if isinstance(a, ast.Starred):
            spread = evaluate(f, a.value)
            args += spread if isinstance(spread, tuple) else [spread]
        else:
            args.append(evaluate(f, a))
    named = {}
    for k in node.keywords:
        if k.arg is None:
            raise fail("E102", construct="** in a call", suggestion="pass the arguments by name")
        named[k.arg] = evaluate(f, k.value)
    return calls.call(function, tuple(args), named)


def _operands(node: ast.Call, names: tuple[str, ...]) -> tuple[ast.expr, ...] | None:
    """The expressions of a call's parameters, if it gives each of them once."""
    given = dict(zip(names, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg is not None}
    plain = not any(isinstance(a, ast.Starred) for a in node.args)
    complete = len(node.args) + len(node.keywords) == len(names) == len(given)
    return tuple(given[n] for n in names) if plain and complete and set(given) == set(names) else None
