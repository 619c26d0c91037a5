"""Pointwise operators, declared once: text syntax, typing, and the tables that machines and providers key on.

`Apply(op, args)` is the only pointwise term.  An operator's meaning on NumPy arrays is in `numerics.py`, its Triton
spelling in `backends/triton`; a test checks that both cover this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .dtypes import DType, bool_


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """A pointwise operator.

    `operands` names the classes of dtype it takes (`f` floats, `i` integers and index, `b` bool); all operands have one
    dtype, except that the first operand of `select` is bool.  `result` is `same` (the operands' dtype) or `bool`.
    `infix` is its symbol in text; `level` its precedence there (higher binds tighter; 9 is a call).
    """

    name: str
    arity: int
    operands: str = "f"
    result: str = "same"
    infix: str = ""
    level: int = 9
    commutative: bool = False
    about: str = ""

    def accepts(self, d: DType) -> bool:
        """Whether operands of dtype `d` are legal."""
        return ("b" if d is bool_ else "f" if d.is_float else "i") in self.operands

    @property
    def written(self) -> str:
        """How an author writes it: the operator of Python, or the operation of the language."""
        return _WRITTEN.get(self.name) or self.infix or f"I.{self.name}"

    def __repr__(self) -> str:
        return self.name


_WRITTEN = {"neg": "-", "not": "not ", "bit_not": "~", "and": "and", "or": "or"}

_TABLE = (
    # name, arity, operands, result, infix, level, commutative, meaning
    Op("add", 2, "fi", "same", "+", 5, True, "sum; integers wrap"),
    Op("sub", 2, "fi", "same", "-", 5, False, "difference; integers wrap"),
    Op("mul", 2, "fi", "same", "*", 6, True, "product; integers wrap"),
    Op("div", 2, "f", "same", "/", 6, False, "IEEE quotient"),
    Op("floordiv", 2, "i", "same", "//", 6, False, "floor quotient, as Python's"),
    Op("mod", 2, "i", "same", "%", 6, False, "remainder with the divisor's sign, as Python's"),
    Op("ceil_div", 2, "i", about="quotient rounded up; exact where a // b is, never through a + b - 1"),
    Op("pow", 2, "f", "same", "**", 8, False, "IEEE pow"),
    Op("neg", 1, "fi", about="negation; integers wrap"),
    Op("maximum", 2, "fi", commutative=True, about="maximum; NaN propagates; +0 above -0"),
    Op("minimum", 2, "fi", commutative=True, about="minimum; NaN propagates; -0 below +0"),
    Op("maximum_num", 2, "fi", commutative=True, about="maximum; a one-sided NaN is ignored"),
    Op("minimum_num", 2, "fi", commutative=True, about="minimum; a one-sided NaN is ignored"),
    Op("lt", 2, "fi", "bool", "<", 3, False, "less"),
    Op("le", 2, "fi", "bool", "<=", 3, False, "less or equal"),
    Op("eq", 2, "fib", "bool", "==", 3, True, "equal; NaN is not equal to anything"),
    Op("ne", 2, "fib", "bool", "!=", 3, True, "not equal"),
    Op("and", -1, "b", "bool", "&&", 2, True, "conjunction of two or more"),
    Op("or", -1, "b", "bool", "||", 1, True, "disjunction of two or more"),
    Op("not", 1, "b", "bool", about="negation"),
    Op("bit_and", 2, "ib", "same", "&", 4, True, "bitwise and"),
    Op("bit_or", 2, "ib", "same", "|", 4, True, "bitwise or"),
    Op("bit_xor", 2, "ib", "same", "^", 4, True, "bitwise exclusive or"),
    Op("bit_not", 1, "ib", about="bitwise complement"),
    Op("shl", 2, "i", "same", "<<", 4, False, "left shift by [0, width)"),
    Op("shr", 2, "i", "same", ">>", 4, False, "right shift by [0, width); arithmetic when signed"),
    Op("select", 3, "fib", about="second operand where the first is true, else the third"),
    Op("fma", 3, "f", about="a*b + c with one rounding"),
    Op("fmod", 2, "f", about="remainder with the dividend's sign"),
    Op("abs", 1, "fi", about="absolute value"),
    Op("sign", 1, "fi", about="-1, 0 or 1; of a zero that zero, of NaN NaN"),
    Op("floor", 1, about="round down"),
    Op("ceil", 1, about="round up"),
    Op("round", 1, about="round half to even"),
    Op("exp", 1, about="exponential"),
    Op("exp2", 1, about="power of two"),
    Op("log", 1, about="natural logarithm"),
    Op("log1p", 1, about="log(1 + x)"),
    Op("log2", 1, about="binary logarithm"),
    Op("sqrt", 1, about="square root, correctly rounded"),
    Op("rsqrt", 1, about="reciprocal square root"),
    Op("sin", 1, about="sine"),
    Op("cos", 1, about="cosine"),
    Op("asin", 1, about="inverse sine"),
    Op("tanh", 1, about="hyperbolic tangent"),
    Op("erf", 1, about="error function"),
    Op("erfc", 1, about="complementary error function"),
    Op("i0", 1, about="modified Bessel function of order 0"),
    Op("lgamma", 1, about="log of |gamma|"),
    Op("sigmoid", 1, about="1 / (1 + exp(-x))"),
    Op("isnan", 1, "f", "bool", about="is NaN"),
    Op("isinf", 1, "f", "bool", about="is infinite"),
    # approximate forms: f32 only, asked for by the author or by a permission, never substituted
    Op("exp_approx", 1, about="exponential through exp2_approx"),
    Op("exp2_approx", 1, about="power of two, 2 ULP, subnormal results may flush"),
    Op("tanh_approx", 1, about="hyperbolic tangent, relative 2^-11"),
    Op("rsqrt_approx", 1, about="reciprocal square root, 2 ULP"),
    Op("sigmoid_approx", 1, about="sigmoid through exp2_approx and div_approx"),
    Op("div_approx", 2, about="quotient, 2 ULP where 2^-126 <= |divisor| <= 2^126"),
)

OPERATORS: dict[str, Op] = {op.name: op for op in _TABLE}


@cache
def result_dtype(op: Op, operands: tuple[DType, ...]) -> DType:
    """The dtype of `op` on operands of these dtypes; `TypeError` says what is wrong."""
    if op.arity >= 0 and len(operands) != op.arity or op.arity < 0 and len(operands) < 2:
        raise TypeError(f"{op.name} takes {op.arity if op.arity >= 0 else 'two or more'} operands, got {len(operands)}")
    if not all(isinstance(d, DType) for d in operands):
        raise TypeError(f"{op.name} does not take {', '.join(map(repr, operands))}")
    same = operands[1:] if op.name == "select" else operands
    if op.name == "select" and operands[0] is not bool_:
        raise TypeError(f"the condition of select is {operands[0]}, not bool")
    if any(d is not same[0] for d in same):
        raise TypeError(f"{op.name} of mixed dtypes {', '.join(map(repr, operands))}; cast one of them")
    if not op.accepts(same[0]):
        raise TypeError(f"{op.name} does not take {same[0]}")
    return bool_ if op.result == "bool" else same[0]
