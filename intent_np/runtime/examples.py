"""The class of a call that has not been made: of example arguments, or of contiguous arrays with given extents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intent_np.errors import error
from intent_np.runtime.binding import adopt_arguments, bind
from intent_np.runtime.classes import CallFacts, ViewFacts, classify
from intent_np.runtime.expressions import expression
from intent_np.runtime.plan import KernelPlan, ScalarPlan, VariantClass, ViewPlan


def class_of(kernel: KernelPlan, example: Any) -> VariantClass:
    """The class of `example`: all arguments of a call, or `{extent: value}` for aligned contiguous arrays.

    Raises E006 for a negative extent, E410 for one that is missing, and what such a call would raise.
    """
    if not isinstance(example, Mapping):
        adopted, _ = adopt_arguments(kernel.parameters, tuple(example))
        return classify(kernel, bind(kernel, adopted).facts())
    constants = {n: v for n, v in kernel.constexprs.items() if isinstance(v, int)}
    values = {**constants, **example}
    views = {v.name: _contiguous(v, values) for v in kernel.views}
    scalars = {p.name: 0 for p in kernel.parameters if isinstance(p, ScalarPlan)}
    indices = tuple(expression(text)(scalars | values) for text in kernel.indices)
    for name, size in example.items():
        if size < 0:
            raise error("E006", what=f"the extent {name} can't be {size}", how="give it 0 or more")
    split = any(expression(text)(scalars | values) for text in kernel.split)
    return classify(kernel, CallFacts(views, dict(example), indices, split=split))


def _contiguous(view: ViewPlan, values: Mapping[str, int]) -> ViewFacts:
    try:
        extents = tuple(expression(e)(values) for e in view.shape)
    except KeyError as missing:
        name = missing.args[0]
        fix = f"give it in the example, as in {{'{name}': 1024}}"
        raise error("E410", parameter=view.name, name=name, fix=fix, candidates=values) from None
    strides: list[int] = []
    step = 1
    for e in reversed(extents):
        strides.insert(0, 0 if e <= 1 else step)
        step *= max(e, 1)
    return ViewFacts(extents, tuple(strides), 0)
