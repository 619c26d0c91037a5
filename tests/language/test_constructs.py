"""Every construct and every rule of the language once, in the order of its manual: captured, printed, read back, and
executed, or refused with the error that says why."""
# ruff: noqa: E501  (a table: one construct a line)

import itertools

import numpy as np
import pytest

import intent_np.language as I
from intent_np.backends.reference import logical
from intent_np.errors import IntentError
from intent_np.terms.core import Arena
from intent_np.terms.logical import LOGICAL
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from tests.sources import executed

X, K = [3, 1, 4, 1, 5], [2, 0, 1, 3, 2]
SIGNATURE = (
    'x: I.In[I.f32, ("N",)], k: I.In[I.i32, ("N",)], m: I.In[I.f32, ("M", "N")], o: I.In[I.i32, ("M + 1",)], n: I.index'
)
# x = [3 1 4 1 5], k = [2 0 1 3 2], m = [[0 1 2 3 4] [5 6 7 8 9]], o = [0 3 5], n = 2; M = 2, N = 5
HELPERS = '''
@intent.fn
def twice(v):
    return v * 2

@intent.fn
def span(axis, begin, end):
    return axis[begin:end]

@intent.fn
def affine(a, b):
    """x -> a.scale * x + a.shift, then b"""
    return I.record(scale=a.scale * b.scale, shift=a.shift * b.scale + b.shift)

@intent.fn
def add(a, b):
    return a + b

@intent.fn
def last_of(a, b):
    return I.record(v=b.v if b.any else a.v, any=a.any or b.any)

@intent.fn
def summed(v):
    return I.reduce.sum(v, axis=0)

@intent.fn
def weighted(v, i):
    return I.reduce.sum(v * I.cast(i, I.f32), axis=0)

@intent.fn
def shift_state(summary, state):
    return state + summary

@intent.fn
def prefix(v, state):
    return state + I.cumsum(v, axis=0)

@intent.fn
def noisy(v):
    return I.reduce.sum(v, axis=0) + I.random.uniform(1, 2)

@intent.fn
def noise(a, b):
    return a + b + I.random.uniform(1, 2)

@intent.fn
def counting(v, count):
    I.atomic.add(count, index=0, value=1)
    return I.reduce.sum(v, axis=0)

@intent.fn
def how_many(v):
    return I.cast(v.shape[0], I.f32)

@intent.fn
def where_most(v):
    return I.arg_reduce.max(v, axis=0)[1]

@intent.fn
def only_state(v, state):
    return state

@intent.fn
def put(target, i, v):
    target[i] = v
'''
PER_POINT = "for i in I.parallel(I.domain(0, N)):\n    "

# section, title, dtype and shape of `out`, body, and its elements or an error
CONSTRUCTS: list[tuple[str, str, str, str, object]] = [
    # ---- domains, subregions, identity
    ("1", "a domain is half open", "index[4]", "out[:] = I.indices(I.domain(3, 7))", [3, 4, 5, 6]),
    ("1", "a domain may be empty", "index[]", "out[()] = I.reduce.sum(I.indices(I.domain(3, 3)))", 0),
    ("1", "a step that does not divide", "index[3]", "out[:] = I.indices(I.domain(1, 8, 3))", [1, 4, 7]),
    ("1", "a step of 0", "index[]", "out[()] = I.end(I.domain(0, 8, 0))", "E311"),
    ("1", "a step below 0", "index[]", "out[()] = I.end(I.domain(8, 0, -1))", "E311"),
    ("1", "bounds at run time", "index[]", "t = 0\nfor i in I.domain(n, N):\n    t += i\nout[()] = t", 9),
    ("1", "a loop over bounds in no order is empty", "index[]",
     "t = 0\nfor i in I.domain(N, n):\n    t += i\nout[()] = t", 0),
    ("1", "a prefix", "f32[]", "if 0 <= n and n <= N:\n    out[()] = I.reduce.sum(x[I.domain(0, N)[0:n]])", 4),
    ("1", "a window keeps coordinates of its source", "index[2]",
     "if N >= 4:\n    out[:] = I.indices(I.domain(0, N)[2:4])", [2, 3]),
    ("1", "a subregion outside of its source", "index[]", "out[()] = I.end(I.domain(0, N)[0 : N + 1])", "E309"),
    ("1", "subregion bounds in no order", "index[]", "out[()] = I.end(I.domain(0, 9)[5:4])", "E309"),
    ("1", "a subregion from its begin to its begin", "f32[]", "out[()] = I.reduce.max(x[I.domain(0, N)[N:N]])", -np.inf),
    ("1", "a subregion of a subregion", "index[2]", "out[:] = I.indices(I.domain(0, 9)[2:8][4:6])", [4, 5]),
    ("1", "a subregion of a domain with a step", "index[2]", "out[:] = I.indices(I.domain(1, 12, 3)[3:9])", [4, 7]),
    ("1", "every second of a subregion", "index[2]", "out[:] = I.indices(I.domain(0, 9)[4:8:2])", [4, 6]),
    ("1", "iteration gives source coordinates", "index[]",
     "t = 0\nfor i in I.domain(0, 9)[7:]:\n    t = t * 10 + i\nout[()] = t", 78),
    ("1", "enumerate gives local ordinals", "index[]",
     "t = 0\nfor j, i in enumerate(I.domain(1, 9, 4)):\n    t = t * 100 + j * 10 + i\nout[()] = t", 115),
    ("1", "the end of a region", "index[]", "out[()] = I.end(I.domain(2, 8)[3:5])", 5),
    ("1", "a sum of coordinates wraps at 64 bits", "index[]", "out[()] = I.cast(9223372036854775807, I.index) + n", 1 - 2**63),
    ("1", "an ordinal is an index from 0 on", "index[2]", "out[:] = 0\nfor j, i in enumerate(I.domain(10, 30, 5)[12:22]):\n    out[j] = i",
     [15, 20]),
    ("1", "range downwards", "index[]", "t = 0\nfor i in range(5, 0, -1):\n    t += i\nout[()] = t", "E311"),
    ("1", "other members are a tensor of coordinates", "f32[N]", "out[:] = x[N - 1 - I.flip(I.indices(I.domain(0, N)))]", X),
    ("1", "range is a domain", "index[]", "t = 0\nfor i in range(1, 6, 2):\n    t = t * 10 + i\nout[()] = t", 135),
    # ---- provenance
    ("1.1", "coordinates prove an access", "f32[N]", "out[:] = x[N - 1 - I.indices(I.domain(0, N))]", X[::-1]),
    ("1.1", "through a helper", "f32[N - 1]", "c = span(I.domain(0, N), 1, N) if True else 0\nout[:] = x[c]", X[1:]),
    ("1.1", "through a record and a tuple", "f32[N]",
     "i = I.indices(I.domain(0, N))\np = (I.record(at=i), 1)\nout[:] = x[p[0].at]", X),
    ("1.1", "through broadcast and transpose", "f32[N, 2]",
     "i, j = I.indices(I.domain(0, N)), I.indices(I.domain(0, 2))\n"
     "out[:, :] = x[I.transpose(i[None, :] + j[:, None] * 0)]", [[v, v] for v in X]),
    ("1.1", "through reshape", "f32[N]",
     "i = I.reshape(I.indices(I.domain(0, N))[:, None], (N,))\nout[:] = x[i]", X),
    ("1.1", "through arithmetic and select", "f32[N]",
     "i = I.indices(I.domain(0, N))\nout[:] = x[I.select(i > 0, i - 1, i)]", [3, 3, 1, 4, 1]),
    ("1.1", "through concat", "f32[2 * N]", "i = I.indices(I.domain(0, N))\nout[:] = x[I.concat((i, N - 1 - i))]", X + X[::-1]),
    ("1.1", "through join", "f32[N, 2]", "i = I.indices(I.domain(0, N))\nout[:, :] = x[I.join(i, i)]", [[v, v] for v in X]),
    ("1.1", "through roll", "f32[N]", "out[:] = x[I.roll(I.indices(I.domain(0, N)), 1)]", [X[-1], *X[:-1]]),
    ("1.1", "through a selection of places", "f32[N]", "i = I.indices(I.domain(0, N))\nout[:] = x[i[N - 1 - i]]", X[::-1]),
    ("1.1", "through limits and remainders", "f32[2, N]",
     "j = I.cast(k[:], I.index)\nif N > 0:\n    out[0, :] = x[I.clamp(j, 0, N - 1)]\n    out[1, :] = x[j % N]",
     [[4, 3, 1, 1, 4]] * 2),
    ("1.1", "an order proves nothing", "f32[N]", "out[:] = x[I.argsort(k[:])]", "E301"),
    ("1.1", "a value of memory proves nothing", "f32[N]", "out[:] = x[k[:]]", "E301"),
    ("1.1", "a sum of coordinates proves nothing", "f32[]",
     "out[()] = x[I.reduce.sum(I.indices(I.domain(0, N)))]", "E301"),
    # ---- shapes
    ("2", "names tell extents apart", "f32[N]", "out[:] = x[:] + I.reduce.sum(m[:, :], axis=1)", "E204"),
    ("2", "one extent by its normal form", "f32[2 * N]", "out[:] = I.concat((x[:], x[:]))", X + X),
    ("2", "a static 1 broadcasts", "f32[N, N]", "out[:, :] = x[:][:, None] + x[:][None, :] * 0",
     [[v] * 5 for v in X]),
    ("2", "0 broadcasts with 1", "f32[0]", "out[:] = I.zeros((0,), I.f32) + I.zeros((1,), I.f32)", []),
    ("2", "0 with more", "f32[3]", "out[:] = I.zeros((0,), I.f32) + I.zeros((3,), I.f32)", "E204"),
    ("2", "axes align from the last", "f32[M, N]", "out[:, :] = m[:, :] * 0 + x[:]", [X, X]),
    ("2", "equal by require_equal", "f32[M]", "I.require_equal(M, N)\nout[:] = x[:] + I.reduce.sum(m[:, :], axis=1)", "host"),
    ("2", "reshape is row-major", "f32[3, 2]", "out[:, :] = I.reshape(I.cast(I.indices(I.domain(0, 6)), I.f32), (3, 2))",
     [[0, 1], [2, 3], [4, 5]]),
    ("2", "one inferred extent", "index[2, 3]", "out[:, :] = I.reshape(I.indices(I.domain(0, 6)), (-1, 3))",
     [[0, 1, 2], [3, 4, 5]]),
    ("2", "two inferred extents", "index[2, 3]", "out[:, :] = I.reshape(I.indices(I.domain(0, 6)), (-1, -1))", "E208"),
    ("2", "an inferred extent that is not unique", "index[0, 0]",
     "out[:, :] = I.reshape(I.indices(I.domain(0, 0)), (0, -1))", "E208"),
    ("2", "reshape to another size", "index[2, 2]", "out[:, :] = I.reshape(I.indices(I.domain(0, 6)), (2, 2))", "E208"),
    ("2", "transpose", "f32[N, M]", "out[:, :] = I.transpose(m[:, :])", [[j, j + 5] for j in range(5)]),
    ("2", "a permutation", "f32[1, N, M]", "out[:, :, :] = I.transpose(m[:, :][None], (0, 2, 1))",
     [[[j, j + 5] for j in range(5)]]),
    ("2", "join, and reshape of it interleaves", "f32[N * 2]",
     "out[:] = I.reshape(I.join(x[:], x[:] + 10), (N * 2,))", [v for a in X for v in (a, a + 10)]),
    ("2", "a tensor of rank 0 is no condition", "f32[]", "out[()] = 0.0\nif I.full((), True, I.bool):\n    out[()] = 1.0", "E202"),
    ("2", "nor the condition of a loop", "f32[]", "out[()] = 0.0\nwhile I.full((), True, I.bool):\n    out[()] = 1.0", "E202"),
    ("2", "nor a bound", "index[]", "out[()] = I.end(I.domain(0, I.full((), 3, I.index)))", "E202"),
    ("2", "nor carried by what starts as a scalar", "f32[]", "t = 1.0\nfor i in range(3):\n    t = I.full((), 3.0, I.f32)\nout[()] = t", "E207"),
    ("2", "its element is", "index[]", "v = I.reshape(I.full((1,), 3, I.index), ())\nout[()] = 0\nif v[()] > 2:\n    out[()] = I.end(I.domain(0, v[()]))", 3),
    ("2", "reductions of it are scalars", "f32[]", "v = I.full((), 3.0, I.f32)\nt = 0.0\nfor i in range(2):\n    t = t + I.reduce.sum(v) + I.reduce(v, identity=0.0, combine=add)\nout[()] = t", 12),
    ("2", "it broadcasts", "f32[N]", "out[:] = x[:] + I.full((), 1.0, I.f32)", [v + 1 for v in X]),
    ("2", "a scalar is not joined", "f32[2]", "out[:] = I.join(I.cast(n, I.f32), 1.0)", "E202"),
    ("2", "join of two shapes", "f32[N, 2]", "out[:, :] = I.join(x[:], I.reduce.sum(m[:, :], axis=1))", "E204"),
    ("2", "join of two dtypes", "f32[N, 2]", "out[:, :] = I.join(x[:], k[:])", "E201"),
    # ---- parallel
    ("3", "each point once", "f32[N]", PER_POINT + "out[i] = x[i] + 1", [v + 1 for v in X]),
    ("3", "of several domains", "f32[M, N]",
     "for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):\n    out[i, j] = m[i, j] + x[j]",
     [[0 + 3, 1 + 1, 2 + 4, 3 + 1, 4 + 5], [8, 7, 11, 9, 14]]),
    ("3", "nothing is carried", "f32[]", "t = 0.0\n" + PER_POINT + "t = t + x[i]\nout[()] = t", "E114"),
    ("3", "break", "f32[N]", PER_POINT + "break\n", "E122"),
    ("3", "return", "f32[N]", PER_POINT + "return\n", "E122"),
    ("3", "of a subregion", "f32[N]", "out[:] = x[:]\nif N >= 3:\n    for i in I.parallel(I.domain(0, N)[1:3]):\n        out[i] = 0.0",
     [3, 0, 0, 1, 5]),
    ("3", "of a domain with a step", "f32[N]", "out[:] = x[:]\nfor i in I.parallel(range(0, N, 2)):\n    out[i] = 0.0", [0, 1, 0, 1, 0]),
    ("3", "of the members of each part", "f32[N]",
     "r = I.ragged(I.domain(0, M), I.domain(0, N), o)\nout[:] = x[:] * 0\nfor g in I.parallel(I.domain(0, M)):\n    for i in I.parallel(r[g]):\n"
     "        out[i] = x[i] + I.cast(g, I.f32)", [3, 1, 4, 2, 6]),
    ("3", "points that combine into one element", "f32[]", "out[()] = 0.0\n" + PER_POINT + "I.scatter_reduce(out, index=(), value=x[i], combine=add)", 14),
    ("3", "continue skips a point", "f32[N]", "out[:] = x[:] * 0\n" + PER_POINT
     + "if x[i] < 3.0:\n        continue\n    out[i] = x[i]", [3, 0, 4, 0, 5]),
    ("3", "points that write one element", "f32[]", PER_POINT + "out[()] = x[i]", "E303"),
    ("3", "a point that reads another's", "f32[N]", PER_POINT + "out[i] = x[i]\n    if i > 0:\n        out[i] = out[i - 1]",
     "E305"),
    ("3", "the whole domain without a loop", "f32[N]", "out[:] = x[:] * 2", [6, 2, 8, 2, 10]),
    ("3", "a name of a point behind the loop", "f32[]", PER_POINT + "t = x[i]\nout[()] = t", "E120"),
    # ---- ordered control
    ("4", "if merges names", "f32[N]", PER_POINT + "v = 1.0\n    if x[i] > 2.0:\n        v = x[i]\n    out[i] = v",
     [3, 1, 4, 1, 5]),
    ("4", "if on a tensor", "f32[N]", "v = x[:]\nif v > 2.0:\n    v = v * 2\nout[:] = v", "E202"),
    ("4", "two types behind a branch", "f32[]", "v = x[0] if N > 0 else 0.0\nif n > 1:\n    v = n\nout[()] = v", "E207"),
    ("4", "a known condition picks", "f32[]", "if 2 > 1:\n    v = 1.0\nelse:\n    v = undefined_name\nout[()] = v", 1),
    ("4", "domain order", "f32[]", "t: I.f32 = 0.0\nfor i in I.domain(0, N):\n    t = t * 10 + x[i]\nout[()] = t", 31415),
    ("4", "a carry of another dtype", "f32[]", "t: I.f32 = 0.0\nfor i in I.domain(0, N):\n    t = i\nout[()] = t", "E207"),
    ("4", "a carry of another shape", "f32[]",
     "t = I.zeros((1,), I.f32)\nfor i in I.domain(0, N):\n    t = I.concat((t, t))\nout[()] = I.reduce.sum(t)", "E207"),
    ("4", "while", "index[]", "t = n\nwhile t < 20:\n    t = t * 3\nout[()] = t", 54),
    ("4", "break", "index[]", "t = 0\nfor i in I.domain(0, N):\n    if i == n:\n        break\n    t = t + 10 + i\nout[()] = t", 21),
    ("4", "continue", "index[]",
     "t = 0\nfor i in I.domain(0, N):\n    if i == n:\n        continue\n    t = t * 10 + i\nout[()] = t", 134),
    ("4", "an early return", "index[]", "out[()] = 1\nif n == 2:\n    return\nout[()] = 2", 1),
    ("4", "select is lazy behind a scalar", "f32[]", "out[()] = x[n] if 0 <= n and n < N else -1.0", 4),
    ("4", "an unknown condition of assert", "f32[]", "assert n > 1\nout[()] = 1.0", "E102"),
    ("4", "a known assert", "f32[]", "assert 1 > 2, 'never'\nout[()] = 1.0", "E119"),
    # ---- reductions, scans, regions
    ("5", "reduce with a combine", "f32[]", "out[()] = I.reduce(x[:], axis=0, identity=0.0, combine=add)", 14),
    ("5", "reduce of a record", "f32[2]",
     "r = I.reduce(I.record(any=x[:] > 0.0, v=x[:] * 0 + 2), axis=0, identity=I.record(any=False, v=0.0), combine=last_of)\n"
     "out[0] = r.v\nout[1] = 1.0 if r.any else 0.0", [2, 1]),
    ("5", "the identity where nothing is", "f32[]", "out[()] = I.reduce(x[0:0], axis=0, identity=7.0, combine=add)", 7),
    ("5", "a combine that writes", "f32[]",
     "out[()] = I.reduce(x[:], axis=0, identity=0.0, combine=put)", "E113"),
    ("5", "scan keeps the order", "f32[N]",
     "r = I.scan(I.record(scale=x[:] * 0 + 10, shift=x[:]), axis=0, identity=I.record(scale=1.0, shift=0.0),\n"
     "    combine=affine, inclusive=True)\nout[:] = r.shift", [3, 31, 314, 3141, 31415]),
    ("5", "without the member itself", "f32[N]", "out[:] = I.cumsum(x[:], inclusive=False)", [0, 3, 4, 8, 9]),
    ("5", "backwards", "f32[N]",
     "r = I.scan(I.record(scale=x[:] * 0 + 10, shift=x[:]), axis=0, identity=I.record(scale=1.0, shift=0.0),\n"
     "    combine=affine, inclusive=True, reverse=True)\nout[:] = r.shift", [51413, 5141, 514, 51, 5]),
    ("5", "region_fold", "f32[]",
     "out[()] = I.region_fold(x[:], axis=0, summarize=summed, combine=add, identity=0.0)", 14),
    ("5", "coordinates come in as a component", "f32[]",
     "out[()] = I.region_fold((x[:], I.indices(I.domain(0, N))), axis=0, summarize=weighted, combine=add, identity=0.0)",
     1 + 8 + 3 + 20),
    ("5", "region_scan", "f32[N + 1]",
     "v, last = I.region_scan(x[:], axis=0, summarize=summed, combine=add, identity=0.0, initial_state=100.0,\n"
     "    apply=shift_state, emit=prefix)\nout[0:N] = v\nout[N] = last", [103, 104, 108, 109, 114, 114]),
    ("5", "random numbers in a slice", "f32[]",
     "out[()] = I.region_fold(x[:], axis=0, summarize=noisy, combine=add, identity=0.0)", "E306"),
    ("5", "random numbers in a combine", "f32[]", "out[()] = I.reduce(x[:], identity=0.0, combine=noise)", "E306"),
    ("5", "an atomic access in a slice", "f32[]",
     "c = I.buffer((1,), I.i32, init=0)\nout[()] = I.region_fold(x[:], axis=0, summarize=counting, combine=add, identity=0.0, operands=(c,))", "E306"),
    ("5", "a view in a slice", "f32[]",
     "out[()] = I.region_fold(x[:], axis=0, summarize=weighted, combine=add, identity=0.0, operands=(k,))", "E102"),
    ("5", "the extent of a slice as a number", "f32[]",
     "out[()] = I.region_fold(x[:], axis=0, summarize=how_many, combine=add, identity=0.0)", "E211"),
    ("5", "a place in a slice", "index[]",
     "out[()] = I.region_fold(x[:], axis=0, summarize=where_most, combine=I.maximum, identity=0)", "E211"),
    ("5", "coordinates of a part stay those of the whole", "f32[]",
     "d = I.domain(0, N)[I.minimum(2, N) : I.minimum(4, N)]\n"
     "out[()] = I.region_fold((x[d], I.indices(d)), axis=0, summarize=weighted, combine=add, identity=0.0)", 8 + 3),
    ("5", "an identity of another structure", "f32[]",
     "out[()] = I.region_fold(x[:], axis=0, summarize=summed, combine=add, identity=I.record(a=0.0))", "E208"),
    ("5", "outputs without the axis", "f32[N]",
     "v, _ = I.region_scan(x[:], axis=0, summarize=summed, combine=add, identity=0.0, initial_state=0.0,\n"
     "    apply=shift_state, emit=shift_state)\nout[:] = v + I.region_scan(x[:], axis=0, summarize=summed, combine=add, identity=0.0,\n"
     "    initial_state=0.0, apply=shift_state, emit=only_state)[0]", "E208"),
    ("5", "an ordered loop in a region", "f32[]",
     "out[()] = I.region_fold(x[:], axis=0, summarize=put, combine=add, identity=0.0)", "E113"),
    # ---- tensor operations
    ("6", "contract", "f32[M, M]",
     "out[:, :] = I.contract(m[:, :], m[:, :], reduce=((1, 1),), acc_dtype=I.f32)", [[30, 80], [80, 255]]),
    ("6", "a batch axis", "f32[M]",
     "out[:] = I.contract(m[:, :], m[:, :], reduce=((1, 1),), batch=((0, 0),), acc_dtype=I.f32)", [30, 255]),
    ("6", "an empty sum of products", "f32[]", "out[()] = I.dot(x[0:0], x[0:0], acc_dtype=I.f32)", 0),
    ("6", "without an accumulator", "f32[]", "out[()] = I.dot(x[:], x[:])", "E113"),
    ("6", "histogram", "i32[4]", "out[:] = I.histogram(k[:], bins=4, count_dtype=I.i32)", [1, 1, 2, 1]),
    ("6", "counts of what is outside", "i32[2]", "out[:] = I.histogram(k[:], bins=2, count_dtype=I.i32)", [1, 1]),
    ("6", "arg_reduce takes the first of equals", "index[]", "out[()] = I.arg_reduce.min(x[:], axis=0)[1]", 1),
    ("6", "sort", "f32[N]", "out[:] = I.sort(x[:])", [1, 1, 3, 4, 5]),
    ("6", "argsort is stable", "index[N]", "out[:] = I.argsort(x[:])", [1, 3, 0, 2, 4]),
    ("6", "topk", "f32[2]", "if N >= 2:\n    out[:] = I.topk(x[:], 2)[0]", [5, 4]),
    ("6", "topk of too few", "f32[2]", "out[:] = I.topk(x[:], 2)[0]", "E210"),
    ("6", "values of fewer bits with scales", "f32[M, 2]",
     "v = I.cast(m[:, 0:4], I.f8e4m3fn) if N >= 4 else I.full((M, 4), 0.0, I.f8e4m3fn)\none = I.full((M, 1), 127, I.u8)\n"
     "out[:, :] = I.scaled_matmul(v, one, I.full((4, 2), 1.0, I.f8e4m3fn), I.full((2, 1), 128, I.u8), lhs_format=I.e4m3,\n"
     "    rhs_format=I.e4m3, group_size=4, acc_dtype=I.f32)", [[12, 12], [52, 52]]),
    ("6", "two of each four are kept", "f32[1, 1]",
     "at = I.concat((I.full((1, 1), 1, I.i32), I.full((1, 1), 3, I.i32)), axis=1)\n"
     "if N >= 4:\n    out[:, :] = I.sparse_matmul(I.full((1, 2), 2.0, I.f32), at, x[0:4][:, None], format=I.sparse.two_of_four(), acc_dtype=I.f32)",
     [[4]]),
    # ---- parts
    ("7", "there is no partition", "f32[]", "p = I.partition(N, 4)\nout[()] = 1.0", "E002"),
    # ---- ragged
    ("8", "members of a ragged relation", "f32[M]",
     "r = I.ragged(I.domain(0, M), I.domain(0, N), o)\n"
     "for g in I.parallel(I.domain(0, M)):\n    out[g] = I.reduce.sum(x[r[g]])", [8, 6]),
    ("8", "mapped by indices", "f32[M]",
     "r = I.ragged(I.domain(0, M), I.domain(0, N), o, indices=k)\n"
     "for g in I.parallel(I.domain(0, M)):\n    out[g] = I.cast(I.reduce.sum(I.members(r[g])), I.f32)", [3, 5]),
    # ---- memory
    ("9", "gather with lanes that touch nothing", "f32[N]",
     "i = I.indices(I.domain(0, N))\nout[:] = I.gather(x, i + 2, valid=i + 2 < N, fill=-1.0)", [4, 1, 5, -1, -1]),
    ("9", "scatter to places that differ", "f32[N]",
     "I.scatter_unique(out, index=N - 1 - I.indices(I.domain(0, N)), value=x[:])", X[::-1]),
    ("9", "scatter to places that may meet", "f32[N]",
     "I.scatter_unique(out, index=I.assume_in_bounds(k[:], out), value=x[:])", "E304"),
    ("9", "collisions are combined", "f32[4]",
     "out[:] = I.zeros((4,), I.f32)\nI.scatter_reduce(out, index=k[:] % 4, value=x[:], combine=add)", [1, 4, 8, 1]),
    ("9", "lanes that are not valid write nothing", "f32[N]",
     "i = I.indices(I.domain(0, N))\nout[:] = x[:] * 0\nI.scatter_unique(out, index=i, value=x[:], valid=x[:] > 2.0)",
     [3, 0, 4, 0, 5]),
    ("9", "a read sees what was written", "f32[N]", "out[:] = x[:]\nout[:] = out[:] * 2", [6, 2, 8, 2, 10]),
    ("9", "a value that was read stays", "f32[N]", "out[:] = x[:]\nv = out[:]\nout[:] = v * 0\nout[:] = out[:] + v", X),
    ("9", "an output read before it is written", "f32[N]", "out[:] = out[:] + 1", "E307"),
    ("9", "an input that is written", "f32[N]", "x[:] = x[:] * 2", "E302"),
    ("9", "a buffer", "f32[N]", "b = I.buffer((N,), I.f32, init=1.0)\nb[0:0] = x[0:0]\nout[:] = b[:] + x[:]", [4, 2, 5, 2, 6]),
    ("9", "no transpose by subscripts", "f32[N, N]",
     "r, c = I.domain(0, N), I.domain(0, N)\nout[r, c] = (x[:][:, None] + x[:][None, :] * 10)[c, r]",
     [[a + b * 10 for b in X] for a in X]),
    ("9", "static indices count from the end", "f32[]", "if N > 0:\n    out[()] = x[-1]", 5),
    ("9", "of an extent that may be 0", "f32[]", "out[()] = x[-1]", "E301"),
    ("9", "an index of another integer", "f32[]", "out[()] = x[k[0]] if N > 0 and 0 <= k[0] and I.cast(k[0], I.index) < N else 0.0", 4),
    ("9", "an ellipsis", "f32[M]", "if N > 0:\n    out[:] = m[..., 0]", [0, 5]),
    # ---- atomics and random numbers
    ("10", "atomic add gives the old value", "i32[N]",
     "b = I.buffer((1,), I.i32, init=0)\nfor i in I.domain(0, N):\n    out[i] = I.atomic.add(b, index=(0,), value=k[i])",
     [0, 2, 2, 3, 6]),
    ("10", "compare and exchange", "i32[2]",
     "b = I.buffer((1,), I.i32, init=5)\nr = I.atomic.compare_exchange(b, index=0, expected=5, desired=9)\n"
     "out[0] = r.old_value if r.success else -1\nout[1] = b[0]", [5, 9]),
    ("10", "a store can't acquire", "i32[1]", "I.atomic.store(out, index=0, value=1, order=\"acquire\")", "E310"),
    ("10", "random bits are Philox", "u32[4]",
     "out[:] = I.random.bits(0, I.indices(I.domain(0, 4)))", [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ("10", "without a scope", "i32[1]", "out[:] = I.zeros((1,), I.i32)\nI.atomic.add(out, index=0, value=1, scope=\"gpu\")", "E113"),
    ("10", "load and store", "i32[2]",
     "b = I.buffer((2,), I.i32, init=7)\nI.atomic.store(b, index=1, value=9, order=\"release\")\n"
     "out[0] = I.atomic.load(b, index=0, order=\"acquire\")\nout[1] = I.atomic.load(b, index=1)", [7, 9]),
    ("10", "every read-modify-write", "i32[14]",
     "b = I.buffer((7,), I.i32, init=12)\n"
     "out[0] = I.atomic.exchange(b, index=0, value=5)\nout[1] = I.atomic.add(b, index=1, value=-5, order=\"acquire\")\n"
     "out[2] = I.atomic.max(b, index=2, value=20, order=\"release\")\nout[3] = I.atomic.min(b, index=3, value=-1, order=\"acq_rel\")\n"
     "out[4] = I.atomic.and_(b, index=4, value=10)\nout[5] = I.atomic.or_(b, index=5, value=3)\nout[6] = I.atomic.xor(b, index=6, value=5)\n"
     "out[7:14] = b[:]", [12] * 7 + [5, 7, 20, -1, 8, 15, 9]),
    ("10", "lanes that are not valid give 0", "i32[N]",
     "b = I.buffer((4,), I.i32, init=3)\nout[:] = I.atomic.add(b, index=k[:] % 4, value=1, valid=x[:] > 2.0)", [3, 0, 3, 0, 4]),
    ("10", "of a tensor, which is no memory", "i32[]", "v = k[:]\nout[()] = I.atomic.add(v, index=0, value=1)", "E118"),
    ("10", "a seed of any integers", "u32[]", "out[()] = I.random.bits(0, n)", 0xBC57AC4C),
    ("10", "a seed that is no integer", "u32[]", "out[()] = I.random.bits(1.5, n)", "E203"),
    # ---- numbers
    ("11", "integers wrap", "i8[]", "out[()] = I.cast(100, I.i8) + I.cast(k[0] * 0 + 50, I.i8) if N > 0 else 0", -106),
    ("11", "floor division and its remainder", "i32[2]",
     "if N > 0:\n    out[0] = (k[0] - 9) // 2\n    out[1] = (k[0] - 9) % 4", [-4, 1]),
    ("11", "a literal that does not fit", "i8[]", "out[()] = 300", "E203"),
    ("11", "no promotion", "f32[N]", "out[:] = x[:] + k[:]", "E201"),
    ("11", "a cast that saturates", "u8[2]",
     "if N > 0:\n    out[0] = I.saturate_cast(x[0] * 100, I.u8)\n    out[1] = I.saturate_cast(-x[0], I.u8)", [255, 0]),
    ("11", "round half to even", "f32[2]", "if N > 0:\n    out[0] = I.round(x[0] - 0.5)\n    out[1] = I.round(x[0] + 0.5)", [2, 4]),
    ("11", "bitcast", "i32[]", "if N > 0:\n    out[()] = I.bitcast(x[0], I.i32)", 0x40400000),
    ("11", "whether it is None", "f32[]", "out[()] = 1.0 if n is not None else 0.0", 1.0),
    ("11", "a constant is a literal", "f32[]", "out[()] = 3 / 2", 1.5),
    # ---- rejected
    ("12", "a comprehension", "f32[]", "v = [i for i in range(3)]\nout[()] = 1.0", "E102"),
    ("12", "lambda", "f32[]", "f = lambda v: v\nout[()] = 1.0", "E102"),
    ("12", "in", "f32[]", "out[()] = 1.0 if n in (1, 2) else 0.0", "E102"),
    ("12", "is", "f32[]", "out[()] = 1.0 if n is N else 0.0", "E102"),
    ("12", "else behind a loop", "f32[]", "for i in range(3):\n    pass\nelse:\n    out[()] = 1.0", "E102"),
    ("12", "a returned value", "f32[]", "out[()] = 1.0\nreturn 1", "E108"),
    ("12", "a tuple in the place of a tensor", "f32[2]", "out[:] = (1.0, 2.0)", "E121"),
]  # fmt: skip


def declared(out):
    """The dtype and the shape of `f32[M, N]`."""
    dtype, inner = out[:-1].split("[")
    return dtype, tuple(int(e) if e.isdigit() else e for e in inner.split(", ") if e)


def kernel(out, body, helpers=""):
    """The kernel of a construct."""
    dtype, shape = declared(out)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{HELPERS}{helpers}\n@intent.kernel\ndef construct({SIGNATURE}, out: I.Out[I.{dtype}, {shape!r}]):\n"
    return executed(f"{text}    M, N = m.shape\n{lines}")["construct"]


def evaluated(k, out):
    """What the reference makes of it, whole and point by point."""
    dtype, shape = declared(out)
    extents = [eval(str(e), {"N": 5, "M": 2}) for e in shape]
    with Arena():
        program = k.capture()
        assert LOGICAL.check(program) == []
        assert parse(show(program), LOGICAL) is program
        results = []
        for budget, cuts in itertools.product((1 << 18, 1), (1, 3)):
            made = np.zeros(extents, "i8" if dtype == "index" else np.dtype(f"{dtype[0]}{int(dtype[1:]) // 8}"))
            arrays = {
                "x": np.array(X, np.float32), "k": np.array(K, np.int32), "o": np.array([0, 3, 5], np.int32),
                "m": np.arange(10, dtype=np.float32).reshape(2, 5), "out": made,
            }  # fmt: skip
            logical.run(program, arrays, {"n": 2}, budget=budget, cuts=cuts)
            results.append(made.tolist())
    assert all(r == results[0] for r in results), results
    return results[0]


@pytest.mark.parametrize(
    ("out", "body", "expected"), [c[2:] for c in CONSTRUCTS], ids=[f"{c[0]} {c[1]}" for c in CONSTRUCTS]
)
def test_a_construct_means_what_the_manual_says(out, body, expected):
    if isinstance(expected, str) and expected != "host":
        with Arena(), pytest.raises(IntentError) as found:
            kernel(out, body).capture()
        assert found.value.code == expected, found.value
        assert found.value.span is not None
    elif expected == "host":
        with Arena():
            assert parse(show(program := kernel(out, body).capture()), LOGICAL) is program
    else:
        assert evaluated(kernel(out, body), out) == expected


def test_every_section_is_there():
    assert [key for key, _ in itertools.groupby(c[0] for c in CONSTRUCTS)] == [
        "1", "1.1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12",
    ]  # fmt: skip
    assert I.f32.is_float
