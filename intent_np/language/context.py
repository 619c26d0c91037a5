"""The state of one capture: errors, the effects so far, what is known, and the place in the source being read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from itertools import islice
from typing import Any, NamedTuple

from intent_np.errors import Errors, IntentError, Span, error
from intent_np.terms.core import Term, arena, children, replace, walk
from intent_np.terms.index import Const, Extent, Value
from intent_np.terms.logical import Allocate, Atomic, Domain, LoopVar, Perform, Procedure, performed, written
from intent_np.terms.normal import Effect, Memory, View

from .products import leaves
from .source import Source
from .surroundings import Surroundings


class Home(NamedTuple):
    """How many loops, and how many of them unordered, are around where something was made."""

    loops: int = 0
    points: int = 0


class Around(NamedTuple):
    """The members in hand where a statement stands, and whether they say how often it is performed."""

    loops: tuple[LoopVar, ...]
    counted: bool


class Called:
    """One call of a helper, or the kernel itself, as it was read: what the author called it with, by the names of
    parameters, its values, those of the calls inside of it, and the frame of its statements if it has any."""

    def __init__(self, name: str, arguments: Mapping[str, Any]) -> None:
        self.name = name
        self.given = {
            v: n if v is whole else f"{n}_{i}"
            for n, whole in arguments.items()
            for i, v in enumerate(leaves(whole))
            if isinstance(v, Memory) or isinstance(v, Value) and not isinstance(v, Const | Extent)
        }
        self.result: Any = None
        self.values: tuple[Value, ...] = ()
        self.inside: dict[Value, Called] = {}
        self.frame: Perform | None = None
        self.own: set[Value] = set()  # the values that its text made first, if it has statements

    def giving(self, value: Value) -> Called:
        """The same call, of which another value is asked for."""
        made = copy(self)
        made.values = (value,)
        return made


class Saved(NamedTuple):
    """A moment of a capture."""

    effects: list[Effect]
    seen: set[Effect]
    written: dict[Memory, Effect | None]
    errors: Errors
    loop_names: dict[str, int]
    inside: dict[Value, Called]


class Equal(Exception):
    """A capture begins again, now that an extent is known to be another value."""

    def __init__(self, extent: Extent, value: Value) -> None:
        super().__init__(extent.name)
        self.extent, self.value = extent, value


class Capture:
    """One kernel on its way to a `LogicalProgram`."""

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.errors = Errors()
        self.effects: list[Effect] = []
        self.facts: tuple[Value, ...] = ()  # predicates that hold where the capture stands
        self.loops: tuple[LoopVar, ...] = ()  # members in hand of all enclosing loops
        self.points: tuple[LoopVar, ...] = ()  # those of parallel loops
        self.repeats = (0, False)  # how many loops are around, and whether one is known by its condition alone
        self.written: dict[Memory, Effect | None] = {}  # the last effect that wrote each view or buffer
        self.seen: set[Effect] = set()  # the statements so far
        self.homes: dict[Any, Home] = {}  # of buffers
        self.tickets: list[Atomic] = []  # atomic counts whose old values were taken for unique
        self.around: dict[Effect, Around] = {}  # of atomic accesses
        self.calls: tuple[Any, ...] = ()  # helpers being captured, outermost first
        self.pure: str = ""  # why effects are illegal here, if they are
        self.regions = 0  # how many functions of slices are being read, one inside another
        self.place: tuple[Source, ast.AST, Span | None] | None = None  # the last: the call of the helper being read
        self.caller: Span | None = None
        # selects between literals, which take the dtype of their use as literals do
        self.choices: dict[Value, tuple[Value, Any, Any]] = {}
        self.loop_names: dict[str, int] = {}
        self.mappings: dict[Domain, View] = {}  # of regions of ragged relations to what they stand for
        self.surroundings = Surroundings()
        self.called = Called(kernel, {})  # whose statements are being read
        self.frames: dict[Perform, Called] = {}

    @property
    def span(self) -> Span | None:
        return self.place and self.place[0].span(*self.place[1:])

    @contextmanager
    def at(self, source: Source, node: ast.AST) -> Iterator[None]:
        """Terms made inside come from `node`: the innermost node that makes a term gives it its span."""
        outer, self.place = self.place, (source, node, self.caller)
        before = len(arena().table)
        try:
            yield
        finally:
            self._mark(before, source, node)
            self.place = outer

    def _mark(self, before: int, source: Source, node: ast.AST) -> None:
        space = arena()
        count = len(space.table) - before
        if count:
            spans = (source.span(node, self.caller),)
            for t in islice(reversed(space.table.values()), count):
                if children(t):
                    space.spans.setdefault(t, spans)

    def also_at(self, t: Any) -> None:
        """A term that existed already is written here as well."""
        if isinstance(t, Term) and children(t) and (span := self.span):
            spans = arena().spans.get(t, ())
            if span not in spans:
                arena().spans[t] = (*spans, span)

    # ---- effects

    def emit(self, effect: Any) -> Any:
        """The statement as it stands here: one that was made before is told apart from this one."""
        while effect in self.seen and hasattr(effect, "again"):
            effect = replace(effect, again=effect.again + 1)
        self.seen.add(effect)
        self.effects.append(effect)
        if isinstance(effect, Allocate):
            self.homes[effect.buffer] = Home(self.repeats[0], len(self.points))
        elif isinstance(effect, Atomic):
            self.around[effect] = Around(self.loops, not self.repeats[1])
        for w in performed(effect):
            if (target := written(w)) is not None:
                self.written[target] = w  # type: ignore[assignment]
        return effect

    def home(self, target: Memory) -> Home:
        """Where a view or a buffer begins to exist."""
        return self.homes.get(target, Home())

    @contextmanager
    def block(
        self, *facts: Value, points: tuple[LoopVar, ...] = (), members: tuple[LoopVar, ...] = (), repeated: bool = False
    ) -> Iterator[list[Effect]]:
        """A nested list of effects, in which these facts hold, with these points and ordered members in hand; one that
        is `repeated` without members as often as a condition holds."""
        saved = self.effects, self.facts, self.loops, self.points, self.repeats
        self.repeats = (self.repeats[0] + bool(points or repeated), self.repeats[1] or repeated and not members)
        self.effects, self.facts = [], (*self.facts, *facts)
        self.loops, self.points = (*self.loops, *points, *members), (*self.points, *points)
        try:
            yield self.effects
        finally:
            self.effects, self.facts, self.loops, self.points, self.repeats = saved

    @contextmanager
    def call(self, name: str, source: Source, arguments: Mapping[str, Any]) -> Iterator[Called]:
        """What is read inside is one call, whose `result` is given there."""
        made = Called(name, arguments)
        (outer, effects), self.called, self.effects = (self.called, self.effects), made, []
        try:
            yield made
        finally:
            inside, self.called, self.effects = self.effects, outer, effects
        given = tuple(leaves(made.result))
        values = (v for v in given if isinstance(v, Value) and v not in made.given and children(v))
        made.values = tuple(dict.fromkeys(values))
        outer.inside = {**dict.fromkeys(made.values, made), **outer.inside}
        kept = _handed_on(inside, given)
        self.effects += kept
        if statements := tuple(e for e in inside if e not in kept):
            made.frame = Perform(Procedure(name, (), statements), ())
            made.own = {v for v in made.values if any(map(source.has, arena().spans.get(v, ())[:1]))}
            self.frames[made.frame] = made
            self.effects.append(made.frame)

    def decided(self, choice: Value, made: Value) -> Value:
        """A choice between literals of whose dtype its use decides: a call that gives the one gives the other."""
        if (found := self.called.inside.get(choice)) is not None and choice is not made:
            self.called.inside = {**self.called.inside, made: found.giving(made)}
        return made

    def saved(self) -> Saved:
        """What `restore` needs to forget everything read from here on."""
        plain = list(self.effects), set(self.seen), dict(self.written), self.errors.copy(), dict(self.loop_names)
        return Saved(*plain, self.called.inside)

    def restore(self, saved: Saved) -> None:
        """Forget the effects and errors since `saved` was taken."""
        self.effects[:], self.seen, self.written = saved.effects, set(saved.seen), dict(saved.written)
        self.errors, self.loop_names = saved.errors.copy(), dict(saved.loop_names)
        self.called.inside = saved.inside

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Effects and errors made inside leave no trace."""
        saved, outer = self.saved(), self.effects
        self.effects, self.errors = [], Errors()
        try:
            yield
        finally:
            self.effects = outer
            self.restore(saved)

    def point(self, domain: Domain) -> LoopVar:
        """The member in hand of a new loop over `domain`."""
        return LoopVar(domain, sum(p.domain is domain for p in self.loops))

    def loop_name(self, name: str) -> str:
        """A name for an ordered loop that no other loop of this program has."""
        count = self.loop_names[name] = self.loop_names.get(name, 0) + 1
        return name if count == 1 else f"{name}{count}"


def _handed_on(inside: list[Effect], given: tuple[Any, ...]) -> list[Effect]:
    """The statements of a call that are its caller's: those that make memory which it gives.  All are where that has to
    stand behind some of them, which find its extents."""
    if not any(isinstance(v, Memory) for v in given):
        return []
    own = {t for e in inside for t in performed(e) if isinstance(t, Effect)}
    makers = [t for t in own if isinstance(t, Allocate) and t.buffer in given]
    apart = all(t in inside and own.isdisjoint(walk(t.buffer)) for t in makers)
    return [e for e in inside if e in makers] if apart else inside


_CAPTURE: ContextVar[Capture] = ContextVar("intent_np_capture")


@contextmanager
def capturing(capture: Capture) -> Iterator[Capture]:
    """Put a capture in force inside the block."""
    token = _CAPTURE.set(capture)
    try:
        yield capture
    finally:
        _CAPTURE.reset(token)


def capture() -> Capture:
    """The capture in force."""
    return _CAPTURE.get()


def fail(code: str, **fields: Any) -> IntentError:
    """The error `code` at the expression being read: `raise fail("E202", ...)`."""
    fields.setdefault("span", capture().span)
    return error(code, **fields)


def static(v: Any) -> Any:
    """A constant index as the Python int that it is; other values as they are."""
    return v.value if isinstance(v, Const) and v.dtype.kind == "index" else v
