"""Calls: operations run their capture meaning, helpers become typed functions, a few builtins act on known values.

A helper is read over the caller's own values, as if its text stood where it is called, and proofs and errors are about
what really happens.  That it was a call is noted beside; once the whole kernel is read, `outline.py` makes it one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from intent_np.errors import suggestion
from intent_np.terms.dtypes import DType
from intent_np.terms.index import Value, apply, sub
from intent_np.terms.logical import (
    Domain,
    LoopVar,
    shape_of,
)
from intent_np.terms.normal import Memory

from .arithmetic import known
from .context import capture, fail, static
from .declare import OPERATIONS, Intrinsic
from .elaborate import describe, is_literal, is_tensor
from .frames import Frame
from .indexing import Slice, domain


class Callee:
    """Base of what a kernel may call besides operations: helpers; and kernels, to say that it may not."""

    name: str
    function: Any


BUILTINS = ("range", "enumerate", "len", "float", "int", "bool", "min", "max", "abs", "round", "slice")


def call(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The meaning of `function(*args, **keywords)`."""
    if isinstance(function, Intrinsic):
        if function.is_namespace:
            usage = " or ".join(m.usage for m in function.members.values())
            raise fail("E113", name=f"I.{function.name}", signature=usage, found="a call of a group of operations")
        bound = bind(function.signature, f"{function.home}{function.name}", function.usage, args, keywords)
        return function.meaning(*bound.args, **bound.kwargs)
    if isinstance(function, Callee):
        return helper(function, args, keywords)
    if is_mathematics(function):
        return _mathematics(function, args, keywords)
    if inspect.isbuiltin(function) or function in (range, enumerate, float, int, bool, slice):
        return _builtin(function, args, keywords)
    if isinstance(function, DType):
        raise fail("E102", construct=f"calling the dtype {function}", suggestion=f"use I.cast(value, I.{function})")
    raise fail(
        "E102",
        construct=f"calling {describe(function)}",
        suggestion="call operations of I and helpers decorated with @intent.fn",
    )


def bind(
    signature: inspect.Signature, name: str, usage: str, args: tuple[Any, ...], keywords: dict[str, Any]
) -> inspect.BoundArguments:
    """Arguments matched to parameters, defaults filled in; E113 when they do not fit."""
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as problem:
        known = [p.name for p in signature.parameters.values() if p.kind is not p.POSITIONAL_ONLY]
        hints = [suggestion(k, known) for k in keywords if k not in known]
        hint = f"; did you mean {hints[0]}?" if hints and hints[0] else ""
        raise fail("E113", name=name, signature=usage, found=f"{problem}{hint}") from None
    bound.apply_defaults()
    return bound


# ---- builtins ----------------------------------------------------------------------------------------------------

_ON_VALUES = {
    "float": "use I.cast(value, I.f32)",
    "int": "use I.cast(value, I.i32)",
    "bool": "compare: value != 0",
    "min": "use I.minimum(a, b), or I.reduce.min(value, axis=...)",
    "max": "use I.maximum(a, b), or I.reduce.max(value, axis=...)",
    "abs": "use I.abs(value)",
    "round": "use I.round(value)",
}


def _builtin(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    name = function.__name__
    args = tuple(map(static, args))
    if name == "range":
        if keywords or not 1 <= len(args) <= 3:
            raise fail(
                "E113",
                name="range",
                signature="range(end), range(begin, end) or range(begin, end, step)",
                found=f"{len(args)} arguments",
            )
        return domain(*((0, *args) if len(args) == 1 else args))
    if name == "enumerate":
        if len(args) == 1 and isinstance(args[0], Domain) and not keywords:
            return Enumerated(args[0])
        if len(args) == 1 and isinstance(args[0], tuple) and not keywords:
            return tuple(enumerate(args[0]))
        usage = "enumerate(region) or enumerate(tuple)"
        raise fail("E113", name="enumerate", signature=usage, found=", ".join(map(describe, args)))
    if name == "slice":
        if keywords or not 1 <= len(args) <= 3:
            found = f"{len(args)} arguments"
            raise fail("E113", name="slice", signature="slice(end) or slice(begin, end, step)", found=found)
        begin, end, step = (None, *args, None) if len(args) == 1 else (*args, None)[:3]
        return Slice(begin, end, step)
    if name == "len" and len(args) == 1 and not keywords:
        return _length(args[0])
    if name in _ON_VALUES:
        if any(isinstance(a, Value | Memory | Domain) for a in args):
            raise fail("E102", construct=f"{name}() of a value known only at run time", suggestion=_ON_VALUES[name])
        return known(name, lambda *a: function(*a, **keywords), *args)
    raise fail("E102", construct=f"the builtin {name}", suggestion="use the operations of intent_np.language")


def is_mathematics(v: Any) -> bool:
    """Whether `v` is a function of Python's `math`, which has one value for known numbers."""
    return inspect.isbuiltin(v) and v.__module__ == "math"


def _mathematics(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    name, args = function.__name__, tuple(map(static, args))
    if not all(map(is_literal, args)):
        operation = OPERATIONS.get(name)
        hint = f"use {operation.usage}" if operation else "use the operations of intent_np.language"
        raise fail("E102", construct=f"math.{name} of a value known only at run time", suggestion=hint)
    return known(f"math.{name}", lambda *a: function(*a, **keywords), *args)


def _length(v: Any) -> Any:
    if isinstance(v, tuple):
        return len(v)
    if isinstance(v, Domain):
        return static(v.extent)
    shape = v.shape if isinstance(v, Memory) else shape_of(v) if is_tensor(v) else ()
    if not shape:
        raise fail("E113", name="len", signature="len(tensor)", found=describe(v))
    return static(shape[0])


class Enumerated:
    """`enumerate(region)`: local ordinals beside the coordinates."""

    about = "enumerate(region)"

    def __init__(self, domain: Domain) -> None:
        self.domain = domain


def ordinal(point: LoopVar) -> Value:
    """How many members of its domain come before the one in hand."""
    from intent_np.rules.simplify import simplify

    gone, step = sub(point, point.domain.lo), point.domain.step
    return simplify(gone if step is None else apply("floordiv", gone, step))


# ---- helpers -----------------------------------------------------------------------------------------------------


def helper(callee: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A call of an `@intent.fn` helper."""
    state = capture()
    if not getattr(callee, "is_helper", False):
        raise fail(
            "E102",
            construct=f"calling the kernel '{callee.name}'",
            suggestion="share the code as a helper decorated with @intent.fn",
        )
    if callee in state.calls:
        chain = " calls ".join(c.name for c in (*state.calls[state.calls.index(callee) :], callee))
        raise fail("E106", name=callee.name, found=chain)
    if (rest := callee.source.tree.args.kwarg) is not None:
        construct = f"**{rest.arg} in the signature of a helper"
        raise fail("E102", span=callee.source.span(rest), construct=construct, suggestion="name each parameter")
    usage = f"{callee.name}{inspect.signature(callee.function)}"
    bound = bind(inspect.signature(callee.function), callee.name, usage, args, keywords)
    _constant_defaults(callee, bound)
    with state.call(callee.name, callee.source, bound.arguments) as made:
        made.result = _expanded(callee, dict(bound.arguments))
    return made.result


def _constant_defaults(callee: Any, bound: inspect.BoundArguments) -> None:
    """E105 for a default that the helper could change."""
    for n, v in bound.arguments.items():
        if isinstance(v, list | dict | set) and v is bound.signature.parameters[n].default:
            parts = callee.source.tree.args
            node = next((a for a in (*parts.posonlyargs, *parts.args, *parts.kwonlyargs) if a.arg == n), parts)
            found, fix = f"a default that is a {type(v).__name__}", f"make it a tuple: {n}=(...)"
            raise fail("E105", span=callee.source.span(node), name=n, found=found, fix=fix)


def _expanded(callee: Any, arguments: dict[str, Any]) -> Any:
    """The helper's result with its body read over these arguments, here."""
    from .statements import run

    state = capture()
    frame = Frame(callee.source, callee.function, arguments)
    outer, state.calls = (state.calls, state.caller), (*state.calls, callee)
    place, state.caller = state.place, state.span
    try:
        return run(frame, callee.name)
    finally:
        (state.calls, state.caller), state.place = outer, place
