"""What scalar operators mean to z3: over the integers, modulo 2^w, in IEEE arithmetic, and for values of any type.

An operator that a theory does not interpret is a function of which nothing is known: what is proved then holds for
every meaning that it could have, and only a counterexample may be one in words alone.
"""

from __future__ import annotations

from typing import Any

import z3

from ...terms.operators import OPERATORS

ROUNDING = z3.RNE()
FLOATS = {"f16": (5, 11), "bf16": (8, 8), "f32": (8, 24), "f64": (11, 53)}
"""Bits of exponent and significand; the types of 8 bits are tried in full instead."""


class Theory:
    """One sort of values.  `defined` collects what the operators met so far need of their operands."""

    name = "any"

    def __init__(self, sort: Any) -> None:
        self.sort = sort

    def constant(self, v: Any) -> Any:
        """A constant of a rule."""
        return z3.BoolVal(v)

    def apply(self, name: str, args: list[Any]) -> Any:
        """`name` on terms of the sort (of Bool, for connectives)."""
        match name:
            case "and":
                return z3.And(*args)
            case "or":
                return z3.Or(*args)
            case "not":
                return z3.Not(args[0])
            case "select":
                return z3.If(*args)
            case "eq":
                return args[0] == args[1] if z3.is_bool(args[0]) else self.equal(*args)
            case "ne":
                return args[0] != args[1] if z3.is_bool(args[0]) else z3.Not(self.equal(*args))
        operation = getattr(self, f"op_{name}", None)
        return operation(*args) if operation else self.unknown(name, args)

    def unknown(self, name: str, args: list[Any]) -> Any:
        """An operator that is not interpreted."""
        result = z3.BoolSort() if OPERATORS[name].result == "bool" else self.sort
        return z3.Function(name, *(a.sort() for a in args), result)(*args)

    def interprets(self, name: str) -> bool:
        """Whether `apply` knows what the operator does."""
        return hasattr(self, f"op_{name}") or name in ("and", "or", "not", "select", "eq", "ne")

    def equal(self, a: Any, b: Any) -> Any:
        """The language's `==`, which of unknown values need not even hold for one and the same: NaN."""
        return self.unknown("eq", [a, b])

    def same(self, a: Any, b: Any) -> Any:
        """Whether two results are one value."""
        return a == b

    def valid(self, name: str, args: list[Any]) -> Any:
        """Whether the operator is defined on these operands."""
        return z3.BoolVal(True)


class Integers(Theory):
    """The integers: index arithmetic, which is proved not to wrap."""

    name = "integers"

    def __init__(self) -> None:
        super().__init__(z3.IntSort())

    def constant(self, v: Any) -> Any:
        return z3.BoolVal(v) if isinstance(v, bool) else z3.IntVal(v)

    def equal(self, a: Any, b: Any) -> Any:
        return a == b

    def less(self, a: Any, b: Any) -> Any:
        return a < b

    def valid(self, name: str, args: list[Any]) -> Any:
        return args[1] != 0 if name in ("floordiv", "mod", "ceil_div") else z3.BoolVal(True)

    def op_floordiv(self, a: Any, b: Any) -> Any:
        quotient = a / b  # of z3: the remainder is never negative
        return z3.If(z3.And(b < 0, a != b * quotient), quotient - 1, quotient)

    def op_mod(self, a: Any, b: Any) -> Any:
        return a - b * self.op_floordiv(a, b)

    def op_ceil_div(self, a: Any, b: Any) -> Any:
        return -self.op_floordiv(-a, b)

    def op_add(self, a: Any, b: Any) -> Any:
        return a + b

    def op_sub(self, a: Any, b: Any) -> Any:
        return a - b

    def op_mul(self, a: Any, b: Any) -> Any:
        return a * b

    def op_neg(self, a: Any) -> Any:
        return -a

    def op_abs(self, a: Any) -> Any:
        return z3.If(self.less(a, self.constant(0)), -a, a)

    def op_sign(self, a: Any) -> Any:
        zero = self.constant(0)
        return z3.If(self.less(a, zero), self.constant(-1), z3.If(a == zero, zero, self.constant(1)))

    def op_minimum(self, a: Any, b: Any) -> Any:
        return z3.If(self.less(b, a), b, a)

    def op_maximum(self, a: Any, b: Any) -> Any:
        return z3.If(self.less(a, b), b, a)

    def op_lt(self, a: Any, b: Any) -> Any:
        return self.less(a, b)

    def op_le(self, a: Any, b: Any) -> Any:
        return z3.Or(self.less(a, b), a == b)

    op_minimum_num, op_maximum_num = op_minimum, op_maximum


class Wrapping(Integers):
    """Index arithmetic as a program has it: 64 bits, which wrap."""

    def apply(self, name: str, args: list[Any]) -> Any:
        result = super().apply(name, args)
        return (result + 2**63) % 2**64 - 2**63 if z3.is_int(result) else result


class Modular(Integers):
    """Integers of `bits`, which wrap."""

    def __init__(self, name: str, bits: int, signed: bool) -> None:
        Theory.__init__(self, z3.BitVecSort(bits))
        self.bits, self.signed, self.name = bits, signed, name

    def constant(self, v: Any) -> Any:
        return z3.BoolVal(v) if isinstance(v, bool) else z3.BitVecVal(v, self.bits)

    def less(self, a: Any, b: Any) -> Any:
        return a < b if self.signed else z3.ULT(a, b)

    def valid(self, name: str, args: list[Any]) -> Any:
        match name:
            case "floordiv" | "ceil_div" if self.signed:
                least = z3.BitVecVal(1 << (self.bits - 1), self.bits)
                return z3.And(args[1] != 0, z3.Or(args[0] != least, args[1] != -1))
            case "floordiv" | "ceil_div" | "mod":
                return args[1] != 0
            case "shl" | "shr":
                return z3.ULT(args[1], self.constant(self.bits))
        return z3.BoolVal(True)

    def op_floordiv(self, a: Any, b: Any) -> Any:
        if not self.signed:
            return z3.UDiv(a, b)
        inexact = z3.And(z3.SRem(a, b) != 0, (a < 0) != (b < 0))
        return a / b - z3.If(inexact, self.constant(1), self.constant(0))

    def op_ceil_div(self, a: Any, b: Any) -> Any:
        remainder = z3.SRem(a, b) if self.signed else z3.URem(a, b)
        above = z3.And(remainder != 0, (a < 0) == (b < 0)) if self.signed else remainder != 0
        quotient = a / b if self.signed else z3.UDiv(a, b)
        return quotient + z3.If(above, self.constant(1), self.constant(0))

    def op_bit_and(self, a: Any, b: Any) -> Any:
        return a & b

    def op_bit_or(self, a: Any, b: Any) -> Any:
        return a | b

    def op_bit_xor(self, a: Any, b: Any) -> Any:
        return a ^ b

    def op_bit_not(self, a: Any) -> Any:
        return ~a

    def op_shl(self, a: Any, b: Any) -> Any:
        return a << b

    def op_shr(self, a: Any, b: Any) -> Any:
        return a >> b if self.signed else z3.LShR(a, b)


class Bools(Theory):
    """Truth values under the operators that take them as a type of numbers."""

    name = "bool"

    def __init__(self) -> None:
        super().__init__(z3.BoolSort())

    def op_bit_and(self, a: Any, b: Any) -> Any:
        return z3.And(a, b)

    def op_bit_or(self, a: Any, b: Any) -> Any:
        return z3.Or(a, b)

    def op_bit_xor(self, a: Any, b: Any) -> Any:
        return z3.Xor(a, b)

    def op_bit_not(self, a: Any) -> Any:
        return z3.Not(a)


class Floats(Theory):
    """IEEE arithmetic, each result rounded once to nearest even.  All NaNs are one; zeros differ by their sign."""

    def __init__(self, name: str) -> None:
        super().__init__(z3.FPSort(*FLOATS[name]))
        self.name = name

    def constant(self, v: Any) -> Any:
        return z3.BoolVal(v) if isinstance(v, bool) else z3.FPVal(float(v), self.sort)

    def equal(self, a: Any, b: Any) -> Any:
        return z3.fpEQ(a, b)

    def op_add(self, a: Any, b: Any) -> Any:
        return z3.fpAdd(ROUNDING, a, b)

    def op_sub(self, a: Any, b: Any) -> Any:
        return z3.fpSub(ROUNDING, a, b)

    def op_mul(self, a: Any, b: Any) -> Any:
        return z3.fpMul(ROUNDING, a, b)

    def op_div(self, a: Any, b: Any) -> Any:
        return z3.fpDiv(ROUNDING, a, b)

    def op_fma(self, a: Any, b: Any, c: Any) -> Any:
        return z3.fpFMA(ROUNDING, a, b, c)

    def op_sqrt(self, a: Any) -> Any:
        return z3.fpSqrt(ROUNDING, a)

    def op_floor(self, a: Any) -> Any:
        return z3.fpRoundToIntegral(z3.RTN(), a)

    def op_ceil(self, a: Any) -> Any:
        return z3.fpRoundToIntegral(z3.RTP(), a)

    def op_round(self, a: Any) -> Any:
        return z3.fpRoundToIntegral(ROUNDING, a)

    def op_neg(self, a: Any) -> Any:
        return z3.fpNeg(a)

    def op_abs(self, a: Any) -> Any:
        return z3.fpAbs(a)

    def op_sign(self, a: Any) -> Any:
        one = self.constant(1.0)
        return z3.If(z3.Or(z3.fpIsNaN(a), z3.fpIsZero(a)), a, z3.If(z3.fpIsNegative(a), z3.fpNeg(one), one))

    def below(self, a: Any, b: Any) -> Any:
        """The order of numbers, in which -0 is below +0."""
        zeros = z3.And(z3.fpIsZero(a), z3.fpIsZero(b))
        return z3.Or(z3.fpLT(a, b), z3.And(zeros, z3.fpIsNegative(a), z3.fpIsPositive(b)))

    def op_maximum_num(self, a: Any, b: Any) -> Any:
        return z3.If(z3.fpIsNaN(a), b, z3.If(z3.Or(z3.fpIsNaN(b), z3.Not(self.below(a, b))), a, b))

    def op_minimum_num(self, a: Any, b: Any) -> Any:
        return z3.If(z3.fpIsNaN(a), b, z3.If(z3.Or(z3.fpIsNaN(b), z3.Not(self.below(b, a))), a, b))

    def op_maximum(self, a: Any, b: Any) -> Any:
        return z3.If(z3.Or(z3.fpIsNaN(a), z3.fpIsNaN(b)), z3.fpNaN(self.sort), z3.If(self.below(a, b), b, a))

    def op_minimum(self, a: Any, b: Any) -> Any:
        return z3.If(z3.Or(z3.fpIsNaN(a), z3.fpIsNaN(b)), z3.fpNaN(self.sort), z3.If(self.below(b, a), b, a))

    def op_lt(self, a: Any, b: Any) -> Any:
        return z3.fpLT(a, b)

    def op_le(self, a: Any, b: Any) -> Any:
        return z3.fpLEQ(a, b)

    def op_isnan(self, a: Any) -> Any:
        return z3.fpIsNaN(a)

    def op_isinf(self, a: Any) -> Any:
        return z3.fpIsInf(a)
