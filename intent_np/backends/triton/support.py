"""Functions that a generated module defines for what one Triton expression cannot say, or says wrongly.

Each has the meaning that the language gives the operator, for every operand that is valid, and never executes what
LLVM calls undefined: it would remove the author's own guard, as in `select(b == 0, 0, a // b)`.

Signed numbers are divided after their remainder was taken away, which LLVM makes one division again: of lanes that
count up from a multiple of a divisor Triton computes one quotient for as many as the divisor says, also where they
count from below 0 and the quotient is truncated (-2 // 2 is -1, and -1 // 2 is 0).
"""

from __future__ import annotations

from collections.abc import Iterable

LIBDEVICE = "libdevice"
"""Stands for the import of the library, among the names of functions."""

_UNTIL_ALONE = """\
    bits: tl.constexpr = pointers.dtype.element_ty.primitive_bitwidth
    word: tl.constexpr = tl.int16 if bits == 16 else tl.int32 if bits == 32 else tl.int64
    words = pointers.to(tl.pointer_type(word), bitcast=True)
    places = words.to(tl.int64)
    seen = tl.load(words, mask=mask, other=0)
    waiting = mask
    while greatest_lane(waiting.to(tl.int64)) > 0:
        next = combine(seen.to(values.dtype, bitcast=True), values).to(word, bitcast=True)
        some = greatest_lane(tl.where(waiting, places, 0))
        at = tl.where(waiting, places, some).to(tl.pointer_type(word))
        found = tl.atomic_cas(at, seen, tl.where(waiting, next, seen), sem=sem)
        waiting = waiting & (found != seen)
        seen = tl.where(waiting, found, seen)
    return seen.to(values.dtype, bitcast=True)
"""
"""What `update_at` and `update_with_at` do."""

SUPPORT: dict[str, str] = {
    "nonzero": '''
def nonzero(b):
    """A divisor that may be used before anybody asks whether it is zero."""
    return tl.where(b == 0, 1, b)
''',
    "floor_div": '''
def floor_div(a, b):
    """The quotient rounded down; `//` truncates."""
    divisor = tl.where((b == 0) | (b == -1), 1, b)
    remainder = a % divisor
    floor = (a - remainder) // divisor - ((remainder != 0) & ((a ^ divisor) < 0))
    return tl.where(b == -1, -a, floor)
''',
    "floor_mod": '''
def floor_mod(a, b):
    """The remainder with the sign of `b`; `%` takes that of `a`."""
    divisor = tl.where((b == 0) | (b == -1), 1, b)
    remainder = a % divisor
    return remainder + tl.where((remainder != 0) & ((remainder ^ divisor) < 0), divisor, 0)
''',
    "ceil_div": '''
def ceil_div(a, b):
    """The quotient rounded up."""
    divisor = tl.where((b == 0) | (b == -1), 1, b)
    remainder = a % divisor
    ceiling = (a - remainder) // divisor + ((remainder != 0) & ((a ^ divisor) >= 0))
    return tl.where(b == -1, -a, ceiling)
''',
    "ceil_div_natural": '''
def ceil_div_natural(a, b):
    """The quotient of numbers that are not negative, rounded up; `tl.cdiv` overflows near the end of the range."""
    divisor = tl.where(b == 0, 1, b)
    return a // divisor + (a % divisor != 0)
''',
    "update_at": '''
def update_at(pointers, values, mask, combine: tl.constexpr, sem: tl.constexpr):
    """Combine values into elements, which may meet: each lane tries until nobody has come between.

    There is no compare-exchange with a mask: lanes that are done, or not in it, go where another one goes, and change
    nothing."""
'''
    + _UNTIL_ALONE,
    "update_with_at": '''
def update_with_at(pointers, values, more, mask, combine: tl.constexpr, sem: tl.constexpr):
    """Combine values into elements, as `update_at` does, with more that the combine uses."""
'''
    + _UNTIL_ALONE.replace("values)", "values, *more)"),
    "compare_exchange_at": '''
def compare_exchange_at(pointers, expected, desired, mask, sem: tl.constexpr):
    """A compare-exchange in the lanes of the mask; the others go where one of them goes, and change nothing.

    What is expected is read behind the exchange: else what is found may get its register, and Triton clears that one
    before the instruction that compares."""
    places = pointers.to(tl.int64)
    some = greatest_lane(tl.where(mask, places, 0))
    found = tl.zeros_like(expected)
    if some != 0:
        at = tl.where(mask, places, some).to(pointers.dtype)
        found = tl.atomic_cas(at, expected, tl.where(mask, desired, expected), sem=sem)
    return tl.where(mask, found, expected)
''',
    "greatest_lane": '''
def greatest_lane(x):
    """Of all lanes, or of the only one."""
    return tl.max(x) if len(x.shape) > 0 else x
''',
    "sign": '''
def sign(x):
    """-1 or 1; zeros keep their sign, and NaN stays."""
    return tl.where(x > 0, 1, tl.where(x < 0, -1, x))
''',
    "is_nan": '''
def is_nan(x):
    return x != x
''',
    "sigmoid": '''
def sigmoid(x):
    """1 / (1 + exp(-x)), whose exponential would overflow where the result is small."""
    small = libdevice.exp(-tl.abs(x))
    return libdevice.div_rn(tl.where(x < 0, small, 1.0), 1.0 + small)
''',
    "exp2_approx": '''
def exp2_approx(x):
    """2 ** x in one instruction; results below 2**-126 are zero."""
    return tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
''',
    "tanh_approx": '''
def tanh_approx(x):
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
''',
    "saturate": '''
def saturate(x, dtype: tl.constexpr, least: tl.constexpr, most: tl.constexpr):
    """Truncated, and clamped to the range of an integer type; NaN gives 0."""
    inside = tl.where(x == x, x, 0.0).to(dtype)
    return tl.where(x >= most + 1.0, most, tl.where(x < least, least, inside))
''',
    "round_to_odd": '''
def round_to_odd(x):
    """f64 to f32 such that rounding once more, to a narrower type, is right: inexact results get a last bit of 1."""
    near = x.to(tl.float32)
    exact = near.to(tl.float64)
    bits = near.to(tl.int32, bitcast=True)
    step = tl.where(tl.abs(exact) > tl.abs(x), -1, 1)
    inexact = (exact != x) & (x == x) & ((bits & 1) == 0)
    return (bits + tl.where(inexact, step, 0)).to(tl.float32, bitcast=True)
''',
    "int_to_bfloat16": '''
def int_to_bfloat16(x):
    """64 bits to bf16, rounded once: by way of f64, where the bits that it cannot hold are kept as a single one."""
    low = x & 0xFFF
    sticky = tl.where(low != 0, (x - low) | 0x800, x)
    return tl.where(((x << 11) >> 11) == x, x, sticky).to(tl.float64).to(tl.bfloat16)
''',
    "to_float8e5": '''
def to_float8e5(x):
    """f32 to e5m2 with overflow to infinity; the conversion of the hardware saturates."""
    bits = x.to(tl.float8e5).to(tl.uint8, bitcast=True)
    return tl.where(tl.abs(x) >= 61440.0, bits + 1, bits).to(tl.float8e5, bitcast=True)
''',
    "from_float8e4_portable": '''
def from_float8e4_portable(x):
    """The bits of e4m3 to f32: as those of a number 2**120 times as small."""
    bits = x.to(tl.uint8, bitcast=True).to(tl.int32)
    small = (((bits & 0x80) << 24) | ((bits & 0x7F) << 20)).to(tl.float32, bitcast=True)
    return tl.where((bits & 0x7F) == 0x7F, float("nan"), small * 1329227995784915872903807060280344576.0)
''',
    "to_float8e4_portable": '''
def to_float8e4_portable(x):
    """f32 to the bits of e4m3, rounded to nearest even; NaN for what is too large.

    Beside 2**14, the last place of f32 is that of the smallest numbers of e4m3."""
    bits = x.to(tl.int32, bitcast=True)
    rest = bits & 0x7FFFFFFF
    large = ((rest + 0x7FFFF + ((rest >> 20) & 1)) >> 20) - 960
    small = (tl.abs(x) + 16384.0).to(tl.int32, bitcast=True) - 0x46800000
    found = tl.where(tl.abs(x) < 0.015625, small, tl.where(large > 0x7F, 0x7F, large))
    return (tl.where(x == x, found, 0x7F) | ((bits >> 24) & 0x80)).to(tl.uint8)
''',
    "from_float8e5_portable": '''
def from_float8e5_portable(x):
    """e5m2 to f16, whose upper byte it is."""
    return (x.to(tl.uint8, bitcast=True).to(tl.uint16) << 8).to(tl.float16, bitcast=True)
''',
    "to_float8e5_portable": '''
def to_float8e5_portable(x):
    """f32 to e5m2 with overflow to infinity, in integers: through f16 rounded to odd, whose upper byte is e5m2."""
    near = x.to(tl.float16)
    exact = near.to(tl.float32)
    bits = near.to(tl.uint16, bitcast=True)
    odd = tl.where(tl.abs(exact) > tl.abs(x), bits - 1, bits + 1)
    bits = tl.where((exact != x) & ((bits & 1) == 0), odd, bits)
    rounded = (bits + 0x7F + ((bits >> 8) & 1)) >> 8
    return tl.where(x == x, rounded, 0x7F).to(tl.uint8).to(tl.float8e5, bitcast=True)
''',
}  # fmt: skip

_NEEDS_LIBDEVICE = frozenset(name for name, text in SUPPORT.items() if "libdevice." in text)


def imports(used: Iterable[str]) -> list[str]:
    """The import lines that these functions, or `LIBDEVICE` itself, need."""
    needed = any(name == LIBDEVICE or name in _NEEDS_LIBDEVICE for name in used)
    return ["from triton.language.extra import libdevice"] if needed else []


def functions(used: Iterable[str]) -> list[list[str]]:
    """The lines of each of these functions, in one fixed order."""
    wanted = set(used)
    return [["@triton.jit", *text.strip().split("\n")] for name, text in SUPPORT.items() if name in wanted]
