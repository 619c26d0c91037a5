"""Every plan that can be picked is a right program, and costs what it was priced for."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from intent_np.backends.program import run as execute
from intent_np.passes.pipeline import run
from intent_np.planning.apply import Applied, applied, plan_of
from intent_np.planning.cheapest import Pick
from intent_np.planning.search import Search
from intent_np.terms.core import replace
from intent_np.terms.grouped import GROUPED
from intent_np.terms.parse import parse
from intent_np.terms.plan import PLAN, Plan
from intent_np.terms.text import show

from .recount import counted, priced
from .rows import CASES, Planned, arguments, planned, small_point

TOLERANCE = {"f16": 2e-3, "bf16": 2e-2, "f32": 2e-5, "i32": 0, "i64": 0}


def picks(search: Search, count: int, seed: int) -> list[Pick]:
    """Random picks that differ in what they reach."""
    chance = random.Random(seed)
    found: dict[int, Pick] = {}
    for _ in range(2 * count):
        pick = {c: chance.randrange(len(search.classes[c])) for c in search.choices}
        found.setdefault(search.reached(pick)[0], pick)
    return list(found.values())[:count]


def programs(p: Planned, count: int, seed: int = 1) -> list[tuple[Search, Any, Pick, Plan, Any]]:
    """Random plans of all frames, as grouped programs."""
    out = []
    (group,) = p.program.groups
    for frame in p.saturated.frames:
        if frame.number not in p.saturated.graph.roots:
            continue
        search, point = Search(p.saturated, frame.number, 10**9), small_point(p.saturated, frame)
        for pick in picks(search, count, seed):
            plan = plan_of(p.saturated, frame, point.blocks, pick)
            made: Applied = applied(plan, group, (getattr(x, "name", "") for x in p.program.parameters))
            parameters = (*p.program.parameters, *made.buffers)
            program = replace(p.program, groups=(made.group,), parameters=parameters)
            out.append((search, point, pick, plan, program))
    assert out
    return out


def wanted(p: Planned) -> dict[str, np.ndarray]:
    """What the reference computes."""
    import intent_np as intent

    given = arguments(p.case)
    intent.compile(p.case.kernel, "reference")(*given.values())
    return given


def close(given: dict[str, np.ndarray], expected: dict[str, np.ndarray], p: Planned) -> None:
    for parameter in p.case.kernel.parameters:
        if parameter.mode in ("out", "inout"):
            a, b = (x[parameter.name].astype(np.float64) for x in (given, expected))
            limit = p.case.within or TOLERANCE[parameter.dtype.name]
            np.testing.assert_allclose(a, b, rtol=limit, atol=limit)


def check(p: Planned, program: Any, expected: dict[str, np.ndarray]) -> None:
    given = arguments(p.case)
    execute(program, given, {})
    close(given, expected, p)


def right(name: str, count: int) -> None:
    p = planned(name)
    expected = wanted(p)
    with p.space:
        for *_, plan, program in programs(p, count):
            assert not PLAN.check(plan)
            assert not GROUPED.check(program)
            check(p, program, expected)


@pytest.mark.parametrize("name", CASES)
def test_any_plan_is_a_right_program(name: str) -> None:
    right(name, 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_hundred_plans_are_right_programs(name: str) -> None:
    right(name, 120)


def costs_its_price(name: str, count: int) -> None:
    p = planned(name)
    expected = wanted(p)
    with p.space:
        for search, point, pick, _, program in programs(p, count, seed=2):
            emitted = run(program, after="choose_plan", disable={"online", "fold_exponentials"}, stop_after="emit")
            check(p, emitted, expected)
            assert counted(emitted, p.case.extents) == priced(search, point, pick)


COUNTABLE = [name for name in CASES if name not in ("jagged", "cut", "reduced")]
"""Those whose loops don't end where memory, or the iteration of another loop, says."""


@pytest.mark.parametrize("name", COUNTABLE)
def test_a_plan_is_right_and_costs_its_price_when_it_is_emitted(name: str) -> None:
    costs_its_price(name, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTABLE)
def test_many_plans_cost_their_price(name: str) -> None:
    costs_its_price(name, 40)


def test_a_plan_reads_back() -> None:
    p = planned("attention")
    with p.space:
        for *_, plan, _program in programs(p, 3):
            assert parse(show(plan), PLAN) is plan
