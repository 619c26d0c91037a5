"""Productions of operators, derived from their table: a new operator is generated without a line here.

An operator of the table is written by its symbol, or as the operation of the language that has its name; an
approximate form as the operation that has the option.  What its operands must keep to, so that it has a value, is the
only thing that is said of an operator by name.
"""

from __future__ import annotations

import inspect
from typing import Final

from ...language.declare import OPERATIONS
from ...terms.dtypes import DTYPES, bool_
from ...terms.operators import OPERATORS, Op
from .values import INTEGERS, literal, production, value
from .writer import Block, Extent, Type, number

PREFIX: Final = {"neg": "-", "not": "not ", "bit_not": "~"}
WORDS: Final = {"&&": "and", "||": "or"}
EXACT: Final = {
    "neg", "abs", "sign", "maximum", "minimum", "maximum_num", "minimum_num", "select", "floor", "ceil", "round",
}  # fmt: skip
"""Operators whose float result every machine has alike, from operands that it has alike."""


def spelling(op: Op) -> str | None:
    """A format of the operands, or None for an operator that authors don't write."""
    if op.infix:
        return f"({{0}} {WORDS.get(op.infix, op.infix)} {{1}})"
    if op.name in PREFIX:
        return f"({PREFIX[op.name]}{{0}})"
    places = ", ".join(f"{{{i}}}" for i in range(op.arity))
    if op.name in OPERATIONS:
        return f"I.{op.name}({places})"
    base = op.name.removesuffix("_approx")
    base = {"div": "fdiv"}.get(base, base)
    if base in OPERATIONS and "approximate" in inspect.signature(OPERATIONS[base].meaning).parameters:
        return f"I.{base}({places}, approximate=True)"
    return None


WRITTEN: Final = {op: text for op in OPERATORS.values() if (text := spelling(op)) is not None}
"""Every operator that authors write, and how."""

FORMS: Final = {f"operator {op.name}": op for op in WRITTEN}


def operand_dtypes(op: Op, block: Block, want: Type) -> list[str]:
    """Dtypes of operands that give the wanted one."""
    if op.name.endswith("_approx"):
        return ["f32"] if want.dtype == "f32" else []
    if op.result == "same":
        return [want.dtype] if op.accepts(want.element) else []
    if want.dtype != "bool":
        return []
    return [d for d in block.writer.dtypes if op.accepts(DTYPES[d])]


def operands(block: Block, want: Type, types: list[str], fuel: int, exact: bool) -> list[str]:
    """Values that broadcast to the wanted shape: one of them has it."""
    c = block.choices
    made = []
    lead = c.integer(0, len(types) - 1)
    for i, d in enumerate(types):
        if i == lead or want.shape is None:
            made.append(value(block, want.of(d), fuel - 1, exact))
            continue
        kind = c.weighted((("same", 8), ("literal", 3), ("scalar", 2), ("lower", 2), ("ones", 2)))
        if kind == "literal" and d != "bool" and d == types[lead]:  # whose dtype it takes
            made.append(literal(block, d))
        elif kind == "scalar":
            made.append(value(block, Type(d), fuel - 1, exact))
        elif kind == "lower" and want.rank > 1:
            block.writer.used["broadcast"] += 1
            made.append(value(block, Type(d, want.shape[1:]), fuel - 1, exact))
        elif kind == "ones" and want.rank > 1:
            block.writer.used["broadcast"] += 1
            a = c.integer(0, want.rank - 1)
            made.append(spread(block, Type(d, want.shape), a, fuel, exact))
        else:
            made.append(value(block, want.of(d), fuel - 1, exact))
    return made


def spread(block: Block, want: Type, axis: int, fuel: int, exact: bool) -> str:
    """A value with an extent of 1 along an axis, made of one that lacks it."""
    assert want.shape is not None
    rest = (*want.shape[:axis], *want.shape[axis + 1 :])
    if block.choices.chance(30):
        ones: tuple[Extent, ...] = (*want.shape[:axis], number(1), *want.shape[axis + 1 :])
        return value(block, Type(want.dtype, ones), fuel - 1, exact)
    inner = value(block, Type(want.dtype, rest), fuel - 1, exact)
    entries = [":"] * len(rest)
    entries.insert(axis, "None")
    return f"{inner}[{', '.join(entries)}]"


@production("operator", 66, lasting=7)
def operator(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    c = block.choices
    float_result = want.element.is_float
    fitting = []
    for op in WRITTEN:
        if exact and float_result and op.name not in EXACT:
            continue
        if operand_dtypes(op, block, want):
            fitting.append((op, weight(op)))
    if not fitting:
        return None
    used = block.writer.used
    op = c.weighted([(op, 1 + w // (1 + used[f"operator {op.name}"])) for op, w in fitting])
    d = c.choice(operand_dtypes(op, block, want))
    # a decision, or an integer, hangs on floats that are the same everywhere
    precise = exact or not float_result and c.chance(95)
    count = max(op.arity, 2) if op.arity < 0 else op.arity
    if op.name == "select":
        condition, *sides = operands(block, want, ["bool", d, d], fuel, exact)
        if c.chance(40) and want.shape is None:
            used["conditional expression"] += 1
            return f"({sides[0]} if {value(block, Type('bool'), fuel - 1, True)} else {sides[1]})"
        made = [condition, *sides]
    else:
        made = operands(block, want, [d] * count, fuel, precise)
    used[f"operator {op.name}"] += 1
    text = WRITTEN[op].format(*guarded(op, made, d))
    # of known indices it is a known number, which has no dtype
    return f"I.cast({text}, I.index)" if want == Type("index") else text


def weight(op: Op) -> int:
    """What is of floats alone fits more seldom, and that of f32 alone more seldom still."""
    if op.name.endswith("_approx"):
        return 130
    return 10 if op.accepts(DTYPES["i32"]) and (op.infix or op.name in EXACT) else 20


def guarded(op: Op, made: list[str], d: str) -> list[str]:
    """Operands for which an integer operator has a value: divisors above 0, shifts below the width."""
    if op.name in ("floordiv", "mod", "ceil_div"):
        if made[1] in (*INTEGERS, *(f"(-{n})" for n in INTEGERS)):
            return [made[0], made[1].strip("(-)").replace("0", "4")]
        return [made[0], f"I.maximum({made[1]}, 1)"]
    if op.name in ("shl", "shr"):
        return [made[0], f"({made[1]} & {DTYPES[d].bits - 1})"]
    return made


@production("compound", 4)
def compound(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """Operations that are several operators."""
    c = block.choices
    if want.dtype == "bool":
        a, b = (value(block, want.of("i32"), fuel - 1, True) for _ in range(2))
        block.writer.used["chained comparison"] += 1
        return f"(0 <= {a} < {b})"
    if c.chance(50):
        v, fill = value(block, want, fuel - 1, exact), literal(block, want.dtype)
        block.writer.used["mask"] += 1
        return f"I.mask({v}, {value(block, want.of('bool'), fuel - 1, exact)}, {fill})"
    low, high = ("-2.0", "2.0") if want.element.is_float else ("1", "9")
    block.writer.used["clamp"] += 1
    return f"I.clamp({value(block, want, fuel - 1, exact)}, {low}, {high})"


@production("cast", 8)
def cast(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A cast that has a value whatever comes: a float becomes an integer by saturation."""
    c, target = block.choices, want.element
    d = c.choice(block.writer.dtypes)
    source = DTYPES[d]
    if d == want.dtype:
        return None
    if want.dtype == "bool":
        return None
    inner = value(block, want.of(d), fuel - 1, exact or not target.is_float and c.chance(95))
    saturating = source is not bool_ and (source.is_float and not target.is_float or want.dtype == "f8e4m3fn")
    if saturating or source is not bool_ and c.chance(10):
        block.writer.used["saturating cast"] += 1
        return f"I.saturate_cast({inner}, I.{want.dtype})"
    return f"I.cast({inner}, I.{want.dtype})"


@production("bitcast", 2)
def bitcast(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """Bits of one dtype as another.  Bits of a float are those of an exact one that is no NaN."""
    width = want.element.bits
    others = [d for d in block.writer.dtypes if DTYPES[d].bits == width and d not in (want.dtype, "bool")]
    others = [d for d in others if not DTYPES[d].is_float]
    if not others or want.dtype == "bool" or want.element.is_float:
        return None
    return f"I.bitcast({value(block, want.of(block.choices.choice(others)), fuel - 1, True)}, I.{want.dtype})"
