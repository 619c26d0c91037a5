"""Facts are true: of every value that a random index term can have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intent_np.rules import facts
from intent_np.rules.affine import affine, combine, difference, from_affine, scale
from intent_np.rules.facts import at_most, interval, is_finite, less, lower, multiple_of, nonnegative, upper
from intent_np.terms.core import Arena
from intent_np.terms.dtypes import f16, f32
from intent_np.terms.index import Cast, Const, Extent, Physical, Value, add, apply, const, mul, sub
from intent_np.terms.normal import Load, View

from .random_terms import Index, value

SEEDS = range(300)
TRIES = 25


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_bounds_hold(depth: int) -> None:
    known = 0
    for seed in SEEDS:
        with Arena():
            draw = Index(seed)
            t = draw.term(depth)
            low, high = interval(t)
            assert (lower(t), upper(t)) == (low, high)
            known += (low is not None) + (high is not None)
            for _ in range(TRIES):
                env = draw.values(t)
                v = None if env is None else value(t, env)
                if v is not None:
                    assert low is None or low <= v, (t, env)
                    assert high is None or v <= high, (t, env)
                    assert not nonnegative(t) or v >= 0
    assert known > len(SEEDS) // 4  # else nothing was tested


def test_divisibility_holds() -> None:
    known = 0
    for seed in SEEDS:
        with Arena():
            draw = Index(seed)
            t = draw.term(2)
            divisors = [n for n in (2, 3, 4, 8, 16) if multiple_of(t, n)]
            known += len(divisors)
            for _ in range(TRIES):
                env = draw.values(t)
                v = None if env is None else value(t, env)
                assert v is None or all(v % n == 0 for n in divisors), (t, env, divisors)
    assert known > len(SEEDS) // 4


def test_order_holds() -> None:
    proved = apart = 0
    for seed in range(1500):
        with Arena():
            draw = Index(seed)
            a = draw.term(2)
            # unrelated terms are rarely ordered: compare with what is near
            near = [
                draw.term(2), add(a, draw.leaf()), sub(draw.term(1), a), apply("minimum", a, draw.term(1)),
                apply("maximum", draw.term(1), a), mul(apply("floordiv", a, const(4)), const(4)),
                mul(apply("floordiv", a, Physical("B8", 8)), const(16)), a,
            ]  # fmt: skip
            b = draw.random.choice(near)
            a, b = (a, b) if draw.random.random() < 0.5 else (b, a)
            ordered, strictly = at_most(a, b), less(a, b)
            gap = draw.random.randint(-80, 3)
            near_enough = at_most(a, b, gap)
            proved += ordered + strictly
            apart += near_enough and not ordered
            assert ordered or not strictly
            for _ in range(TRIES if ordered or near_enough else 0):
                env = draw.values(a, b)
                if env is not None:
                    x, y = value(a, env), value(b, env)
                    if x is not None and y is not None:
                        assert not ordered or (x < y if strictly else x <= y), (a, b, env)
                        assert not near_enough or x + gap <= y, (a, b, gap, env)
    assert proved > 200
    assert apart > 40


def test_what_narrowing_has_to_prove_is_proved() -> None:
    with Arena():
        n, m = Extent("N"), Extent("M")
        whole = mul(apply("floordiv", n, const(64)), const(64))
        assert at_most(whole, n)
        assert at_most(const(0), whole)
        assert not at_most(n, whole)
        assert at_most(apply("minimum", n, m), n)
        assert at_most(n, apply("maximum", m, n))
        assert at_most(apply("minimum", n, m), apply("maximum", n, m))
        assert less(n, add(n, const(1)))
        assert not less(n, n)
        assert at_most(n, whole, -63)
        assert not at_most(n, whole, -62)
        assert at_most(const(0), mul(apply("floordiv", m, const(2)), const(2)))  # its own bound is the better one
        assert multiple_of(mul(Extent("K", multiple=8), Physical("B", 4)), 32)


MUTANTS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "a remainder reaches its divisor": lambda t, s: (1, s[1][1]) if t.op.name == "mod" else None,
    "a difference is a sum": lambda t, s: (plus(s[0][0], s[1][0]), None) if t.op.name == "sub" else None,
    "a quotient rounds to zero": lambda t, s: (None, 0) if t.op.name == "ceil_div" and s[0][1] is not None else None,
    "a minimum is never small": lambda t, s: (s[0][0], s[0][1]) if t.op.name == "minimum" else None,
    "a choice is the first": lambda t, s: s[1] if t.op.name == "select" else None,
}


def plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_bound_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = facts._applied
    wrong = lambda t, sides: MUTANTS[name](t, sides) or right(t, sides)  # noqa: E731
    monkeypatch.setattr(facts, "_applied", wrong)
    with pytest.raises(AssertionError):
        test_bounds_hold(2)


def test_padded_lanes_pass_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(axis: Any, known: dict[Any, Any]) -> Any:
        logical = getattr(axis, "axis", axis)
        low, high = known[logical.lo][0], known[logical.hi][1]
        return low, None if high is None else high - 1

    monkeypatch.setattr(facts, "_coordinate", wrong)
    with pytest.raises(AssertionError):
        test_bounds_hold(1)


def test_one_quotient_inside_another_is_counted_once() -> None:
    """2 * ((2*q + N) // 2) + q <= 2*q + N + q, but with q = N // 2 replaced as well, not by what it was before."""
    with Arena():
        n = Extent("N")
        q = apply("floordiv", n, const(2))
        outer = apply("floordiv", sub(n, mul(q, const(2))), const(1))
        for t in (outer, apply("floordiv", add(q, n), const(2)), apply("floordiv", sub(n, q), const(2))):
            left, right = add(mul(t, const(2)), mul(q, const(2))), n
            for size in range(40):
                env = {n: size}
                assert not at_most(left, right) or value(left, env) <= value(right, env)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_affine_forms_keep_the_value(depth: int) -> None:
    for seed in SEEDS:
        with Arena():
            draw = Index(seed)
            a, b = draw.term(depth), draw.term(depth)
            pairs: list[tuple[Value, Value]] = [
                (a, from_affine(affine(a))),
                (sub(a, b), from_affine(difference(a, b))),
                (mul(a, const(-3)), from_affine(scale(affine(a), -3))),
                (add(a, mul(b, const(5))), from_affine(combine(affine(a), affine(b), 5))),
            ]
            for _ in range(5):
                env = draw.values(a, b)
                if env is not None and value(a, env) is not None and value(b, env) is not None:
                    for before, after in pairs:
                        assert value(before, env) == value(after, env), (before, after, env)


def test_an_affine_form_has_one_term() -> None:
    """Equal sums are one term, however they were written."""
    for seed in SEEDS:
        with Arena():
            draw = Index(seed)
            a, b, c = (draw.term(1) for _ in range(3))
            sums = [
                add(add(a, b), c),
                add(c, add(b, a)),
                sub(add(add(a, c), add(b, b)), b),
                sub(a, sub(sub(const(0), b), c)),
            ]
            assert len({from_affine(affine(s)) for s in sums}) == 1


def test_finiteness_needs_a_promise() -> None:
    with Arena():
        n = Extent("N")
        promised, bare = (View(name, "in", f16, (n,), (const(1),), name == "x") for name in "xy")
        x, y = (Load(v, (const(0),)) for v in (promised, bare))
        inside = apply("lt", const(0), n)
        assert is_finite(x)
        assert is_finite(Cast(x, f32))
        assert is_finite(Load(promised, (const(0),), inside, 1.5))
        assert not is_finite(y)
        assert not is_finite(Load(promised, (const(0),), inside, float("-inf")))
        assert not is_finite(apply("add", x, x))  # may overflow
        assert not is_finite(Cast(Cast(x, f32), f16))
        assert is_finite(apply("select", inside, x, Const(0.0, f16)))
        assert not is_finite(apply("select", inside, x, y))
        assert not is_finite(Const(float("nan"), f32))
