"""Pointwise operators and conversions in Triton's Python, with the meaning that the language gives them.

A row says how one operator is written for f32, and where that differs for f64 and the half types.  An empty entry of a
half type means: computed in f32, then rounded once; 8-bit floats always are.  What must be defined in the module
beside the kernel is in `support.py`.

Triton's own spellings that are avoided, and why: `tl.exp` is `ex2.approx` of a product (64 units in the last place at
the ends); `/` on f32 is `div.full` and on halves of f32; `-x` is `0 - x`, wrong for +0; `%` on floats is inexact;
`//` and `%` on integers truncate; `tl.maximum` drops NaN and widens bf16; a literal in a call or a comparison has a
dtype of its own.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...numerics.literals import FORMATS, round_to
from ...terms.dtypes import DType, bf16, bool_, f16, f32, f64
from ...terms.operators import Op
from . import conversions, support
from .conversions import COMPARE, TYPES, Operand, Spelled
from .support import LIBDEVICE, SUPPORT

OR, XOR, AND, SHIFT, SUM, PRODUCT, UNARY, ATOM = 2, 3, 4, 5, 6, 7, 8, 10
"""Precedences of Python, from the loosest; `COMPARE` is 1."""


class Template(NamedTuple):
    """Text with `{0:level}` for an operand that must bind at least so tightly, and the precedence of the whole.

    `typed`: a literal operand is a tensor of the operator's dtype there; elsewhere it takes the dtype of what it meets.
    """

    text: str
    level: int = ATOM
    typed: bool = False


def infix(symbol: str, level: int) -> Template:
    """The template of a binary operator between its operands."""
    left = level + (level == COMPARE)  # a comparison of a comparison would chain
    return Template(f"{{0:{left}}} {symbol} {{1:{level + 1}}}", level)


def call(name: str, operands: int = 1, more: str = "") -> Template:
    """The template of a call with so many operands and `more` behind them."""
    return Template(f"{name}({', '.join(f'{{{i}}}' for i in range(operands))}{more})", typed=operands > 1)


@dataclass(frozen=True)
class Row:
    """How a float operator is written: f32, f64 (as f32 if empty), f16 and bf16 (in f32 if empty)."""

    f32: Template
    f64: Template | None = None
    f16: Template | None = None
    bf16: Template | None = None


def native(t: Template) -> Row:
    """The same text for every type but the 8-bit ones."""
    return Row(t, t, t, t)


_ALL = ", propagate_nan=tl.PropagateNan.ALL"
_COMPARISONS = {n: infix(s, COMPARE) for n, s in (("lt", "<"), ("le", "<="), ("eq", "=="), ("ne", "!="))}
_WHERE = Template("tl.where({0}, {1}, {2})")
_NOT = Template("~{0:8}", UNARY)
_BITS = {"bit_and": infix("&", AND), "bit_or": infix("|", OR), "bit_xor": infix("^", XOR), "bit_not": _NOT}

FLOAT: dict[str, Row] = {
    **{name: native(t) for name, t in _COMPARISONS.items()},
    "add": native(infix("+", SUM)),
    "sub": native(infix("-", SUM)),
    "mul": native(infix("*", PRODUCT)),
    "div": Row(call("tl.div_rn", 2), infix("/", PRODUCT)),
    "neg": native(Template("-1.0 * {0:8}", PRODUCT)),
    "abs": native(call("tl.abs")),
    "sign": native(call("sign")),
    "maximum": Row(call("tl.maximum", 2, _ALL), f16=call("tl.maximum", 2, _ALL)),
    "minimum": Row(call("tl.minimum", 2, _ALL), f16=call("tl.minimum", 2, _ALL)),
    "maximum_num": Row(call("tl.maximum", 2), f16=call("tl.maximum", 2)),
    "minimum_num": Row(call("tl.minimum", 2), f16=call("tl.minimum", 2)),
    "select": native(_WHERE),
    "fma": native(call("tl.fma", 3)),
    "fmod": Row(call("libdevice.fmod", 2)),
    "pow": Row(call("libdevice.pow", 2)),
    "floor": Row(call("tl.floor")),
    "ceil": Row(call("tl.ceil")),
    "round": Row(call("libdevice.rint")),
    "exp": Row(call("libdevice.exp")),
    "exp2": Row(call("tl.exp2")),
    "log": Row(call("tl.log")),
    "log1p": Row(call("libdevice.log1p")),
    "log2": Row(call("tl.log2")),
    "sqrt": Row(call("tl.sqrt_rn"), call("tl.sqrt")),
    "rsqrt": Row(call("tl.rsqrt")),
    "sin": Row(call("tl.sin")),
    "cos": Row(call("tl.cos")),
    "asin": Row(call("libdevice.asin")),
    "tanh": Row(call("libdevice.tanh")),
    "erf": Row(call("tl.erf")),
    "erfc": Row(call("libdevice.erfc")),
    "i0": Row(call("libdevice.cyl_bessel_i0")),
    "lgamma": Row(call("libdevice.lgamma")),
    "sigmoid": Row(call("sigmoid")),
    "isnan": native(call("is_nan")),
    "isinf": native(Template('tl.abs({0}) == float("inf")', COMPARE)),
    # the approximate forms are f32; f64 has none and is accurate
    "exp_approx": Row(call("tl.exp")),
    "exp2_approx": Row(call("exp2_approx"), call("tl.exp2")),
    "tanh_approx": Row(call("tanh_approx"), call("libdevice.tanh")),
    "rsqrt_approx": Row(call("tl.rsqrt")),
    "sigmoid_approx": Row(call("tl.sigmoid"), call("sigmoid")),
    "div_approx": Row(infix("/", PRODUCT)),
}

INTEGER: dict[str, Template] = {
    **_COMPARISONS,
    **_BITS,
    "add": infix("+", SUM),
    "sub": infix("-", SUM),
    "mul": infix("*", PRODUCT),
    "floordiv": call("floor_div", 2),
    "mod": call("floor_mod", 2),
    "ceil_div": call("ceil_div", 2),
    "neg": Template("-{0:8}", UNARY),
    "abs": call("tl.abs"),
    "sign": call("sign"),
    "maximum": call("tl.maximum", 2),
    "minimum": call("tl.minimum", 2),
    "maximum_num": call("tl.maximum", 2),
    "minimum_num": call("tl.minimum", 2),
    "shl": infix("<<", SHIFT),
    "shr": infix(">>", SHIFT),
    "select": _WHERE,
}

# where no operand is negative, truncation is the floor; a divisor that cannot be zero needs no guard
NATURAL: dict[str, Template] = {
    "floordiv": Template("{0:7} // nonzero({1})", PRODUCT, typed=True),
    "mod": Template("{0:7} % nonzero({1})", PRODUCT, typed=True),
    "ceil_div": call("ceil_div_natural", 2),
}
NONZERO: dict[str, Template] = {"floordiv": infix("//", PRODUCT), "mod": infix("%", PRODUCT)}

BOOL: dict[str, Template] = {
    **_BITS,
    "eq": infix("==", COMPARE),
    "ne": infix("!=", COMPARE),
    "and": infix("&", AND),
    "or": infix("|", OR),
    "not": _NOT,
    "select": _WHERE,
}

_LITERAL = re.compile(r'-?[\d.][\w.+-]*|float\("(-?inf|nan)"\)|True|False')
_INTEGER = re.compile(r"-?\d+")
_CALLED = re.compile(r"(?<![\w.])(\w+)[.(]")


def number(value: Any, dtype: DType) -> str:
    """A literal: the shortest decimal that is this number in its dtype, also where it passes through f32 on its way."""
    if not dtype.is_float:
        return repr(value)
    if not math.isfinite(value):
        return f'float("{value}")'
    form = FORMATS[dtype.name]
    for digits in range(1, 17):
        short = float(f"{value:.{digits}g}")
        single = round_to(short, FORMATS["f32"]) if dtype.bits < 32 else short
        if single is not None and round_to(short, form) == value and round_to(single, form) == value:
            return repr(short)
    return repr(value)


class Spelling:
    """Spells operators and conversions; remembers what the module must import and define for them.

    capability:  of the device, as in sm_90; one below 89 has no conversions of 8-bit floats
    """

    def __init__(self, capability: int = 80) -> None:
        self.capability = capability
        self.used: set[str] = set()

    def imports(self) -> list[str]:
        """Import lines for what was spelled so far, beside `triton` and `triton.language as tl`."""
        return support.imports(self.used)

    def helpers(self) -> list[list[str]]:
        """The lines of each function that was used so far."""
        return support.functions(self.used)

    def operator(
        self, op: Op, dtype: DType, args: list[Spelled], nonnegative: bool = False, nonzero: bool = False
    ) -> Spelled:
        """`op` on operands of `dtype` (of `select`, that of the values).

        nonnegative:  no operand is below 0
        nonzero:      the divisor is not 0; known of a literal
        """
        operands = [Operand(*a) for a in args]
        if op.arity < 0:
            template = BOOL[op.name]
            symbol = "&" if op.name == "and" else "|"
            return f" {symbol} ".join(format(o, str(template.level)) for o in operands), template.level
        if dtype.is_float:
            return self._float(op, dtype, operands)
        if dtype is bool_:
            return self._write(BOOL[op.name], dtype, operands)
        operands = [typed(o, dtype) if _needs_64_bits(o) else o for o in operands]
        return self._write(self._integer(op, dtype, operands, nonnegative, nonzero), dtype, operands)

    def conversion(self, value: Spelled, source: DType, dtype: DType, name: str = "", mode: str = "wrap") -> Spelled:
        """`value` as `dtype`: `wrap`, `saturate`, or `bits`.  `name` is how the module calls the type."""
        text, level = conversions.convert(Operand(*value), source, dtype, mode, self.capability)
        self._note(text)
        return text, level

    def _integer(self, op: Op, dtype: DType, operands: list[Operand], nonnegative: bool, nonzero: bool) -> Template:
        natural = nonnegative or dtype.kind == "uint"
        if natural and op.name in NATURAL:
            if op.name in NONZERO and (nonzero or _LITERAL.fullmatch(operands[1].text)):
                return NONZERO[op.name]
            return NATURAL[op.name]
        if op.name == "sign" and natural:
            return Template(f"({{0:{COMPARE + 1}}} != 0).to({TYPES[dtype.name]})")
        return INTEGER[op.name]

    def _float(self, op: Op, dtype: DType, operands: list[Operand]) -> Spelled:
        row = FLOAT[op.name]
        direct = {f32: row.f32, f64: row.f64 or row.f32, f16: row.f16, bf16: row.bf16}.get(dtype)
        if op.name == "select":
            direct = _WHERE
            operands[1:] = [self._constant(o, dtype) if dtype.bits == 8 else o for o in operands[1:]]
        if direct is not None:
            compares = op.result == "bool" and op.arity == 2
            return self._write(direct, dtype, [_compared(o, dtype) for o in operands] if compares else operands)
        wide = [self._single(o, dtype) for o in operands]
        result = self._write(row.f32, f32, wide)
        return result if op.result == "bool" else self.conversion(result, f32, dtype)

    def _single(self, operand: Operand, dtype: DType) -> Operand:
        """An operand of `dtype` in f32, where a literal has more digits: 0.94 is 0.9375 among 8-bit floats alone."""
        if not _LITERAL.fullmatch(operand.text):
            return Operand(*self.conversion(operand, dtype, f32))
        if "(" in operand.text:  # neither an infinity nor NaN needs digits
            return operand
        return Operand(number(round_to(float(operand.text), FORMATS[dtype.name]), f32), operand.level)

    def _constant(self, operand: Operand, dtype: DType) -> Operand:
        """A literal as an 8-bit float, of which Triton makes no constants."""
        if not _LITERAL.fullmatch(operand.text):
            return operand
        return Operand(*self.conversion((f"tl.full([], {operand.text}, tl.float32)", ATOM), f32, dtype))

    def _write(self, template: Template, dtype: DType, operands: list[Operand]) -> Spelled:
        if template.typed:
            operands = [typed(o, dtype) for o in operands]
        text = template.text.format(*operands)
        self._note(template.text)
        return text, template.level

    def note(self, text: str) -> None:
        """Remember the functions of the module's own that a text calls."""
        before = set(self.used)
        self._note(text)
        for name in sorted(self.used - before):
            self._note(SUPPORT.get(name, ""))

    def _note(self, text: str) -> None:
        self.used |= {name for name in _CALLED.findall(text) if name in SUPPORT or name == LIBDEVICE}


def _needs_64_bits(operand: Operand) -> bool:
    """Whether it is an integer literal that Triton refuses beside a tensor of i32, which may hold an index."""
    return bool(_INTEGER.fullmatch(operand.text)) and not -(2**31) <= int(operand.text) < 2**31


def _compared(operand: Operand, dtype: DType) -> Operand:
    """A literal in a comparison, where Triton takes it as f32, or f64 where it is small, whatever it meets."""
    if not _LITERAL.fullmatch(operand.text) or "(" in operand.text:
        return operand
    value = float(operand.text)
    single = round_to(value, FORMATS["f32"]) == value and not 0 < abs(value) < 2.0**-126
    return operand if single else typed(operand, dtype)


def typed(operand: Operand, dtype: DType) -> Operand:
    """A literal as an argument of a function: Triton takes i32, f32 or bool there, whatever the others are."""
    if not _LITERAL.fullmatch(operand.text) or dtype is bool_:
        return operand
    if dtype.is_float:
        # below the normal numbers of f32 Triton takes f64
        plain = dtype is f32 and not 0 < abs(float(operand.text.removeprefix("float(").strip('")'))) < 2.0**-126
    else:
        plain = dtype.kind != "uint" and dtype.bits >= 32 and -(2**31) <= int(operand.text) < 2**31
    return operand if plain else Operand(f"tl.full([], {operand.text}, {TYPES[dtype.name]})", ATOM)


__all__ = [
    "AND",
    "ATOM",
    "COMPARE",
    "OR",
    "PRODUCT",
    "SHIFT",
    "SUM",
    "TYPES",
    "UNARY",
    "XOR",
    "Spelled",
    "Spelling",
    "number",
]
