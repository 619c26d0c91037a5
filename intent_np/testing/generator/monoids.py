"""A stock of monoids: combines that are lawful for whatever they meet, of one component or put together of others.

Integers wrap and are lawful exactly; floats are so up to rounding, as the language takes their laws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...terms.dtypes import DTYPES, DType
from .writer import Block


@dataclass(frozen=True)
class Monoid:
    """A combine of components.

    body:      its statements and `return`, over a and b, or their components a0, a1, …, b0, …
    identity:  a literal for each component
    members:   how a component is made of any values `{0}`, `{1}`, … of the dtypes, of shape `{shape}`
    grouping:  `scalar`, `tuple` or `record`
    operand:   a scalar `{m}` that comes in at run time, made of a parameter `{0}` of the first dtype
    """

    name: str
    dtypes: tuple[str, ...]
    identity: tuple[str, ...]
    results: tuple[str, ...]
    commutes: bool = True
    grouping: str = "scalar"
    members: tuple[str, ...] = ("{0}",)
    operand: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(f"f{i}" for i in range(len(self.dtypes)))


def commutative(m: Monoid) -> bool:
    return m.commutes


def _limits(d: DType) -> tuple[str, str]:
    if d.is_float:
        return 'float("-inf")', 'float("inf")'
    return str(d.range[0]), str(d.range[1])


def _base(name: str, d: DType) -> Monoid | None:
    """A monoid of one component."""
    low, high = ("False", "True") if d.kind == "bool" else _limits(d)
    integer, number = d.is_integer, d.kind != "bool"
    table: dict[str, tuple[bool, str, str]] = {
        "sum": (number, "0", "{a} + {b}"),
        "max": (number and d.name != "f8e4m3fn", low, "I.maximum({a}, {b})"),
        "min": (number and d.name != "f8e4m3fn", high, "I.minimum({a}, {b})"),
        "product": (number, "1", "{a} * {b}"),
        "xor": (integer, "0", "{a} ^ {b}"),
        "and": (not number, "True", "{a} and {b}"),
        "or": (integer or not number, "False" if not number else "0", "{a} | {b}"),
        "parity": (not number, "False", "{a} != {b}"),
        "lowest bits": (integer and d.kind != "uint", "-1", "{a} & {b}"),
    }
    fits, identity, result = table[name]
    return Monoid(name, (d.name,), (identity,), (result.format(a="{a0}", b="{b0}"),)) if fits else None


BASES = ("sum", "max", "min", "product", "xor", "and", "or", "parity", "lowest bits")


def _pair(block: Block, first: Monoid, second: Monoid) -> Monoid:
    """The product of two monoids of one component."""
    shifted = second.results[0].replace("{a0}", "{a1}").replace("{b0}", "{b1}")
    grouping = block.choices.choice(("tuple", "record"))
    return Monoid(
        "pair", (*first.dtypes, *second.dtypes), (*first.identity, *second.identity), (first.results[0], shifted),
        True, grouping, ("{0}", "{1}"),
    )  # fmt: skip


def _affine(block: Block, d: DType) -> Monoid:
    """x -> a x + b, the first one first."""
    return Monoid(
        "affine", (d.name, d.name), ("1", "0"), ("{b0} * {a0}", "{b0} * {a1} + {b1}"), False,
        block.choices.choice(("tuple", "record")), ("{0}", "{1}"),
    )  # fmt: skip


def _segmented(block: Block, d: DType) -> Monoid:
    """A sum that begins anew where a flag is set."""
    return Monoid(
        "segmented", (d.name, "bool"), ("0", "False"), ("({b0} if {b1} else {a0} + {b0})", "({a1} or {b1})"), False,
        "tuple", ("{0}", "{1}"),
    )  # fmt: skip


def _latest(block: Block, d: DType) -> Monoid:
    """The last member that counts."""
    zero = "0" if d.is_integer or d.is_float else "False"
    return Monoid(
        "latest", (d.name, "bool"), (zero, "False"),
        ("({b0} if {b1} else {a0})", "({a1} or {b1})"), False, "record", (f"I.select({{1}}, {{0}}, {zero})", "{1}"),
    )  # fmt: skip


def _extreme(block: Block, d: DType) -> Monoid:
    """The largest with the lowest place of it.  NaN is mapped away: it has no order."""
    better = "(({b0} > {a0}) or (({b0} == {a0}) and ({b1} < {a1})))"
    member = "I.maximum_num({0}, -100)" if d.is_float else "{0}"
    return Monoid(
        "argmax", (d.name, "index"), (_limits(d)[0], str(2**63 - 1)),
        (f"({{b0}} if {better} else {{a0}})", f"({{b1}} if {better} else {{a1}})"), True,
        block.choices.choice(("tuple", "record")), (member, "{1}"),
    )  # fmt: skip


def _modular(block: Block, d: DType) -> Monoid:
    """Addition modulo a number that comes in at run time, between 1 and 16."""
    return Monoid(
        "modular", (d.name,), ("0",), ("({a0} + {b0}) % m",), True, "scalar", ("({0} % {m})",), "({0} & 15) + 1"
    )


def _welford(block: Block, d: DType) -> Monoid:
    """Mean, count and spread of what is put together."""
    n = "({a1} + {b1})"
    share = f"({{b1}} / I.maximum({n}, 1.0))"
    step = "({b0} - {a0})"
    return Monoid(
        "welford", (d.name, d.name, d.name), ("0.0", "0.0", "0.0"),
        (f"{{a0}} + {step} * {share}", n, f"{{a2}} + {{b2}} + {step} * {step} * {{a1}} * {share}"), True, "record",
        ("{0}", "I.full({shape}, 1.0, I." + d.name + ")", "I.full({shape}, 0.0, I." + d.name + ")"),
    )  # fmt: skip


COMPOSED: dict[str, Callable[[Block, DType], Monoid]] = {
    "affine": _affine, "segmented": _segmented, "latest": _latest, "argmax": _extreme, "modular": _modular,
    "welford": _welford,
}  # fmt: skip


FLOATING = ("affine", "segmented", "argmax", "welford")  # of f32 and f64 as well, or alone


def lawful(block: Block, dtype: str, admits: Callable[[Monoid], bool] = lambda m: True) -> tuple[Monoid, int]:
    """A monoid with a component of this dtype, and which component that is."""
    c, d = block.choices, DTYPES[dtype]
    kind = c.weighted(
        (
            ("base", 7),
            ("pair", 3),
            *((name, 12 if name == "welford" else 6 if name in FLOATING else 3) for name in COMPOSED),
        )
    )
    bases = [m for name in BASES if (m := _base(name, d)) is not None]
    made: Monoid | None = None
    if kind == "pair":
        other = c.choice([e for e in block.writer.dtypes if not e.startswith("f8")])
        seconds = [m for name in BASES if (m := _base(name, DTYPES[other])) is not None]
        made = _pair(block, c.choice(bases), c.choice(seconds))
    elif kind in COMPOSED and (kind == "latest" or (kind in FLOATING if d.is_float else d.is_integer)):
        if not (d.is_float and d.bits < 32) and not (kind == "welford" and not d.is_float):
            made = COMPOSED[kind](block, d)
    if made is None or not admits(made):
        made = c.choice(bases)
    return made, 0


def written(block: Block, m: Monoid) -> str:
    """The name of a helper that is the combine of a monoid."""
    w = block.writer
    count = len(m.dtypes)
    name = w.fresh("combine")
    lines = [f"def {name}(a, b{', m' if m.operand else ''}):"]
    if m.grouping == "tuple":
        lines += [f"    {', '.join(f'{s}{i}' for i in range(count))} = {s}" for s in "ab"]
        names = {f"{side}{i}": f"{side}{i}" for side in "ab" for i in range(count)}
    elif m.grouping == "record":
        names = {f"{side}{i}": f"{side}.f{i}" for side in "ab" for i in range(count)}
    else:
        names = {"a0": "a", "b0": "b"}
    results = [r.format(**names) for r in m.results]
    if m.grouping == "record":
        results = [f"I.record({', '.join(f'{n}={r}' for n, r in zip(m.fields, results, strict=True))})"]
    w.helpers.append("\n".join(["@intent.fn", *lines, f"    return {', '.join(results)}"]))
    return name
