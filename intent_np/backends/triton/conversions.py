"""Conversions between element types in Triton's Python.

`.to` rounds to nearest even between the standard types, wraps integers, truncates floats, and asks whether a value is
not zero for bool.  It is not used where it differs: 8-bit floats saturate, have no way from integers or f64, and e5m2
loses its infinities on the way to bf16.
"""

from __future__ import annotations

from typing import NamedTuple

from ...numerics.literals import FORMATS
from ...terms.dtypes import DType, bf16, bool_, f8e4m3fn, f8e5m2, f16, f32, f64

COMPARE, ATOM = 1, 10

TYPES = {
    "bool": "tl.int1", "index": "tl.int64",
    "i8": "tl.int8", "i16": "tl.int16", "i32": "tl.int32", "i64": "tl.int64",
    "u8": "tl.uint8", "u16": "tl.uint16", "u32": "tl.uint32", "u64": "tl.uint64",
    "f16": "tl.float16", "bf16": "tl.bfloat16", "f32": "tl.float32", "f64": "tl.float64",
    "f8e4m3fn": "tl.float8e4nv", "f8e5m2": "tl.float8e5",
}  # fmt: skip
"""Element types as Triton's Python names them."""

SMALL_FLOATS = 89
"""The first compute capability that knows e4m3.  Before it, elements are held as the bytes that they are."""


def spelled_type(dtype: DType, capability: int) -> str:
    """An element type as Triton's Python names what holds it."""
    return "tl.uint8" if dtype is f8e4m3fn and capability < SMALL_FLOATS else TYPES[dtype.name]


Spelled = tuple[str, int]
"""An expression's text and its precedence."""


class Operand(NamedTuple):
    """A spelled operand.  Formatting it with a level puts it into parentheses where it binds less tightly."""

    text: str
    level: int

    def __format__(self, least: str) -> str:
        return f"({self.text})" if least and self.level < int(least) else self.text


def convert(value: Operand, source: DType, dtype: DType, mode: str, capability: int) -> Spelled:
    """`value` of type `source` as `dtype`: by `wrap` (the ordinary cast), `saturate`, or `bits`."""
    if mode == "bits":
        return value if source is dtype else to(value, dtype, ", bitcast=True", capability)
    if mode == "saturate" and bool_ not in (source, dtype):
        return _saturated(value, source, dtype, capability)
    return _cast(value, source, dtype, capability)


def to(value: Spelled, dtype: DType, more: str = "", capability: int = SMALL_FLOATS) -> Operand:
    """`value.to(dtype)`, with `more` arguments, as Triton spells it."""
    return Operand(f"{Operand(*value):10}.to({spelled_type(dtype, capability)}{more})", ATOM)


def _is_small(d: DType) -> bool:
    return d.is_float and d.bits == 8


def _single(value: Operand, source: DType, capability: int) -> Operand:
    """In f32, so that rounding once more to a narrower type is right."""
    if source is f32:
        return value
    return Operand(f"round_to_odd({value})", ATOM) if source is f64 else _cast(value, source, f32, capability)


def _cast(value: Operand, source: DType, dtype: DType, capability: int) -> Operand:
    if source is dtype or TYPES[source.name] == TYPES[dtype.name]:
        return value
    if dtype is f8e5m2:
        name = "to_float8e5" if capability >= 89 else "to_float8e5_portable"
        return Operand(f"{name}({_single(value, source, capability)})", ATOM)
    if dtype is f8e4m3fn:
        single = _single(value, source, capability)
        return to(single, dtype) if capability >= SMALL_FLOATS else Operand(f"to_float8e4_portable({single})", ATOM)
    if dtype is bf16 and source.is_integer and source.bits >= 32 and capability < 90:  # the hardware goes through f32
        return to(to(value, f64), bf16) if source.bits == 32 else Operand(f"int_to_bfloat16({value})", ATOM)
    if source is f8e4m3fn and capability < SMALL_FLOATS:
        return _cast(Operand(f"from_float8e4_portable({value})", ATOM), f32, dtype, capability)
    if source is f8e5m2 and capability < 89:  # Triton uses an instruction that is not there
        return _cast(Operand(f"from_float8e5_portable({value})", ATOM), f16, dtype, capability)
    if _is_small(source) and dtype not in (f16, f32):
        return to(to(value, f32), dtype)
    return to(value, dtype)


def _saturated(value: Operand, source: DType, dtype: DType, capability: int) -> Operand:
    if dtype.is_integer:
        if not source.is_float:
            return _clamped_integer(value, source, dtype)
        wide = value if source in (f32, f64) else _cast(value, source, f32, capability)
        least, most = dtype.range
        return Operand(f"saturate({wide}, {TYPES[dtype.name]}, {least}, {most})", ATOM)
    if _is_small(dtype) and capability >= 89:
        return to(_single(value, source, capability), dtype)  # the hardware saturates
    largest = FORMATS[dtype.name].largest
    finite = not source.is_float or not FORMATS[source.name].infinite
    if finite and (FORMATS[source.name].largest if source.is_float else source.range[1]) <= largest:
        return _cast(value, source, dtype, capability)
    kind = f64 if f64 in (source, dtype) else f32
    clamped = _clamped_float(_cast(value, source, kind, capability), largest, kind)
    return _cast(clamped, kind, dtype, capability)


def _clamped_float(value: Operand, largest: float, kind: DType) -> Operand:
    """Between the largest finite values; NaN stays.  `tl.clamp` cannot do this for f64."""
    ends = [f"tl.full([], {end!r}, tl.float64)" if kind is f64 else repr(end) for end in (-largest, largest)]
    nan = "propagate_nan=tl.PropagateNan.ALL"
    return Operand(f"tl.minimum(tl.maximum({value}, {ends[0]}, {nan}), {ends[1]}, {nan})", ATOM)


def _clamped_integer(value: Operand, source: DType, dtype: DType) -> Operand:
    """The ends that `source` can reach; what widens on the way is narrowed by the cast."""
    text = value.text
    if dtype.range[0] > source.range[0]:
        text = f"tl.maximum({text}, {dtype.range[0]})"
    if dtype.range[1] < source.range[1]:
        text = f"tl.minimum({text}, {dtype.range[1]})"
    return _cast(value if text == value.text else Operand(text, ATOM), source, dtype, 0)
