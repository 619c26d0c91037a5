"""A small prover for index inequalities: enough to see that an access stays inside its resource.

A value is read as a polynomial over atoms (`polynomials.py`).  To show p >= 0, replace one atom at a time by a bound
of it, always in the direction that makes p smaller, until every coefficient is non-negative and every atom is known to
be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent_np.terms.dtypes import DType, bool_, index
from intent_np.terms.index import Apply, Cast, Const, Extent, Value, is_const
from intent_np.terms.logical import Between, InBounds, LoopVar, Unique
from intent_np.terms.operators import OPERATORS

from .polynomials import Monomial, Polynomial, divided, instead, is_exact, minus, plus, polynomial, times

Key = frozenset[tuple[Monomial, int]]
_ONE = {()}
DEPTH, ASIDE = 12, 4  # replacements along one path, and in a side question
NEAR = 3  # replacements that real kernels need: a search so deep is short, wherever it begins
TOPS = 3  # upper bounds of upper bounds of what is divided
STEPS = 600  # polynomials looked at for one question
QUOTIENTS = ("floordiv", "ceil_div")


def nonnegative(v: Value, facts: Sequence[Value] = ()) -> bool:
    """Whether v >= 0 is provable."""
    return provable(polynomial(v), facts)


def at_most(a: Value, b: Value, facts: Sequence[Value] = ()) -> bool:
    """Whether a <= b is provable."""
    return provable(minus(polynomial(b), polynomial(a)), facts)


def below(a: Value, b: Value, facts: Sequence[Value] = ()) -> bool:
    """Whether a < b is provable."""
    return provable(plus(minus(polynomial(b), polynomial(a)), {(): -1}), facts)


def provable(p: Polynomial, facts: Sequence[Value] = ()) -> bool:
    """Whether the polynomial is provably not negative where the facts hold."""
    known = [q for f in facts for q in _stated(f)]
    for gap in (q for f in facts for q in _different(f)):  # what is at least 0, and not 0, is at least 1
        for q in (gap, minus({}, gap)):
            if _Search(known).holds(q, ASIDE):
                known.append(plus(q, {(): -1}))
    return any(_Search(known).holds(p, depth) for depth in (NEAR, DEPTH))


# ---- the search


class _Search:
    """One question: what is known not to be negative, and what has failed at which depth."""

    def __init__(self, known: list[Polynomial]) -> None:
        self.known, self.proved, self.failed, self.steps = known, set[Key](), dict[Key, int](), STEPS
        self.impossible = any(not any(q) and q.get((), 0) < 0 for q in known)  # a case that never is

    def holds(self, p: Polynomial, depth: int) -> bool:
        """Whether p >= 0 can be shown with at most `depth` replacements along a path."""
        if all(c >= 0 for c in p.values()) and all(self.positive(a, depth) for m in p for a in m):
            return True
        if self.impossible or self.is_known(p):
            return True
        key = frozenset(p.items())
        if key in self.proved:
            return True
        if depth <= self.failed.get(key, 0) or not self.steps:
            return False
        self.steps -= 1
        self.failed[key] = depth
        cases = _cases(p)
        if cases is not None:
            found = any(self.holds(q, depth - 1) for q in self.less(p, chosen=True))
            found = found or all(self.under(*case).holds(q, depth - 1) for case, q in cases)
        else:
            found = any(self.holds(q, depth - 1) for q in self.smaller(p, depth))
        if found:
            self.proved.add(key)
        return found

    def is_known(self, p: Polynomial) -> bool:
        """Whether p is a known non-negative, or more than that by a constant."""
        offset = p.get((), 0)
        return any(
            offset >= q.get((), 0) and p.keys() - _ONE == q.keys() - _ONE and all(p[m] == c for m, c in q.items() if m)
            for q in self.known
        )

    def under(self, fact: Value | None, atom: Value, side: Value) -> _Search:
        """The same question where one more fact holds, and an atom is one of the values that it may be."""
        more = [] if fact is None else [*_stated(fact), *self.left_over(fact)]
        known = [_replaced(q, atom, polynomial(side)) for q in self.known]
        if not more and known == self.known:
            return self
        inner = _Search([*known, *more])
        inner.steps, self.steps = self.steps // 2, self.steps // 2
        return inner

    def left_over(self, fact: Value) -> list[Polynomial]:
        """What the negation of a conjunction says where all its parts, or all but one, are known to hold."""
        match fact:
            case Apply(op, (Apply(inner, parts),)) if op.name == "not" and inner.name == "and":
                doubtful = [p for p in parts if not self.certain(p)]
                if not doubtful:
                    return [{(): -1}]
                if len(doubtful) == 1:
                    return list(_stated(Apply(OPERATORS["not"], (doubtful[0],))))
        return []

    def certain(self, p: Value) -> bool:
        """Whether a comparison is known to hold."""
        said = list(_stated(p)) if isinstance(p, Apply) and p.op.name in ("lt", "le", "eq") else []
        return bool(said) and all(self.holds(q, ASIDE) for q in said)

    def aside(self, v: Value, depth: int) -> bool:
        """A side question on the way to another: whether v >= 0."""
        return self.holds(polynomial(v), min(depth - 1, ASIDE))

    def smaller(self, p: Polynomial, depth: int) -> Iterator[Polynomial]:
        """Polynomials that are at most p: an atom replaced by a bound, or a known non-negative taken away."""
        for m, c in p.items():
            for i, atom in enumerate(m):
                rest = m[:i] + m[i + 1 :]
                if all(self.positive(a, depth) for a in rest):
                    for bound in self.lower(atom, depth) if c > 0 else self.upper(atom, depth):
                        yield instead(p, m, rest, bound)
                    if isinstance(atom, Apply) and atom.op.name in QUOTIENTS:
                        for bound in (*self.undivided(atom, rest, c, depth), *self.beside(atom, rest, c, p, depth)):
                            yield plus(plus(p, {m: -c}), bound)
        yield from self.less(p)

    def less(self, p: Polynomial, chosen: bool = False) -> Iterator[Polynomial]:
        """p with a known non-negative taken away: one that shares a term with it, or (`chosen`) a selection."""
        for q in self.known:
            for m, c in q.items():
                if c * p.get(m, 0) > 0 and (any(map(_is_choice, m)) if chosen else m or c < 0):
                    yield minus(p, q)
                    break

    def positive(self, a: Value, depth: int) -> bool:
        """Whether an atom is not negative."""
        if isinstance(a, Extent):
            return True
        if isinstance(a, InBounds):
            return True
        if isinstance(a, LoopVar):
            return is_const(a.domain.lo, 0) or self.aside(a.domain.lo, depth)
        if isinstance(a, Cast):
            d = a.value.type
            return isinstance(d, DType) and (d is bool_ or d.kind == "uint" and d.bits < 64)
        return depth > 0 and any(self.holds(b, min(depth - 1, ASIDE)) for b in self.lower(a, depth))

    def lower(self, a: Value, depth: int) -> Iterator[Polynomial]:
        """Polynomials that are at most the atom `a`."""
        if isinstance(a, Extent):
            yield {}
        elif isinstance(a, LoopVar):
            yield polynomial(a.domain.lo)
        elif isinstance(a, Between):
            yield polynomial(a.low)
        elif isinstance(a, InBounds):
            yield {}
            yield polynomial(a.value)
        elif isinstance(a, Unique):
            yield polynomial(a.value)
        elif isinstance(a, Cast):
            yield from self.kept(a, depth)
        elif isinstance(a, Apply):
            match a.op.name, a.args:
                case "maximum", (x, y):
                    yield polynomial(x)
                    yield polynomial(y)
                case (("floordiv" | "ceil_div"), (x, y)):
                    if self.aside(x, depth) and self.aside(y, depth):
                        yield {}
                    if a.op.name == "floordiv":
                        yield from self.quotient(polynomial(x), polynomial(y), depth, up=False)
                case "mod", (_, y):
                    if self.aside(y, depth):
                        yield {}
                case "bit_and", (x, y):
                    if self.aside(x, depth) or self.aside(y, depth):
                        yield {}

    def upper(self, a: Value, depth: int) -> Iterator[Polynomial]:
        """Polynomials that are at least the atom `a`."""
        if isinstance(a, Extent) and a.bound is not None:
            yield {(): a.bound}
        elif isinstance(a, LoopVar):
            yield plus(polynomial(a.domain.hi), {(): -1})
            gap = minus(polynomial(a.domain.hi), polynomial(a.domain.lo))
            if isinstance(step := a.domain.step, Const) and all(c % int(step.value) == 0 for c in gap.values()):
                yield plus(polynomial(a.domain.hi), {(): -int(step.value)})  # whole steps lead to the end
        elif isinstance(a, Between):
            yield polynomial(a.high)
        elif isinstance(a, InBounds):
            yield plus(polynomial(a.extent), {(): -1})
            yield polynomial(a.value)
        elif isinstance(a, Unique):
            yield polynomial(a.value)
        elif isinstance(a, Cast):
            yield from self.kept(a, depth)
        elif isinstance(a, Apply):
            match a.op.name, a.args:
                case "minimum", (x, y):
                    yield polynomial(x)
                    yield polynomial(y)
                case "mod", (_, y):
                    if self.aside(y, depth):
                        yield plus(polynomial(y), {(): -1})
                case "bit_and", (x, y):
                    for side in (x, y):
                        if self.aside(side, depth):
                            yield polynomial(side)
                case (("floordiv" | "ceil_div"), (x, y)):
                    if a.op.name == "floordiv":
                        yield from self.quotient(polynomial(x), polynomial(y), depth, up=True)
                    if self.aside(x, depth) and self.aside(y, depth):
                        yield polynomial(x)

    def undivided(self, a: Apply, rest: Monomial, c: int, depth: int) -> Iterator[Polynomial]:
        """Polynomials that are at most c * rest * a for a quotient a = x / y where y divides c * rest: y * a is x up to
        the y - 1 that it is rounded by, down (`floordiv`) or up (`ceil_div`)."""
        x, y = polynomial(a.args[0]), polynomial(a.args[1])
        if len(y) != 1:
            return
        ((divisor, scale),) = y.items()
        left = list(rest)
        for d in divisor:
            if d not in left:
                return
            left.remove(d)
        if scale > 0 and not c % scale and all(self.positive(d, depth) for d in divisor):
            if (c > 0) == (a.op.name == "floordiv"):  # rounded away from the bound
                x = plus(minus(x, y), {(): 1}) if c > 0 else plus(plus(x, y), {(): -1})
            yield times({tuple(left): c // scale}, x)

    def beside(self, a: Apply, rest: Monomial, c: int, p: Polynomial, depth: int) -> Iterator[Polynomial]:
        """Polynomials that are at most c * rest * a for a quotient a that is taken in p's sum beside another one, of
        the opposite sign and by the same divisor: quotients are in the order of their dividends."""
        if c < 0:
            return
        (x, y), up = a.args, a.op.name == "ceil_div"
        for m, other in p.items():
            for b in m if other < 0 else ():
                if isinstance(b, Apply) and b.op.name in QUOTIENTS and b.args[1] is y and self.aside(y, depth):
                    gap = minus(polynomial(x), polynomial(b.args[0]))
                    if up and b.op.name == "floordiv" and self.holds(plus(gap, {(): -1}), min(depth - 1, ASIDE)):
                        yield times({rest: c}, {(b,): 1, (): 1})
                    elif (up or b.op.name == "floordiv") and self.holds(gap, min(depth - 1, ASIDE)):
                        yield {tuple(sorted((*rest, b), key=lambda t: t.digest)): c}

    def kept(self, a: Cast, depth: int) -> Iterator[Polynomial]:
        """An index that was cast to an integer and back, where the integer holds it."""
        inner = a.value
        if isinstance(inner, Cast) and inner.mode == "wrap" and inner.value.type is index and inner.dtype.is_integer:
            (least, most), p = inner.dtype.range, polynomial(inner.value)
            near = min(depth - 1, ASIDE)
            if self.holds(plus(p, {(): -least}), near) and self.holds(minus({(): most}, p), near):
                yield p

    def quotient(self, x: Polynomial, y: Polynomial, depth: int, up: bool) -> Iterator[Polynomial]:
        """Upper (`up`) or lower bounds of x // y for a y that is one product of extents: where x <= y * q + r, it is at
        most q + r // y, and where x >= y * q + r, at least that."""
        if len(y) == 1:
            ((divisor, scale),) = y.items()
            if scale > 0 and all(isinstance(a, Extent) for a in divisor):
                ends = [x]
                for _ in range(TOPS):  # the end of a domain, what limits that, …
                    for end in ends:
                        if (q := divided(end, divisor, scale, up)) is not None:
                            yield q
                    ends = [further for end in ends for further in self.beyond(end, depth, up)]

    def beyond(self, p: Polynomial, depth: int, up: bool) -> Iterator[Polynomial]:
        """Upper or lower bounds of p: an atom of a positive term replaced by one of its own, or a known non-negative
        added or taken away."""
        sign = 1 if up else -1
        for q in self.known:
            if any(c > 0 and sign * q.get(m, 0) < 0 for m, c in p.items() if m):
                yield plus(p, q) if up else minus(p, q)
        for m, c in p.items():
            for i, atom in enumerate(m):
                rest = m[:i] + m[i + 1 :]
                if c > 0 and depth > 0 and all(self.positive(a, depth) for a in rest):
                    for bound in self.upper(atom, depth - 1) if up else self.lower(atom, depth - 1):
                        yield instead(p, m, rest, bound)


def _is_choice(atom: Value) -> bool:
    return isinstance(atom, Apply) and atom.op.name in ("select", "minimum", "maximum")


Case = tuple[Value | None, Value, Value]
"""What holds in a case, an atom, and what it is there."""


def _cases(p: Polynomial) -> list[tuple[Case, Polynomial]] | None:
    """p with a minimum (of positive sign), a maximum (of negative sign) or a selection as each of what it may be."""
    for m, c in p.items():
        for i, atom in enumerate(m):
            if isinstance(atom, Apply) and atom.op.name in ("select", "minimum" if c > 0 else "maximum"):
                rest = m[:i] + m[i + 1 :]
                picked = atom.args[0] if atom.op.name == "select" else None
                facts = (None, None) if picked is None else (picked, Apply(OPERATORS["not"], (picked,)))
                return [
                    ((fact, atom, x), instead(p, m, rest, polynomial(x)))
                    for fact, x in zip(facts, atom.args[-2:], strict=True)
                ]
    return None


def _replaced(p: Polynomial, atom: Value, x: Polynomial) -> Polynomial:
    """p with `x` in the place of an atom."""
    if not any(atom in m for m in p):
        return p
    total: Polynomial = {}
    for m, c in p.items():
        q: Polynomial = {tuple(a for a in m if a is not atom): c}
        for _ in range(m.count(atom)):
            q = times(q, x)
        total = plus(total, q)
    return total


def _stated(f: Value) -> Iterator[Polynomial]:
    """What a predicate that holds says, as polynomials that are not negative."""
    if not isinstance(f, Apply):
        return
    match f.op.name, f.args:
        case "and", parts:
            for part in parts:
                yield from _stated(part)
        case "select", (a, b, Const(False)):  # a and b, where b is asked only under a
            yield from _stated(a)
            yield from _stated(b)
        case "not", (Apply(op, (a, Const(True), b)),) if op.name == "select":
            for part in (a, b):
                yield from _stated(Apply(OPERATORS["not"], (part,)))
        case (("lt" | "le" | "eq"), (a, b)) if is_exact(a.type):
            gap = minus(_integer(b), _integer(a))
            yield plus(gap, {(): -1}) if f.op.name == "lt" else gap
            if f.op.name == "eq":
                yield minus({}, gap)
        case "not", (Apply(op, (a, b)),) if op.name in ("lt", "le"):
            yield from _stated(Apply(OPERATORS["le" if op.name == "lt" else "lt"], (b, a)))
        case "not", (Apply(op, (part,)),) if op.name == "not":
            yield from _stated(part)
        case "not", (Apply(op, parts),) if op.name == "or":
            for part in parts:
                yield from _stated(Apply(OPERATORS["not"], (part,)))


def _different(f: Value) -> Iterator[Polynomial]:
    """Differences that a predicate says are not 0."""
    match f:
        case Apply(op, (Apply(inner, (a, b)),)) if op.name == "not" and inner.name == "eq" and is_exact(a.type):
            yield minus(_integer(b), _integer(a))
        case Apply(op, (a, b)) if op.name == "ne" and is_exact(a.type):
            yield minus(_integer(b), _integer(a))


def _integer(v: Value) -> Polynomial:
    """An integer of any dtype as what its cast to an index is; sums of narrower dtypes wrap, and stay atoms."""
    if v.type is index or isinstance(v, Const):
        return polynomial(v)
    return polynomial(Cast(v, index))
