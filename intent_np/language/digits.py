"""What an address gives away: the loop members and lanes that can be computed back from it.

Each coordinate is a sum of atoms with weights.  As with the digits of a number, the atoms follow from the sum where
each weighs at least as much as all lighter ones span; from quotient and remainder follows what was divided, from a
rotation what was rotated, from a ticket (the old value of an atomic count) or a promise all that it varies along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from math import gcd
from typing import Any

from intent_np.rules.simplify import simplify
from intent_np.terms.core import find
from intent_np.terms.dtypes import DType
from intent_np.terms.index import Apply, Cast, Const, Value, apply, const, is_op
from intent_np.terms.logical import At as AtScalar
from intent_np.terms.logical import (
    Between,
    Buffer,
    Filled,
    Formal,
    InBounds,
    LoopVar,
    Old,
    Outcome,
    Read,
    State,
    Take,
    Unique,
    shape_of,
)

from .bounds import provable
from .elements import coordinates
from .polynomials import Polynomial, minus, plus, polynomial, times

Form = tuple[Polynomial, Polynomial]  # the first of some coordinates side by side, and how many there are
ONE: Polynomial = {(): 1}
DIGITS = 4  # in one sum; their orders are tried one by one


def tickets(v: Any) -> tuple[Any, tuple[Value, ...]] | None:
    """The atomic access whose old value this is, and the lane that it is of."""
    if isinstance(v, Old) and not shape_of(v):
        return v.access, ()
    if isinstance(v, Take) and isinstance(v.value, Old) and all(isinstance(s, AtScalar) for s in v.subscripts):
        return v.value.access, tuple(s.value for s in v.subscripts)  # type: ignore[attr-defined]
    return None


def cut_of(begin: Value, end: Value) -> Value | None:
    """The member of the outer domain of a ragged relation that has the members from `begin` to `end`."""
    if not isinstance(begin, Between) or not isinstance(end, Between) or end.low is not begin:
        return None
    first, last = (b.value.value if isinstance(b.value, Cast) else b.value for b in (begin, end))
    if (
        not isinstance(first, Read)
        or not isinstance(last, Read)
        or (first.view, first.after) != (last.view, last.after)
    ):
        return None
    (g,), (behind,) = (coordinates(r.subscripts, ()) for r in (first, last))
    return g if minus(polynomial(behind), polynomial(g)) == ONE else None


class Address:
    """Coordinates, and what follows from them.  `variables` are all that differs between the executions in question;
    `around` are the loops around each atomic access, whose old values in `used` were needed for a proof."""

    def __init__(
        self, forms: Iterable[Form], variables: Iterable[Value], facts: Sequence[Value], around: dict[Any, Any]
    ) -> None:
        self.forms = [*forms, *((f, ONE) for p in facts for f in _zeros(p))]
        self.variables, self.facts, self.around = set(variables), facts, around
        self.known: set[Any] = set()
        self.used: list[Any] = []
        while self._step():
            pass

    def _step(self) -> bool:
        """Whether something more follows."""
        before = len(self.known), len(self.forms)
        for form, width in self.forms:
            digits = list(dict.fromkeys(a for m in form for a in m if self.varies(a)))
            if 0 < len(digits) <= DIGITS and any(self._sum(form, width, o) for o in permutations(digits)):
                self.known.update(digits)
            self._cut(form, width, digits)
        for a in list(self.known):
            self._consequences(a)
        return before != (len(self.known), len(self.forms))

    def varies(self, a: Value) -> bool:
        """Whether an atom may differ between two executions that have this address."""
        if a in self.known:
            return False
        for t in find(a, (LoopVar, State, Formal, Outcome, Read)):
            if isinstance(t, LoopVar):
                if t in self.variables and t not in self.known:
                    return True
            elif not isinstance(t, Read) or isinstance(t.view, Buffer):
                return True
        return False

    def constant(self, p: Polynomial) -> bool:
        return not any(self.varies(a) for m in p for a in m)

    def _constant_bound(self, width: Polynomial) -> Polynomial | None:
        """A width, or one that is at least as large where it varies: a minimum is at most either of its sides."""
        if self.constant(width):
            return width
        for m, c in width.items():
            if c > 0 and len(m) == 1 and is_op(m[0], "minimum"):
                for side in m[0].args:  # type: ignore[attr-defined]
                    if found := self._constant_bound(plus(plus(width, {m: -c}), polynomial(side), c)):
                        return found
        return None

    def _sum(self, form: Polynomial, width: Polynomial, order: Sequence[Value]) -> bool:
        """Whether blocks of `width` that begin at `form` are disjoint for different digits, the heaviest first."""
        span = self._constant_bound(width)
        if span is None:
            return False
        for k, d in reversed(list(enumerate(order))):
            if any(m.count(d) > 1 for m in form):
                return False
            weight = {tuple(a for a in m if a is not d): c for m, c in form.items() if d in m}
            if not self.constant(weight):
                return False
            apart = self.distance(d)  # members of a domain with a step are that far apart
            size = next(
                (w for w in (weight, minus({}, weight)) if provable(minus(times(w, apart), span), self.facts)), None
            )
            if size is None:
                return False
            if k:
                count = self.count(d)
                if count is None or not self.constant(count):
                    return False
                span = plus(span, times(plus(count, {(): -1}), size))
        return True

    def _cut(self, form: Polynomial, width: Polynomial, digits: Sequence[Value]) -> None:
        """Cuts of a ragged relation share no member: one of them, or a run of them, tells which cut it is of."""
        for begin in digits:
            rest, run = plus(form, {(begin,): -1}), width
            for place in digits:  # the member that stands `place` behind the first
                if rest == {(place,): 1} and run == ONE and isinstance(place, LoopVar) and place.domain.lo is const(0):
                    rest, run = {}, polynomial(place.domain.hi)
            if not rest:
                for end in {a for m in run for a in m}:
                    if run == {(end,): 1, (begin,): -1} and (outer := cut_of(begin, end)) is not None:
                        self._coordinate(outer)

    def distance(self, a: Value) -> Polynomial:
        """How far apart two values of an atom are at least."""
        step = a.domain.step if isinstance(a, LoopVar) else None
        return ONE if step is None or self.varies(step) else polynomial(step)

    def count(self, a: Value) -> Polynomial | None:
        """How many neighbouring integers an atom may be one of."""
        if isinstance(a, LoopVar):
            return minus(polynomial(a.domain.hi), polynomial(a.domain.lo))
        if is_op(a, "mod", "floordiv") and not provable(polynomial(a.args[1]), self.facts):  # type: ignore[attr-defined]
            return None  # by a negative number, what is left lies on the other side of 0
        if is_op(a, "mod"):
            return polynomial(a.args[1])  # type: ignore[attr-defined]
        if is_op(a, "floordiv"):
            x, n = a.args  # type: ignore[attr-defined]
            if isinstance(x, LoopVar) and provable(polynomial(x.domain.lo), self.facts):
                return polynomial(simplify(apply("ceil_div", x.domain.hi, n)))
        if isinstance(a, InBounds):
            return polynomial(a.extent)
        if isinstance(a, Cast) and isinstance(a.value.type, DType) and a.value.type.bits < 64:
            return {(): 1 << a.value.type.bits}
        return None

    # ---- what follows from an atom

    def _consequences(self, a: Value) -> None:
        if isinstance(a, LoopVar):
            if (outer := cut_of(a.domain.lo, a.domain.hi)) is not None:
                self._coordinate(outer)
        elif isinstance(a, InBounds):
            self._coordinate(a.value)
        elif isinstance(a, Unique):
            if all(Unique(a.values, k) in self.known for k in range(len(a.values))):
                self.known.update(find(a, LoopVar))
                self.known.update(t for t in find(a, (State, Outcome)))
                for t in find(a, Old):
                    self.known.update(self.around[t.access].loops)
        elif is_op(a, "mod"):
            x, n = a.args  # type: ignore[attr-defined]
            if apply("floordiv", x, n) in self.known:
                self._coordinate(x)
            self._rotated(x, polynomial(n))
        elif is_op(a, "bit_xor"):
            for x, y in (a.args, a.args[::-1]):  # type: ignore[attr-defined]
                if not self.varies(y):
                    self._coordinate(x)
        elif isinstance(a, Cast) and isinstance(a.value.type, DType) and a.value.type.is_integer:
            if a.dtype.bits < a.value.type.bits:
                self._rotated(a.value, {(): 1 << a.dtype.bits})
            elif not isinstance(a.value, Apply):  # sums of narrow integers wrap
                self._coordinate(a.value)
        elif tickets(a) is not None:
            self._ticket(*tickets(a))  # type: ignore[misc]

    def _coordinate(self, v: Value) -> None:
        form = (polynomial(v), ONE)
        if form not in self.forms:
            self.forms.append(form)

    def _rotated(self, x: Value, n: Polynomial) -> None:
        """x mod n gives x away where it takes n values or fewer, a stride that has no factor in common with n apart."""
        form = polynomial(x)
        digits = {a for m in form for a in m if self.varies(a)}
        if len(digits) != 1:
            return
        (d,) = digits
        weight, count = form.get((d,)), self.count(d)
        if weight is None or sum(d in m for m in form) != 1 or count is None or not self.constant(plus(count, n)):
            return
        number = n.get((), 0) if set(n) <= {()} else 0
        if (abs(weight) == 1 or number and gcd(weight, number) == 1) and provable(minus(n, count), self.facts):
            self.known.add(d)

    def _ticket(self, access: Any, lane: tuple[Value, ...]) -> None:
        """The old value of adding a constant to one counter, which nothing else changes, is another one each time."""
        d, added = access.view.dtype, access.operands[:1]
        added = tuple(v.value if isinstance(v, Filled) else v for v in added)
        if access.operation != "add" or not d.is_integer or not isinstance(added[0], Const) or not added[0].value:
            return
        if any(self.varies(a) for c in coordinates(access.subscripts, lane) for m in polynomial(c) for a in m):
            return
        loops, counted = self.around[access]
        times_added: Polynomial = ONE
        for e in (*(p.domain.extent for p in loops), *access.lanes_shape()):
            times_added = times(times_added, polynomial(e))
        period = (1 << d.bits) // gcd(int(added[0].value), 1 << d.bits)
        # nobody lives to see 2^63 additions
        if period >= 1 << 63 or counted and provable(minus({(): period}, times_added), self.facts):
            self.known.update(loops)
            self.known.update(p for p in lane if isinstance(p, LoopVar))
            self.used.append(access)


def _zeros(p: Value) -> Iterator[Polynomial]:
    """The sums that are 0 where a predicate holds."""
    if is_op(p, "and"):
        for part in p.args:  # type: ignore[attr-defined]
            yield from _zeros(part)
    elif is_op(p, "eq") and isinstance(p.args[0].type, DType) and p.args[0].type.is_integer:  # type: ignore[attr-defined]
        a, b = p.args  # type: ignore[attr-defined]
        if a.type.name == "index":
            yield minus(polynomial(a), polynomial(b))
        else:
            yield minus(polynomial(_index(a)), polynomial(_index(b)))


def _index(v: Value) -> Value:
    from intent_np.terms.dtypes import index

    return const(int(v.value)) if isinstance(v, Const) else Cast(v, index)
