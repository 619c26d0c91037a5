"""The class of a call that has not been made: of example arguments, or of contiguous arrays with given extents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intent_np.runtime.binding import adopt_arguments, bind
from intent_np.runtime.classes import CallFacts, ViewFacts, classify
from intent_np.runtime.expressions import expression
from intent_np.runtime.plan import KernelPlan, VariantClass, ViewPlan


def class_of(kernel: KernelPlan, example: Any) -> VariantClass:
    """The class of `example`: all arguments of a call, or `{extent: value}` for aligned contiguous arrays."""
    if not isinstance(example, Mapping):
        adopted, _ = adopt_arguments(kernel.parameters, tuple(example))
        return classify(kernel, bind(kernel, adopted).facts())
    constants = {n: v for n, v in kernel.constexprs.items() if isinstance(v, int)}
    values = {**constants, **example}
    return classify(kernel, CallFacts({v.name: _contiguous(v, values) for v in kernel.views}, dict(example)))


def _contiguous(view: ViewPlan, values: Mapping[str, int]) -> ViewFacts:
    extents = tuple(expression(e)(values) for e in view.shape)
    strides: list[int] = []
    step = 1
    for e in reversed(extents):
        strides.insert(0, 0 if e <= 1 else step)
        step *= max(e, 1)
    return ViewFacts(extents, tuple(strides), 0)
