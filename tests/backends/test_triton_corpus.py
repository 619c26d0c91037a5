"""Every kernel of the corpus, as printed Triton in the interpreter, agrees with its oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intent_np.backends.triton.printer import print_triton
from intent_np.corpus.cases import entries, hosted
from intent_np.corpus.lowering import lowered
from intent_np.corpus.verify import calls
from intent_np.terms.core import Arena
from intent_np.testing import check
from intent_np.testing.triton_interpreter import interpret, unavailable
from tests.lowering import as_far_as_it_lowers

ENTRIES = [e for e in entries([str(Path(__file__).parents[2] / "kernels")]) if e.case is not None]
SLOW_BEHIND = 2
"""Calls of each kernel that every run makes; the others are slow."""


def interpreted(entry: Any, extents: Any) -> Callable[..., None]:
    """The kernel's printed text, called with all arguments in order."""
    if entry.is_host_program:
        return hosted(entry, lambda one: interpreted(one, {}))
    wide = {**entry.options.get("passes", {}), "lower_to_triton": {"index_bits": 64}}  # as any arrays need it
    entry = replace(entry, options={**entry.options, "passes": wide})
    with Arena() as space, as_far_as_it_lowers():
        launch = lowered(entry, "make_abi")
        source = print_triton(launch.function)
    names = [p.name for p in entry.kernel.parameters if p.kind != "constexpr"]

    def run(*arguments: Any) -> None:
        given = dict(zip(names, arguments, strict=True))
        arrays = {n: a for n, a in given.items() if isinstance(a, np.ndarray)}
        scalars = {n: a for n, a in given.items() if n not in arrays}
        with space:
            if reason := unavailable():
                pytest.skip(reason)
            interpret(launch, source, arrays, {**scalars, **extents})

    return run


def agrees(entry: Any, some: Any) -> None:
    for call in some:
        run = interpreted(entry, call.extents)
        report = check(entry.case, run, call.extents, call.seed, call.layout, call.values)
        assert report.ok, f"{call}: {report}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.case.name)
def test_the_first_calls(entry: Any) -> None:
    agrees(entry, list(calls(entry.case))[:SLOW_BEHIND])


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.case.name)
def test_the_other_calls(entry: Any) -> None:
    agrees(entry, list(calls(entry.case))[SLOW_BEHIND:])
