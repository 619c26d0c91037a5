"""What no fragment and no loop over blocks could give is kept in memory, or done member by member."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.triton_interpreter import unavailable

from .printed import is_kept_by_every_pass, prints_the_same

RNG = np.random.default_rng(8)


@intent.fn
def later(a, b):
    """Two functions x -> scale * x + shift, the first one first: this does not commute."""
    return I.record(scale=a.scale * b.scale, shift=a.shift * b.scale + b.shift)


# ---- members with bounds of their own


@intent.kernel
def rows_of_its_own(x: I.In[I.i32, ("M",)], at: I.Out[I.i32, ("G + 1",)], y: I.Out[I.i32, ("G",)]):
    G, M = y.shape[0], x.shape[0]
    at[:] = I.cast(I.minimum(I.indices(I.domain(0, G + 1)) * 3, M), I.i32)
    rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
    for g in I.parallel(I.domain(0, G)):
        y[g] = I.reduce.max(x[rows[g]], axis=0)


@intent.kernel
def rows_written(x: I.InOut[I.i32, ("M", "N")], at: I.Out[I.i32, ("G + 1",)]):
    G, M = at.shape[0] - 1, x.shape[0]
    at[:] = I.cast(I.minimum(I.indices(I.domain(0, G + 1)) * 2, M), I.i32)
    rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
    for g in I.parallel(I.domain(0, G)):
        x[rows[g], :] = x[rows[g], :] - I.reduce.sum(x[rows[g], :], axis=0, keepdims=True)


@intent.kernel
def total_of_rows(x: I.In[I.i32, ("M",)], at: I.In[I.i32, ("G + 1",)], y: I.Out[I.i32, ()]):
    G, M = at.shape[0] - 1, x.shape[0]
    rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
    longest = I.buffer((G,), I.i32)
    for g in I.parallel(I.domain(0, G)):
        longest[g] = I.reduce.max(x[rows[g]] * x[rows[g]], axis=0)
    y[()] = I.reduce.sum(longest[:], axis=0)


@intent.kernel
def places_in_rows(x: I.In[I.f32, ("M",)], at: I.In[I.i32, ("G + 1",)], y: I.Out[I.index, ()]):
    G, M = at.shape[0] - 1, x.shape[0]
    rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
    largest = I.buffer((G,), I.index)
    for g in I.parallel(I.domain(0, G)):
        _, place = I.arg_reduce.max(x[rows[g]], axis=0)
        largest[g] = place * g
    y[()] = I.reduce.sum(largest[:], axis=0)


@intent.kernel
def steps_of_its_own(
    n: I.In[I.i32, ("M",)], x: I.InOut[I.i32, ("M",)], often: I.Out[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]
):
    M = x.shape[0]
    often[:] = n[:] & 7
    for i in I.parallel(I.domain(0, M)):
        left = x[i]
        for j in range(I.cast(often[i], I.index)):
            left = left * 3 + I.cast(j, I.i32)
            x[i] = x[i] + left
        y[i] = left


@intent.kernel
def halved(n: I.In[I.i32, ("M",)], seen: I.InOut[I.i32, (4,)], at: I.Out[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]):
    M = n.shape[0]
    at[:] = n[:] & 63
    for i in I.parallel(I.domain(0, M)):
        left = at[i]
        often = I.cast(0, I.i32)
        while left > 0:
            I.atomic.add(seen, (I.cast(left & 3, I.index),), 1)
            left = left // 2
            often = often + 1
        y[i] = often


@intent.kernel
def counted_rows(
    x: I.In[I.i32, ("M",)], at: I.Out[I.i32, ("G + 1",)], many: I.In[I.bool, ("K",)], y: I.InOut[I.i32, ("G",)]
):
    G, M = y.shape[0], x.shape[0]
    at[:] = I.cast(I.minimum(I.indices(I.domain(0, G + 1)) * 3, M), I.i32)
    if I.reduce.any(many[:], axis=0):
        rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
        for g in I.parallel(I.domain(0, G)):
            y[g] = I.reduce.max(x[rows[g]], axis=0)


# ---- carries whose elements move


@intent.kernel
def turned(x: I.In[I.f32, ("N",)], n: I.index, y: I.Out[I.f32, ("N",)]):
    value = x[:]
    for _ in range(n):
        value = I.roll(value, 1, axis=0) * 0.5
    y[:] = value


@intent.kernel
def followed(x: I.In[I.i32, ("N",)], to: I.In[I.i32, ("N",)], n: I.index, y: I.Out[I.i32, ("N",)]):
    places = I.assume_in_bounds(I.cast(to[:], I.index), x, axis=0)
    value, other = x[:], x[:] * 2
    for _ in range(n):
        value, other = other[places] + 1, value[places]
    y[:] = value - other


@intent.kernel
def shortest(weight: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, ("N", "N")]):
    N = weight.shape[0]
    far = weight[:, :]
    for k in range(N):
        far = I.minimum(far, far[:, k][:, None] + far[k, :][None, :])
    y[:, :] = far


@intent.fn
def squares(values):
    return I.reduce.sum(values * values, axis=0)


@intent.fn
def together(a, b):
    return a + b


@intent.kernel
def folded(x: I.In[I.i32, ("N",)], n: I.index, y: I.Out[I.i32, ()]):
    value = x[:]
    for _ in range(n):
        value = value - 1
    y[()] = I.region_fold(value, axis=0, summarize=squares, combine=together, identity=0)


@intent.kernel
def until(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    M = x.shape[0]
    for row in I.parallel(I.domain(0, M)):
        value = x[row, :]
        while I.reduce.any(value > 0, axis=0):
            value = I.minimum(I.roll(value, 1, axis=0), value) - 1
        y[row, :] = value


# ---- prefixes


@intent.kernel
def both_ways(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = I.cumsum(x[:]) - I.cumsum(x[:], reverse=True)


@intent.kernel
def there_and_back(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[:, :] = I.cummax(I.cumsum(x[:, :], axis=1, reverse=True), axis=1)


@intent.kernel
def nested(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[:, :] = I.cumsum(I.cumsum(x[:, :], axis=0), axis=1)


@intent.kernel
def summed_prefixes(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("N",)]):
    y[:] = I.reduce.sum(I.cummax(x[:, :], axis=1) * I.cast(I.indices(I.domain(0, x.shape[0])), I.i32)[:, None], axis=0)


@intent.kernel
def function_at(a: I.In[I.i64, ("N",)], at: I.In[I.i32, ("K",)], y: I.Out[I.i64, ("K",)]):
    found = I.scan(
        I.record(scale=a[:], shift=a[:]), 0, identity=I.record(scale=1, shift=0), combine=later, inclusive=True
    )
    y[:] = found.shift[I.assume_in_bounds(I.cast(at[:], I.index), a)]


@intent.kernel
def carried_function(a: I.In[I.i64, ("N",)], n: I.index, y: I.Out[I.i64, ("N",)]):
    value = a[:]
    for _ in range(n):
        steps = I.record(scale=value & 3, shift=value)
        value = I.flip(I.scan(steps, 0, identity=I.record(scale=1, shift=0), combine=later, inclusive=True).shift, 0)
    y[:] = value


@intent.kernel
def folded_prefixes(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ()]):
    y[()] = I.region_fold(I.cumsum(x[:]), axis=0, summarize=squares, combine=together, identity=0)


@intent.kernel
def above_its_prefix(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    (N,) = x.shape
    sums, axis = I.cumsum(x[:]), I.domain(0, N)
    for i in I.parallel(axis):
        y[i] = I.reduce.sum(I.maximum(x[axis[0 : i + 1]], sums[i]))


# ---- regions in regions


@intent.fn
def lesser(a, b):
    return I.minimum(a, b)


@intent.fn
def nothing(values):
    return I.reduce.min(I.reduce.min(values, axis=1), axis=0)


@intent.fn
def as_they_are(values, state):
    return I.minimum(I.cummin(values, axis=0), state)


@intent.fn
def rows_scanned(values):
    """The least of each row, by way of all running ones along the rows' axis."""
    found, _ = I.region_scan(
        source=values, axis=0, summarize=nothing, combine=lesser, identity=2147483647, initial_state=2147483647,
        apply=lesser, emit=as_they_are,
    )  # fmt: skip
    return I.reduce.min(found, axis=1)


@intent.kernel
def scanned_in_a_fold(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    y[:] = I.region_fold(x[:, :], axis=1, summarize=rows_scanned, combine=lesser, identity=2147483647)


# ---- rows whose extents only memory knows


@intent.fn
def total(values):
    return I.reduce.sum(values, axis=0)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def running(values, state):
    return I.cumsum(values, axis=0) + state


@intent.kernel
def carried_rows(
    x: I.In[I.i32, ("M",)], at: I.In[I.i32, ("G + 1",)], y: I.InOut[I.i32, ("M",)], z: I.InOut[I.i32, ("M",)]
):
    """A row is carried, and each member of it goes its own number of steps."""
    G, M = at.shape[0] - 1, x.shape[0]
    rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
    for g in I.parallel(I.domain(0, G)):
        row = x[rows[g]]
        for _ in range(3):
            row = row - I.reduce.max(row, axis=0) // 2
        y[rows[g]] = row
        for t in I.parallel(rows[g]):
            n = x[t]
            while n > 0:
                n = n - 2
            z[t] = n


@intent.kernel
def stored_rows(x: I.In[I.i32, ("M",)], at: I.In[I.i32, ("G + 1",)], y: I.InOut[I.i32, ("M",)]):
    """Rows in order, behind a region scan, moved by a loop, and in a buffer of their own."""
    G, M = at.shape[0] - 1, x.shape[0]
    rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
    for g in I.parallel(I.domain(0, G)):
        row, _ = I.region_scan(
            x[rows[g]],
            0,
            summarize=total,
            combine=plus,
            identity=0,
            initial_state=I.cast(g, I.i32),
            apply=plus,
            emit=running,
        )
        for _ in range(2):
            row = row + I.flip(row, 0)
        kept = I.buffer(row.shape, I.i32)
        kept[:] = I.sort(row, axis=0) + I.flip(row, 0)
        y[rows[g]] = I.flip(kept[:], 0)


@intent.kernel
def carried_triangle(x: I.In[I.i32, ("M", "M")], n: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]):
    """Rows that are no longer than their numbers, and than what memory says."""
    M = x.shape[0]
    for r in I.parallel(I.domain(0, M)):
        shorter, other = x[r, I.domain(0, M)[0:r]], x[r, I.domain(0, I.clamp(I.cast(n[r], I.index), 0, M))]
        for _ in range(3):
            shorter = shorter - I.reduce.max(shorter, axis=0) // 2
            other = other + I.reduce.min(other, axis=0)
        y[r] = I.reduce.sum(shorter, axis=0) - I.reduce.sum(other, axis=0)


@intent.fn
def sums_of_rows(values):
    return I.reduce.sum(values, axis=1)


@intent.kernel
def folded_scans(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    """A region of what is scanned along the axis of the result."""
    y[:] = I.region_fold(I.cumsum(x[:, :], axis=0), 1, summarize=sums_of_rows, combine=plus, identity=0)


def some(*shape: int, dtype: Any = np.int32) -> Any:
    return RNG.integers(-9, 10, shape).astype(dtype)


def places(n: int, of: int) -> Any:
    return RNG.integers(0, of, n).astype(np.int32)


KERNELS: dict[Any, dict[str, Any]] = {
    rows_of_its_own: {"x": some(50), "at": np.zeros(21, np.int32), "y": some(20)},
    rows_written: {"x": some(37, 5), "at": np.zeros(21, np.int32)},
    total_of_rows: {"x": some(50), "at": np.int32([0, 3, 3, 20, 21, 50]), "y": np.zeros((), np.int32)},
    places_in_rows: {
        "x": some(50, dtype=np.float32),
        "at": np.int32([0, 3, 4, 20, 21, 50]),
        "y": np.zeros((), np.int64),
    },
    steps_of_its_own: {"n": places(40, 99), "x": some(40), "often": some(40), "y": some(40)},
    halved: {"n": places(40, 99), "seen": np.zeros(4, np.int32), "at": some(40), "y": some(40)},
    counted_rows: {"x": some(50), "at": np.zeros(21, np.int32), "many": np.array([False, True]), "y": some(20)},
    turned: {"x": some(37, dtype=np.float32), "n": 5, "y": some(37, dtype=np.float32)},
    followed: {"x": some(37), "to": places(37, 37), "n": 4, "y": some(37)},
    shortest: {"weight": some(20, 20) + 9, "y": some(20, 20)},
    folded: {"x": some(70), "n": 3, "y": np.zeros((), np.int32)},
    until: {"x": some(3, 37), "y": some(3, 37)},
    both_ways: {"x": some(70), "y": some(70)},
    there_and_back: {"x": some(5, 70), "y": some(5, 70)},
    nested: {"x": some(20, 37), "y": some(20, 37)},
    summed_prefixes: {"x": some(20, 37), "y": some(37)},
    function_at: {"a": some(37, dtype=np.int64), "at": places(20, 37), "y": some(20, dtype=np.int64)},
    carried_function: {"a": some(37, dtype=np.int64), "n": 3, "y": some(37, dtype=np.int64)},
    scanned_in_a_fold: {"x": some(70, 37), "y": some(70)},
    above_its_prefix: {"x": some(70), "y": some(70)},
    carried_rows: {"x": some(50), "at": np.int32([0, 3, 3, 20, 21, 50]), "y": some(50), "z": some(50)},
    stored_rows: {"x": some(200), "at": np.int32([0, 3, 3, 90, 91, 190]), "y": some(200)},
    carried_triangle: {"x": some(40, 40), "n": places(40, 50), "y": some(40)},
    folded_scans: {"x": some(70, 37), "y": some(70)},
    folded_prefixes: {"x": some(70), "y": np.zeros((), np.int32)},
}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_every_pass_keeps_the_results(kernel: Any) -> None:
    is_kept_by_every_pass(kernel, KERNELS[kernel])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
def test_printed_triton_does(kernel: Any) -> None:
    prints_the_same(kernel, KERNELS[kernel])


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_it_compiles(kernel: Any, target: str) -> None:
    assert intent.compile(kernel, target=target).variants[0].cubin
