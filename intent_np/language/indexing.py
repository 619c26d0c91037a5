"""Subscripts: from `x[row, columns, None, 1:]` to coordinates that are proved to be inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.core import arena
from intent_np.terms.index import Const, Value, add, apply, const, is_const, le, mul, sub
from intent_np.terms.logical import (
    Along,
    At,
    Domain,
    NewAxis,
    Read,
    Subscript,
    Take,
    Write,
    broadcast,
    element,
    shape_of,
)
from intent_np.terms.normal import View

from . import bounds, races
from .context import capture, fail, static
from .elaborate import describe, extent_text, index_value, is_literal, is_tensor, shape_text, show, value


@dataclass(frozen=True)
class Slice:
    """`begin:end:step` in a subscript."""

    begin: Any
    end: Any
    step: Any


def whole(extent: Value) -> Domain:
    """All coordinates of an axis."""
    return Domain(const(0), extent)


def domain(begin: Any, end: Any, step: Any = 1, source: Domain | None = None) -> Domain:
    """begin, begin + step, … below end, with bounds in normal form."""
    lo, hi = simplify(index_value(begin)), simplify(index_value(end))
    if is_literal(step) and not isinstance(step, bool) and step <= 0:
        raise fail(
            "E208",
            operation="a domain",
            suggestion="walk upwards and compute the reversed coordinate",
            expected="a step above 0",
            found=f"a step of {step}",
        )
    by = None if is_literal(step) and step == 1 else simplify(index_value(step))
    return Domain(lo, hi, None if by is not None and is_const(by, 1) else by, source)


def subregion(source: Domain, part: Slice) -> Domain:
    """`source[b:e]`: the coordinates of the source from b to before e, source.begin <= b <= e <= source.end, never
    clamped.  `source[b:e:k]` takes every k-th of them."""
    lo = source.lo if part.begin is None else simplify(index_value(part.begin))
    hi = source.hi if part.end is None else simplify(index_value(part.end))
    facts = known()
    checks = (
        (source.lo, lo, "the begin of the source"),
        (lo, hi, "its own begin"),
        (hi, source.hi, "the end of the source"),
    )
    for small, large, what in checks:
        if not bounds.at_most(small, large, facts):
            raise _disordered(small, large, " <= ".join(map(extent_text, (source.lo, lo, hi, source.hi))), source, what)
    step = source.step
    if step is not None and part.begin is not None:  # the first coordinate of the source that is b or more
        skipped = apply("ceil_div", sub(lo, source.lo), step)
        lo = simplify(add(source.lo, mul(skipped, step)))
        capture().facts += (le(lo, add(hi, sub(step, const(1)))),)  # less than a step is skipped
    if part.step is not None:
        by = domain(0, 0, part.step).step
        step = by if step is None else step if by is None else simplify(mul(step, by))
    made = Domain(lo, hi, step, source.source or source)
    state = capture()
    if source in state.mappings:
        state.mappings[made] = state.mappings[source]
    return made


def ordered(d: Domain) -> Domain:
    """A domain whose coordinates become an axis, its bounds proved to be in order; a loop needs no such proof."""
    # no coordinate is left out and none is added where a step leads past the end from just before it
    end = d.hi if d.step is None else add(d.hi, sub(d.step, const(1)))
    if not bounds.at_most(d.lo, end, known()):
        raise _disordered(d.lo, d.hi, f"{extent_text(d.lo)} <= {extent_text(d.hi)}")
    return d


def _disordered(small: Value, large: Value, expected: str, source: Domain | None = None, what: str = "") -> Exception:
    """E309, with limits that are in order whatever the bounds are."""
    found = f"no proof of {extent_text(small)} <= {extent_text(large)}{what and ', ' + what}"
    low, high = ("0", "I.end(axis)") if source is None else (extent_text(source.lo), extent_text(source.hi))
    cut = f"low = I.clamp(begin, {low}, {high}), high = I.clamp(end, low, {high}), and axis[low:high]"
    fix = f"guard the statement with if {expected}, or limit the bounds: {cut}"
    return fail("E309", expected=expected, found=found, fix=fix)


def known() -> tuple[Value, ...]:
    """What holds here: conditions of enclosing branches, and that enclosing loops have a member in hand."""
    state = capture()
    from intent_np.terms.index import lt

    inside = [p for v in state.loops for p in (lt(v.domain.lo, v.domain.hi), le(v.domain.lo, v))]
    return (*state.facts, *inside)


def subscripts(name: str, shape: tuple[Value, ...], items: Any) -> tuple[Subscript, ...]:
    """One entry for each axis of the resource and each new one: coordinates of a view, or positions in a value."""
    entries = list(items) if isinstance(items, tuple) else [items]
    count = sum(i is not None and i is not Ellipsis for i in entries)
    dots = [k for k, i in enumerate(entries) if i is Ellipsis]
    if count > len(shape) or len(dots) > 1:
        raise fail("E205", name=name, rank=len(shape), count=count, found=f"{count} subscripts for {shape_text(shape)}")
    rest = [Slice(None, None, None)] * (len(shape) - count)
    if dots:
        entries[dots[0] : dots[0] + 1] = rest
    else:
        entries += rest
    made: list[Subscript] = []
    axis = 0
    for item in entries:
        if item is None:
            made.append(NewAxis())
        else:
            made.append(_subscript(name, axis, shape[axis], item))
            axis += 1
    return tuple(made)


def _subscript(name: str, axis: int, extent: Value, item: Any) -> Subscript:
    match item:
        case Slice():
            return Along(_slice(name, axis, extent, item))
        case Domain():
            _inside(name, axis, extent, item)
            return Along(item)
    if is_tensor(item):
        raise fail(
            "E102",
            construct="a tensor as a subscript",
            suggestion="index with domains, slices and integer scalars",
            found=show(item),
        )
    if not is_literal(item) and not isinstance(item, Value):
        raise fail(
            "E102",
            construct=f"{describe(item)} as a subscript",
            suggestion="index with domains, slices, None and integers",
        )
    if is_literal(item) and not isinstance(item, bool) and isinstance(item, int):
        return At(_static(name, axis, extent, item))
    at = simplify(index_value(item)) if isinstance(item, Const) else index_value(item)
    facts = known()
    if not (bounds.nonnegative(at, facts) and bounds.below(at, extent, facts)):
        raise outside(name, axis, extent, extent_text(at), facts)
    return At(at)


def _static(name: str, axis: int, extent: Value, item: int) -> Value:
    """A Python int, negative from the end: decided now, or proved from what is known of the extent."""
    if isinstance(extent, Const):
        size = static(extent)
        if not -size <= item < size:
            raise fail("E308", index=item, axis=axis, name=name, extent=size, found=f"index {item}")
        return const(item % size)
    needed = const(-item - 1 if item < 0 else item)
    if not bounds.below(needed, extent, known()):
        raise outside(name, axis, extent, str(item), known())
    return simplify(add(extent, const(item))) if item < 0 else const(item)


def _slice(name: str, axis: int, extent: Value, part: Slice) -> Domain:
    """A slice of a whole axis; static negative bounds count from the end, as everywhere in Python."""
    if part.begin is None and part.end is None and part.step is None:
        return whole(extent)

    def place(b: Any) -> Any:
        return simplify(add(extent, const(b))) if is_literal(b) and isinstance(b, int) and b < 0 else b

    made = domain(
        0 if part.begin is None else place(part.begin),
        extent if part.end is None else place(part.end),
        1 if part.step is None else part.step,
        whole(extent),
    )
    _inside(name, axis, extent, made)
    return made


def _inside(name: str, axis: int, extent: Value, d: Domain) -> None:
    facts = known()
    ordered(d)
    root = d.source if isinstance(d.source, Domain) else d
    for r in (d, root):
        if bounds.nonnegative(r.lo, facts) and bounds.at_most(r.hi, extent, facts):
            return
    text = f"the domain {extent_text(d.lo)}..{extent_text(d.hi)}"
    raise outside(name, axis, extent, text, facts)


def outside(name: str, axis: int, extent: Value, index: str, facts: tuple[Value, ...]) -> Exception:
    """E301: which axis, what is known, and the three ways to fix it."""
    known = "; ".join(dict.fromkeys(extent_text(f) for f in facts)) or "nothing more"
    return fail(
        "E301",
        axis=axis,
        name=name,
        expected=f"0 <= index < {extent_text(extent)}",
        found=f"index {index}, and known: {known}",
    )


# ---- access ------------------------------------------------------------------------------------------------------


def read(source: View | Value, items: Any) -> Value:
    """`source[items]` as a value."""
    state = capture()
    if isinstance(source, View):
        entries = subscripts(source.name, source.shape, items)
        if source.mode == "out" and source not in state.written:
            raise fail("E307", name=source.name)
        return Read(source, entries, state.written.get(source))
    if not is_tensor(source):
        raise fail("E205", name="a scalar", rank=0, count=1, found=show(source))
    name = arena().names.get(source, "the value")
    entries = subscripts(name, shape_of(source), items)
    if entries == tuple(Along(whole(e)) for e in shape_of(source)):
        return source
    return Take(source, entries)


def write(target: View, items: Any, v: Any) -> None:
    """`target[items] = v`."""
    state = capture()
    if target.mode == "in":
        raise fail("E302", name=target.name)
    if state.pure:
        raise fail("E306", effect=f"a write to '{target.name}'", found=state.pure)
    entries = subscripts(target.name, target.shape, items)
    v = value(v, target.dtype)
    if element(v.type) is not target.dtype:
        raise fail("E209", name=target.name, dtype=target.dtype, found_dtype=element(v.type), found=show(v))
    shape = tuple(const(1) if isinstance(e, NewAxis) else e.domain.extent for e in entries if not isinstance(e, At))  # type: ignore[attr-defined]
    given = shape_of(v)
    try:
        fits = len(given) <= len(shape) and broadcast((shape, given)) == shape
    except TypeError:
        fits = False
    if not fits:
        raise fail(
            "E204",
            left=shape_text(shape),
            right=shape_text(given),
            found=f"a value of {shape_text(given)} assigned to {target.name} at {shape_text(shape)}",
        )
    races.written_once(target, entries, state.points, known())
    state.emit(Write(target, entries, v))
