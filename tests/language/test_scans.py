"""Reductions with operands, places of extremes, and scans."""

import math

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.numerics import storage

from .awkward import EXTENTS, awkward, same

RNG = np.random.default_rng(11)


@intent.fn
def modular(a, b, modulus):
    return (a + b) % modulus


@intent.fn
def scaled_pair(a, b, low, options):
    first = I.maximum(a.first, b.first)
    return I.record(first=I.maximum(first, low), second=(a.second + b.second) % options[0])


@intent.kernel
def with_operands(
    x: I.In[I.i32, ("M", "N")],
    modulus: I.i32,
    low: I.In[I.f32, ("M",)],
    y: I.Out[I.i32, ("M",)],
    z: I.Out[I.i32, ("N",)],
    s: I.Out[I.i32, ("M", "N")],
    first: I.Out[I.f32, ("M",)],
    second: I.Out[I.i32, ("M", 1)],
):
    M, N = x.shape
    columns = I.domain(0, N)
    z[:] = I.reduce(x[:, :], axis=0, identity=0, combine=modular, combine_operands=(modulus,))
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        y[row] = I.reduce(v, identity=0, combine=modular, combine_operands=modulus + I.cast(row, I.i32))
        s[row, columns] = I.scan(v, identity=0, combine=modular, combine_operands=(modulus,), inclusive=True)
        pair = I.record(first=I.cast(v, I.f32), second=v)
        found = I.reduce(
            pair, 0, identity=I.record(first=-math.inf, second=0), combine=scaled_pair,
            combine_operands=(low[row], (modulus, 3)), keepdims=True,
        )  # fmt: skip
        first[row] = found.first[0]
        second[row, :] = found.second


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (3, 64), (4, 0), (0, 3)])
def test_a_combine_uses_runtime_scalars(run, shape):
    m, n = shape
    x = RNG.integers(0, 1000, shape).astype(np.int32)
    low = awkward(m)
    y, z, s = np.zeros(m, np.int32), np.zeros(n, np.int32), np.zeros(shape, np.int32)
    first, second = np.zeros(m, np.float32), np.zeros((m, 1), np.int32)
    run(with_operands, x=x, modulus=7, low=low, y=y, z=z, s=s, first=first, second=second)
    # one member is not combined, and stays what it is
    reduced = lambda v, k: v.sum(-1) % k if v.shape[-1] > 1 else v.sum(-1)  # noqa: E731
    np.testing.assert_array_equal(y, [reduced(x[r], 7 + r) for r in range(m)])
    np.testing.assert_array_equal(z, reduced(x.T, 7))
    running = np.cumsum(x, 1) % 7
    running[:, :1] = x[:, :1]
    np.testing.assert_array_equal(s, running)
    largest = x.max(1, initial=-(2**31)).astype(np.float32) if n else np.full(m, -np.inf, np.float32)
    same(first, np.maximum(largest, low) if n > 1 else largest)
    np.testing.assert_array_equal(second[:, 0], reduced(x, 7))


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f8e4m3fn", "f64", "i8", "u64", "bool"])
@pytest.mark.parametrize("n", EXTENTS)
def test_places_of_extremes(run, dtype, n):
    d = getattr(I, dtype)

    @intent.kernel
    def kernel(
        x: I.In[d, (3, "N", 5)], v: I.Out[d, (2, 3, 5)], p: I.Out[I.index, (2, 3, 5)], q: I.Out[I.index, (3, "N", 1)],
        w: I.Out[d, (3, "N")], last: I.Out[I.index, ()],
    ):  # fmt: skip
        v[0], p[0] = I.arg_reduce.max(x[...], axis=1)
        v[1], p[1] = I.arg_reduce.min(x[...], axis=-2)
        for i in I.parallel(I.domain(0, 3)):
            found, q[i] = I.arg_reduce.min(x[i], -1, keepdims=True)
            w[i] = found[:, 0]
        last[()] = I.arg_reduce.max(x[0, :, 0])[1]

    kind = storage(d)
    floating = dtype[0] in "bf" and dtype != "bool"
    values = (
        awkward(3, n, 5)
        if floating
        else RNG.integers(-128 if dtype == "i8" else 0, 2 if dtype == "bool" else 4, (3, n, 5))
    )
    with np.errstate(all="ignore"):
        x = values.astype(kind)
    v, w = np.zeros((2, 3, 5), kind), np.zeros((3, n), kind)
    p, q, last = np.zeros((2, 3, 5), np.int64), np.zeros((3, n, 1), np.int64), np.zeros((), np.int64)
    run(kernel, x=x, v=v, p=p, q=q, w=w, last=last)
    wide = x.astype(np.float64)
    if n == 0:
        top = {"i8": (-128, 127), "u64": (0, 2**64 - 1), "bool": (0, 1), "f8e4m3fn": (-448, 448)}.get(dtype)
        assert [set(v[0].astype(float).flat), set(v[1].astype(float).flat)] == [
            {float(b)} for b in top or (-np.inf, np.inf)
        ]
        assert (p == 2**63 - 1).all()
    else:
        np.testing.assert_array_equal(p, [wide.argmax(1), wide.argmin(1)])  # NumPy: the first NaN, else the first
        same(v.astype(float)[0], np.take_along_axis(wide, p[0][:, None], 1)[:, 0])
        same(v.astype(float)[1], np.take_along_axis(wide, p[1][:, None], 1)[:, 0])
        assert last == wide[0, :, 0].argmax()
    np.testing.assert_array_equal(q[..., 0], wide.argmin(2))
    same(w.astype(float), np.take_along_axis(wide, q, 2)[..., 0])


@intent.fn
def affine(a, b):
    """First a, then b: does not commute."""
    return a[0] * b[0], a[1] * b[0] + b[1]


@intent.kernel
def recurrences(x: I.In[I.i32, (2, "M", "N")], f: I.Out[I.i32, (4, 2, "M", "N")], g: I.Out[I.i32, (2, "M", "N")]):
    pair = (x[0], x[1])
    f[0, 0], f[0, 1] = I.scan(pair, axis=1, identity=(1, 0), combine=affine, inclusive=True)
    f[1, 0], f[1, 1] = I.scan(pair, axis=1, identity=(1, 0), combine=affine, inclusive=False)
    f[2, 0], f[2, 1] = I.scan(pair, axis=1, identity=(1, 0), combine=affine, inclusive=True, reverse=True)
    f[3, 0], f[3, 1] = I.scan(pair, axis=1, identity=(1, 0), combine=affine, inclusive=False, reverse=True)
    for row in I.parallel(I.domain(0, x.shape[1])):
        found = I.scan((x[0, row], x[1, row]), identity=(1, 0), combine=affine, inclusive=True)
        g[0, row], g[1, row] = found


def fold(members, inclusive):
    """The prefixes of pairs, one after the other, integers wrapped to 32 bits."""
    out, state = [], (1, 0)
    for a, b in members:
        after = (state[0] * a, state[1] * a + b)
        out.append(after if inclusive else state)
        state = after
    wrap = lambda k: (k + 2**31) % 2**32 - 2**31  # noqa: E731
    return [(wrap(a), wrap(b)) for a, b in out]


@pytest.mark.parametrize("n", EXTENTS)
def test_scans_keep_the_order(run, n):
    x = RNG.integers(-9, 9, (2, 3, n)).astype(np.int32)
    f, g = np.zeros((4, 2, 3, n), np.int32), np.zeros((2, 3, n), np.int32)
    run(recurrences, x=x, f=f, g=g)
    for row in range(3):
        members = [(int(a), int(b)) for a, b in x[:, row].T]
        for k, (inclusive, step) in enumerate([(True, 1), (False, 1), (True, -1), (False, -1)]):
            wanted = fold(members[::step], inclusive)[::step]
            np.testing.assert_array_equal(f[k, :, row].T, np.array(wanted, np.int32).reshape(n, 2))
    np.testing.assert_array_equal(g, f[0])


@intent.kernel
def running(x: I.In[I.f32, ("M", "N")], i: I.In[I.i8, ("N",)], y: I.Out[I.f32, (8, "M", "N")],
            k: I.Out[I.i32, (2, "N")], h: I.Out[I.i8, (3, "N")]):  # fmt: skip
    v, w = x[:, :], i[:]
    y[0] = I.cumsum(v, axis=1)
    y[1] = I.cumsum(v, axis=0, inclusive=False)
    y[2] = I.cumprod(v, axis=-1, reverse=True)
    y[3] = I.cummax(v, 1)
    y[4] = I.cummin(v, 1, reverse=True)
    y[5] = I.cummax(v, 0, inclusive=False)
    y[6] = I.cummin(v, 1, inclusive=False, reverse=True)
    y[7] = I.cumprod(v, 1, inclusive=False)
    k[0] = I.cumsum(w)
    k[1] = I.cumsum(w, reverse=True, inclusive=False)
    h[0] = I.cumsum(w, acc_dtype=I.i8)
    h[1] = I.cumprod(w)
    h[2] = I.cummin(w, inclusive=False)


def prefixes(step, x, axis, start, inclusive=True, reverse=False):
    """One member after the other, on rows as Python sees them."""
    lines = np.moveaxis(x, axis, 0)[::-1] if reverse else np.moveaxis(x, axis, 0)
    out, state = [], np.full(lines.shape[1:], start, x.dtype)
    for line in lines:
        after = step(state, line)
        out.append(after if inclusive else state)
        state = after
    made = np.array(out, x.dtype).reshape(lines.shape)
    return np.moveaxis(made[::-1] if reverse else made, 0, axis)


def upper(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where((a > b) | ((a == b) & np.signbit(b)), a, b))


def lower(a, b):
    return -upper(-a, -b)


@pytest.mark.parametrize("n", EXTENTS)
def test_running_sums_and_extremes(run, n):
    x, i = awkward(5, n), RNG.integers(-128, 128, n).astype(np.int8)
    calm = np.round(RNG.standard_normal((5, n)) * 4).astype(np.float32) / 4
    y, k, h = np.zeros((8, 5, n), np.float32), np.zeros((2, n), np.int32), np.zeros((3, n), np.int8)
    run(running, x=calm, i=i, y=y, k=k, h=h)
    np.testing.assert_array_equal(y[0], np.cumsum(calm, 1))  # quarters: exact
    np.testing.assert_array_equal(y[1], prefixes(np.add, calm, 0, 0, inclusive=False))
    np.testing.assert_allclose(y[2], prefixes(np.multiply, calm.astype(float), 1, 1, reverse=True), rtol=1e-5)
    np.testing.assert_allclose(y[7], prefixes(np.multiply, calm.astype(float), 1, 1, inclusive=False), rtol=1e-5)
    np.testing.assert_array_equal(k[0], np.cumsum(i.astype(np.int32)))
    np.testing.assert_array_equal(k[1], prefixes(np.add, i.astype(np.int32), 0, 0, inclusive=False, reverse=True))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(h[0], prefixes(np.add, i, 0, 0))  # wraps
        np.testing.assert_array_equal(h[1], prefixes(np.multiply, i, 0, 1))
    np.testing.assert_array_equal(h[2], prefixes(np.minimum, i, 0, 127, inclusive=False))
    run(running, x=x, i=i, y=y, k=k, h=h)
    same(y[3], prefixes(upper, x, 1, -np.inf))
    same(y[4], prefixes(lower, x, 1, np.inf, reverse=True))
    same(y[5], prefixes(upper, x, 0, -np.inf, inclusive=False))
    same(y[6], prefixes(lower, x, 1, np.inf, inclusive=False, reverse=True))


@intent.fn
def writes(a, b, y):
    y[()] = a
    return a


@intent.kernel
def tensor_operand(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.scan(x[:], identity=0.0, combine=modular, combine_operands=x[:], inclusive=True)


@intent.kernel
def no_axis(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    y[:, :] = I.cumsum(x[:, :])


@intent.kernel
def impure(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce(x[:], identity=0.0, combine=writes, combine_operands=(y,))


@intent.kernel
def float_bins(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, (4,)]):
    y[:] = I.histogram(x[:], bins=4, count_dtype=I.i32)


@intent.kernel
def not_callable(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = I.scan(x[:], identity=0.0, combine=3, inclusive=True)


@intent.kernel
def no_order(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.arg_reduce(x[:], 0)


@intent.kernel
def bools(x: I.In[I.bool, ("N",)], y: I.Out[I.bool, ("N",)]):
    y[:] = I.sort(x[:])


@pytest.mark.parametrize(
    ("kernel", "code", "says"),
    [
        (tensor_operand, "E102", "make it a component of the value"),
        (no_axis, "E113", "no axis of 2"),
        (impure, "E306", "the combine of I.reduce"),
        (float_bins, "E202", "cast to I.i32"),
        (not_callable, "E113", "@intent.fn"),
        (no_order, "E113", "I.arg_reduce.max"),
        (bools, "E202", "cast it"),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_mistakes_are_told(told, kernel, code, says):
    told(kernel, code, says)
