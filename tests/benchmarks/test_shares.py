"""Where a mask leaves a part of the work, the compiled loops do that part: counted, iterations of blocks and all."""

from functools import cache
from pathlib import Path

import pytest

from benchmarks.cases import WINDOWS, visible
from intent_np.corpus.ablation import size
from intent_np.corpus.cases import entries
from intent_np.rules.tables import BUILTIN

CASES = Path(__file__).parents[2] / "benchmarks" / "cases.py"


@cache
def flops(name: str) -> float:
    (entry,) = entries([f"{CASES}:{name}"])
    found = size(entry, BUILTIN)
    assert found is not None
    return found.flops


@pytest.mark.parametrize("name", ["attention{}_relaxed", "attention_fold{}"])
def test_causal_attention_does_half_of_the_work(name: str) -> None:
    assert 0.45 < flops(name.format("_causal")) / flops(name.format("")) < 0.55


@pytest.mark.parametrize("window", WINDOWS)
def test_the_work_of_a_window_is_in_proportion_to_it(window: int) -> None:
    share = flops(f"attention_window_{window}") / flops("attention_relaxed")
    blocks = 1.5 * 128 / 4096  # of keys, at the two edges of a window
    assert 0.85 * visible(window) < share < 1.1 * visible(window) + blocks


def test_a_triangle_is_half_of_a_square() -> None:
    whole = 2 * 8192**3
    assert 0.48 < flops("triangular_matmul") / whole < 0.55
