"""The values of statements: each is computed once, in the outermost loop that it needs, and named where that pays.

Used by `emit`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ..terms.blocked import Base, BlockedProgram, Branch, Loop, Slice, Tile
from ..terms.core import contains, find, inherit
from ..terms.dtypes import index
from ..terms.gpu import Broadcast, ContractInto, Full, Range
from ..terms.index import Apply, Physical, add, apply, is_const, is_op
from ..terms.normal import Contract, Coord, Load, Proj, Reduce, Scan
from ..terms.updates import Found
from .emit_names import Naming
from .lower_regions import refused
from .one_hot import bins_of, counted
from .scopes import LEAVES, Scope, integral, is_test

DEEPEST = 40  # operators in one expression; what is deeper gets names, as printed text and its readers have limits


def _size(axis: Any) -> Physical:
    """The parameter that names a fragment axis."""
    return axis.size  # type: ignore[no-any-return]


def _loops_first(t: Any) -> list[Any]:
    """The operands of a term: epilogue loads come behind loops."""
    return sorted(t.parts, key=lambda c: not contains(c, Loop)) if contains(t, Loop) else list(t.parts)


class Values(Naming):
    """Emits values into the scopes that they belong to."""

    def __init__(self, program: BlockedProgram) -> None:
        super().__init__(program)
        self.depth: dict[Any, int] = {}
        counts = [t for t in find(program, Reduce) if counted(t) is not None]
        self.compared = [{t.axis, bins_of(t)} for t in counts]  # members and bins of a count: of no fragment

    @abstractmethod
    def asked_of_block(self, condition: Any) -> Any:
        """The condition of a branch as it is spelled."""

    @abstractmethod
    def loop(self, loop: Loop) -> None:
        """Perform a loop, unless it was performed."""

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
            and not isinstance(t, (Reduce, Scan))
            or t in self.aside
        ):
            return False
        if any(pair <= t.lanes for pair in self.compared):
            return False
        if isinstance(built, (Load, Reduce, Scan, ContractInto, Branch)) or (isinstance(t, Coord) and t.lanes):
            return True
        depth = self.depth[built] = 1 + max(self.depth.get(c, 0) for c in built.children())
        return home.uses.get(t, 0) > 1 or t in self.names or depth > DEEPEST

    def operands(self, t: Any) -> list[Any]:
        """The terms whose values `build` takes, in the order in which it asks for them."""
        match t:
            case Coord() | Base() | Found():
                return []
            case Proj():
                return [] if isinstance(t.value, Loop) else [t.value]
            case Reduce() | Scan():
                return list(t.values)
            case Contract():
                return [t.left, t.right]
            case Load():
                return [*t.index, *((t.valid,) if t.valid is not None else ())]
            case Branch():
                return [t.otherwise, self.asked_of_block(t.condition), t.value]
        if (pair := self._accumulated(t)) is not None:
            start, product = pair
            return [product.left, product.right, start]
        return _loops_first(t)

    def build(self, t: Any) -> Any:
        """The statement-level form of a term whose operands are emitted."""
        match t:
            case Coord() | Base():
                return self._coordinate(t)
            case Found():
                what = "what an atomic access found, in another traversal than its own"
                how = "store it into an I.buffer of a known extent behind the access, and read that"
                raise refused(t.update, what, how)
            case Proj() if isinstance(t.value, Loop):
                self.loop(t.value)
                return self.home(t.value).done[t.value][t.position]
            case Proj():
                return Proj(self.emit(t.value), t.position)
            case Reduce():
                size = _size(t.axis)
                values = tuple(self._with_lane(self.emit(v), size) for v in t.values)
                return Reduce(size, t.combine, values, t.identities)
            case Scan():
                size = _size(t.axis)
                given = [self.emit(v) for v in t.values]
                lanes = frozenset((size,)).union(*(v.lanes for v in given))
                values = tuple(self._with_lanes(v, lanes) for v in given)
                return Scan(size, t.combine, values, t.identities, t.reverse)
            case Contract():
                left, right = self._sides(t)
                extents = tuple(sorted((left.lanes | right.lanes) - {_size(t.axis)}, key=lambda p: p.name))
                return ContractInto(left, right, Full(0, t.acc, extents))
            case Load():
                parts = {c: self.emit(c) for c in (*t.index, *((t.valid,) if t.valid is not None else ()))}
                valid = None if t.valid is None else parts[t.valid]
                address = self._reaching(tuple(parts[i] for i in t.index), valid)
                return Load(t.view, address, valid, integral(t.fill) if valid is not None else 0)
            case Branch():
                otherwise, condition, value = (self.emit(c) for c in self.operands(t))
                return Branch(condition, value, otherwise)
        if (pair := self._accumulated(t)) is not None and (into := self._accumulate(*pair)) is not None:
            return into
        done = {c: self.emit(c) for c in _loops_first(t)}
        new = t.rebuild(done)
        return apply(new.op, *new.args) if isinstance(new, Apply) and new.op.arity < 0 else new

    def _sides(self, t: Contract) -> tuple[Any, Any]:
        """Both operands; where neither varies along the summed axis (its mask was decided) one is repeated along it."""
        left, right = self.emit(t.left), self.emit(t.right)
        size = _size(t.axis)
        return (left, right) if size in right.lanes else (self._with_lane(left, size), right)

    def _with_lane(self, v: Any, size: Physical) -> Any:
        return v if size in v.lanes else Broadcast(v, (size,))

    def _with_lanes(self, v: Any, lanes: frozenset[Any]) -> Any:
        missing = tuple(sorted(lanes - v.lanes, key=lambda p: p.name))
        return Broadcast(v, missing) if missing else v

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
