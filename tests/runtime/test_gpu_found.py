"""On a GPU: what campaigns found there, beside the reference."""

from typing import Any

import pytest

from intent_np.compiler import CompileOptions
from intent_np.testing.checked import recipes
from intent_np.testing.oracles import examine
from tests.testing.found import test_compared_literals as compared
from tests.testing.found import test_digits_of_narrow_literals as digits
from tests.testing.found import test_members_of_one_number as members
from tests.testing.found import test_quotients_below_zero as quotients
from tests.testing.found import test_states_that_start_alike as alike
from tests.testing.found import test_zeros_of_narrow_floats as zeros

from .test_gpu import pytestmark  # noqa: F401

KERNELS = [
    digits.k, digits.bf16, digits.f8e5m2, compared.f64, compared.f32, compared.bf16, compared.f16, zeros.f8e4m3fn,
    zeros.f8e5m2, members.constant, members.scalar, members.rows, quotients.ceiling, quotients.floor,
    quotients.remainder, quotients.magnitudes, alike.behind, alike.in_a_row, alike.nested, alike.left_alone,
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_it_holds(kernel: Any) -> None:
    """The generic variant, and those of the classes of the calls."""
    outcome = examine(kernel, recipes(kernel, count=5), ("device",), options=CompileOptions(check=True), causes=False)
    assert outcome.failure is None, f"{outcome.failure}"
    assert outcome.calls
