"""Subscripts: from `x[row, columns, None, 1:]` to coordinates that are proved to be inside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from intent_np.rules.simplify import simplify
from intent_np.terms.core import arena
from intent_np.terms.dtypes import DType, bool_, index
from intent_np.terms.index import Const, Value, add, apply, const, is_const, le, lt, mul, sub
from intent_np.terms.logical import (
    Allocate,
    Along,
    At,
    AtEach,
    Convert,
    Domain,
    Filled,
    LoopVar,
    NewAxis,
    Read,
    Subscript,
    Take,
    Write,
    broadcast,
    element,
    placed,
    shape_of,
)
from intent_np.terms.normal import Memory

from . import bounds, races
from .context import capture, fail, static
from .elaborate import (
    called,
    describe,
    extent_text,
    fit,
    index_value,
    is_literal,
    is_tensor,
    literal,
    shape_text,
    show,
    value,
)
from .elements import fitted, positions


@dataclass(frozen=True)
class Slice:
    """`begin:end:step` in a subscript."""

    begin: Any
    end: Any
    step: Any
    about: ClassVar[str] = "a slice"


def whole(extent: Value) -> Domain:
    """All coordinates of an axis."""
    return Domain(const(0), extent)


def domain(begin: Any, end: Any, step: Any = 1, source: Domain | None = None) -> Domain:
    """begin, begin + step, … below end, with bounds in normal form."""
    lo, hi = simplify(index_value(begin)), simplify(index_value(end))
    return Domain(lo, hi, _step(step), source)


def _step(step: Any) -> Value | None:
    """A step in normal form, None for 1; E311 unless it is certainly above 0."""
    by = simplify(index_value(step))
    if not bounds.below(const(0), by, known()):
        fix = ""
        if isinstance(by, Const):
            fix = "walk upwards, and compute the coordinate: I.end(axis) - 1 - i" if by.value else "leave it out"  # type: ignore[attr-defined]
        raise fail("E311", found=extent_text(by), fix=fix)
    return None if is_const(by, 1) else by


def subregion(source: Domain, part: Slice) -> Domain:
    """`source[b:e]`: the coordinates of the source from b to before e, source.begin <= b <= e <= source.end, never
    clamped.  `source[b:e:k]` takes every k-th of them."""
    lo = source.lo if part.begin is None else simplify(index_value(part.begin))
    hi = source.hi if part.end is None else simplify(index_value(part.end))
    facts = known()
    chain = (source.lo, lo, hi, source.hi)
    unproved = [(a, b) for a, b in pairwise(chain) if not bounds.at_most(a, b, facts)]
    if unproved:
        raise _disordered(unproved, chain, source)
    step = source.step
    if step is not None and part.begin is not None:  # the first coordinate of the source that is b or more
        skipped = apply("ceil_div", sub(lo, source.lo), step)
        lo = simplify(add(source.lo, mul(skipped, step)))
        capture().facts += (le(lo, add(hi, sub(step, const(1)))),)  # less than a step is skipped
    if part.step is not None:
        by = _step(part.step)
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
        raise _disordered([(d.lo, d.hi)], (d.lo, d.hi))
    return d


def _disordered(
    unproved: list[tuple[Value, Value]], chain: tuple[Value, ...], source: Domain | None = None
) -> Exception:
    """E309, with limits that are in order whatever the bounds are."""

    def text(pairs: Iterable[tuple[Value, Value]]) -> str:
        return " and ".join(f"{extent_text(a)} <= {extent_text(b)}" for a, b in pairs)

    never = [(a, b) for a, b in unproved if bounds.below(b, a)]
    limits = f"end the domain at I.maximum({extent_text(chain[0])}, {extent_text(chain[-1])})"
    if source is not None:
        low, high = extent_text(source.lo), extent_text(source.hi)
        limits = f"limit the bounds: low = I.clamp(begin, {low}, {high}), high = I.clamp(end, low, {high}), [low:high]"
    return fail(
        "E309",
        expected=text((a, b) for a, b in pairwise(chain) if not bounds.at_most(a, b)),
        found=f"{text(never)}, which never holds" if never else f"no proof of {text(unproved)}",
        fix="write bounds that are in order" if never else f"guard the statement with if {text(unproved)}, or {limits}",
    )


def known() -> tuple[Value, ...]:
    """What holds here: conditions of enclosing branches, and that enclosing loops have a member in hand."""
    state = capture()
    return (*state.facts, *(p for v in state.loops for p in _of_loop(v)))


def _of_loop(member: LoopVar) -> tuple[Value, Value]:
    """What a member in hand of a loop says of its domain and of itself; that it is below the end, proofs know."""
    return lt(member.domain.lo, member.domain.hi), le(member.domain.lo, member)


def subscripts(name: str, shape: tuple[Value, ...], items: Any, valid: Value | None = None) -> tuple[Subscript, ...]:
    """One entry for each axis of the resource and each new one: coordinates of a view, or positions in a value.  Every
    lane that is `valid` is proved to be inside."""
    entries = list(items) if isinstance(items, tuple) else [items]
    count = sum(i is not None and i is not Ellipsis for i in entries)
    dots = [k for k, i in enumerate(entries) if i is Ellipsis]
    if len(dots) > 1:
        raise fail(
            "E102", construct="a second ... in a subscript", suggestion="leave one: it stands for all other axes"
        )
    if count > len(shape):
        raise fail("E205", name=name, rank=len(shape), count=count, found=f"{count} subscripts for {shape_text(shape)}")
    rest = [Slice(None, None, None)] * (len(shape) - count)
    if dots:
        beside = entries[dots[0] - 1 : dots[0]] + entries[dots[0] + 1 : dots[0] + 2]
        if not rest and any(map(is_tensor, entries)) and len(beside) == 2 and all(map(_is_place, beside)):
            suggestion = "leave it out: NumPy would put the joint axes in front, as if axes stood between them"
            raise fail("E102", construct="... for no axes between coordinates", suggestion=suggestion)
        entries[dots[0] : dots[0] + 1] = rest
    else:
        entries += rest
    extents = iter(enumerate(shape))
    made = tuple(NewAxis() if i is None else _subscript(name, *next(extents), i) for i in entries)
    fit([s.value for s in made if isinstance(s, AtEach)], f"the index of {name}")
    _prove(name, shape, entries, made, valid)
    return made


def _is_place(item: Any) -> bool:
    """Whether an entry is a coordinate or a tensor of them."""
    return isinstance(item, Value) or is_literal(item)


def _subscript(name: str, axis: int, extent: Value, item: Any) -> Subscript:
    if isinstance(item, Slice):
        return Along(_slice(name, axis, extent, item))
    if isinstance(item, Domain):
        _inside(name, axis, extent, item)
        return Along(item)
    if is_tensor(item):
        return _tensor(item)
    if not is_literal(item) and not isinstance(item, Value):
        raise fail(
            "E102",
            construct=f"{describe(item)} as a subscript",
            suggestion="index with domains, slices, None, integers and integer tensors",
        )
    if is_literal(item) and not isinstance(item, bool) and isinstance(item, int):
        return At(_static(name, axis, extent, item))
    return At(simplify(index_value(item)) if isinstance(item, Const) else index_value(item))


def _tensor(item: Value) -> Subscript:
    """A tensor of coordinates; of rank 0, the one in it."""
    d = element(item.type)
    if d is bool_:
        raise fail(
            "E102",
            construct="a bool tensor as a subscript",
            suggestion="the number of elements would depend on the data: use I.gather(..., valid=, fill=) or I.select",
            found=show(item),
        )
    if not isinstance(d, DType) or not d.is_integer:
        raise fail("E202", operation="a subscript", dtype=d, expected="integers", found=show(item))
    if not shape_of(item):
        return At(index_value(Take(item, ())))
    return AtEach(item if d is index else Convert(item, index))


def _static(name: str, axis: int, extent: Value, item: int) -> Value:
    """A Python int, negative from the end."""
    if isinstance(extent, Const):
        size = static(extent)
        if not -size <= item < size:
            raise fail("E308", index=item, axis=axis, name=name, extent=size, found=f"index {item}")
        return const(item % size)
    at = literal(item, index)
    return simplify(add(extent, at)) if item < 0 else at


def _prove(
    name: str, shape: tuple[Value, ...], entries: list[Any], made: tuple[Subscript, ...], valid: Value | None
) -> None:
    """E301 where a coordinate is not certainly inside; those of domains have been proved already."""
    where = positions(placed(made).shape)
    facts = known() if valid is None else (*known(), fitted(valid, where))
    axes = iter(enumerate(shape))
    for item, s, own in zip(entries, made, placed(made).axes, strict=True):
        if isinstance(s, NewAxis):
            continue
        axis, extent = next(axes)
        if isinstance(s, Along):
            continue
        at = s.value if isinstance(s, At) else fitted(s.value, tuple(where[a] for a in own))  # type: ignore[attr-defined]
        if not (bounds.nonnegative(at, facts) and bounds.below(at, extent, facts)):
            raise outside(name, axis, extent, str(item) if is_literal(item) else extent_text(at), facts)


def _slice(name: str, axis: int, extent: Value, part: Slice) -> Domain:
    """A slice of a whole axis; static negative bounds count from the end, as everywhere in Python."""
    if part.begin is None and part.end is None and part.step is None:
        return whole(extent)

    def place(b: Any) -> Any:  # None stays None
        return simplify(add(extent, literal(b, index))) if is_literal(b) and isinstance(b, int) and b < 0 else b

    return subregion(whole(extent), Slice(place(part.begin), place(part.end), part.step))


def _inside(name: str, axis: int, extent: Value, d: Domain) -> None:
    """E301 where neither the domain nor what it is a proved subregion of is certainly inside."""
    facts = known()
    ordered(d)
    for r in (d, d.source if isinstance(d.source, Domain) else d):
        if bounds.nonnegative(r.lo, facts) and bounds.at_most(r.hi, extent, facts):
            return
    text = f"the domain {extent_text(d.lo)}..{extent_text(d.hi)}"
    raise outside(name, axis, extent, text, facts)


def outside(name: str, axis: int, extent: Value, index: str, facts: tuple[Value, ...]) -> Exception:
    """E301: which axis, what is known, and the three ways to fix it."""
    return fail(
        "E301",
        axis=axis,
        name=name,
        expected=f"0 <= index < {extent_text(extent)}",
        found=f"index {index}, and known: {_told(facts)}",
    )


def _told(facts: tuple[Value, ...]) -> str:
    """Facts as an author reads them: of each loop around where its member lies, then the conditions."""
    members = [v for v in capture().loops if le(v.domain.lo, v) in facts]
    of_loops = {p for v in members for p in _of_loop(v)}
    lies = [f"{extent_text(v.domain.lo)} <= {extent_text(v)} < {extent_text(v.domain.hi)}" for v in members]
    return "; ".join(dict.fromkeys([*lies, *(extent_text(f) for f in facts if f not in of_loops)])) or "nothing more"


# ---- access ------------------------------------------------------------------------------------------------------


def read(source: Memory | Value, items: Any, valid: Any = None, fill: Any = None) -> Value:
    """`source[items]` as a value; lanes that are not `valid` touch nothing and give `fill`."""
    state = capture()
    if isinstance(source, Memory):
        shape, d, name = source.shape, source.dtype, called(source)  # type: ignore[attr-defined]
    elif is_tensor(source):
        shape, d, name = shape_of(source), element(source.type), arena().names.get(source, "the value")
    else:
        return _of_a_scalar(source, items, valid)
    mask = None if valid is None else condition(valid)
    entries = subscripts(name, shape, items, mask)
    lanes: tuple[Value, ...] = ()
    if mask is not None:
        filled = value(fill, d)
        spread(name, entries, filled, d)
        spread(name, entries, mask, bool_)
        lanes = (mask, filled)
    if isinstance(source, Memory):
        initialised(source)
        return Read(source, entries, state.written.get(source), *lanes)
    if shape and entries == tuple(Along(whole(e)) for e in shape):
        return source
    return Take(source, entries, *lanes)


def _of_a_scalar(source: Value, items: Any, valid: Any) -> Value:
    """A scalar has no axis to subscript; as a NumPy scalar, it gets new ones, each of extent 1."""
    entries = items if isinstance(items, tuple) else (items,)
    count = sum(i is not None and i is not Ellipsis for i in entries)
    if count or valid is not None:
        fix = "leave the subscript out; annotate a parameter I.In[dtype, shape] if it is an array"
        raise fail("E205", name="a scalar", rank=0, count=count or len(entries), found=show(source), fix=fix)
    axes = len(subscripts("a scalar", (), items))
    return Filled(source, (const(1),) * axes) if axes else source


def initialised(source: Memory) -> None:
    """E307 where nothing can have written what is read: an output, or a buffer of the kernel's own."""
    state = capture()
    last = state.written.get(source)
    fresh = isinstance(last, Allocate) and state.repeats[0] == state.home(source).loops  # else an iteration may have
    if fresh or source.mode == "out" and last is None:  # type: ignore[attr-defined]
        raise fail("E307", name=called(source))


def condition(v: Any) -> Value:
    """A validity: bool, elementwise."""
    made = value(v, bool_)
    if element(made.type) is not bool_:
        raise fail(
            "E202",
            operation="valid",
            dtype=show(made),
            expected="bool",
            found=show(made),
            fix="compare it, for example index < extent",
        )
    return made


def spread(name: str, entries: tuple[Subscript, ...], v: Value, d: DType) -> None:
    """A value for each lane of an access: its dtype, and a shape that broadcasts to that of the index."""
    shape, given = placed(entries).shape, shape_of(v)
    if element(v.type) is not d:
        raise fail("E209", name=name, dtype=d, found_dtype=element(v.type), found=show(v))
    try:
        fits = len(given) <= len(shape) and broadcast((shape, given)) == shape
    except TypeError:
        fits = False
    if not fits:
        found = f"a value of {shape_text(given)} assigned to {name} at {shape_text(shape)}"
        fix = ""
        if len(given) > len(shape):
            fix = "index more of the destination, or reduce the value over the axes that it has not"
        elif len(given) > 1 and given == tuple(reversed(shape)):
            fix = "transpose the value: I.transpose(value)"
        raise fail("E204", left=shape_text(shape), right=shape_text(given), found=found, fix=fix)


def destination(
    target: Memory, items: Any, values: tuple[Any, ...], valid: Any = None
) -> tuple[tuple[Subscript, ...], tuple[Value, ...], Value | None]:
    """The subscripts, values and validity of an access that may write: all judged."""
    state, name = capture(), called(target)
    if target.mode == "in":  # type: ignore[attr-defined]
        raise fail("E302", name=name)
    if state.pure:
        raise fail("E306", effect=f"a write to '{name}'", found=state.pure)
    mask = None if valid is None else condition(valid)
    entries = subscripts(name, target.shape, items, mask)  # type: ignore[attr-defined]
    given = tuple(value(v, target.dtype) for v in values)  # type: ignore[attr-defined]
    for v in given:
        spread(name, entries, v, target.dtype)  # type: ignore[attr-defined]
    if mask is not None:
        spread(name, entries, mask, bool_)
    return entries, given, mask


def write(target: Memory, items: Any, v: Any, valid: Any = None) -> None:
    """`target[items] = v`, in the lanes that are `valid`."""
    state = capture()
    entries, (given,), mask = destination(target, items, (v,), valid)
    races.written_once(target, entries, state.points[state.home(target).points :], known(), mask)
    state.emit(Write(target, entries, given, mask))
