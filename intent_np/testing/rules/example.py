"""A kernel that a rule is for, written from the rule: it stores the rule's left side.

    def rule_mod_small(result: I.Out[I.index, (6, 6)]):
        x = I.indices(I.domain(0, 6))[:, None]
        y = I.indices(I.domain(7, 13))[None, :]
        result[:, :] = (x % y)

What guards know bounds of are coordinates; everything else is an argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from ...rules.matcher import compile_rules
from ...rules.pattern import Rule
from ...terms.core import Arena
from ...terms.dtypes import DTYPES, DType, bool_, f32, i32, i64, index
from ...terms.index import Param, const, is_op
from .conversions import typed_instances
from .instances import BOUNDS, FLOAT_LITERALS, LITERALS, between, bounded, built, dtypes, metavariables, typed
from .kernel_text import spelled

LIKED = (i32, index, f32, i64)
"""Types that read well, first."""


def example_text(r: Rule) -> str:
    """Python source of a kernel whose stored value is the rule's left side; empty where the rule never fires."""
    with Arena():
        for types, values, ranges, multiples in _choices(r):
            return _text(r, types, values, ranges, multiples)
    return ""


Choice = tuple[dict[str, DType], dict[str, Any], dict[str, tuple[int, int]], dict[str, int]]


def _choices(r: Rule) -> Iterator[Choice]:
    """Types of the metavariables and of the result, literals, ranges and factors with which the rule fires."""
    if typed(r):
        found = list(typed_instances(r))
        found.sort(key=lambda i: (-len(set(i.types.values())), sum(map(_place, i.types.values()))))
        for i in found:
            yield {**i.types, "result": i.left.type}, {n: t.name for n, t in i.types.items()}, {}, {}  # type: ignore[dict-item]
        return
    variables, facts = metavariables(r.left), bounded(r)
    (step,) = compile_rules([r]).values()
    literals = [n for n, v in variables.items() if v.head == "literal"]
    ranges = [n for n in variables if n in facts and n not in literals]
    divides = {g.args[0].args[0]: g.args[1].args[0] for g in r.when if g.head == "multiple"}
    for d in sorted(dtypes(r), key=_place):
        numbers: Any = [v for v in LITERALS if v > 1 and d.is_integer] + [
            v for v in LITERALS if v <= 1 and d.is_integer
        ]
        choices = list(product(numbers or FLOAT_LITERALS, repeat=len(literals)))
        for choice in sorted(choices, key=lambda c: (-len(set(c)), any(v <= 1 for v in c))):
            values = dict(zip(literals, choice, strict=True))
            if any(d.is_integer and not d.range[0] <= v <= d.range[1] for v in choice):
                continue
            for bounds in product(BOUNDS, repeat=len(ranges)):
                spans = dict(zip(ranges, bounds, strict=True))
                leaves: dict[str, Any] = {n: Param(n, bool_ if v.args[1] == "b" else d) for n, v in variables.items()}
                leaves |= {n: const(v, d) for n, v in values.items()}
                leaves |= {n: between(n, *b)[0] for n, b in spans.items()}
                if divides or r.opaque:
                    yield {"": d}, values, spans, {n: values[c] for n, c in divides.items()}
                    continue
                left = built(r.left, leaves, d)
                if is_op(left, r.left.head) and step(left, lambda t: t) is not None:
                    result: Any = left.type
                    yield {"": d, "result": result}, values, spans, {}


def _place(d: DType) -> int:
    return LIKED.index(d) if d in LIKED else len(LIKED) + list(DTYPES.values()).index(d)


def _text(r: Rule, types: Any, values: Any, ranges: Any, multiples: Any) -> str:
    d = types.get("", f32)
    variables = {n: v for n, v in metavariables(r.left).items() if v.head == "var"}
    coordinates = [n for n in variables if n in ranges or n in multiples]
    opaque = [n for n in variables if r.opaque and variables[n].args[1] == "x"]
    sizes = [hi - lo + 1 for lo, hi in (ranges.get(n, (0, 7)) for n in coordinates)] or [1]
    parameters, lines = [], []
    for n, v in variables.items():
        own = bool_ if v.args[1] == "b" else types.get(n, d)
        if n in coordinates:
            lo, hi = ranges.get(n, (0, 7))
            at = ", ".join(":" if n == c else "None" for c in coordinates)
            text = f"I.indices(I.domain({lo}, {hi + 1}))[{at}]"
            if n in multiples:
                parameters.append(f"{n}0: I.index")
                text = f"I.minimum({text} * {multiples[n]}, {n}0 * {multiples[n]})"
            lines.append(f"{n} = {text}")
        elif n in opaque:
            (c,) = values.values()
            parameters += [f"{n}0: I.index", f"{n}1: I.index"]
            lines.append(f"{n} = {n}0 * {2 * c} + {n}1 * {c + 1}")
        else:
            parameters.append(f"{n}: I.{own}")
    result = types.get("result", d)
    parameters.append(f"result: I.Out[I.{result}, ({', '.join(map(str, sizes))},)]")
    lines.append(f"result[{', '.join(':' for _ in sizes)}] = {spelled(r.left, values, '{}')}")
    name = "rule_" + r.name.replace("-", "_")
    return "\n".join([
        "import intent_np as intent", "import intent_np.language as I", "", "", "@intent.kernel",
        f"def {name}({', '.join(parameters)}):", *(f"    {line}" for line in lines), "",
    ])  # fmt: skip
