"""Random kernels by plans that are not the cheapest: what their groups do in order stays in order."""

from __future__ import annotations

import pytest

from intent_np.compiler import CompileOptions
from intent_np.passes import choose_plan
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
