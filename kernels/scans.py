"""Running sums, maxima and recurrences, and what is made of the places that they give."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import Approx, exact, running_total
from intent_np.testing.formats import FORMATS

from .extents import ROWS, VECTORS


@intent.kernel
def cumsum(
    x: I.In[I.f32, ("M", "N")],
    y: I.Out[I.f32, ("M", "N")],
    INCLUSIVE: I.Constexpr[bool] = True,
    REVERSE: I.Constexpr[bool] = False,
):
    """y[m, n] = sum of x[m, i] for i <= n, or i < n if not INCLUSIVE, from the other end if REVERSE."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        y[row, columns] = I.cumsum(x[row, columns], axis=0, inclusive=INCLUSIVE, reverse=REVERSE)


@intent.kernel
def cumsum_long(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    """y[n] = sum of x[i] for i <= n."""
    y[:] = I.cumsum(x[:], axis=0)


@intent.fn
def later_if_larger(a, b):
    """The larger of two (value, place), the lower place of equal ones; NaN is larger than all."""
    equal = (b.value == a.value) | (I.isnan(b.value) & I.isnan(a.value))
    larger = (b.value > a.value) | (I.isnan(b.value) & ~I.isnan(a.value))
    taken = larger | (equal & (b.place < a.place))
    return I.record(value=I.select(taken, b.value, a.value), place=I.select(taken, b.place, a.place))


@intent.kernel
def cummax_index(x: I.In[I.f32, ("M", "N")], value: I.Out[I.f32, ("M", "N")], place: I.Out[I.i64, ("M", "N")]):
    """The largest of x[m, 0] to x[m, n] and where it first stands; NaN is larger than all."""
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        pairs = I.record(value=x[row, columns], place=I.cast(I.indices(columns), I.i64))
        nothing = I.record(value=float("-inf"), place=0x7FFF_FFFF_FFFF_FFFF)
        found = I.scan(pairs, axis=0, identity=nothing, combine=later_if_larger, inclusive=True)
        value[row, columns] = found.value
        place[row, columns] = found.place


@intent.fn
def one_map_after_another(a, b):
    """h -> b.factor (a.factor h + a.offset) + b.offset; the order matters."""
    return I.record(factor=a.factor * b.factor, offset=b.factor * a.offset + b.offset)


@intent.kernel
def linear_recurrence(a: I.In[I.f32, ("M", "N")], b: I.In[I.f32, ("M", "N")], h: I.Out[I.f32, ("M", "N")]):
    """h[m, n] = a[m, n] h[m, n - 1] + b[m, n], from h[m, -1] = 0."""
    M, N = a.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        maps = I.record(factor=a[row, columns], offset=b[row, columns])
        nothing = I.record(factor=1.0, offset=0.0)
        found = I.scan(maps, axis=0, identity=nothing, combine=one_map_after_another, inclusive=True)
        h[row, columns] = found.offset


@intent.fn
def partitioned(kept):
    """Where each element goes when those that are kept come first, and how many they are.  Both parts stay in order, so
    that the places are a permutation."""
    one = I.cast(kept, I.i64)
    before, count = I.cumsum(one, axis=0, inclusive=False), I.reduce.sum(one)
    i = I.cast(I.indices(I.domain(0, kept.shape[0])), I.i64)
    return I.select(kept, before, count + i - before), count


@intent.kernel
def stream_compact(
    x: I.In[I.f32, ("N",)], keep: I.In[I.bool, ("N",)], y: I.InOut[I.f32, ("N",)], count: I.Out[I.i64, ()]
):
    """The elements of x that are kept, in order, at the front of y, whose rest stays as it is, and their number."""
    place, found = partitioned(keep[:])
    I.scatter_unique(y, index=I.assume_unique(I.assume_in_bounds(place, y)), value=x[:], valid=keep[:])
    count[()] = found


@intent.kernel
def nonzero(x: I.In[I.i32, ("N",)], places: I.InOut[I.i64, ("N",)], count: I.Out[I.i64, ()]):
    """The places of the elements of x that are not 0, in order, at the front of `places`, and their number."""
    points = I.domain(0, x.shape[0])
    kept = x[points] != 0
    to, found = partitioned(kept)
    to = I.assume_unique(I.assume_in_bounds(to, places))
    I.scatter_unique(places, index=to, value=I.cast(I.indices(points), I.i64), valid=kept)
    count[()] = found


# Oracles
def cumsum_oracle(x, INCLUSIVE, REVERSE):
    x = x[:, ::-1] if REVERSE else x
    if not INCLUSIVE:
        x = np.concatenate([np.zeros_like(x[:, :1]), x[:, :-1]], axis=1)
    found = running_total(exact(x), axis=1)
    return {"y": found[:, ::-1] if REVERSE else found}


def cumsum_long_oracle(x):
    return {"y": running_total(exact(x), axis=0)}


def cummax_index_oracle(x):
    """A place is a new maximum if it is larger than all before it; the last such place holds until the next."""
    M, N = x.shape
    if N == 0:
        return {"value": x, "place": np.zeros((M, 0), "i8")}
    order = np.where(np.isnan(x), np.inf, x)
    before = np.concatenate([np.full((M, 1), -np.inf), np.maximum.accumulate(order, axis=1)[:, :-1]], axis=1)
    seen = np.cumsum(np.isnan(x), axis=1) - np.isnan(x) > 0
    new = ((order > before) | np.isnan(x)) & ~seen
    new[:, 0] = True
    place = np.maximum.accumulate(np.where(new, np.arange(N), 0), axis=1)
    return {"value": np.take_along_axis(x, place, axis=1), "place": place}


def linear_recurrence_oracle(a, b):
    """Step by step.  In any grouping a result is a sum of products of at most n factors, each step of two roundings of
    what the same sum of magnitudes holds."""
    h, size = np.zeros_like(b), np.zeros_like(b)
    for n in range(b.shape[1]):
        h[:, n], size[:, n] = b[:, n], np.abs(b[:, n])
        if n:
            h[:, n] += a[:, n] * h[:, n - 1]
            size[:, n] += np.abs(a[:, n]) * size[:, n - 1]
    steps = np.arange(b.shape[1])
    tiny = 2.0**-149 * (steps + 1)  # each product may fall below the normal numbers
    exactly = steps == 0  # the first is b[m, 0] itself
    error = np.where(exactly, 0.0, np.expm1(2 * (steps + 1) * 2.0**-24) * size + tiny)
    return {"h": Approx(h, error, FORMATS["f32"])}


def _front(found, rest):
    return np.concatenate([found, rest[len(found) :]])


def stream_compact_oracle(x, keep, y):
    return {"y": _front(x[keep], y), "count": keep.sum()}


def nonzero_oracle(x, places):
    found = np.flatnonzero(x)
    return {"places": _front(found, places), "count": np.int64(len(found))}


def _factors(extents, rng):
    """Factors of both signs that neither die out nor grow."""
    return {"a": rng.uniform(-1.0, 1.0, (extents["M"], extents["N"]))}


def _sparse(extents, rng):
    return {"x": rng.integers(-3, 4, extents["N"]) * (rng.random(extents["N"]) < rng.random())}


def _cumsum(name, inclusive, reverse):
    return Case(
        name=name,
        kernel=cumsum,
        oracle=cumsum_oracle,
        small=ROWS,
        constexprs={"INCLUSIVE": inclusive, "REVERSE": reverse},
        values=("normal", "integers", "negative", "special"),
        bytes=lambda e: 2 * 4 * e["M"] * e["N"],
        flops=lambda e: e["M"] * e["N"],
    )


CASES = (
    _cumsum("cumsum", True, False),
    _cumsum("cumsum_exclusive", False, False),
    _cumsum("cumsum_reverse", True, True),
    _cumsum("cumsum_exclusive_reverse", False, True),
    Case(
        name="cumsum_long",
        kernel=cumsum_long,
        oracle=cumsum_long_oracle,
        small=VECTORS,
        values=("normal", "integers", "negative", "special"),
        bytes=lambda e: 2 * 4 * e["N"],
        flops=lambda e: e["N"],
    ),
    Case(
        name="cummax_index",
        kernel=cummax_index,
        oracle=cummax_index_oracle,
        small=ROWS,
        bytes=lambda e: 16 * e["M"] * e["N"],
        flops=lambda e: e["M"] * e["N"],
    ),
    Case(
        name="linear_recurrence",
        kernel=linear_recurrence,
        oracle=linear_recurrence_oracle,
        small=ROWS,
        structured=_factors,
        values=("normal", "integers", "negative"),
        bytes=lambda e: 3 * 4 * e["M"] * e["N"],
        flops=lambda e: 2 * e["M"] * e["N"],
    ),
    Case(
        name="stream_compact",
        kernel=stream_compact,
        oracle=stream_compact_oracle,
        small=VECTORS,
        bytes=lambda e: 9 * e["N"] + 8,
        flops=lambda e: e["N"],
    ),
    Case(
        name="nonzero",
        kernel=nonzero,
        oracle=nonzero_oracle,
        small=VECTORS,
        structured=_sparse,
        values=("normal",),
        bytes=lambda e: 12 * e["N"] + 8,
        flops=lambda e: e["N"],
    ),
)
