"""Region operations: the author says what any slice of an axis amounts to, the compiler cuts the axis."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from intent_np.numerics import fits
from intent_np.terms.core import find, named
from intent_np.terms.dtypes import DType, index
from intent_np.terms.index import Const, Value, const, lt
from intent_np.terms.logical import (
    Domain,
    Filled,
    Formal,
    Function,
    LoopVar,
    RegionFold,
    RegionScan,
    State,
    TensorType,
    element,
    shape_of,
)
from intent_np.terms.normal import Proj, View

from . import calls
from .combines import callable_with, like, pure, reordered, same_components, unlike
from .context import capture, fail
from .cuts import uncut
from .declare import Intrinsic, intrinsic
from .elaborate import describe, is_literal, is_open, is_tensor, shape_text, value
from .products import Record, leaves, mapped, refilled
from .shapes import axis_of, tensor


class _Source(NamedTuple):
    """The components that are cut, the axis of each, and its extent."""

    components: tuple[Any, ...]
    values: tuple[Value, ...]
    dimensions: tuple[int, ...]
    operands: tuple[Any, ...]


@intrinsic
def region_fold(source: Any, axis: Any, *, summarize: Any, combine: Any, identity: Any, operands: Any = ()) -> Any:
    """The summary of `source` along `axis` (one for all components, or a tuple of one each), which the compiler cuts
    into slices as it likes.

    `summarize(*components, *operands)` gives the summary of any slice: scalars or tensors, in a tuple or a record; a
    tuple source arrives as its components, a record as one record.  `combine(a, b)` is associative, and
    summarize(A ++ B) = combine(summarize(A), summarize(B)); nothing gives `identity`."""
    name = "I.region_fold"
    given = _source(name, source, axis, operands)
    s = _summary(name, given, summarize, combine, identity)
    made = RegionFold(given.values, given.dimensions, s.summarize, s.combine, s.identities, _values(given.operands))
    return refilled(
        s.structure, [made] if len(s.identities) == 1 else [Proj(made, i) for i in range(len(s.identities))]
    )


@intrinsic
def region_scan(
    source: Any,
    axis: Any,
    *,
    summarize: Any,
    combine: Any,
    identity: Any,
    initial_state: Any,
    apply: Any,
    emit: Any,
    operands: Any = (),
) -> tuple[Any, Any]:
    """(outputs, final state): what every slice of `source` along `axis` gives once it is told the state that comes
    into it.

    Summaries as in `I.region_fold`.  `apply(summary, state)` is the state behind a slice, an action:
    apply(combine(a, b), s) = apply(b, apply(a, s)).  A literal in `initial_state` has the dtype of the component of the
    summary in its place, where there are as many.  `emit(*components, state, *operands)` gives the outputs of a slice,
    tensors that have the cut axis; they are put together along it."""
    name = "I.region_scan"
    given = _source(name, source, axis, operands)
    s = _summary(name, given, summarize, combine, identity)
    state = _state(s, initial_state)
    states = _values((state,), constants=True)
    callable_with(name, "apply", apply)
    applied = _called(name, "apply", apply, (refilled(s.structure, s.identities), state))
    step = _closed(applied, _typed(f"apply of {name}", state, applied.result, states))
    callable_with(name, "emit", emit)
    emitted = _called(name, "emit", emit, (*given.components, state, *given.operands), given)
    outputs = [_output(name, v, emitted.formals[0]) for v in leaves(emitted.result)]
    uncut(f"emit of {name}", tuple(outputs), emitted.formals[0])
    made = RegionScan(
        given.values, given.dimensions, s.summarize, s.combine, s.identities, states, step,
        _closed(emitted, outputs), _values(given.operands),
    )  # fmt: skip
    parts = [Proj(made, i) for i in range(len(outputs) + len(states))]
    return refilled(emitted.result, parts[: len(outputs)]), refilled(state, parts[len(outputs) :])


def _state(s: Any, initial: Any) -> Any:
    """The initial state as values; a literal has the dtype of the component of the summary where it stands."""
    parts = list(leaves(initial))
    if len(parts) == len(s.identities):
        wanted = iter([element(v.type) for v in s.identities])
        return mapped(initial, lambda v: _of_dtype(v, next(wanted)))
    return mapped(initial, value)


def _of_dtype(v: Any, d: Any) -> Any:
    return value(v, d) if is_literal(v) and isinstance(d, DType) and fits(v, d) else value(v)


# ---- what is cut


def _source(name: str, source: Any, axis: Any, operands: Any) -> _Source:
    components = source if isinstance(source, tuple) else (source,)
    values = tuple(tensor(name.removeprefix("I."), v) for v in leaves(components))
    axes = axis if isinstance(axis, tuple) else (axis,) * len(values)
    if not values or len(axes) != len(values):
        raise fail(
            "E113",
            name=name,
            signature=f"{name}(source, axis, ...)",
            found=f"{len(axes)} axes for {len(values)} components",
        )
    dimensions = tuple(axis_of(a, len(shape_of(v))) for a, v in zip(axes, values, strict=True))
    extents = [shape_of(v)[d] for v, d in zip(values, dimensions, strict=True)]
    if any(e is not extents[0] for e in extents):
        raise fail(
            "E208",
            operation=name,
            suggestion="give the axis that is cut one name in all components",
            expected="components of one extent along the axis",
            found=shape_text(extents),
        )
    used = operands if isinstance(operands, tuple) else (operands,)
    for v in leaves(used):
        if isinstance(v, View):
            raise fail(
                "E102",
                construct=f"the view {v.name} as an operand of {name}",
                suggestion="read what the region needs in front of it, and pass the tensor",
            )
        if isinstance(v, Domain) and any(find(v, (LoopVar, State, Formal))):
            raise fail(
                "E102",
                construct=f"a domain known only at run time as an operand of {name}",
                suggestion="pass its coordinates: I.indices(domain)",
            )
    return _Source(components, values, dimensions, used)


def _values(products: tuple[Any, ...], constants: bool = False) -> tuple[Value, ...]:
    """What arrives as formals: the values, of which constants need none."""
    return tuple(v for v in leaves(products) if isinstance(v, Value) and (constants or not isinstance(v, Const)))


# ---- functions


class _Called(NamedTuple):
    """A function that was read: its name, over what, and what it gives."""

    name: str
    formals: tuple[Formal, ...]
    result: Any


def _called(name: str, role: str, function: Any, products: Sequence[Any], cut: _Source | None = None) -> _Called:
    """`function` read over formals of the types of what `products` group; the first components are `cut`."""
    callable_with(name, role, function)
    signature = function.signature if isinstance(function, Intrinsic) else inspect.signature(function.function)
    labels = [*signature.parameters, *[role] * len(products)]
    state = capture()
    depth = state.regions + 1
    formals: list[Formal] = []
    extent = Formal(f"{role}.extent{depth}", 0, index, (), True)
    if cut:
        formals.append(extent)
    axes = iter(cut.dimensions if cut else ())

    def formal(label: str, keep: bool) -> Any:
        def step(v: Any) -> Any:
            if not isinstance(v, Value) or isinstance(v, Const) and not keep:
                return v
            shape = list(shape_of(v))
            if (d := next(axes, None)) is not None:
                shape[d] = extent
            made = Formal(f"{role}.{label}", len(formals), element(v.type), tuple(shape), not is_tensor(v))
            formals.append(made)
            return made

        return step

    # of the operands of a slice, constants stay what they are
    own = len(products) - (len(cut.operands) if cut else 0)
    args = tuple(mapped(p, formal(labels[i], i < own)) for i, p in enumerate(products))
    facts = (lt(const(0), extent),) if cut else ()
    with pure(f"{role} of {name}"), state.block(*facts):
        state.regions = depth
        try:
            result = calls.call(function, args, {})
        finally:
            state.regions = depth - 1
    return _Called(getattr(function, "name", role), tuple(formals), result)


def _closed(c: _Called, values: Sequence[Value]) -> Function:
    return named(Function(c.name, c.formals, tuple(values)), c.name)  # type: ignore[no-any-return]


def _typed(what: str, like_this: Any, result: Any, values: Sequence[Value]) -> list[Value]:
    """The components of `result`, which has the structure and the types of `values`."""
    types = tuple(v.type for v in values)
    found = like(what, like_this, result, types)
    if tuple(v.type for v in found) != types:
        raise unlike(what, types, found, "return one value for each component, of its dtype and shape")
    return found


class _Summary(NamedTuple):
    structure: Any
    summarize: Function
    combine: Function
    identities: tuple[Value, ...]


def _summary(name: str, given: _Source, summarize: Any, combine: Any, identity: Any) -> _Summary:
    """What a slice amounts to, and how two of them go together."""
    c = _called(name, "summarize", summarize, (*given.components, *given.operands), given)
    extent, structure = c.formals[0], c.result
    if isinstance(structure, Record) and isinstance(identity, Record):
        identity = reordered(identity, structure.names)
    same_components(name, "summary", structure, identity)
    summaries, identities = [], []
    for s, i in zip(leaves(structure), leaves(identity), strict=True):
        s = value(s, element(i.type) if is_open(s) and isinstance(i, Value) and not is_open(i) else None)
        i = value(i, element(s.type))
        if is_tensor(s) and not is_tensor(i):
            i = Filled(i, shape_of(s))
        if extent in find(shape_of(s), Formal):
            raise fail(
                "E211",
                operation=f"summarize of {name}",
                construct="the shape of a summary",
                found="a summary that still has the cut axis",
                fix="reduce along it in summarize, for example with I.reduce.sum(values, axis=0)",
            )
        if s.type != i.type:
            raise fail(
                "E208",
                operation=f"the identity of {name}",
                suggestion="give an identity of the dtype and shape of each component of the summary",
                expected=describe(s),
                found=describe(i),
            )
        summaries.append(s)
        identities.append(i)
    uncut(f"summarize of {name}", tuple(summaries), extent)
    sides = refilled(structure, identities)
    joined = _called(name, "combine", combine, (sides, sides))
    bodies = _typed(f"the combine of {name}", structure, joined.result, identities)
    return _Summary(structure, _closed(c, summaries), _closed(joined, bodies), tuple(identities))


def _output(name: str, v: Any, extent: Formal) -> Value:
    made = value(v)
    shape = shape_of(made)
    if sum(e is extent for e in shape) != 1:
        raise fail(
            "E208",
            operation=f"emit of {name}",
            suggestion="emit tensors along the cut axis; a state broadcasts: state + I.zeros(x.shape, x.dtype)",
            expected="outputs with the axis of the slice",
            found=describe(made) if isinstance(made.type, TensorType) else f"a scalar {made.type}",
        )
    return made
