"""blocked -> gpu: terms become statements, each computed once, in the outermost loop that it needs.

    fold sum over slice of k of contract …       acc = full<fragment<f32, [BM, BN]>>(0)
                                                 for k0 = 0 to K step BK iter_args(acc): …

Demand-driven: a term goes to the innermost open loop that it `needs`, so invariants are hoisted without a pass of their
own; what is used once and has no name of the author's stays inside its user.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any, NamedTuple

from ..errors import error
from ..rules.facts import at_most
from ..rules.simplify import node
from ..terms.blocked import (
    BLOCKED,
    Base,
    BlockedGroup,
    BlockedProgram,
    Carry,
    Fold,
    Loop,
    Perform,
    Point,
    Segment,
    Slice,
    Tile,
    Traverse,
    scoped,
)
from ..terms.core import arena, find, inherit, replace, rewrite, walk
from ..terms.dtypes import index
from ..terms.gpu import (
    GPU,
    Broadcast,
    ContractInto,
    Dispatch,
    For,
    Full,
    Kernel,
    Let,
    Range,
    Sync,
    Var,
    variable,
)  # fmt: skip
from ..terms.index import (
    Apply,
    Extent,
    Physical,
    Stride,
    add,
    apply,
    const,
    is_const,
    is_op,
    mul,
    sub,
)
from ..terms.normal import Contract, Coord, Load, Proj, Reduce, Store, View, builtin_name
from ..terms.text import reserved
from .base import nanopass
from .scopes import LEAVES, Below, Scope, changes, extents_used, integral, is_test, overtaken, read_later, writes


@nanopass(BLOCKED, GPU)
def emit(program: BlockedProgram) -> Kernel:
    """Write the blocked program as a kernel over a grid: program coordinates, named fragments, loops, stores.

    The last structural pass: what is left is width, alignment, dtypes and the provider.
    Preserves values and the order of effects; evaluates each term once in its scope.
    """
    for t in find(program, (Fold, Traverse, Loop)):
        if not isinstance(t, Loop) or not t.stepped:
            found = (
                f"statements are made of loops that carry states, by share_traversals and apply_combines, not of: {t}"
            )
            raise error("E702", language="blocked", found=found)
    while True:
        try:
            return _Emitter(program).kernel()
        except _ReadLate as late:
            program = _separated(program, late.view)


class _ReadLate(Exception):
    """An input is read behind a store into what may be the same array."""

    def __init__(self, view: View) -> None:
        self.view = view


def _separated(program: BlockedProgram, view: View) -> BlockedProgram:
    """The program where `view` is never the array that another view is."""
    alone = replace(view, same=())
    return rewrite((program,), lambda t: alone if t is view else t)[0]  # type: ignore[no-any-return]


DEEPEST = 40  # operators in one expression; what is deeper gets names, as printed text and its readers have limits


PROGRAM = Var("program", index)
"""The number of an instance, where execution groups share a launch."""


class Instances(NamedTuple):
    """An execution group as statements: its grid, the coordinates of an instance, and what it performs."""

    grid: tuple[Any, ...]
    coordinates: tuple[Var, ...]
    body: tuple[Any, ...]
    grouping: int


def dispatched(groups: list[Instances]) -> Instances:
    """One grid of all instances, group behind group."""
    first: Any = const(0)
    body = []
    for g in groups:
        count: Any = const(1)
        for extent in g.grid:
            count = node(mul(count, extent))
        end = node(add(first, count))
        body.append(Dispatch(PROGRAM, first, end, *g))
        first = end
    return Instances((first,), (PROGRAM,), tuple(body), 1)


def _size(axis: Any) -> Physical:
    """The parameter that names a fragment axis."""
    return axis.size  # type: ignore[no-any-return]


class _Emitter:
    def __init__(self, program: BlockedProgram) -> None:
        self.program = program
        self.names = arena().names
        self.taken = {p.name for p in program.parameters} | {"pid", "grid", PROGRAM.name}  # type: ignore[attr-defined]
        self.taken |= {t.name for t in find(program, (Physical, Stride, Extent))}  # type: ignore[arg-type]
        self.based = {b.axis for b in find(program, Base)}
        self.reread = writes(program) & {name for t in find(program, Load) for name in t.view.names}
        self.behind_loop, self.loads = Below(Loop), Below(Load)
        self.depth: dict[Any, int] = {}
        self.phase = 0  # number of the last sync performed

    # ---- the kernel

    def kernel(self) -> Kernel:
        program = self.program
        groups = [self.group(g) for g in program.groups]
        grid, coordinates, body, grouping = groups[0] if len(groups) == 1 else dispatched(groups)
        physical = {p.name: p for p in find((*body, *grid), Physical)}
        tiles = [a.size.name for g in program.groups for a in g.space if isinstance(a, Tile)]
        ordered = tuple(physical[n] for n in dict.fromkeys([*tiles, *physical]))
        parameters = tuple(dict.fromkeys((*program.parameters, *extents_used((*grid, *body)))))
        return Kernel(
            program.name, ordered, parameters, grid, coordinates, body, grouping, program.permissions, program.target
        )  # fmt: skip

    def group(self, group: BlockedGroup) -> Instances:
        """The statements of an execution group, in names of its own."""
        self.root = self.scope = Scope(None, None, None, group.effects)
        self.open = [self.root]  # scopes under construction, whose names are visible or may become so
        self.root.taken, self.phase = set(self.taken), 0
        grid, coordinates = [], []
        for a in group.space:
            lo, hi = a.axis.lo, a.axis.hi  # type: ignore[attr-defined]
            extent = node(apply("maximum", node(sub(hi, lo)), const(0)))  # a domain may end before it begins
            label = self.names.get(a, "i")
            if isinstance(a, Point):
                grid.append(extent)
                var = Var(self.fresh(label if is_const(lo, 0) else "p" + label), index)
                self.root.done[Coord(a)] = var if is_const(lo, 0) else self.let(add(lo, var), label, self.root)
            else:
                grid.append(node(apply("ceil_div", extent, a.size)))  # type: ignore[attr-defined]
                var = Var(self.fresh("p" + label if len(label) == 1 else f"{label}_block"), index)
                start = node(add(mul(var, a.size), lo)) if not is_const(lo, 0) else mul(var, a.size)  # type: ignore[attr-defined]
                self.root.done[Base(a)] = self.let(start, label + "0", self.root) if a in self.based else start
            coordinates.append(var)
        self.effects(group.effects)
        return Instances(tuple(grid), tuple(coordinates), tuple(self.root.body), group.grouping)

    # ---- names and scopes

    def fresh(self, hint: str, scope: Scope | None = None) -> str:
        """A name that no visible value has; bodies of different loops may use one name for what they have in common."""
        hint = hint if hint.isidentifier() else "t"
        home = scope or self.scope
        i = home.first_free(hint)
        name = f"{hint}_{i}" if i else hint
        # a hoisted value stands before the loops in hand, whose complete inner loops must not assign its name
        inner = self.open[self.open.index(home) + 1 :] if home in self.open else []
        while reserved(name) or any(name in s.taken for s in self.open) or any(name in s.below for s in inner):
            i += 1
            name = f"{hint}_{i}"
        home.taken.add(name)
        return name

    def home(self, t: Any) -> Scope:
        s = self.scope
        while s.parent is not None and s.slice not in t.needs:
            s = s.parent
        return s

    def let(self, value: Any, hint: str, scope: Scope) -> Var:
        var = variable(self.fresh(hint, scope), value.type, value.lanes)
        scope.body.append(Let(var, value))
        return inherit(value, var)  # type: ignore[return-value]

    def hint(self, t: Any) -> str:
        """The author's name for a value, or what it is."""
        if t in self.names:
            return self.names[t]
        if isinstance(t, Coord) and t.axis in self.names:
            return self.names[t.axis]
        if isinstance(t, Load):
            return f"{t.view.name}_value"
        if isinstance(t, Reduce):
            return {"max": "largest", "min": "least", "sum": "total"}.get(builtin_name(t.combine) or "", "reduced")
        if isinstance(t, (Contract, ContractInto)):
            return "product"
        if is_op(t, "lt") and isinstance(t.args[0], Coord) and t.args[0].axis in self.names:
            return f"in_{self.names[t.args[0].axis]}"
        if is_op(t, "lt", "le", "and", "eq"):
            return "inside"
        return "t"

    # ---- values

    def emit(self, t: Any) -> Any:
        """The gpu value of a blocked term, computed at its home; a name where it pays."""
        if isinstance(t, LEAVES):
            return t
        here = self.scope
        found: Any = None
        waiting = [(t, here, False)]  # a term, the scope of its use, and whether its operands are emitted
        while waiting:
            u, scope, ready = waiting.pop()
            self.scope = scope
            home = self.home(u)
            found = home.done.get(u)
            if found is None and not ready:
                waiting.append((u, scope, True))
                self.scope = home
                waiting.extend((c, home, False) for c in reversed(self.operands(u)) if not isinstance(c, LEAVES))
                continue
            if found is None:
                self.scope = home
                found = inherit(u, self.build(u))
                if self.deserves_name(u, found, home):
                    found = self.let(found, self.hint(u), home)
                home.done[u] = found
            if home is not scope and found.children() and not isinstance(found, LEAVES) and not is_test(found):
                found = home.done[u] = self.let(found, self.hint(u), home)  # hoisted: named where it is computed
        self.scope = here
        return found

    def deserves_name(self, t: Any, built: Any, home: Scope) -> bool:
        if (
            isinstance(built, LEAVES)
            or is_test(built)
            or not built.children()
            or isinstance(t.type, tuple)
            and not isinstance(t, Reduce)
        ):
            return False
        if isinstance(built, (Load, Reduce, ContractInto)) or (isinstance(t, Coord) and t.lanes):
            return True
        depth = self.depth[built] = 1 + max(self.depth.get(c, 0) for c in built.children())
        return home.uses.get(t, 0) > 1 or t in self.names or depth > DEEPEST

    def operands(self, t: Any) -> list[Any]:
        """The terms whose values `build` takes, in the order in which it asks for them."""
        match t:
            case Coord() | Base():
                return []
            case Proj():
                return [] if isinstance(t.value, Loop) else [t.value]
            case Reduce():
                return list(t.values)
            case Contract():
                return [t.left, t.right]
            case Load():
                return [*t.index, *((t.valid,) if t.valid is not None else ())]
        if (pair := self._accumulated(t)) is not None:
            start, product = pair
            return [product.left, product.right, start]
        # loops first: epilogue loads come behind them
        return sorted(t.children(), key=lambda c: not self.behind_loop(c))

    def build(self, t: Any) -> Any:
        """The statement-level form of a term whose operands are emitted."""
        match t:
            case Coord() | Base():
                return self._coordinate(t)
            case Proj() if isinstance(t.value, Loop):
                self._loop(t.value)
                return self.home(t.value).done[t.value][t.position]
            case Proj():
                return Proj(self.emit(t.value), t.position)
            case Reduce():
                size = _size(t.axis)
                values = tuple(self._with_lane(self.emit(v), size) for v in t.values)
                return Reduce(size, t.combine, values, t.identities)
            case Contract():
                left, right = self._sides(t)
                extents = tuple(sorted((left.lanes | right.lanes) - {_size(t.axis)}, key=lambda p: p.name))
                return ContractInto(left, right, Full(0, t.acc, extents))
            case Load():
                parts = {c: self.emit(c) for c in (*t.index, *((t.valid,) if t.valid is not None else ()))}
                valid = None if t.valid is None else parts[t.valid]
                address = self._reaching(tuple(parts[i] for i in t.index), valid)
                return Load(t.view, address, valid, integral(t.fill) if valid is not None else 0)
        if (pair := self._accumulated(t)) is not None and (into := self._accumulate(*pair)) is not None:
            return into
        done = {c: self.emit(c) for c in sorted(t.children(), key=lambda c: not self.behind_loop(c))}
        new = t.rebuild(done)
        return apply(new.op, *new.args) if isinstance(new, Apply) and new.op.arity < 0 else new

    def _sides(self, t: Contract) -> tuple[Any, Any]:
        """Both operands; where neither varies along the summed axis (its mask was decided) one is repeated along it."""
        left, right = self.emit(t.left), self.emit(t.right)
        size = _size(t.axis)
        return (left, right) if size in right.lanes else (self._with_lane(left, size), right)

    def _with_lane(self, v: Any, size: Physical) -> Any:
        return v if size in v.lanes else Broadcast(v, (size,))

    def _reaching(self, index: tuple[Any, ...], valid: Any) -> tuple[Any, ...]:
        """An address that varies along every axis of its validity."""
        lanes = frozenset().union(*(i.lanes for i in index))
        if valid is None or valid.lanes <= lanes or not index:
            return index
        return (Broadcast(index[0], tuple(sorted(valid.lanes - lanes, key=lambda p: p.name))), *index[1:])

    def _coordinate(self, t: Any) -> Any:
        a = t.axis
        if isinstance(a, Slice):
            first = self.home(t).first
            return first if isinstance(t, Base) else add(first, Range(a.size))  # type: ignore[arg-type]
        first = self.emit(Base(a) if isinstance(a, Tile) else a.axis.lo)
        return Range(a.size) if is_const(first, 0) else add(first, Range(a.size))

    def _accumulated(self, t: Any) -> tuple[Any, Contract] | None:
        """x and the contraction of x + contraction, which accumulates in place when it has no other use."""
        if not is_op(t, "add") or t.type is index:
            return None
        for x, y in (t.args, t.args[::-1]):  # type: ignore[attr-defined]
            if isinstance(y, Contract) and x.lanes == y.lanes and self.home(y) is self.home(t):
                if self.home(y).uses.get(y, 0) == 1 and y not in self.home(y).done:
                    return x, y
        return None

    def _accumulate(self, x: Any, product: Contract) -> Any:
        left, right = self._sides(product)
        start = self.emit(x)
        fits = start.lanes == (left.lanes | right.lanes) - {_size(product.axis)}
        return ContractInto(left, right, start) if fits else None

    # ---- effects and loops

    def effects(self, effects: tuple[Any, ...], values: tuple[Any, ...] = ()) -> None:
        """Perform effects in order.  What later ones, or the values behind them, read as it was before is read first:
        loads and loops without effects move in front of the store, a loop with effects is performed ahead of it."""
        rest = list(effects)
        while rest:
            if isinstance(rest[0], Sync):
                self.phase = rest[0].number
                self.scope.body.append(rest.pop(0))
                continue
            earlier: set[Any] = set()  # the names of what effects that are not ready may change
            blocked: Any = None
            for e in takewhile(lambda e: not isinstance(e, Sync), rest):
                old = self._read_later(e, (*(x for x in rest if x is not e), *values))
                if all(old.values()) and not (earlier and writes(e) & earlier):
                    break
                blocked = blocked or next((t for t, possible in old.items() if not possible), None)
                earlier |= changes(e)
            else:
                if blocked.view.same:
                    raise _ReadLate(blocked.view)
                span = next(iter(arena().spans.get(blocked, ())), None)
                raise error(
                    "E707", span=span, name=blocked.view.name, found="a read of what an earlier loop has replaced"
                )
            for t in old:
                self._loop(t) if isinstance(t, Loop) else self.emit(t)
            self.effect(e)
            rest.remove(e)

    def _read_later(self, e: Any, others: tuple[Any, ...]) -> dict[Any, bool]:
        views = writes(e) & self.reread if self.reread else None
        if not views:
            return {}
        if replaced := {t: False for t in overtaken(e) if t.view.names & views}:
            return replaced
        before = {*self._loops_before(e), *([e.loop] if isinstance(e, Perform) else ())}
        done = lambda loop: loop in before or loop in self.home(loop).done  # noqa: E731
        return read_later(others, views, self.scope.slices(), done, self.phase)

    def effect(self, e: Any) -> None:
        if isinstance(e, Perform):
            self._loop(e.loop)
            return
        early = [i for i in e.index if not self.loads(i)]  # coordinates first, then loops, then what follows them
        late = sorted((*e.index, e.value), key=lambda c: not self.behind_loop(c))
        parts = {c: self.emit(c) for c in (*early, *late)}
        valid = None if e.valid is None else self.emit(e.valid)
        self.scope.body.append(inherit(e, Store(e.view, tuple(parts[i] for i in e.index), parts[e.value], valid)))

    def _loops_before(self, t: Any) -> list[Loop]:
        """The loops whose results an effect or a loop only reads: they come before it."""
        loop = t.loop if isinstance(t, Perform) else t
        if not isinstance(loop, Loop):
            return list(find(t, Loop)) if self.behind_loop(t) else []
        inside = (c for s in loop.segments for c in scoped((*s.values, *s.effects), loop.slice))
        return [c for c in inside if isinstance(c, Loop) and c.needs <= loop.needs]

    def _loop(self, loop: Loop) -> None:
        waiting = [loop]
        while waiting:
            loop = waiting[-1]
            before = [] if loop in self.home(loop).done else self._loops_before(loop)
            missing = [t for t in before if t not in self.home(t).done]
            waiting.extend(reversed(missing))
            if not missing:
                waiting.pop()
                if loop not in self.home(loop).done:
                    self._write_loop(loop)

    def _write_loop(self, loop: Loop) -> None:
        home = self.home(loop)
        here, self.scope = self.scope, home
        lanes = [frozenset(a.size for a in s) for s in loop.component_lanes()]
        states = [self._state(loop, i, d, s) for i, (d, s) in enumerate(zip(loop.infer(), lanes, strict=True))]
        bounds = self._bounds(loop)
        for segment, (lo, hi) in zip(loop.segments, bounds, strict=True):
            if lo is not hi and not at_most(segment.hi, segment.lo):
                home.body.append(self._segment(loop, segment, lo, hi, states))
        home.done[loop] = states
        self.scope = here

    def _state(self, loop: Loop, i: int, d: Any, lanes: Any) -> Var:
        var = variable(self.fresh(self.names.get(Proj(loop, i)) or self._state_hint(loop, i)), d, lanes)
        self.scope.body.append(Let(var, Full(integral(loop.identities[i].value), d, var.varies)))
        return var

    def _state_hint(self, loop: Loop, i: int) -> str:
        at = 0
        for c in loop.combines:
            if at == i and len(c.dtypes) == 1:
                return {"max": "largest", "min": "least", "sum": "acc"}.get(builtin_name(c) or "", "state")
            at += len(c.dtypes)
        return "largest" if i == 0 else "acc"

    def _bounds(self, loop: Loop) -> list[tuple[Any, Any]]:
        """Loop bounds as scalars; what two segments share, or is computed on the way, gets a name."""
        label = self.names.get(loop.slice, "i")
        spelled = [(self._spelled(s.lo, loop), self._spelled(s.hi, loop)) for s in loop.segments]
        terms = [b for pair in spelled for b in pair]
        called = {terms[0]: "begin"} | {terms[-1]: "end"}
        for s, (lo, hi) in zip(loop.segments, spelled, strict=True):
            if s.decided:
                called = {lo: "full", hi: "rest"} | called
        for b in sorted(dict.fromkeys(terms), key=lambda b: len(walk(b))):
            inside_another = any(b is not c and b in walk(c) for c in terms)
            if (terms.count(b) > 1 or inside_another) and not isinstance(b, LEAVES) and b not in self.home(b).done:
                self.scope.done[b] = self.let(self.build(b), f"{label}_{called.get(b, 'bound')}", self.scope)
        return [(self.emit(lo), self.emit(hi)) for lo, hi in spelled]

    def _spelled(self, bound: Any, loop: Loop) -> Any:
        """A bound with block extents by name: N // BK * BK instead of N // 64 * 64."""
        size = loop.slice.size

        def step(t: Any) -> Any:
            if not is_op(t, "add", "mul", "floordiv", "ceil_div"):
                return t
            a, b = t.args
            if is_op(t, "add"):
                return add(a, a.axis.size) if isinstance(a, Base) and is_const(b, a.axis.size.value) else t  # type: ignore[attr-defined]
            return apply(t.op, a, size) if is_const(b, size.value) else t

        return rewrite((bound,), step)[0]

    def _segment(self, loop: Loop, segment: Segment, lo: Any, hi: Any, states: list[Var]) -> For:
        outer = self.scope
        first = Var(self.fresh(self.names.get(loop.slice, "i") + "0"), index)
        outer.taken.discard(first.name)
        self.scope = Scope(outer, loop.slice, first, (*segment.values, *segment.effects))
        self.scope.taken.add(first.name)
        self.open.append(self.scope)
        for c in scoped((*segment.values, *segment.effects), loop.slice):
            if isinstance(c, Carry) and c.slice is loop.slice:
                self.scope.done[c] = states[c.position]
        self.effects(segment.effects, segment.values)
        self._advance(segment, states)
        outer.below |= self.scope.taken | self.scope.below
        body, self.scope = tuple(self.scope.body), outer
        self.open.pop()
        return For(first, lo, hi, loop.slice.size, tuple(states), body, segment.note)

    def _advance(self, segment: Segment, states: list[Var]) -> None:
        """Assign the next states; all are functions of the present ones, so none is overwritten before its last use."""
        new: dict[Var, Any] = {}
        for var, t in zip(states, segment.values, strict=True):
            value = self.emit_last(t, var)
            new[var] = value if value.lanes == var.lanes else Broadcast(value, var.varies)
        while new:
            ready = next((v for v in new if not any(v in walk(x) for w, x in new.items() if w is not v)), None)
            if ready is None:  # a cycle: one value is computed ahead
                first = next(iter(new))
                new[first] = self.let(new[first], first.name + "_next", self.scope)
                continue
            value = new.pop(ready)
            if value is not ready:
                self.scope.body.append(Let(ready, value))

    def emit_last(self, t: Any, var: Var) -> Any:
        """A next state, left inside its assignment when nothing else uses it."""
        home = self.home(t)
        if isinstance(t, LEAVES) or home is not self.scope or t in home.done or home.uses.get(t, 0) > 1:
            self.names.setdefault(t, var.name + "_new")
            return self.emit(t)
        return self.build(t)
