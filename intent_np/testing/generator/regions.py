"""Productions of region folds and scans, from generated monoids and actions."""

from __future__ import annotations

from dataclasses import dataclass

from .layout import bound_part
from .structured import longer, reduced_axis
from .values import production, value
from .writer import Block, Type


@dataclass(frozen=True)
class Summary:
    """What a slice `{v}` amounts to along `{axis}`, a homomorphism; how `{a}` and `{b}` go together; and of nothing."""

    name: str
    summarize: str
    combine: str
    identity: str


def summaries(kind: Type) -> list[Summary]:
    """The summaries of tensors of a dtype that are of that dtype."""
    d, acc = kind.element, f"acc_dtype=I.{kind.dtype}"
    zero, low = ("0.0", 'float("-inf")') if d.is_float else ("0", str(d.range[0]))
    return [
        Summary("sum", f"I.reduce.sum({{v}}, axis={{axis}}, {acc})", "({a} + {b})", zero),
        Summary("max", "I.reduce.max({v}, axis={axis})", "I.maximum({a}, {b})", low),
        Summary(
            "count", f"I.reduce.sum(I.full({{v}}.shape, 1, I.{kind.dtype}), axis={{axis}}, {acc})", "({a} + {b})", zero
        ),
        Summary("squares", f"I.reduce.sum({{v}} * {{v}}, axis={{axis}}, {acc})", "({a} + {b})", zero),
    ]


@production("region fold", 8, rounds=True, structured=True, closed=False)
def fold(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """One to three summaries of a tensor, in a tuple or record, with an operand now and then."""
    if want.dtype == "bool" or want.rank > 1 or want.shape == () or want.element.bits < 16:
        return None
    found = reduced_axis(block, want)
    if found is None or found[2]:
        return None
    extent, axis, _ = found
    c, w = block.choices, block.writer
    shape = longer(want, extent, axis, False)
    source = value(block, Type(want.dtype, shape), fuel - 1, exact or not want.element.is_float)
    stock = summaries(want)
    parts = [c.choice(stock) for _ in range(c.integer(1, 3))]
    operand = c.chance(40)
    record = len(parts) > 1 and c.chance(50)
    name = w.fresh("region")
    v = "values"
    lines = [f"def summarize_{name}(values{', s' if operand else ''}):"]
    if operand:
        lines.append("    scaled = values * s")
        v = "scaled"
    made = [p.summarize.format(v=v, axis=axis) for p in parts]
    lines.append(f"    return {grouped(made, record)}")
    pairs = [(f"a.f{i}", f"b.f{i}") if record else (f"a{i}", f"b{i}") for i in range(len(parts))]
    body = [p.combine.format(a=a, b=b) for p, (a, b) in zip(parts, pairs, strict=True)]
    second = [f"def combine_{name}(a, b):"]
    if not record:
        for side in "ab":
            names = ", ".join(f"{side}{i}" for i in range(len(parts)))
            second.append(f"    {names} = {side}")
    second.append(f"    return {grouped(body, record)}")
    w.helpers += ["\n".join(["@intent.fn", *lines]), "\n".join(["@intent.fn", *second])]
    given = ""
    if operand:
        given = f", operands=({value(block, Type(want.dtype), 0, True)},)"
    call = (
        f"I.region_fold({source}, axis={axis}, summarize=summarize_{name}, combine=combine_{name}, "
        f"identity={grouped([p.identity for p in parts], record)}{given})"
    )
    if record:
        got = w.fresh("r")
        block.write(f"{got} = {call}")
        return f"{got}.f0"
    return call if len(parts) == 1 else bound_part(block, call, len(parts), 0)


def grouped(parts: list[str], record: bool) -> str:
    if record:
        return f"I.record({', '.join(f'f{i}={p}' for i, p in enumerate(parts))})"
    return ", ".join(parts) if len(parts) == 1 else f"({', '.join(parts)})"


RUNNING: dict[str, tuple[str, str, str]] = {
    "sum": (
        "I.reduce.sum(values, axis=0, acc_dtype=I.{d})", "({a} + {b})",
        "I.cumsum(values, axis=0, acc_dtype=I.{d}{x}) + state",
    ),
    "max": ("I.reduce.max(values, axis=0)", "I.maximum({a}, {b})", "I.maximum(I.cummax(values, axis=0{x}), state)"),
}  # fmt: skip
"""A summary, how two go together (and what it does to a state), and what a slice gives behind a state."""


@production("region scan", 6, rounds=True, structured=True, closed=False)
def region_scan(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if want.dtype == "bool" or want.rank != 1 or want.element.bits < 16 or want.shape is None:
        return None
    c, w = block.choices, block.writer
    kind = c.choice(sorted(RUNNING))
    summary, combine, emitted = RUNNING[kind]
    d = want.element
    zero = ("0.0" if d.is_float else "0") if kind == "sum" else 'float("-inf")' if d.is_float else str(d.range[0])
    name = w.fresh("region")
    x = ", inclusive=False" if c.chance(40) else ""
    functions = {
        f"summarize_{name}(values)": summary.format(d=want.dtype),
        f"combine_{name}(a, b)": combine.format(a="a", b="b"),
        f"apply_{name}(summary, state)": combine.format(a="state", b="summary"),
        f"emit_{name}(values, state)": emitted.format(d=want.dtype, x=x),
    }
    w.helpers += [f"@intent.fn\ndef {head}:\n    return {body}" for head, body in functions.items()]
    source = value(block, want, fuel - 1, exact or not d.is_float)
    state = value(block, Type(want.dtype), 0, True)
    call = (
        f"I.region_scan({source}, axis=0, summarize=summarize_{name}, combine=combine_{name}, identity={zero}, "
        f"initial_state={state}, apply=apply_{name}, emit=emit_{name})"
    )
    return bound_part(block, call, 2, 0)
