"""Every kernel of the corpus, captured and executed by the reference, against its oracle."""

from typing import Any

import numpy as np
import pytest

import kernels
from intent_np.backends.reference import logical
from intent_np.terms.logical import LOGICAL
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from intent_np.testing import Case
from intent_np.testing.check import check
from intent_np.testing.views import LAYOUTS


@pytest.mark.parametrize("case", kernels.cases(), ids=lambda c: c.name)
def test_the_reference_meets_the_oracle(case: Case) -> None:
    program = case.kernel.capture(case.constexprs)
    assert LOGICAL.check(program) == []
    assert parse(show(program), LOGICAL) is program
    names = [p.name for p in case.kernel.parameters if p.kind != "constexpr"]
    for k, extents in enumerate(case.small):

        def launch(*values: Any, extents: Any = extents) -> None:
            given = dict(zip(names, values, strict=True))
            arrays = {n: v for n, v in given.items() if isinstance(v, np.ndarray)}
            logical.run(program, arrays, {**extents, **{n: v for n, v in given.items() if n not in arrays}})

        layout = LAYOUTS[k % len(LAYOUTS)]
        report = check(case, launch, extents, seed=k, layout=layout, values=case.values[k % len(case.values)])
        assert report.ok, f"{extents} {layout}: {report}"
