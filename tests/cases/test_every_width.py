"""Integers of every width in kernels, against Python's own: all pairs of 8 bits, extremes and random ones beyond."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

WIDTHS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
TARGETS = ("reference", "cpu")
NUMPY = {name: np.dtype(name[0] + str(int(name[1:]) // 8)) for name in WIDTHS}

TWO: tuple[Callable[[int, int], int], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a & b,
    lambda a, b: a | b,
    lambda a, b: a ^ b,
    max,
    min,
    lambda a, b: -a,
    lambda a, b: ~a,
    lambda a, b: abs(a),
    lambda a, b: (a > b) + 2 * (a >= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a < b) + 32 * (a <= b),
)


def kernels(name: str) -> tuple[Any, Any, Any]:
    d = getattr(I, name)

    @intent.kernel
    def two(a: I.In[d, ("N",)], b: I.In[d, ("N",)], y: I.Out[d, (12, "N")]):
        v, w = a[:], b[:]
        y[0, :], y[1, :], y[2, :] = v + w, v - w, v * w
        y[3, :], y[4, :], y[5, :] = v & w, v | w, v ^ w
        y[6, :], y[7, :] = I.maximum(v, w), I.minimum(v, w)
        y[8, :], y[9, :], y[10, :] = -v, ~v, I.abs(v)
        order = I.cast(v > w, d) + 2 * I.cast(v >= w, d) + 4 * I.cast(v == w, d)
        y[11, :] = order + 8 * I.cast(v != w, d) + 16 * I.cast(v < w, d) + 32 * I.cast(v <= w, d)

    @intent.kernel
    def divided(a: I.In[d, ("N",)], b: I.In[d, ("N",)], y: I.Out[d, (3, "N")]):
        y[0, :], y[1, :], y[2, :] = a[:] // b[:], a[:] % b[:], I.ceil_div(a[:], b[:])

    @intent.kernel
    def shifted(a: I.In[d, ("N",)], b: I.In[d, ("N",)], y: I.Out[d, (2, "N")]):
        y[0, :], y[1, :] = a[:] << b[:], a[:] >> b[:]

    return two, divided, shifted


def pairs(name: str) -> tuple[list[int], list[int]]:
    """All pairs of 8 bits; of wider integers those of extremes, small and random numbers."""
    least, most = np.iinfo(NUMPY[name]).min, np.iinfo(NUMPY[name]).max
    bits = int(name[1:])
    if bits == 8:
        points = list(range(least, most + 1))
    else:
        rng = np.random.default_rng(bits)
        near = [v for c in (least, 0, most, 1 << bits // 2) for v in range(c - 3, c + 4) if least <= v <= most]
        drawn = [int(v) for v in rng.integers(least, most, 40, NUMPY[name], endpoint=True)]
        points = [*near, *drawn, *(v >> bits // 2 for v in drawn), *(v >> bits - 5 for v in drawn[:20])]
    return [a for a in points for _ in points], [b for _ in points for b in points]


def agree(kernel: Any, target: str, name: str, a: list[int], b: list[int], wanted: list[list[int]]) -> None:
    d = NUMPY[name]
    y = np.zeros((len(wanted), len(a)), d)
    intent.compile(kernel, target)(np.array(a, d), np.array(b, d), y)
    most, bits = int(np.iinfo(d).max), 8 * d.itemsize
    for row, want in zip(y.tolist(), wanted, strict=True):
        wrapped = [v - (1 << bits) if v > most else v for v in (w % (1 << bits) for w in want)]
        if row != wrapped:
            k = next(k for k, (got, w) in enumerate(zip(row, wrapped, strict=True)) if got != w)
            raise AssertionError(f"operation {wanted.index(want)} of {a[k]}, {b[k]}: {row[k]}, not {wrapped[k]}")


@pytest.mark.parametrize("name", WIDTHS)
@pytest.mark.parametrize("target", TARGETS)
def test_operators_are_pythons_modulo_the_width(target: str, name: str) -> None:
    two, divided, shifted = kernels(name)
    a, b = pairs(name)
    agree(two, target, name, a, b, [[f(x, y) for x, y in zip(a, b, strict=True)] for f in TWO])
    least = int(np.iinfo(NUMPY[name]).min)
    valid = [(x, y) for x, y in zip(a, b, strict=True) if y and not (least and x == least and y == -1)]
    c, d = [x for x, _ in valid], [y for _, y in valid]
    results = [[x // y for x, y in valid], [x % y for x, y in valid], [-(-x // y) for x, y in valid]]
    agree(divided, target, name, c, d, results)
    amounts = [(x, s) for x in dict.fromkeys(a) for s in range(int(name[1:]))]
    e, f = [x for x, _ in amounts], [s for _, s in amounts]
    agree(shifted, target, name, e, f, [[x << s for x, s in amounts], [x >> s for x, s in amounts]])


def casts(source: Any, target: Any) -> Any:
    @intent.kernel
    def cast(x: I.In[source, ("N",)], y: I.Out[target, ("N",)], z: I.Out[target, ("N",)]):
        y[:], z[:] = I.cast(x[:], target), I.saturate_cast(x[:], target)

    return cast


@pytest.mark.parametrize("target", TARGETS)
def test_casts_between_all_widths_wrap(target: str) -> None:
    for source in WIDTHS:
        s, points = getattr(I, source), list(dict.fromkeys(pairs(source)[0]))
        for other in WIDTHS:
            d = getattr(I, other)

            y, z = np.zeros(len(points), NUMPY[other]), np.zeros(len(points), NUMPY[other])
            intent.compile(casts(s, d), target)(np.array(points, NUMPY[source]), y, z)
            least, most = int(np.iinfo(NUMPY[other]).min), int(np.iinfo(NUMPY[other]).max)
            bits = 8 * NUMPY[other].itemsize
            wrapped = [v - (1 << bits) if v > most else v for v in (p % (1 << bits) for p in points)]
            assert y.tolist() == wrapped, (source, other)
            assert z.tolist() == [min(max(p, least), most) for p in points], (source, other)


EIGHT = {
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, 4, 7, 448.0),
    "f8e5m2": (ml_dtypes.float8_e5m2, 5, 15, 57344.0),
}


def decoded(code: int, exponent_bits: int, bias: int, finite_only: bool) -> float:
    """The number that 8 bits stand for: a sign, an exponent, and the rest a fraction."""
    fraction_bits = 7 - exponent_bits
    exponent, fraction = code >> fraction_bits & (1 << exponent_bits) - 1, code & (1 << fraction_bits) - 1
    sign, last = -1.0 if code >> 7 else 1.0, (1 << exponent_bits) - 1
    if finite_only and code & 127 == 127:
        return float("nan")
    if not finite_only and exponent == last:
        return float("nan") if fraction else sign * float("inf")
    significand = fraction / (1 << fraction_bits) + (exponent > 0)
    return float(sign * significand * 2.0 ** (max(exponent, 1) - bias))


@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize("target", TARGETS)
def test_every_number_of_8_bits_and_every_half_between_two(target: str, name: str) -> None:
    d, (kind, exponent_bits, bias, largest) = getattr(I, name), EIGHT[name]

    @intent.kernel
    def widened(x: I.In[d, ("N",)], y: I.Out[I.f32, ("N",)]):
        y[:] = I.cast(x[:], I.f32)

    @intent.kernel
    def narrowed(x: I.In[I.f32, ("N",)], y: I.Out[d, ("N",)], z: I.Out[d, ("N",)]):
        y[:], z[:] = I.cast(x[:], d), I.saturate_cast(x[:], d)

    codes = np.arange(256, dtype=np.uint8)
    numbers = np.array([decoded(int(c), exponent_bits, bias, name == "f8e4m3fn") for c in codes], np.float32)
    y = np.zeros(256, np.float32)
    intent.compile(widened, target)(codes.view(kind), y)
    np.testing.assert_array_equal(y.view(np.uint32)[numbers == numbers], numbers.view(np.uint32)[numbers == numbers])
    np.testing.assert_array_equal(np.isnan(y), np.isnan(numbers))

    finite = sorted({float(v) for v in numbers if abs(v) <= largest})
    ties = [(p + q) / 2 for p, q in zip(finite, finite[1:], strict=False)]
    near = [np.nextafter(np.float32(t), np.float32(side)) for t in ties for side in (-np.inf, np.inf)]
    x = np.array([*finite, *ties, *near], np.float32)
    even = {v: not int(c) & 1 for c, v in zip(codes, numbers.tolist(), strict=True)}

    def nearest(v: float) -> float:
        below, above = max(f for f in finite if f <= v), min(f for f in finite if f >= v)
        if v - below != above - v:
            return below if v - below < above - v else above
        return below if even[below] else above

    got, kept = np.zeros(len(x), kind), np.zeros(len(x), kind)
    intent.compile(narrowed, target)(x, got, kept)
    wanted = [nearest(float(v)) for v in x]
    assert got.astype(np.float32).tolist() == wanted
    assert kept.astype(np.float32).tolist() == wanted
