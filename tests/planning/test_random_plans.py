"""Random kernels by plans that are not the cheapest: what their groups do in order stays in order."""

from __future__ import annotations

import random
from typing import Any

import pytest

from intent_np.compiler import CompileOptions
from intent_np.passes import choose_plan
from intent_np.planning.choose import points, priced
from intent_np.planning.problem import Limits, Problem, Unserved
from intent_np.planning.saturate import saturate
from intent_np.planning.search import Search
from intent_np.planning.work import Point
from intent_np.testing import random_kernel
from intent_np.testing.checked import made, recipes
from intent_np.testing.oracles import Examination

LIMITS = {"exact": 24}


def fares(seed: int, rank: int, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """How a kernel fares with the plans of a rank, and how many of these are of groups with barriers."""
    ordered = 0
    decided = choose_plan._chosen

    def counted(*given: object) -> object:
        nonlocal ordered
        found = decided(*given)  # type: ignore[arg-type]
        ordered += found is not None and not found.search.s.problem.order.is_plain
        return found

    monkeypatch.setattr(choose_plan, "_chosen", counted)
    kernel = random_kernel(seed).kernel
    passes = {"choose_plan": {"policy": "every", "rank": rank, "limits": LIMITS}}
    examined = Examination(kernel, CompileOptions(check=True, passes=passes), causes=False)
    examined.run(recipes(kernel, count=2, first=seed), ["machine"], made)
    return examined.outcome.status, ordered


@pytest.mark.parametrize(("seed", "rank"), [(10, 3), (12, 7), (41, 5), (43, 2), (107, 9), (128, 4)])
def test_a_random_kernel_is_right_by_any_plan(seed: int, rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    status, ordered = fares(seed, rank, monkeypatch)
    assert status == "ok"
    assert ordered


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 240))
def test_random_kernels_are_right_by_any_plan(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fares(seed, seed % 11, monkeypatch)[0] in ("ok", "no call", "reference only")


def extracted(group: Any, permissions: Any, processors: int, chance: random.Random) -> Any:
    """A random pick of a random frame at a random point; None of a group that has no plan."""
    try:
        problem = Problem(group, {}, Limits())
        s = saturate(problem, permissions, keep=True)
    except Unserved:
        return None
    if not (frames := [f for f in s.frames if f.number in s.graph.roots]):
        return None
    frame = chance.choice(frames)
    if not (fit := [p for b in points(problem, frame) if (p := Point(s, frame, b, processors)).fits()]):
        return None
    point, search = chance.choice(fit), Search(s, frame.number, 10**9)
    search.price(point)
    return priced(search, frame, point, {c: chance.randrange(len(search.classes[c])) for c in search.choices})


def extraction_fares(seed: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a kernel fares whose groups have plans extracted at random."""
    chance = random.Random(seed)
    at_random = lambda group, permissions, processors, *_: extracted(group, permissions, processors, chance)  # noqa: E731
    monkeypatch.setattr(choose_plan, "_chosen", at_random)
    kernel = random_kernel(seed).kernel
    options = CompileOptions(check=True, passes={"choose_plan": {"policy": "egraph"}})
    examined = Examination(kernel, options, causes=False)
    examined.run(recipes(kernel, count=2, first=seed), ["machine"], made)
    return examined.outcome.status


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300, 500))
def test_random_kernels_are_right_by_extractions_at_random(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert extraction_fares(seed, monkeypatch) in ("ok", "no call", "reference only")
