"""The cost model of plans orders measured ones: with the constants in use, and of kernels that a fit has not seen."""

import statistics

import pytest

from benchmarks.plans_fit import START, Figures, crossed, fit, measured, told
from intent_np.planning.machine import costs

ROWS = measured()


def orders_plans(figures: Figures) -> bool:
    enough = figures.right >= 0.9 * figures.pairs
    return enough and statistics.median(figures.regrets) <= 0.03 and max(figures.regrets) <= 0.15


def test_the_constants_in_use_order_measured_plans() -> None:
    assert len(ROWS) >= 188
    assert orders_plans(told(ROWS, dict(costs())))


@pytest.mark.slow
def test_constants_fitted_to_other_kernels_order_the_plans_of_each() -> None:
    assert orders_plans(crossed(ROWS, {**costs(), **START}))


def test_the_constants_in_use_are_those_of_the_fit() -> None:
    fitted = fit(ROWS, {**costs(), **START})
    assert {n: fitted[n] for n in START} == pytest.approx({n: costs()[n] for n in START}, rel=1e-3)


@pytest.mark.parametrize(
    "changed",
    [
        {"l2_kept": 2.0, "l2_lost": 3.0},  # a cache that loses nothing
        {"arrival": 0.0, "barrier": 0.0, "start": 0.0, "dependent": 0.0},  # nothing waits
    ],
)
def test_without_what_it_describes_the_model_orders_fewer(changed: dict[str, float]) -> None:
    assert told(ROWS, {**costs(), **changed}).right < told(ROWS, dict(costs())).right - 20
