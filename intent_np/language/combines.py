"""What a reduction or a scan combines: members of one structure, their identities, and a closed combine."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, NamedTuple

from intent_np.terms.dtypes import DType
from intent_np.terms.index import Const, Value
from intent_np.terms.logical import element, shape_of
from intent_np.terms.normal import Arg, Combine

from . import calls
from .context import capture, fail, static
from .declare import Intrinsic
from .elaborate import describe, fit, is_literal, is_tensor, literal, show
from .products import Record, alike, leaves, mapped, refilled
from .shapes import tensor


class Combined(NamedTuple):
    """Components of one shape, what nothing gives, the combine and what it uses."""

    values: tuple[Value, ...]
    shape: tuple[Value, ...]
    identities: tuple[Const, ...]
    combine: Combine
    operands: tuple[Value, ...]


def same_components(operation: str, what: str, made: Any, identity: Any) -> None:
    """E208 unless the identity has a component for each of `what`: the value, or the summary."""
    if not alike(made, identity):
        raise fail(
            "E208",
            operation=operation,
            suggestion=f"give one identity for each component of the {what}",
            expected=f"an identity like {describe(made)}",
            found=describe(identity),
        )


def combined(operation: str, value: Any, identity: Any, combine: Any, operands: Any) -> Combined:
    """The parts of `I.reduce` or `I.scan`, which `operation` names, once they fit each other."""
    values = [tensor(operation.removeprefix("I."), v) for v in leaves(value)]
    same_components(operation, "value", value, identity)
    shape = fit(values, operation)
    for v in values:
        if shape_of(v) != shape:
            raise fail("E204", left=str(describe(values[0])), right=describe(v), found="components of different shapes")
    dtypes = tuple(element(v.type) for v in values)
    identities = tuple(_identity(operation, i, d) for i, d in zip(leaves(identity), dtypes, strict=True))
    region, used = closed(operation, value, dtypes, combine, operands)
    return Combined(tuple(values), shape, identities, region, used)


def _identity(operation: str, v: Any, d: DType) -> Const:
    v = static(v)
    if isinstance(v, Const) and v.dtype is d:
        return v
    if isinstance(v, bool | int | float):
        return literal(v, d)
    raise fail(
        "E113",
        name=operation,
        signature=f"{operation}(value, axis, identity=0.0, combine=helper)",
        found=f"identity={describe(v)}",
        expected="an identity that is known when compiling",
    )


def closed(
    operation: str, value: Any, dtypes: tuple[DType, ...], combine: Any, operands: Any
) -> tuple[Combine, tuple[Value, ...]]:
    """The combine read over arguments: closed, pure, one body a component; and the scalars that it uses."""
    callable_with(operation, "combine", combine)
    sides = [refilled(value, [Arg(side, i, d) for i, d in enumerate(dtypes)]) for side in "ab"]
    used: list[Value] = []

    def operand(v: Any) -> Any:
        if is_tensor(v):
            raise fail("E102", construct="a tensor as a combine operand", suggestion="make it a component of the value")
        if not isinstance(v, Value) or isinstance(v, Const):
            return v
        used.append(v)
        return Arg("c", len(used) - 1, element(v.type))

    given = mapped(operands if isinstance(operands, tuple) else (operands,), operand)
    if isinstance(combine, calls.Callee):
        _two_sides(operation, combine, len(given))
    with pure(f"the combine of {operation}"):
        result = calls.call(combine, (*sides, *given), {})
    bodies = like(f"the combine of {operation}", value, result, dtypes)
    if any(map(is_tensor, bodies)):
        raise unlike(f"the combine of {operation}", dtypes, bodies)
    return Combine(dtypes, tuple(bodies)), tuple(used)


def _two_sides(operation: str, combine: calls.Callee, operands: int) -> None:
    """E113 for a combine that does not take two sides and the operands."""
    signature = inspect.signature(combine.function)
    wanted = ["a", "b", *[f"operand{i or ''}" for i in range(operands)]]
    try:
        signature.bind(*wanted)
    except TypeError:
        parts = f"{combine.name}({', '.join(wanted)})"
        fix = f"define it as {parts}: a side is one scalar, tuple or record, like the value"
        given = f"{combine.name}{signature}"
        raise fail("E113", name=f"the combine of {operation}", signature=parts, found=given, fix=fix) from None


class pure:
    """Inside, effects are illegal, and this says why."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __enter__(self) -> None:
        state = capture()
        self.outer, state.pure = state.pure, self.why

    def __exit__(self, *_: object) -> None:
        capture().pure = self.outer


def callable_with(operation: str, name: str, v: Any) -> None:
    """E113 for a function of an operation that is none."""
    if not isinstance(v, Intrinsic | calls.Callee):
        raise fail(
            "E113",
            name=operation,
            signature=f"{operation}(..., {name}=helper)",
            found=f"{name}={describe(v)}",
            expected="a helper decorated with @intent.fn, or an operation such as I.maximum",
        )


def like(what: str, value: Any, result: Any, dtypes: tuple[Any, ...]) -> list[Value]:
    """The components of `result`, which has the structure and the element types of `value`."""
    if isinstance(value, Record) and isinstance(result, Record):
        result = reordered(result, value.names)
    found = list(leaves(result))
    if result is None:
        raise fail("E121", what=f"what {what} gives", found="None", fix="return the combined value from the helper")
    if not alike(value, result) or not all(isinstance(b, Value) or is_literal(b) for b in found):
        raise unlike(what, dtypes, found)
    made = [b if isinstance(b, Value) else literal(b, element(d)) for b, d in zip(found, dtypes, strict=True)]
    if tuple(element(b.type) for b in made) != tuple(map(element, dtypes)):
        raise unlike(what, dtypes, made)
    return made


def reordered(r: Record, names: tuple[str, ...]) -> Record:
    """A record with its components in another order; as it is where they are not the same ones."""
    if set(r.names) != set(names):
        return r
    return Record(names, tuple(r.values[r.names.index(n)] for n in names))


def unlike(
    what: str,
    expected: Iterable[Any],
    found: Iterable[Any],
    suggestion: str = "return one scalar for each component, in its dtype",
) -> Exception:
    """E208 for a function that gives something else than it takes."""
    return fail(
        "E208",
        operation=what,
        suggestion=suggestion,
        expected=f"({', '.join(map(str, expected))})",
        found=f"({', '.join(show(b) if isinstance(b, Value) else describe(b) for b in found)})",
    )
