"""What a term is: one object for equal content, immutable, with names and spans beside its identity."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from intent_np.terms.core import Arena, Finding, arena, children, inherit, named, replace, rewrite, walk
from intent_np.terms.dtypes import bool_, f32, i32, index
from intent_np.terms.index import Apply, Const, Extent, Param, add, apply, const, lt, mul
from intent_np.terms.language import Language
from intent_np.terms.normal import NORMAL, Axis, Combine, Coord, Load, Program, Reduce, Store, View
from intent_np.terms.operators import OPERATORS
from intent_np.testing.strategies import terms

LIGHT = settings(
    max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def test_equal_terms_are_one_object() -> None:
    with Arena():
        a, b = (add(Extent("N"), mul(Extent("M"), const(2))) for _ in range(2))
        assert a is b
        assert len({a, b}) == 1


@LIGHT
@given(terms(NORMAL))
def test_what_is_found_below_many_roots_is_what_is_found_below_each(root: Any) -> None:
    """However the roots stand in each other, and whatever is left out below them."""
    for below, wanted in (
        (children, bool),
        (lambda t: children(t)[:1], bool),
        (children, lambda t: bool(len(str(t)) % 2)),
    ):
        finding = Finding(Coord, Load, Apply, below=below, wanted=wanted)
        for t in (*walk(root), root):
            among = [u for u in walk(t, below=below) if isinstance(u, (Coord, Load, Apply)) and wanted(u)]
            assert finding(t) == among
        some = walk(root)[::3]
        among = [u for u in walk(*some, below=below) if isinstance(u, (Coord, Load, Apply)) and wanted(u)]
        assert finding(*some) == among


def test_literals_differ_by_type_and_bits() -> None:
    with Arena():
        constants = [Const(0, i32), Const(0, index), Const(False, bool_), Const(0.0, f32), Const(-0.0, f32)]
        assert len(set(constants)) == 5
        assert Const(float("nan"), f32) is Const(float("nan"), f32)


def test_arenas_share_nothing() -> None:
    with Arena():
        a = add(Extent("N"), const(1))
        with Arena():
            b = add(Extent("N"), const(1))
            assert a is not b
            assert a.digest == b.digest
        assert add(Extent("N"), const(1)) is a


def test_terms_do_not_change() -> None:
    with Arena():
        t: Any = add(Extent("N"), const(1))
        for name in ("op", "args", "digest", "type", "lanes", "anything"):
            with pytest.raises(AttributeError, match="immutable"):
                setattr(t, name, 3)
        assert not hasattr(t, "__dict__")
        assert copy.copy(t) is t
        assert copy.deepcopy([t])[0] is t


@LIGHT
@given(terms(NORMAL))
def test_rebuilding_from_the_same_parts_is_the_same_term(t: Any) -> None:
    assert rewrite((t,), lambda u: u)[0] is t
    for u in walk(t):
        assert type(u)(*(getattr(u, f.name) for f in u.fields)) is u
        assert replace(u) is u


@LIGHT
@given(terms(NORMAL))
def test_a_walk_has_children_first_and_each_term_once(t: Any) -> None:
    order = walk(t)
    place = {u: i for i, u in enumerate(order)}
    assert len(place) == len(order)
    assert order[-1] is t
    assert all(place[c] < place[u] for u in order for c in children(u))


def test_names_and_spans_are_beside_identity() -> None:
    with Arena():
        a = named(add(Extent("N"), const(1)), "next")
        arena().spans[a] = ("file.py:3",)
        assert add(Extent("N"), const(1)) is a
        assert named(a, "other") is a
        assert arena().names[a] == "next"  # the first name stays
        b = inherit(a, add(Extent("N"), const(2)))
        assert arena().names[b] == "next"
        assert arena().spans[b] == ("file.py:3",)
        arena().spans[b] = ("file.py:4",)
        inherit(a, b)
        assert arena().spans[b] == ("file.py:4", "file.py:3")


def test_rewriting_keeps_names_and_spans() -> None:
    with Arena():
        a = named(add(Extent("N"), const(1)), "next")
        arena().spans[a] = ("file.py:3",)
        (b,) = rewrite((a,), lambda t: Extent("M") if t is Extent("N") else t)
        assert b is add(Extent("M"), const(1))
        assert (arena().names[b], arena().spans[b]) == ("next", ("file.py:3",))


def test_connectives_have_one_form() -> None:
    with Arena():
        p, q, r = (lt(Extent(n), const(3)) for n in "pqr")
        flat = apply("and", p, q, r)
        assert flat is apply("and", apply("and", r, q), p) is apply("and", r, const(True, bool_), p, q, q)
        assert apply("and", p) is p
        assert apply("or", p, const(True, bool_)) is const(True, bool_)
        assert apply("and") is const(True, bool_)
        wrong = [(q, p) if p.digest < q.digest else (p, q), (p, p), (p, const(True, bool_)), (flat, Extent("b"))]
        for args in wrong:
            with pytest.raises(TypeError):
                Apply(OPERATORS["and"], args)
        # rewritten operands may come in another order, coincide, or be decided
        for new in (lt(Extent("z"), const(1)), q, const(True, bool_), const(False, bool_)):
            (t,) = rewrite((flat,), lambda u, new=new: new if u is p else u)
            assert t is apply("and", new, q, r)


def test_digests_of_small_integers_do_not_collide() -> None:
    with Arena():
        digests = {const(n).digest for n in range(-2000, 2000)}
        assert len(digests) == 4000


def test_lanes_and_needs() -> None:
    with Arena():
        m, n = Axis(const(0), Extent("M")), Axis(const(0), Extent("N"))
        x = View("x", "in", f32, (Extent("M"), Extent("N")), (Extent("N"), const(1)))
        value = Load(x, (Coord(m), Coord(n)))
        assert value.lanes == {m, n}
        assert Reduce(n, sum_of(), (value,), (Const(0.0, f32),)).lanes == {m}
        after = Load(x, (const(0), Coord(n)), after=Store(x, (Coord(m), Coord(n)), value))
        assert after.lanes == {n}  # the effect orders it, and gives it no lanes


def sum_of() -> Combine:
    from intent_np.terms.normal import builtin

    return builtin("sum", f32)


# ---- the check of a language

SMALL = Language("small", root=Program, terms=(Const, Extent, Apply, Program))


def test_a_term_of_another_language_is_found_with_its_place() -> None:
    with Arena():
        a, b = Param("a", f32), Extent("N")
        arena().spans[a] = ("file.py:3",)
        assert SMALL.check(Program("p", (b,), ())) == []
        assert SMALL.check(Program("p", (a, b), ())) == ["small has no Param: param f32  (file.py:3)"]


def test_another_root_and_wrong_sorts_are_found() -> None:
    with Arena():
        assert NORMAL.check(Extent("N"))[0] == "normal: a program is a Program, not a Extent"
        wrong: list[Any] = [
            Program("p", (), (Extent("N"),)),  # type: ignore[arg-type]
            Program(3, (), ()),  # type: ignore[arg-type]
            Program("p", (), (), (), Extent("N")),  # type: ignore[arg-type]
        ]
        messages = [NORMAL.check(p)[0] for p in wrong]
        assert messages[0].startswith("Program.effects holds something that is no Effect")
        assert messages[1].startswith("Program.name is 3, not str")
        assert messages[2].startswith("Program.target is a Extent, not a Target or nothing")
