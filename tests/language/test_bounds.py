"""The prover never proves what is false, and sees what kernels need."""

import itertools
import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intent_np.errors import IntentError
from intent_np.language import bounds, races
from intent_np.language.context import Capture, capturing
from intent_np.terms.dtypes import f32
from intent_np.terms.index import Apply, Const, Extent, Value, add, apply, const, le, lt, mul, select, sub
from intent_np.terms.logical import At, Domain, LoopVar
from intent_np.terms.normal import View

M, N = Extent("M"), Extent("N")
I = LoopVar(Domain(const(0), N))
J = LoopVar(Domain(I, add(I, M)))
P = LoopVar(Domain(const(0), mul(M, N)))

LIMITED = apply("minimum", apply("maximum", sub(M, const(9)), const(0)), mul(N, const(5)))

LEAVES = st.sampled_from([M, N, I, J, P]) | st.integers(-3, 5).map(const)
BINARY = st.sampled_from(["add", "sub", "mul", "floordiv", "mod", "minimum", "maximum", "ceil_div"])


def _grown(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    pointwise = st.tuples(BINARY, inner, inner).map(lambda t: apply(*t))
    chosen = st.tuples(inner, inner, inner, inner).map(lambda t: select(lt(t[0], t[1]), t[2], t[3]))
    between = st.tuples(inner, inner, inner, inner).map(
        lambda t: select(apply("and", le(t[0], t[1]), lt(t[1], t[2])), t[1], t[3])
    )
    return pointwise | chosen | between


TERMS = st.recursive(LEAVES, _grown, max_leaves=5)


class Poison(Exception):
    """An invalid operation: the program has no meaning there."""


def value(t: Value, known: dict[Value, int]) -> Any:
    if isinstance(t, Const):
        return t.value
    if t in known:
        return known[t]
    assert isinstance(t, Apply)
    a, b, *rest = (value(x, known) for x in t.args)
    match t.op.name:
        case "floordiv" | "mod" | "ceil_div" if b == 0:
            raise Poison
        case "select":
            return b if a else rest[0]
    return MEANING[t.op.name](a, b)


MEANING = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv, "mod": operator.mod,
    "minimum": min, "maximum": max, "lt": operator.lt, "le": operator.le, "ceil_div": lambda a, b: -(-a // b),
    "and": operator.and_,
}  # fmt: skip


def assignments() -> list[dict[Value, int]]:
    found: list[dict[Value, int]] = []
    for m, n in itertools.product(range(4), repeat=2):
        for i in range(n):
            for j in range(i, i + m):
                found += ({M: m, N: n, I: i, J: j, P: p} for p in range(m * n))
    return found


ALL = assignments()


@settings(max_examples=150, deadline=None)
@given(TERMS, TERMS, st.lists(st.tuples(TERMS, TERMS, st.booleans()), max_size=2))
def test_what_is_proved_holds(a: Value, b: Value, given_facts: list[tuple[Value, Value, bool]]) -> None:
    facts = tuple(lt(x, y) if strict else apply("not", lt(y, x)) for x, y, strict in given_facts)
    proved = bounds.at_most(a, b, facts), bounds.below(a, b, facts), bounds.nonnegative(a, facts)
    if not any(proved):
        return
    for known in ALL:
        try:
            if not all(value(x, known) < value(y, known) + (not strict) for x, y, strict in given_facts):
                continue
            x, y = value(a, known), value(b, known)
        except Poison:
            continue
        for claim, holds in zip(proved, (x <= y, x < y, x >= 0), strict=True):
            assert not claim or holds, (a, b, known)


ROOM = select(lt(const(1), M), sub(M, const(1)), const(1))
E = LoopVar(Domain(const(1), ROOM))
CHOSEN = select(lt(I, const(2)), sub(I, M), mul(I, M))
NEEDED = [
    ("a coordinate", I, N, ()),
    ("a quotient of a product", apply("floordiv", P, N), M, ()),
    ("a constant quotient", apply("floordiv", LoopVar(Domain(const(0), mul(N, const(3)))), const(3)), N, ()),
    ("a page of a limited length", apply("floordiv", LoopVar(Domain(const(0), LIMITED)), const(5)), N, ()),
    ("a remainder", apply("mod", P, N), N, ()),
    ("digits", add(mul(LoopVar(Domain(const(0), M)), N), I), mul(M, N), ()),
    ("a limited shift", apply("minimum", add(I, const(3)), sub(N, const(1))), N, ()),
    ("the previous one", sub(I, const(1)), N, ()),
    ("the mirrored one", sub(sub(N, const(1)), I), N, ()),
    ("a guarded shift", add(I, const(5)), N, (lt(add(I, const(5)), N),)),
    ("a shift guarded by its complement", add(I, const(5)), N, (apply("not", le(N, add(I, const(5)))),)),
    ("a nested coordinate", J, add(N, M), ()),
    ("the block of a coordinate", apply("floordiv", I, const(8)), apply("ceil_div", N, const(8)), ()),
    ("a block of symbolic size", apply("floordiv", I, M), apply("ceil_div", N, M), (lt(const(0), M),)),
    ("the beginning of a block", mul(LoopVar(Domain(const(0), apply("ceil_div", N, const(8)))), const(8)), N, ()),
    (
        "the beginning of a symbolic block",
        mul(LoopVar(Domain(const(0), apply("ceil_div", N, M))), M),
        N,
        (lt(const(0), M),),
    ),
    ("a choice that is known to fit", CHOSEN, N, (lt(CHOSEN, N), le(const(0), CHOSEN))),
    ("one of two", select(lt(I, M), I, const(0)), N, (lt(const(0), N),)),
    ("a choice that is always the first", select(apply("and", le(const(0), I), lt(I, N)), I, const(0)), N, ()),
    ("the end of a domain with one of two ends", add(E, const(1)), M, (lt(const(1), ROOM),)),
    ("the ordinal of a coordinate", const(2), apply("floordiv", LoopVar(Domain(const(15), N, const(5))), const(5)), ()),
    (
        "a quotient that begins behind a multiple",
        sub(M, const(1)),
        apply("floordiv", LoopVar(Domain(mul(M, N), P)), N),
        (),
    ),
]


@pytest.mark.parametrize(("what", "small", "large", "facts"), NEEDED, ids=[n[0] for n in NEEDED])
def test_what_kernels_need_is_proved(what: str, small: Value, large: Value, facts: tuple[Value, ...]) -> None:
    assert bounds.below(small, large, facts)


Q = LoopVar(Domain(const(0), M))
INDEX = st.recursive(
    st.sampled_from([I, Q, N, M]) | st.integers(-2, 4).map(const),
    lambda inner: st.tuples(st.sampled_from(["add", "sub", "mul", "floordiv", "mod"]), inner, inner).map(
        lambda t: apply(*t)
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(INDEX, min_size=1, max_size=2))
def test_writes_that_are_accepted_meet_nowhere(places: list[Value]) -> None:
    view = View("y", "out", f32, tuple(M for _ in places), tuple(const(1) for _ in places))
    with capturing(Capture("k")) as state, state.block(points=(I, Q)):
        try:
            races.written_once(view, tuple(map(At, places)), (I, Q), (lt(const(0), N), lt(const(0), M)))
        except IntentError:
            return
    for m, n in itertools.product(range(1, 5), repeat=2):
        seen = set()
        for i, q in itertools.product(range(n), range(m)):
            try:
                where = tuple(value(p, {M: m, N: n, I: i, Q: q}) for p in places)
            except Poison:
                break
            assert where not in seen, (places, m, n, i, q)
            seen.add(where)
