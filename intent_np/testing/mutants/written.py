"""Kernels that somebody has written for mutants that hardly any other kernel shows to be wrong."""

# ruff: noqa: D103, F821, UP037  (extents are names in quotes)
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import intent_np as intent
import intent_np.language as I


class Written(NamedTuple):
    """A kernel, the launch class that it is compiled for, and whether its debug statements report."""

    kernel: Any
    which: str
    reports: bool


WRITTEN: Final[dict[str, Written]] = {}


def written(which: str = "small blocks", reports: bool = False) -> Callable[[Any], Any]:
    """Keep a kernel under its name."""

    def keep(kernel: Any) -> Any:
        WRITTEN[kernel.name] = Written(kernel, which, reports)
        return kernel

    return keep


# ---- for rules


@written()
@intent.kernel
def quotients(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:] / 3.0


@written()
@intent.kernel
def compared_as_bytes(
    x: I.In[I.i32, ("N",)], y: I.In[I.i32, ("N",)],
    a: I.Out[I.bool, ("N",)], b: I.Out[I.bool, ("N",)], c: I.Out[I.bool, ("N",)], d: I.Out[I.bool, ("N",)],
):  # fmt: skip
    a[:] = I.cast(x[:], I.i8) < I.cast(y[:], I.i8)
    b[:] = I.cast(x[:], I.i8) <= I.cast(y[:], I.i8)
    c[:] = I.cast(x[:], I.i8) == I.cast(y[:], I.i8)
    d[:] = I.cast(x[:], I.i8) != I.cast(y[:], I.i8)


@written()
@intent.kernel
def compared_as_bits(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], a: I.Out[I.bool, ("N",)]):
    a[:] = I.bitcast(x[:], I.i32) < I.bitcast(y[:], I.i32)


@written()
@intent.kernel
def truths_of_bytes(x: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.cast(I.cast(x[:], I.i8) != 0, I.f32)


@written()
@intent.kernel
def ones_among_bytes(x: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.cast(I.cast(x[:], I.i8) == 1, I.f32)


@written()
@intent.kernel
def folded_rows(x: I.In[I.i32, (2, 8)], y: I.Out[I.i32, ()]):
    y[()] = I.reduce.max(I.cumsum(I.reshape(x[:, :], (8, 2)), axis=0), axis=(0, 1))


@written()
@intent.kernel
def folded_sums(x: I.In[I.i32, (4, "N", 3)], y: I.Out[I.i32, (3,)]):
    sums = I.reduce.max(x[:, :, :], axis=1, keepdims=True)
    y[:] = I.reduce.min(I.reshape(sums, (6, 2)), axis=0)[0]


@written()
@intent.kernel
def one_of_the_sums(x: I.In[I.i32, ("M", 6)], y: I.Out[I.i32, ()]):
    sums = I.reduce.sum(x[:, :], axis=0, keepdims=True)
    y[()] = I.reduce.sum(sums[0, 1:2], axis=0)


@written()
@intent.kernel
def last_of_all(w: I.In[I.i64, (5,)], y: I.Out[I.i64, (5,)]):
    y[:] = I.reduce.max(I.cast(I.indices(I.domain(0, 5))[:, None], I.i64) * 3 + w[:], axis=0)


@written()
@intent.kernel
def filled_row(x: I.In[I.i32, (4,)], y: I.Out[I.i32, ()]):
    y[()] = I.reduce.sum(I.full((7,), 2, I.i32) + x[0:1], axis=0)


@written()
@intent.kernel
def parts_of_parts(x: I.In[I.i32, (40,)], a: I.Out[I.i32, ()], b: I.Out[I.i32, ()], c: I.Out[I.i32, ()]):
    sums = I.cumsum(x[:], axis=0)
    a[()] = I.reduce.sum(sums[3:30][2:9], axis=0)
    b[()] = I.reduce.sum(sums[3:30:2][2:9], axis=0)
    c[()] = I.reduce.sum(sums[3:30][2:9:3], axis=0)


@written()
@intent.kernel
def part_of_a_new_axis(x: I.In[I.i32, (40,)], y: I.Out[I.i32, ()]):
    sums = I.cumsum(x[:], axis=0)
    y[()] = I.reduce.sum(sums[None, 3:9][0:0, 1:3], axis=(0, 1))


@written()
@intent.kernel
def rows_of_one_column(x: I.In[I.i32, (5, 1)], w: I.In[I.i32, (5, 6)], y: I.Out[I.i32, (5, 2)], z: I.Out[I.i32, (5,)]):
    both = I.cumsum(x[:, :], axis=0) * 3 + I.cumsum(w[:, :], axis=1)
    y[:, :] = both[:, 2:4]
    z[:] = both[:, 3]


# ---- for passes over authored programs


@intent.fn
def put(x, y, i):
    y[i] = x[i] * 3
    return y[i] - 1


@written()
@intent.kernel
def performed(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        z[i] = put(x, y, i) + y[i]


@written(reports=True)
@intent.kernel
def reported_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        low = I.reduce.min(x[row, :], axis=0)
        if low < 0:
            I.debug_print("row {} from {}", row, low, x[row, :])
        for k in range(3):
            if (low + I.cast(k, I.i32)) % 2 == 0:
                I.debug_print("{} at {}", k, row)
        y[row] = low


@written(reports=True)
@intent.kernel
def reported_steps(x: I.In[I.u8, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        left, often = I.cast(x[i] & 7, I.i32), I.cast(0, I.i32)
        while left > 0:
            I.debug_print("{} left of {}, {}", left, x[i], I.cast(left, I.f32) / 2.0)
            left, often = left // 2, often + 1
        y[i] = often


# ---- for passes over effects


@written()
@intent.kernel
def turned(x: I.InOut[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    x[:, :] = I.transpose(x[:, :])
    y[:, :] = I.transpose(x[:, :]) + 1.0


@written()
@intent.kernel
def two_turned(x: I.InOut[I.f32, ("N", "N")], z: I.InOut[I.f32, ("N", "N")]):
    value = x[:, :] + 1.0
    x[:, :] = I.transpose(value) - z[:, :]
    z[:, :] = value


@written("generic")
@intent.kernel
def smoothed(x: I.InOut[I.f32, ("M", 40)]):
    x[:, 1:-1] = x[:, :-2] + x[:, 2:]


@written()
@intent.kernel
def smoothed_in_blocks(x: I.InOut[I.f32, ("M", "N")], y: I.In[I.i32, ("M", 40)], z: I.InOut[I.i32, (50,)]):
    if x.shape[1] > 2:
        x[:, 1:-1] = x[:, :-2] + x[:, 2:]
    I.scatter_reduce(z, y[:, :] % 50, I.gather(z, (y[:, :] % 7)) // 2 - 1, combine=I.minimum)


@written()
@intent.kernel
def of_one_array(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    i = I.indices(I.domain(0, N))
    y[:] = x[N - 1 - i] + x[:]


@written()
@intent.kernel
def counted_in_one_array(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    places = I.indices(I.domain(0, x.shape[0])) // 2
    I.scatter_reduce(y, places, x[:], combine=I.maximum)


@written()
@intent.kernel
def steps_of_one_array(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    N = x.shape[0]
    for i in I.domain(0, N):
        if i > 0:
            y[i] = x[i] + x[i - 1] * 2


@written("contiguous")
@intent.kernel
def rows_and_columns(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    y[:, :] = I.transpose(x[:, :])


@written("bounded")
@intent.kernel
def bounded_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[:] = I.reduce.sum(x[:, :], axis=1) / I.reduce.max(I.abs(x[:, :]), axis=1)


# ---- for loops that instances perform


@written()
@intent.kernel
def ragged_largest(x: I.In[I.i32, ("M",)], at: I.In[I.u8, ("G",)], y: I.Out[I.i32, ()], z: I.Out[I.i32, ("G",)]):
    G, M = at.shape[0], x.shape[0]
    longest = I.buffer((G,), I.i32)
    for g in I.parallel(I.domain(0, G)):
        end = I.clamp(I.cast(at[g] % 16, I.index), 0, M)
        longest[g] = I.reduce.max(x[I.domain(0, end)] * (I.cast(g, I.i32) + 1), axis=0)
    y[()] = I.reduce.sum(longest[:], axis=0)
    z[:] = longest[:]


@written()
@intent.kernel
def steps_of_its_own(n: I.In[I.u8, ("M",)], x: I.InOut[I.i32, ("M",)], y: I.Out[I.i32, ("M",)], z: I.Out[I.i32, ()]):
    M = x.shape[0]
    last = I.buffer((M,), I.i32)
    for i in I.parallel(I.domain(0, M)):
        left = x[i]
        for j in range(I.cast(n[i] % 8, I.index)):
            left = left * 3 + I.cast(j, I.i32)
            x[i] = x[i] + left
        last[i] = left
    y[:] = last[:]
    z[()] = I.reduce.sum(last[:], axis=0)


@written()
@intent.kernel
def both_ways(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    y[:] = I.cumsum(x[:]) - I.cumsum(x[:], reverse=True)
    z[:] = I.cummax(I.cumsum(x[:], reverse=True) % 7) - x[:]


@written()
@intent.kernel
def along_and_across(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")], z: I.Out[I.i32, ("M",)]):
    y[:, :] = I.cumsum(I.cumsum(x[:, :], axis=1) % 11, axis=0)
    z[:] = I.reduce.sum(I.cumsum(x[:, :], axis=0) * 3, axis=1)


@written()
@intent.kernel
def buffers_turned(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        kept = I.buffer((N, 3), I.f32)
        kept[:, 0] = x[row, :] * 2.0
        kept[:, 2] = x[row, :] - 1.0
        y[row, :] = kept[N - 1 - I.indices(I.domain(0, N)), 0] + kept[:, 2]


@written()
@intent.kernel
def kept_twice(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")], z: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    back = N - 1 - I.indices(I.domain(0, N))
    for row in I.parallel(I.domain(0, M)):
        kept = I.buffer((N,), I.i32)
        kept[:] = x[row, :]
        y[row, :] = kept[back]
        kept[:] = x[row, :] // 2
        z[row, :] = kept[back]


@written()
@intent.kernel
def masked_largest(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M",)]):
    N = x.shape[1]
    i = I.indices(I.domain(0, N))
    inner = I.domain(0, N)
    y[:] = I.reduce.max(I.select((i % 2 == 0)[None, :], x[:, :], -1.0), axis=1)
    z[:] = I.reduce.sum(I.exp(I.select(I.indices(inner)[None, :] + 3 < N, x[:, inner], 0.0)), axis=1)


@written()
@intent.kernel
def centered_twice(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M",)]):
    value = x[:, :] - I.reduce.max(x[:, :], axis=1, keepdims=True)
    y[:, :] = value / I.reduce.sum(value * 2.0, axis=1, keepdims=True)
    z[:] = I.reduce.min(value * I.reduce.min(x[:, :], axis=1, keepdims=True), axis=1)


# ---- for reductions in parts


@written("in parts")
@intent.kernel
def parts_of_a_sum(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ()], w: I.In[I.i32, (3,)], z: I.Out[I.i32, (3,)]):
    y[()] = I.reduce.sum(x[:])
    z[:] = I.reduce.max(x[:]) + w[:]


@written("in parts")
@intent.kernel
def parts_of_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("N",)], z: I.Out[I.i64, ("N",)], w: I.Out[I.i32, ()]):
    y[:] = I.reduce.sum(x[:, :], axis=0)
    z[:] = I.reduce.max(I.cast(x[:, :], I.i64) * 3, axis=0)
    w[()] = I.reduce.sum(x[:, :])


@written("in parts")
@intent.kernel
def parts_of_a_product(a: I.In[I.i8, ("M", "K")], b: I.In[I.i8, ("K", "N")], c: I.Out[I.i32, ("M", "N")]):
    c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.i32) + 1


@intent.fn
def last(a, b):
    return I.select(b != 0, b, a)


@written()
@intent.kernel
def in_order(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = I.scan(x[:] // 2**30, 0, identity=0, combine=last, inclusive=True)


@intent.fn
def later(a, b):
    return I.record(scale=a.scale * b.scale, shift=a.shift * b.scale + b.shift)


@written("in parts")
@intent.kernel
def parts_in_order(a: I.In[I.i64, ("N",)], b: I.In[I.i64, ("N",)], y: I.Out[I.i64, ()], z: I.Out[I.i64, ()]):
    step = I.record(scale=a[:], shift=b[:])
    made = I.reduce(step, axis=0, identity=I.record(scale=1, shift=0), combine=later)
    y[()] = made.scale
    z[()] = made.shift


# ---- for updates


@written()
@intent.kernel
def exchanged(x: I.In[I.f16, ("N",)], y: I.InOut[I.f16, ("N",)], z: I.Out[I.f16, ("N",)], w: I.InOut[I.f16, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        z[i] = I.atomic.exchange(y, index=(i,), value=x[i])
        I.atomic.store(w, index=(i,), value=x[i] + z[i])


@written()
@intent.kernel
def largest_of_bins(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, (4,)], z: I.InOut[I.i16, (4,)]):
    i = I.indices(I.domain(0, x.shape[0]))
    I.atomic.max(y, index=(i % 4,), value=x[:])
    I.atomic.add(z, index=(i % 4,), value=I.cast(i, I.i16))


@written()
@intent.kernel
def carried(x: I.In[I.i32, ("N",)], n: I.In[I.u8, ()], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    a, b = x[:], x[:] * 2
    for k in range(I.cast(n[()] % 5, I.index)):
        a, b = b + I.cast(k, I.i32), a
    y[:] = a
    z[:] = b


# ---- for loops that several reductions share


@written()
@intent.kernel
def extremes_in_one_loop(x: I.In[I.f32, ("M", "N")], least: I.Out[I.f32, ("M",)], largest: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        least[row] = I.reduce.min(x[row, :], axis=0)
        largest[row] = I.reduce.max(x[row, :], axis=0)
