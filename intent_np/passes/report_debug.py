"""logical -> logical: what debug statements say becomes numbers that the host reads behind a launch.

    for i in parallel:                         for i in parallel:
      assert x[i] > 0 else "positive"            at = atomic add debug_taken[0] of 2 valid (not x[i] > 0)
                                                 accumulate debug_notes[0, at] of 1 valid (...)
                                                 accumulate debug_notes[0, at + 1] of i valid (...)

Each statement has a row of numbers, in which every point takes up as many as it needs: a 1, the point, and for each
value that is printed its extents and its elements, as bits.  What is taken up beyond the end of a row is counted, and
not kept.  Both arrays come zeroed and all is added to them, so that no order between points or statements comes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import Remark
from ..rules.simplify import simplify
from ..terms import logical as L
from ..terms.core import Term, arena, find, inherit, named, replace, walk
from ..terms.dtypes import DType, i64, index
from ..terms.index import Cast, Value, add, apply, conjunction, const, le, mul
from ..terms.normal import View, builtin
from ..terms.operators import OPERATORS
from .base import nanopass
from .lower_updates import WORDS

TAKEN, NOTES = "debug_taken", "debug_notes"


@nanopass(
    L.LOGICAL, L.LOGICAL, needed="takes debug statements out, or performs them", allowed={"capacity": range(1, 1 << 31)}
)
def report_debug(program: L.LogicalProgram, *, report: bool = False, capacity: int = 1 << 16) -> L.LogicalProgram:
    """Take `I.debug_assert` and `I.debug_print` out, with a remark; with `report`, keep what they say in memory.

    `capacity` counts the numbers that are kept of each statement.  Behind `inline_calls`, since helpers may have such
    statements, too.  Preserves all else that the program does.
    """
    if not any(True for _ in find(program, (L.Assert, L.Print))):
        return program
    return _Reporting(program, capacity if report else 0).program()


class Around(NamedTuple):
    """A loop around a debug statement: its place in the order of all statements, and the coordinates of its points or
    iterations."""

    place: int
    coordinates: tuple[Value, ...]


class Site(NamedTuple):
    """A debug statement where it stands: its place, and the loops around it."""

    statement: Any
    place: int
    around: tuple[Around, ...]


class Reported(NamedTuple):
    """The program that reports, the views that it does so in, and the sites by their rows."""

    program: L.LogicalProgram
    views: tuple[View, ...]
    sites: tuple[Site, ...]


def reported(program: L.LogicalProgram, capacity: int) -> Reported:
    """The program whose debug statements report, and what the host needs to read it."""
    made = _Reporting(program, capacity)
    return Reported(made.program(), made.views, tuple(made.sites))


class _Reporting:
    def __init__(self, program: L.LogicalProgram, capacity: int) -> None:
        self.before, self.capacity = program, capacity
        self.sites: list[Site] = []
        self.places = 0
        self.replaced: dict[Any, Any] = {}  # statements around debug statements, by what becomes of them
        self.done: dict[Any, Any] = {}
        taken = {getattr(t, "name", "") for t in find(program, (View, L.Extent, L.Param, L.Buffer))}
        names = []
        for name in (TAKEN, NOTES):
            while name in taken:
                name += "_"
            names.append(name)
        rows = const(sum(1 for _ in self._debug(program.body)))
        shapes = ((rows,), (rows, const(capacity)))
        self.views = tuple(
            named(View(name, "report", i64, shape, (*shape[1:], const(1))), name)
            for name, shape in zip(names, shapes, strict=True)
        )

    def _debug(self, body: Sequence[Any]) -> Any:
        """The debug statements among these, each as often as it stands there."""
        for s in body:
            if isinstance(s, (L.Assert, L.Print)):
                yield s
            for inner in _bodies(s):
                yield from self._debug(getattr(s, inner))

    def program(self) -> L.LogicalProgram:
        body = self._statements(self.before.body, ())
        views = self.views if self.capacity else ()
        made = replace(self.before, body=body, parameters=(*self.before.parameters, *views))
        return self._renewed(made)  # type: ignore[no-any-return]

    # ---- statements

    def _statements(self, body: Sequence[Any], around: tuple[Around, ...]) -> tuple[Any, ...]:
        """Statements with what debug statements become; values still name the old ones."""
        made: list[Any] = []
        for s in body:
            self.places += 1
            if isinstance(s, (L.Assert, L.Print)):
                made += self._performed(s, around) if self.capacity else self._left_out(s)
            else:
                made.append(self._around(s, around))
        return tuple(made)

    def _around(self, s: Any, around: tuple[Around, ...]) -> Any:
        """A statement with what becomes of the debug statements in it; a loop without members counts its iterations."""
        place, more = self.places, dict[str, Any]()
        if isinstance(s, L.Parallel):
            around = (*around, Around(place, s.points))
        elif isinstance(s, L.Ordered) and s.point is not None:
            around = (*around, Around(place, (s.point,)))
        elif isinstance(s, L.Ordered) and self.capacity and any(self._debug(s.body)):
            state = named(L.State(s.name, len(s.states), index, scalar=True), "iteration")
            more = {"states": (*s.states, state), "inits": (*s.inits, const(0))}
            more["yields"] = (*s.yields, add(state, const(1)))
            around = (*around, Around(place, (state,)))
        more |= {b: self._statements(getattr(s, b), around) for b in _bodies(s)}
        new = replace(s, **more) if any(getattr(s, f) != v for f, v in more.items()) else s
        if new is not s:
            self.replaced[s] = inherit(s, new)
        return new

    def _left_out(self, s: Any) -> tuple[Any, ...]:
        name = "I.debug_assert" if isinstance(s, L.Assert) else "I.debug_print"
        text = f"{name} is performed by target='reference', in checking mode, and with CompileOptions(debug=True)"
        arena().remarks[Remark("P010", text, next(iter(arena().spans.get(s, ())), None))] = None
        return ()

    def _renewed(self, root: Term) -> Any:
        """A term whose parts name the new statements."""
        for t in walk(root):
            if t in self.done:
                continue
            new = self.replaced.get(t, t)
            self.done[t] = self._renewed(new) if new is not t else inherit(t, t.rebuild(self.done))  # type: ignore[attr-defined]
        return self.done[root]

    # ---- what a statement reports

    def _performed(self, s: Any, around: tuple[Around, ...]) -> list[Any]:
        """The statements that write the numbers of each point of a debug statement."""
        row = const(len(self.sites))
        self.sites.append(Site(s, self.places, around))
        taken, notes = self.views
        values = s.values if isinstance(s, L.Print) else ()
        header = [const(1), *(c for a in around for c in a.coordinates)]
        starts, size = [], const(0)
        for v in values:
            header += L.shape_of(v)
        size = const(len(header))
        for v in values:
            starts.append(size)
            size = simplify(add(size, _elements(L.shape_of(v))))
        valid = apply("not", s.condition) if isinstance(s, L.Assert) else None
        wanted = L.Atomic("add", taken, (L.At(row),), (Cast(size, i64),), "relaxed", valid)
        first = Cast(L.Old(wanted), index)
        kept = conjunction(valid, le(add(first, size), const(self.capacity)))
        made: list[Any] = [wanted]

        def note(at: L.Subscript, value: Value) -> None:
            made.append(L.Accumulate(notes, (L.At(row), at), value, builtin("sum", i64), kept))

        for i, number in enumerate(header):
            note(L.At(add(first, const(i))), Cast(number, i64))
        for start, v in zip(starts, values, strict=True):
            note(_each(add(first, start), L.shape_of(v)), bits(v))
        return [inherit(s, x) for x in made]


def _bodies(s: Any) -> tuple[str, ...]:
    """The fields of a statement that hold statements."""
    match s:
        case L.Branch():
            return "then", "otherwise"
        case L.Parallel() | L.Ordered():
            return ("body",)
    return ()


def _elements(shape: Sequence[Value]) -> Value:
    size: Value = const(1)
    for e in shape:
        size = mul(size, e)
    return simplify(size)


def _each(first: Value, shape: tuple[Value, ...]) -> L.Subscript:
    """The places of the elements of a tensor behind each other, in row-major order."""
    if not shape:
        return L.At(first)
    place = first
    for d, extent in enumerate(shape):
        whole = L.Domain(const(0), extent)
        others: tuple[L.Subscript, ...] = (L.NewAxis(),) * (len(shape) - 1 - d)
        along: Value = L.Indices(whole)
        if others:
            along = L.Take(along, (L.Along(whole), *others))
        step = _elements(shape[d + 1 :])
        place = _pointwise("add", place, _pointwise("mul", along, step))
    return L.AtEach(place)


def _pointwise(op: str, a: Value, b: Value) -> Value:
    return L.Pointwise(OPERATORS[op], (a, b))


def bits(v: Value) -> Value:
    """The elements of a value as 64-bit integers: numbers as they are, floats as their bits."""
    d: DType = L.element(v.type)
    if d.is_float:
        v = _converted(v, WORDS[d.bits], "bits")
    return v if L.element(v.type) is i64 else _converted(v, i64)


def _converted(v: Value, d: DType, mode: str = "wrap") -> Value:
    return L.Convert(v, d, mode) if L.shape_of(v) else Cast(v, d, mode)
