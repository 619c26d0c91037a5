"""What the package offers to pytest: fixtures that test passes and rules of your own.

    def test_my_pass(check_pass):
        check_pass(my_pass)

Nothing of the compiler is loaded until a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--intent-kernels` and `--intent-seed`: how many random kernels a check of a pass draws, and from which on."""
    group = parser.getgroup("intent_np")
    group.addoption("--intent-kernels", type=int, default=30, help="random kernels of each check_pass")
    group.addoption("--intent-seed", type=int, default=0, help="the first of them")


@pytest.fixture
def check_pass(request: pytest.FixtureRequest) -> Callable[..., int]:
    """`check_pass(step, after=, instead_of=)`: random kernels keep their results through a pass."""
    from intent_np.testing.properties import check_pass

    count, seed = request.config.getoption("--intent-kernels"), request.config.getoption("--intent-seed")

    def check(step: Any, **more: Any) -> int:
        return check_pass(step, **{"kernels": count, "seed": seed, **more})

    return check


@pytest.fixture
def check_rules() -> Callable[..., None]:
    """`check_rules(rule, ..., "rules.py")`: rules are proved, or tried where no proof is known."""
    from intent_np.testing.properties import check_rules

    return check_rules
