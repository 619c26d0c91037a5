"""Random kernels are programs: what the generator writes is captured without an error, and is the same everywhere."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intent_np.terms.core import Arena
from intent_np.testing import Config, check_kernel, kernels, random_kernel
from intent_np.testing.strategies import arguments, rules

FIFTH = 100


@pytest.mark.parametrize("part", range(5))
def test_every_kernel_is_captured(part: int) -> None:
    for seed in range(part * FIFTH, part * FIFTH + FIFTH):
        made = random_kernel(seed)
        try:
            with Arena():
                made.kernel.capture({})
        except Exception as problem:
            raise AssertionError(f"the kernel of seed {seed} is refused: {problem}\n{made.source}") from problem


@settings(max_examples=25)
@given(kernels())
def test_kernels_of_hypothesis_are_captured(made) -> None:
    with Arena():
        made.kernel.capture({})


def test_a_seed_is_a_kernel_in_any_process() -> None:
    code = "from intent_np.testing import random_kernel as r; print(''.join(r(s).source for s in range(20)), end='')"
    for hashes in ("1", "2"):
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                               env={"PYTHONHASHSEED": hashes, "PYTHONPATH": ":".join(sys.path)})  # fmt: skip
        assert found.stdout == "".join(random_kernel(s).source for s in range(20))


def test_the_seeded_generator_needs_no_hypothesis() -> None:
    code = "import sys; from intent_np.testing import random_kernel as r; r(1); assert 'hypothesis' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@settings(max_examples=15)
@given(st.data(), kernels(Config(statements=1, fuel=2)))
def test_arguments_fit_any_kernel(data, made) -> None:
    """What the strategy draws is bound as a call is, and the reference takes it."""
    given_ = data.draw(arguments(made.kernel))
    checked = check_kernel(made.kernel, given_)
    assert set(checked.poison) == {p.name for p in made.kernel.parameters if p.kind == "view" and p.mode != "in"}


@given(rules("index"))
def test_rules_are_drawn_by_subject(rule) -> None:
    assert rule.subject == "index"
