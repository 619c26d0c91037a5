"""Small right programs, as a reader of the manual writes them first: on the reference, each gives the right result.

A program is a line of what its kernel takes and gives, a body, and what NumPy says.
"""

import textwrap
from typing import Any

import numpy as np
import pytest

from tests.sources import executed

RNG = np.random.default_rng(11)
X = RNG.standard_normal((5, 7), np.float32)
V = RNG.standard_normal(7, np.float32)
W = RNG.standard_normal(5, np.float32)
B = RNG.standard_normal((7, 4), np.float32)
I5 = np.array([3, 0, 4, 1, 2], np.int32)
K7 = np.array([0, 1, 1, 2, 0, 5, 1], np.int32)

HELPERS = """
class Mode(I.Enum):
    PLAIN = 0
    TWICE = 1

SCALE = 3.0
SIZES = (1, 2, 4)

@intent.fn
def add(a, b):
    return a + b

@intent.fn
def add_pairs(a, b):
    return a[0] + b[0], a[1] + b[1]

@intent.fn
def scaled_sum(a, b, factor):
    return a + b

@intent.fn
def affine(v, slope=2.0, offset=1.0):
    return slope * v + offset

@intent.fn
def both(v):
    return I.record(low=I.minimum(v, 0), high=I.maximum(v, 0))

@intent.fn
def first(*values):
    return values[0]

@intent.fn
def total(values):
    return I.reduce.sum(values, axis=0)

@intent.fn
def running(values, state):
    return I.cumsum(values, axis=0) + state

@intent.fn
def store_double(view, i, v):
    view[i] = v * 2

@intent.fn
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

@intent.fn
def first_above(x, limit):
    for i in range(x.shape[0]):
        if x[i] > limit:
            return i
    return x.shape[0]
"""

MN, N = 'x: I.In[I.f32, ("M", "N")]', 'v: I.In[I.f32, ("N",)]'
OUT_MN, OUT_N, OUT_M = 'y: I.Out[I.f32, ("M", "N")]', 'y: I.Out[I.f32, ("N",)]', 'y: I.Out[I.f32, ("M",)]'
INTS = 'k: I.In[I.i32, ("N",)]'

# a name, the parameters, the body, the arguments, the result
RIGHT: list[tuple[str, str, str, tuple[Any, ...], Any]] = [
    ("copy", f"{N}, {OUT_N}", "y[:] = v[:]", (V,), V),
    ("chained", f"{N}, {OUT_N}, z: I.Out[I.f32, ('N',)]", "y[:] = z[:] = v[:] * 2", (V,), (V * 2, V * 2)),
    ("captured", f"{N}, {OUT_N}", "y[:] = v[:] * SCALE", (V,), V * 3),
    ("helper", f"{N}, {OUT_N}", "y[:] = affine(v[:], offset=0.5)", (V,), 2 * V + np.float32(0.5)),
    ("record", f"{N}, {OUT_N}", "r = both(v[:])\ny[:] = r.high - r.low", (V,), abs(V)),
    ("rest", f"{N}, {OUT_N}", "y[:] = first(v[:], 1, 2)", (V,), V),
    ("starred", f"{N}, {OUT_N}", "pair = (v[:], 0.0)\ny[:] = I.maximum(*pair)", (V,), np.maximum(V, 0)),
    ("scalar", f"{N}, {OUT_N}, s: I.f32", "y[:] = v[:] * s", (V, 0.5), V * np.float32(0.5)),
    ("constexpr", f"{N}, {OUT_N}, K: I.Constexpr[int] = 3", "assert K > 0\ny[:] = v[:] * K", (V,), V * 3),
    ("enum", f"{N}, {OUT_N}, mode: I.Constexpr[Mode] = Mode.TWICE",
     "if mode == Mode.TWICE:\n    y[:] = v[:] * 2\nelse:\n    y[:] = v[:]", (V,), V * 2),
    ("extent", f"{MN}, {OUT_M}", "y[:] = I.reduce.sum(x[:, :], axis=1) / I.cast(x.shape[1], I.f32)", (X,), X.mean(1)),
    ("softmax", f"{MN}, {OUT_MN}", """
        for row in I.parallel(I.domain(0, x.shape[0])):
            shifted = x[row, :] - I.reduce.max(x[row, :])
            weights = I.exp(shifted)
            y[row, :] = weights / I.reduce.sum(weights)
     """, (X,), np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    ("column", f'{MN}, w: I.In[I.f32, ("M",)], {OUT_MN}', "y[:, :] = x[:, :] - w[:, None]", (X, W), X - W[:, None]),
    ("outer", f'w: I.In[I.f32, ("M",)], {N}, {OUT_MN}', "y[:, :] = w[:, None] * v[None, :]", (W, V), np.outer(W, V)),
    ("transposed", f'{MN}, y: I.Out[I.f32, ("N", "M")]', "y[:, :] = I.transpose(x[:, :])", (X,), X.T),
    ("flat", 'x: I.In[I.f32, (5, 7)], y: I.Out[I.f32, (35,)]', "y[:] = I.reshape(x[:, :], (35,))", (X,), X.ravel()),
    ("reversed", f"{N}, {OUT_N}",
     "for i in I.parallel(I.domain(0, v.shape[0])):\n    y[i] = v[v.shape[0] - 1 - i]", (V,), V[::-1]),
    ("differences", f'{N}, y: I.Out[I.f32, ("N - 1",)]', "y[:] = v[1:] - v[:-1]", (V,), np.diff(V)),
    ("every_other", f'{N}, y: I.Out[I.f32, ("cdiv(N, 2)",)]', "y[:] = v[::2]", (V,), V[::2]),
    ("guarded", f"{N}, {OUT_N}", """
        for i in I.parallel(I.domain(0, v.shape[0])):
            y[i] = v[i + 1] if i + 1 < v.shape[0] else 0.0
     """, (V,), np.append(V[1:], np.float32(0))),
    ("blocks", 'x: I.In[I.f32, ("4 * B",)], y: I.Out[I.f32, ("4 * B",)]', """
        for begin in I.parallel(I.domain(0, x.shape[0], 4)):
            y[begin : begin + 4] = x[begin : begin + 4] * 2
     """, (np.arange(12, dtype=np.float32),), np.arange(12, dtype=np.float32) * 2),
    ("negative", 'x: I.In[I.f32, (7,)], y: I.Out[I.f32, (1,)]', "y[0] = x[-1]", (V,), V[-1:]),
    ("rank_0", f"{N}, y: I.Out[I.f32, ()]", "y[()] = I.reduce.max(v[:])", (V,), V.max()),
    ("ellipsis", f"{MN}, {OUT_MN}", "y[...] = x[..., :]", (X,), X),
    ("selected", f"{N}, {OUT_N}", "y[:] = v[:] if 1 > 0 else -v[:]", (V,), V),
    ("masked", f"{N}, {OUT_N}", "y[:] = I.mask(v[:], v[:] > 0, 0.0)", (V,), np.where(V > 0, V, 0)),
    ("counted", f"{N}, y: I.Out[I.i64, ()]", """
        count = 0
        for i in range(v.shape[0]):
            if v[i] > 0:
                count += 1
        y[()] = count
     """, (V,), np.int64((V > 0).sum())),
    ("unrolled", f"{N}, {OUT_N}", "t = v[:]\nfor k, s in enumerate(SIZES):\n    t = t * s + k\ny[:] = t", (V,),
     V * 8 + 6),
    ("while", "k: I.In[I.i64, (4,)], y: I.Out[I.i64, (4,)]",
     "for i in I.parallel(I.domain(0, 4)):\n    y[i] = collatz(k[i])", (np.array([1, 2, 6, 27]),),
     np.array([0, 1, 8, 111])),
    ("search", f"{N}, y: I.Out[I.index, ()]", "y[()] = first_above(v, 0.5)", (V,), np.int64(np.argmax(V > 0.5))),
    ("continued", f"{N}, y: I.InOut[I.f32, ('N',)]", """
        for i in I.parallel(I.domain(0, v.shape[0])):
            if v[i] < 0:
                continue
            y[i] = v[i]
     """, (V, np.zeros(7, np.float32)), None),
    ("gathered", f'{MN}, p: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K", "N")]',
     "y[:, :] = x[I.assume_in_bounds(p[:], x), :]", (X, I5), X[I5]),
    ("gather_fill", f'{N}, p: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]', """
        place = I.cast(p[:], I.index)
        y[:] = I.gather(v, place, valid=0 <= place and place < v.shape[0], fill=-1.0)
     """, (V, I5 * 2), np.where(I5 * 2 < 7, np.append(V, np.zeros(9, np.float32))[I5 * 2], -1)),
    ("permuted", 'w: I.In[I.f32, ("M",)], p: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]',
     "y[I.assume_unique(I.assume_in_bounds(p[:], y))] = w[:]", (W, I5), W[np.argsort(I5)]),
    ("histogram", f"{INTS}, y: I.Out[I.i32, (4,)]", "y[:] = I.histogram(k[:], bins=4, count_dtype=I.i32)", (K7,),
     np.array([2, 3, 1, 0], np.int32)),
    ("topk", "x: I.In[I.f32, (7,)], y: I.Out[I.f32, (3,)], p: I.Out[I.index, (3,)]",
     "y[:], p[:] = I.topk(x[:], 3)", (V,), (np.sort(V)[::-1][:3], np.argsort(-V)[:3])),
    ("sorted", f"{N}, {OUT_N}", "y[:] = I.sort(v[:], descending=True)", (V,), np.sort(V)[::-1]),
    ("argmax", f'{MN}, y: I.Out[I.index, ("M",)]', "_, y[:] = I.arg_reduce.max(x[:, :], axis=1)", (X,), X.argmax(1)),
    ("cumsum", f"{MN}, {OUT_MN}", "y[:, :] = I.cumsum(x[:, :], axis=1)", (X,), X.cumsum(1)),
    ("scan", f"{INTS}, y: I.Out[I.i32, ('N',)]",
     "y[:] = I.scan(k[:], axis=0, identity=0, combine=add, inclusive=False)", (K7,), np.cumsum(K7) - K7),
    ("reduced", f"{INTS}, y: I.Out[I.i32, ()]", "y[()] = I.reduce(k[:], identity=0, combine=add)", (K7,),
     np.int32(K7.sum())),
    ("pairs", f"{INTS}, y: I.Out[I.i32, (2,)]", """
        a, b = I.reduce((k[:], k[:] * 2), axis=0, identity=(0, 0), combine=add_pairs)
        y[0] = a
        y[1] = b
     """, (K7,), np.array([K7.sum(), 2 * K7.sum()], np.int32)),
    ("operand", f"{INTS}, y: I.Out[I.i32, ()]",
     "y[()] = I.reduce(k[:], identity=0, combine=scaled_sum, combine_operands=(2,))", (K7,), np.int32(K7.sum())),
    ("fold", f"{N}, y: I.Out[I.f32, ()]",
     "y[()] = I.region_fold(v[:], axis=0, summarize=total, combine=add, identity=0.0)", (V,), V.sum()),
    ("region_scan", f"{N}, {OUT_N}", """
        out, _ = I.region_scan(
            v[:], axis=0, summarize=total, combine=add, identity=0.0, initial_state=1.0, apply=add, emit=running
        )
        y[:] = out
     """, (V,), 1 + V.cumsum()),
    ("matmul", f'{MN}, b: I.In[I.f32, ("N", "K")], y: I.Out[I.f32, ("M", "K")]',
     "y[:, :] = I.matmul(x[:, :], b[:, :], acc_dtype=I.f32)", (X, B), X @ B),
    ("contract", f'{MN}, b: I.In[I.f32, ("N", "K")], y: I.Out[I.f32, ("M", "K")]',
     "y[:, :] = I.contract(x[:, :], b[:, :], reduce=((1, 0),), acc_dtype=I.f32)", (X, B), X @ B),
    ("half", 'h: I.In[I.f16, ("N",)], y: I.Out[I.f16, ()]', "y[()] = I.cast(I.reduce.sum(h[:]), I.f16)",
     (np.arange(8, dtype=np.float16),), np.float16(28)),
    ("integers", f"{INTS}, y: I.Out[I.i32, ('N',)]", "y[:] = (k[:] // 2) + (k[:] % 2) * 10 | 64", (K7,),
     (K7 // 2) + (K7 % 2) * 10 | 64),
    ("bits", f"{N}, y: I.Out[I.u32, ('N',)]", "y[:] = I.bitcast(v[:], I.u32)", (V,), V.view(np.uint32)),
    ("buffer", f"{N}, {OUT_N}", """
        for i in I.parallel(I.domain(0, v.shape[0])):
            own = I.buffer((2,), I.f32, init=0.0)
            own[0] = v[i]
            own[1] = own[0] * 2
            y[i] = own[0] + own[1]
     """, (V,), V * 3),
    ("atomic", f"{INTS}, y: I.InOut[I.i32, (8,)]", """
        for i in I.parallel(I.domain(0, k.shape[0])):
            I.atomic.add(y, k[i] % 8, 1)
     """, (K7, np.zeros(8, np.int32)), None),
    ("scattered", f"{N}, {INTS}, y: I.InOut[I.f32, (8,)]",
     "I.scatter_reduce(y, index=k[:] % 8, value=v[:], combine=I.maximum)", (V, K7, np.zeros(8, np.float32)), None),
    ("views_in_helpers", f"{N}, {OUT_N}",
     "for i in I.parallel(I.domain(0, v.shape[0])):\n    store_double(y, i, v[i])", (V,), V * 2),
    ("two_axes", f"{MN}, {OUT_MN}", """
        for i, j in I.parallel((I.domain(0, x.shape[0]), I.domain(0, x.shape[1]))):
            y[i, j] = x[i, j] * I.cast(i, I.f32)
     """, (X,), X * np.arange(5, dtype=np.float32)[:, None]),
    ("tables", f"{N}, {OUT_N}", "y[:] = v[:] + I.cast(I.indices(I.domain(0, v.shape[0])), I.f32)", (V,),
     V + np.arange(7, dtype=np.float32)),
    ("ragged", 'v: I.In[I.f32, ("Z",)], o: I.In[I.i32, ("M + 1",)], y: I.Out[I.f32, ("M",)]', """
        rows = I.domain(0, y.shape[0])
        parts = I.ragged(rows, I.domain(0, v.shape[0]), o)
        for row in I.parallel(rows):
            y[row] = I.reduce.sum(v[parts[row]])
     """, (V, np.array([0, 2, 2, 7], np.int32)), np.array([V[:2].sum(), 0, V[2:].sum()])),
    ("limited", f"{N}, y: I.Out[I.f32, ()], b: I.index, e: I.index", """
        low = I.clamp(b, 0, v.shape[0])
        high = I.clamp(e, low, v.shape[0])
        y[()] = I.reduce.sum(v[low:high])
     """, (V, 2, 99), V[2:].sum()),
]  # fmt: skip

EXPECTED_IN_PLACE = {
    "continued": np.maximum(V, 0),
    "atomic": np.bincount(K7, minlength=8).astype(np.int32),
    "scattered": np.array([max([0, *V[K7 == i]]) for i in range(8)], np.float32),
}


@pytest.mark.parametrize(
    ("name", "parameters", "body", "arguments", "expected"),
    RIGHT,
    ids=lambda v: v if isinstance(v, str) and v.isidentifier() else "",
)
def test_a_small_program_does_what_it_says(name, parameters, body, arguments, expected):
    text = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    space = executed(f'{HELPERS}\n@intent.jit(target="reference")\ndef kernel({parameters}):\n{text}\n')
    arguments = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
    result = space["kernel"].run(*arguments)
    if expected is None:
        result, expected = arguments[-1], EXPECTED_IN_PLACE[name]
    results, wanted = (v if isinstance(v, tuple) else (v,) for v in (result, expected))
    for r, e in zip(results, wanted, strict=True):
        np.testing.assert_allclose(r, e, rtol=1e-5, atol=1e-6)
