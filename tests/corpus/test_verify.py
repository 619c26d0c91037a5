"""Verification finds what is wrong, and counts what it compared."""

from dataclasses import replace

import numpy as np
import pytest

from intent_np.corpus.cases import Entry, entries
from intent_np.corpus.verify import calls, verify


def entry(place: str, **changes: object) -> Entry:
    found = entries([place])[0]
    return replace(found, case=replace(found.case, **changes)) if changes else found


@pytest.mark.parametrize("machine", ["normal", "gpu"])
@pytest.mark.parametrize("place", ["kernels/pointwise.py:relu", "kernels/softmax.py:softmax"])
def test_right_kernels_pass(place: str, machine: str) -> None:
    kernel = entry(place)
    verdict = verify(kernel, machine)
    assert verdict.status == "ok", verdict.text
    assert verdict.cases == len(kernel.case.small)
    assert verdict.max_ratio <= 1.0


def test_a_wrong_result_names_its_call() -> None:
    wrong = entry("kernels/pointwise.py:relu", oracle=lambda x: {"y": np.abs(x)})
    verdict = verify(wrong, "gpu")
    assert verdict.status == "failed"
    assert "elements wrong, worst at" in verdict.text
    assert "M=" in verdict.text


def test_a_defect_is_no_wrong_result() -> None:
    verdict = verify(entry("kernels/pointwise.py:relu", oracle=lambda x: {}), "gpu")
    assert verdict.status == "defect"
    assert "KeyError" in verdict.text


def test_without_an_oracle_nothing_is_claimed() -> None:
    assert verify(replace(entry("kernels/pointwise.py:relu"), case=None), "gpu").status == "no oracle"


def test_thorough_calls_are_all_combinations() -> None:
    case = entry("kernels/pointwise.py:relu").case
    from intent_np.testing import LAYOUTS

    quick, thorough = list(calls(case)), list(calls(case, thorough=True))
    assert len(quick) == len(case.small)
    assert len(thorough) == len(case.small) * len(LAYOUTS) * len(case.values)
    assert {call.layout for call in quick} == set(LAYOUTS)
