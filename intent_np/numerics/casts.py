"""Conversions between element types: `cast`, `saturate_cast`, `bitcast`.

Every float narrowing rounds once, to nearest even.  `ml_dtypes` narrows f64 and integers through f32, which rounds
twice; the odd-rounded f32 in between (`_to_odd`) keeps the outcome that of one rounding.
"""

from __future__ import annotations

import numpy as np

from ..terms.dtypes import DType, bool_, f32, f64
from .literals import FORMATS
from .storage import Array, quiet, storage, widen


def about(dst: DType, src: DType, mode: str = "wrap") -> str:
    """What a conversion from `src` to `dst` gives, `wrap` or `saturate`, in words."""
    saturates = mode == "saturate"
    if dst is bool_:
        return "whether it is not 0: true of NaN"
    if src is bool_:
        return "0 or 1"
    if dst.is_integer:
        if saturates:
            return "truncated, then the nearest in range; of NaN 0" if src.is_float else "the nearest in range"
        return "truncated" if src.is_float else "modulo 2^w, w its width"
    form = FORMATS[dst.name]
    if src.is_float:
        reach, exact = FORMATS[src.name].largest, FORMATS[src.name].precision <= form.precision
    else:
        reach, exact = float(src.range[1]), src.bits - src.is_signed <= form.precision
    overflows = reach >= form.limit
    text = "exact" if exact and not overflows else "to nearest even, once"
    if saturates:
        limited = overflows or (src.is_float and FORMATS[src.name].infinite)
        return text + ", limited to the largest finite value" * limited
    return text + "; infinity past the range" * (overflows and form.infinite)


@quiet
def cast(x: Array, dst: DType, src: DType) -> Array:
    """`x`, of element type `src`, as `dst`.

    Integers wrap; floats round to nearest even and overflow to infinity; floats to integers truncate; anything to bool
    asks whether it is not zero.  Lanes of `invalid_cast` get some value: 0, or NaN in f8e4m3fn.
    """
    x = np.asarray(x, storage(src))
    if src is dst or storage(src) == storage(dst):
        return x
    if dst is bool_:
        return np.asarray(widen(x, src) != 0)
    if not src.is_float:
        return narrow(_float64(x), dst) if _rounds_twice(dst) else x.astype(storage(dst))
    if dst.is_float:
        return narrow(widen(x, src), dst)
    x = widen(x, src)
    return np.where(in_range(x, dst), x, x.dtype.type(0)).astype(storage(dst))


@quiet
def saturate_cast(x: Array, dst: DType, src: DType) -> Array:
    """`x` as the nearest value of `dst`: clamped to its finite range.

    To an integer type NaN gives 0 and fractions truncate; to a float type NaN stays and infinities give the largest
    finite value.
    """
    x = np.asarray(x, storage(src))
    if src is bool_ or dst is bool_:
        return cast(x, dst, src)
    if dst.is_integer:
        return _clamped_float(widen(x, src), dst) if src.is_float else _clamped_integer(x, dst, src)
    largest = FORMATS[dst.name].largest
    if not src.is_float and largest > 2**64:
        return cast(x, dst, src)
    wide = widen(x, src).astype(np.float64) if src.is_float else _float64(x)
    return narrow(np.clip(wide, -largest, largest), dst)


def in_range(x: Array, dst: DType) -> Array:
    """Where the truncated value of the f32 or f64 array `x` is an integer of `dst`; NaN is not."""
    least, most = dst.range
    whole = np.trunc(x)
    return np.asarray((whole >= float(least)) & (whole < float(most + 1)))  # both powers of two, or 0: exact


def bitcast(x: Array, dst: DType, src: DType) -> Array:
    """The bits of `x` read as `dst`, a type of the same width; bool is a truth value, not eight bits."""
    if src.bits != dst.bits or (src is bool_) != (dst is bool_):
        raise TypeError(f"bitcast from {src} to {dst}: not types of one width, or one is bool")
    return np.asarray(x, storage(src)).view(storage(dst))


@quiet
def narrow(x: Array, dst: DType) -> Array:
    """An f32 or f64 array as the float type `dst`, rounded once to nearest even; magnitudes past the range overflow."""
    if _rounds_twice(dst) and x.dtype == np.float64:
        x = _to_odd(x)
    return x.astype(storage(dst), copy=False)


def _rounds_twice(dst: DType) -> bool:
    """Whether NumPy reaches `dst` through f32."""
    return dst.name in ("bf16", "f8e4m3fn", "f8e5m2")


def _to_odd(x: Array) -> Array:
    """f64 to f32, an inexact result taking the neighbour whose last bit is 1.

    A value so rounded to p bits rounds to any q <= p-2 bits as the original would.
    """
    near = x.astype(np.float32)
    raw = near.view(np.int32)
    exact = near.astype(np.float64)
    # an inexact even result moves one step towards x; infinity moves back to the largest finite value, which is odd
    away = np.where(np.abs(exact) > np.abs(x), np.int32(-1), np.int32(1))
    step = np.where((exact != x) & (raw & 1 == 0) & ~np.isnan(x), away, np.int32(0))
    return np.asarray(raw + step).view(np.float32)


def _float64(x: Array) -> Array:
    """Integers as f64, odd-rounded where they need more than 53 bits, so that narrowing again rounds once."""
    if x.dtype.itemsize < 8 or x.dtype == np.float64:
        return x.astype(np.float64)
    low = x & x.dtype.type(0x7FF)
    sticky = (x - low) | np.where(low != 0, x.dtype.type(0x800), x.dtype.type(0))
    large = np.abs(x.astype(np.float64)) >= 2.0**53
    return np.where(large, sticky, x).astype(np.float64)


def _clamped_float(x: Array, dst: DType) -> Array:
    to = storage(dst).type
    least, most = dst.range
    ends = np.where(x > 0, to(most), np.where(x < 0, to(least), to(0)))
    return np.where(in_range(x, dst), cast(x, dst, f64 if x.dtype == np.float64 else f32), ends)


def _clamped_integer(x: Array, dst: DType, src: DType) -> Array:
    """Clamping in the source type: only the ends that it can reach matter."""
    least, most = max(dst.range[0], src.range[0]), min(dst.range[1], src.range[1])
    return np.clip(x, storage(src).type(least), storage(src).type(most)).astype(storage(dst))
