"""A scalar rule tried: its matcher on terms of every type, both sides evaluated on values that find mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...rules.matcher import compile_rules
from ...rules.pattern import Rule
from ...terms.core import Arena
from ...terms.index import Const, Value, is_op
from .instances import ROWS, instances, metavariables
from .meaning import evaluate, same


@dataclass(frozen=True)
class Difference:
    """Where a rule changes a value, or a type: the dtype, the metavariables, and the two results."""

    dtype: str
    values: Mapping[str, Any]
    before: Any
    after: Any
    text: str


def examine(r: Rule, seed: int = 0) -> tuple[int, Difference | None]:
    """How many instances the rule fired on, and the first that it changed the value or the type of."""
    rng = np.random.default_rng(seed)
    (step,) = compile_rules([r], telling=True).values()
    fired = 0
    with Arena():
        for left, env, _ in instances(r, rng):
            if not is_op(left, r.left.head):  # a conjunction of one part
                continue
            found = step(left, lambda t: t)
            if found is None:
                continue
            fired += 1
            names = {n: v for n, v in found[2].items() if n in metavariables(r.left)}
            if (wrong := _difference(left, found[0], env, names)) is not None:
                return fired, wrong
    return fired, None


def _difference(left: Value, right: Value, env: dict[Value, Any], leaves: dict[str, Value]) -> Difference | None:
    if right.type is not left.type:
        return Difference(str(left.type), {}, left, right, f"{left} of {left.type} becomes {right} of {right.type}")
    (before, poison), (after, worse) = evaluate(left, env), evaluate(right, env)
    d: Any = left.type
    wrong = np.broadcast_to(~(same(before, after, d) & ~worse) & ~poison, (ROWS,))
    if not wrong.any():
        return None
    i = int(np.argmax(wrong))
    values = {n: np.broadcast_to(evaluate(v, env)[0], (ROWS,))[i].item() for n, v in leaves.items()}
    one, other = (np.broadcast_to(x, (ROWS,))[i].item() for x in (before, after))
    own = next((v.type for v in leaves.values() if not isinstance(v, Const) and str(v.type) != "bool"), d)
    return Difference(str(own), values, one, other, f"{left} is {one}, {right} is {other}, at {values}")
