"""The search against an optimum found by z3, on random choices and on those of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intent_np.corpus.cases import entries
from intent_np.corpus.lowering import lowered
from intent_np.errors import IntentError
from intent_np.planning.cheapest import Choices, Found, Option
from intent_np.planning.choose import points
from intent_np.planning.machine import seconds
from intent_np.planning.problem import Limits, Problem, Unserved
from intent_np.planning.saturate import saturate
from intent_np.planning.search import Search
from intent_np.planning.work import Point
from intent_np.terms.core import Arena

from .rows import CASES, planned, small_point

ITEMS = 10

HARD = ("iterated", "weighed_steps", "staged", "scattered", "jagged")
"""Cases with ordered loops: z3 may need many minutes for one of them (88 options of 15 choices)."""


@st.composite
def graphs(draw: st.DrawFn) -> Choices:
    """Choices whose options lead to later ones alone, and share items."""
    count = draw(st.integers(1, 6))
    items = st.integers(0, (1 << ITEMS) - 1)

    def option(first: int) -> Option:
        below = [*range(first, count)]
        return Option(
            draw(items) & draw(items),
            tuple(draw(st.lists(st.sampled_from(below), unique=True, max_size=3))) if below else (),
        )

    options = {c: [option(c + 1) for _ in range(draw(st.integers(2, 3)))] for c in range(count)}
    return Choices(Option(draw(items) & draw(items), (0, *option(1).choices)), options)


AMOUNTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=ITEMS, max_size=ITEMS)


def price(units: Sequence[float]) -> float:
    """Units that work beside each other."""
    return 1 + sum(abs(u) ** 3 for u in units) ** (1 / 3) + 0.1 * sum(units)


def search(graph: Choices, work: Any, exact: int = 10**6) -> Found:
    cost = lambda items: price([sum(w[k] for j, w in enumerate(work) if items >> j & 1) for k in range(2)])  # noqa: E731
    open_ = {c: range(len(own)) for c, own in graph.options.items()}
    single = [[(c, i)] for c, own in open_.items() for i in own]
    return graph.best(cost, open_, single, [dict.fromkeys(open_, 0)], 10**6, exact)


@given(graphs(), AMOUNTS)
@settings(max_examples=60, deadline=None)
def test_no_pick_is_cheaper_than_the_one_that_is_found(graph: Choices, work: list[tuple[int, int]]) -> None:
    oracle = pytest.importorskip("tests.planning.oracle")
    found = search(graph, work)
    assert found.exact
    assert found.cost == pytest.approx(oracle.cheapest(graph, work, price), rel=1e-5)


@given(graphs(), AMOUNTS, st.integers(0, 20))
@settings(max_examples=60, deadline=None)
def test_a_search_that_was_cut_short_says_so(graph: Choices, work: list[tuple[int, int]], exact: int) -> None:
    cut, whole = search(graph, work, exact), search(graph, work)
    assert cut.cost >= whole.cost * (1 - 1e-9)
    if cut.exact:
        assert cut.cost == pytest.approx(whole.cost)


def is_optimal(found: Search) -> None:
    """What the search finds at the point that it has taken the prices of, against the oracle."""
    oracle = pytest.importorskip("tests.planning.oracle")
    best = found.best()
    work = [w for _, w in found.weights]
    at = {bit: j for j, (bit, _) in enumerate(found.weights)}
    renamed = lambda o: Option(sum(1 << j for bit, j in at.items() if o.items & bit), o.choices)  # noqa: E731
    graph = Choices(renamed(found.graph.top), {c: [renamed(o) for o in own] for c, own in found.graph.options.items()})
    price = lambda w: 1e6 * seconds(w, found.launch, found.point.processors)  # noqa: E731
    assert best.exact
    assert 1e6 * best.cost == pytest.approx(oracle.cheapest(graph, work, price), rel=1e-5)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in HARD else n for n in CASES])
def test_the_plan_of_a_case_is_the_optimum(name: str) -> None:
    p = planned(name)
    with p.space:
        for frame in p.saturated.frames:
            if frame.number in p.saturated.graph.roots:
                found = Search(p.saturated, frame.number, 10**9)
                found.price(small_point(p.saturated, frame))
                is_optimal(found)


def kernels_are_planned_best(*places: str) -> None:
    checked = 0
    for entry in entries(places):
        for one in entry.launches:
            with Arena():
                try:
                    program = lowered(one, "form_groups")
                except IntentError as e:
                    if e.code != "E708":
                        raise
                    continue
                for group in program.groups:
                    checked += group_is_planned_best(group, program.permissions)
    assert checked


def group_is_planned_best(group: Any, permissions: Any) -> int:
    try:
        s = saturate(Problem(group, {}, Limits()), permissions, keep=True)
    except Unserved:
        return 0
    checked = 0
    for frame in s.frames:
        if frame.number in s.graph.roots:
            found = Search(s, frame.number, 10**9)
            point = Point(s, frame, next(iter(points(s.problem, frame))), 132)
            if found.choices and point.fits():
                found.price(point)
                is_optimal(found)
                checked += 1
    return checked


def test_plans_of_norms_and_losses_are_the_optimum() -> None:
    kernels_are_planned_best("kernels/softmax.py", "kernels/losses.py", "kernels/norms.py")


@pytest.mark.slow
def test_plans_of_the_corpus_are_the_optimum() -> None:
    kernels_are_planned_best("kernels")
