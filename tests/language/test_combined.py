"""Programs of one who has read the manual and nothing else: constructs put together in ways that it does not show, with
values worked out by hand."""
# ruff: noqa: E501  (a table: programs and their values)

import numpy as np
import pytest

from intent_np.errors import IntentError
from tests.language.test_constructs import by_machine, evaluated, kernel

# x = [3 1 4 1 5], k = [2 0 1 3 2], m = [[0 1 2 3 4] [5 6 7 8 9]], o = [0 3 5], n = 2; M = 2, N = 5
# name, helpers, `out`, body, elements
PROGRAMS = [
    ("coordinates in records in tuples through two helpers", """
@intent.fn
def corner(rows, columns):
    return I.record(at=(I.indices(rows), I.indices(columns)), size=1)

@intent.fn
def picked(c, v):
    r, q = c.at
    return v[r[:, None], q[None, :]], c
""", "f32[M, 2]",
     "if N >= 4:\n    v, c = picked(corner(I.domain(0, M), I.domain(2, 4)), m)\n    out[:, :] = v + I.cast(c.at[1], I.f32)",
     [[4, 6], [9, 11]]),
    ("a subregion of a stepped domain, reversed", "", "index[2]",
     "d = I.domain(1, 20, 4)[6:15]\nout[:] = I.flip(I.indices(d))", [13, 9]),
    ("every second of every third", "", "index[2]", "out[:] = I.indices(I.domain(0, 12, 3)[::2])", [0, 6]),
    ("enumerate over members of a ragged relation", "", "f32[M]",
     "r = I.ragged(I.domain(0, M), I.domain(0, N), o)\nfor g in I.parallel(I.domain(0, M)):\n    t: I.f32 = 0.0\n"
     "    for j, i in enumerate(r[g]):\n        t = t + I.cast(j + 1, I.f32) * x[i]\n    out[g] = t",
     [3 * 1 + 1 * 2 + 4 * 3, 1 * 1 + 5 * 2]),
    ("mapped members of a part of a ragged region", "", "i32[M]",
     "r = I.ragged(I.domain(0, M), I.domain(0, N), o, indices=k)\nfor g in I.parallel(I.domain(0, M)):\n"
     "    out[g] = I.reduce.sum(I.cast(I.members(r[g]), I.i32) * k[r[g]])", [2 * 2 + 0 + 1, 9 + 4]),
    ("a reverse exclusive scan of records with an operand", """
@intent.fn
def step(a, b, base):
    return I.record(v=b.v * a.w + a.v, w=a.w * b.w * base // base)
""", "i32[N]",
     "one = I.full((N,), 10, I.i32)\nr = I.scan(I.record(v=k[:], w=one), axis=0, identity=I.record(v=0, w=1), combine=step, inclusive=False,\n"
     "    reverse=True, combine_operands=(I.cast(n, I.i32),))\nout[:] = r.v", [132, 132, 32, 2, 0]),
    ("a region fold inside an ordered loop inside parallel", "", "f32[M]",
     "for r in I.parallel(I.domain(0, M)):\n    t: I.f32 = 0.0\n    for j in I.domain(0, 3):\n"
     "        t = t * 2 + I.region_fold(m[r, :], axis=0, summarize=summed, combine=add, identity=0.0)\n    out[r] = t",
     [70, 35 * 7]),
    ("the old value of an atomic is an address", "", "f32[N]",
     "slots = I.buffer((1,), I.index, init=0)\nfor i in I.domain(0, N):\n    at = I.atomic.add(slots, index=0, value=1)\n"
     "    if 0 <= at and at < N:\n        out[at] = x[i] * 10", [30, 10, 40, 10, 50]),
    ("an exchange in a loop shifts", "", "i32[N]",
     "held = I.buffer((1,), I.i32, init=9)\nfor i in I.domain(0, N):\n    out[i] = I.atomic.exchange(held, index=0, value=k[i])",
     [9, 2, 0, 1, 3]),
    ("a compare-exchange that fails, and one that does not", "", "i32[3]",
     "b = I.buffer((1,), I.i32, init=4)\na = I.atomic.compare_exchange(b, index=0, expected=3, desired=7)\n"
     "c = I.atomic.compare_exchange(b, index=0, expected=a.old_value, desired=8)\n"
     "out[0] = a.old_value\nout[1] = 1 if c.success and not a.success else 0\nout[2] = b[0]", [4, 1, 8]),
    ("a helper that loops, called in a helper that branches, in a loop", """
@intent.fn
def digits(v):
    count: I.index = 0
    while v > 0:
        v = v // 2
        count += 1
    return count

@intent.fn
def cost(v, odd):
    if odd:
        return digits(v) * 10
    return digits(v)
""", "index[N]",
     "for i in I.parallel(I.domain(0, N)):\n    out[i] = cost(I.cast(x[i], I.index), i % 2 == 1)", [2, 10, 3, 10, 3]),
    ("a helper writes twice what another reads between", """
@intent.fn
def mark(b, v):
    b[0] = v
    seen = b[0]
    b[0] = seen * seen
    return seen

@intent.fn
def through(b, v):
    first = mark(b, v)
    second = mark(b, b[0] + first)
    return first, second
""", "index[3]", "b = I.buffer((1,), I.index, init=0)\np, q = through(b, n)\nout[0] = p\nout[1] = q\nout[2] = b[0]", [2, 6, 36]),
    ("records carried by a while loop", "", "index[2]",
     "zero: I.index = 0\ns = I.record(a=zero, b=zero + 1)\nwhile s.b < 30:\n    s = I.record(a=s.b, b=s.a + s.b)\nout[0] = s.a\nout[1] = s.b", [21, 34]),
    ("tensors carried, swapped", "", "f32[2, N]",
     "a, b = x[:], m[0, :] if M > 0 else x[:]\nfor _ in range(3):\n    a, b = b, a\nout[0, :] = a\nout[1, :] = b",
     [[0, 1, 2, 3, 4], [3, 1, 4, 1, 5]]),
    ("a loop over a tuple of helpers' results", "", "f32[]",
     "t: I.f32 = 0.0\nfor j, v in enumerate((twice(1.0), twice(2.0), 3.0)):\n    t = t + v * (j + 1)\nout[()] = t", 2 + 8 + 9),
    ("break out of two loops by a flag", "", "index[2]",
     "found, where = -1, -1\nfor i in I.domain(0, N):\n    for j in I.domain(0, i):\n        if found < 0 and x[i] == x[j]:\n"
     "            found, where = i, j\n            break\n    if found >= 0:\n        break\nout[0] = found\nout[1] = where", [3, 1]),
    ("return in a loop of a helper with a tensor", """
@intent.fn
def first_row(v, limit):
    for r in I.domain(0, v.shape[0]):
        if I.reduce.max(v[r, :]) > limit:
            return v[r, :]
    return v[0, :] * 0 if v.shape[0] > 0 else I.zeros((v.shape[1],), I.f32)
""", "f32[N]", "out[:] = first_row(m, 5.0)", [5, 6, 7, 8, 9]),
    ("continue in a loop in a point", "", "f32[M]",
     "for r in I.parallel(I.domain(0, M)):\n    t: I.f32 = 0.0\n    for j in I.domain(0, N):\n        if j == r:\n            continue\n"
     "        t += m[r, j]\n    out[r] = t", [10, 29]),
    ("a buffer in each iteration is fresh", "", "index[]",
     "t = 0\nfor i in I.domain(0, 4):\n    b = I.buffer((2,), I.index, init=i)\n    b[1] = b[0] * 10\n    t += b[0] + b[1]\nout[()] = t", 66),
    ("a buffer as a window of the last two", "", "f32[N]",
     "b = I.buffer((2,), I.f32, init=0.0)\nfor i in I.domain(0, N):\n    out[i] = b[0] + b[1] + x[i]\n    b[0] = b[1]\n    b[1] = x[i]",
     [3, 4, 8, 6, 10]),
    ("scatter of what a scan addresses", "", "f32[N]",
     "keep = x[:] > 2.0\nat = I.cumsum(I.cast(keep, I.index), inclusive=False)\nout[:] = x[:] * 0 - 1\n"
     "I.scatter_unique(out, index=I.assume_unique(I.assume_in_bounds(I.select(keep, at, 0), out)), value=x[:], valid=keep)",
     [3, 4, 5, -1, -1]),
    ("scatter with a helper that combines more than two numbers", """
@intent.fn
def capped(a, b, most):
    return I.minimum(a + b, most)
""", "f32[3]", "out[:] = I.zeros((3,), I.f32)\nI.scatter_reduce(out, index=k[:] % 3, value=x[:], combine=capped, combine_operands=(7.0,))",
     [2, 4, 7]),
    ("gather of a gather, lanes off", "", "f32[N]",
     "i = I.indices(I.domain(0, N))\nj = I.gather(i, N - 1 - i, valid=i > 0, fill=0)\nout[:] = I.gather(x, j, valid=j > 1, fill=-1.0)",
     [-1, 1, 4, -1, -1]),
    ("a batch of outer products, contracted again", "", "f32[M]",
     "o2 = I.contract(m[:, :], m[:, :], reduce=(), batch=((0, 0),), acc_dtype=I.f32)\nout[:] = I.reduce.sum(o2, axis=(1, 2))", [100, 35 * 35]),
    ("arg_reduce of a transposed concatenation", "", "index[N]",
     "both = I.concat((m[:, :], x[:][None, :]), axis=0)\nout[:] = I.arg_reduce.max(I.transpose(both), axis=1)[1]", [1, 1, 1, 1, 1]),
    ("sort by argsort of another", "", "f32[N]", "p = I.argsort(k[:])\nout[:] = I.gather(x, I.assume_in_bounds(p, x))", [1, 4, 3, 5, 1]),
    ("topk's places address the source", "", "f32[2]",
     "if N >= 2:\n    v, p = I.topk(x[:], 2)\n    out[:] = v * 10 + I.gather(x, I.assume_in_bounds(p, x))", [55, 44]),
    ("a histogram of differences", "", "i32[3]",
     "d = k[:] - I.roll(k[:], 1)\nout[:] = I.histogram(d + 1, bins=3, count_dtype=I.i32)", [1, 1, 1]),
    ("padding, then windows by subregions", "", "f32[N]",
     "p = I.pad(x[:], (1, 1))\nout[:] = p[: N] + p[1 : N + 1] + p[2 :]", [4, 8, 6, 10, 6]),
    ("split, flip and join", "", "f32[2, 2]",
     "a, b = I.split(I.cast(I.indices(I.domain(0, 4)), I.f32), 2)\nout[:, :] = I.join(I.flip(a), b)", [[1, 2], [0, 3]]),
    ("any and all of comparisons that chain", "", "i32[2]",
     "out[0] = 1 if I.reduce.any(1.0 < x[:] < 4.0) else 0\nout[1] = 1 if I.reduce.all((x[:] >= 1.0) & (x[:] < 5.0)) else 0", [1, 0]),
    ("two regions, one inside of the other", """
@intent.fn
def rows_of(v):
    inner = I.region_fold(I.transpose(v), axis=0, summarize=summed, combine=add, identity=0.0)
    return I.reduce.sum(inner * inner, axis=0)
""", "f32[]", "out[()] = I.region_fold(m[:, :], axis=0, summarize=rows_of, combine=add, identity=0.0)", 100 + 35 * 35),
    ("a region scan whose state is a pair", """
@intent.fn
def total(v, by):
    return I.record(s=I.reduce.sum(v, axis=0), m=I.reduce.max(v, axis=0))

@intent.fn
def both(a, b):
    return I.record(s=a.s + b.s, m=I.maximum(a.m, b.m))

@intent.fn
def moved(summary, state):
    return I.record(s=state.s + summary.s, m=I.maximum(state.m, summary.m))

@intent.fn
def shown(v, state, by):
    return (state.s + I.cumsum(v)) * by, I.maximum(state.m, I.cummax(v))
""", "f32[2, N]",
     "(a, b), last = I.region_scan(x[:], axis=0, summarize=total, combine=both, identity=I.record(s=0.0, m=-1e30),\n"
     "    initial_state=I.record(s=1.0, m=2.0), apply=moved, emit=shown, operands=(10.0,))\nout[0, :] = a + last.m * 0\nout[1, :] = b",
     [[40, 50, 90, 100, 150], [3, 3, 4, 4, 5]]),
    ("a tile's extent from a remainder", "", "f32[N]",
     "for c in I.parallel(I.domain(0, I.ceil_div(N, 2))):\n    part = I.domain(0, N)[c * 2 : I.minimum(c * 2 + 2, N)]\n"
     "    out[part] = x[part] - I.reduce.max(x[part])", [0, -2, 0, -3, 0]),
    ("chained helpers with defaults and keywords", """
@intent.fn
def scaled(v, by=2.0, *more, shift=0.0):
    for w in more:
        v = v + w
    return v * by + shift
""", "f32[N]", "out[:] = scaled(scaled(x[:], shift=1.0), 10.0, 1.0, 2.0)", [100, 60, 120, 60, 140]),
    ("i8 sums accumulate wide, products wrap", "", "i32[2]",
     "v = I.cast(k[:], I.i8) * 60\nout[0] = I.reduce.sum(v)\nout[1] = I.cast(I.reduce.prod(v + 1), I.i32)", [224, 81]),
    ("random numbers do not depend on order", "", "u32[2]",
     "a = I.random.bits(7, I.indices(I.domain(0, 8)))\nb = I.random.bits(7, 5)\nout[0] = a[5] - b\nout[1] = I.reduce.sum(I.cast(a[:4] == I.flip(I.flip(a))[:4], I.u32))", [0, 4]),
    ("writes of one kernel after another's points", "", "f32[N]",
     "for i in I.parallel(I.domain(0, N)):\n    out[i] = x[i]\nfor i in I.parallel(I.domain(0, N)):\n    if i > 0 and i < N - 1:\n        pass\n"
     "t = I.reduce.sum(out[:])\nout[:] = out[:] / t * 14.0", [3, 1, 4, 1, 5]),
    ("select between records by a known flag", "", "f32[]",
     "a, b = I.record(v=x[0] if N > 0 else 0.0, w=1), I.record(v=2.0, w=2)\nc = a if n == 2 else b\nout[()] = c.v * I.cast(c.w, I.f32)", 3),
    ("an index out of division and remainder", "", "f32[M, N]",
     "for q in I.parallel(I.domain(0, M * N)):\n    out[q // N, q % N] = m[q // N, q % N] * 2", [[0, 2, 4, 6, 8], [10, 12, 14, 16, 18]]),
    ("a triangle of a nest whose inner bound is the outer point", "", "f32[N, N]",
     "out[:, :] = I.zeros((N, N), I.f32)\nfor i in I.parallel(I.domain(0, N)):\n    part = I.domain(0, N)[: i + 1]\n    out[i, part] = x[part]",
     [[3, 0, 0, 0, 0], [3, 1, 0, 0, 0], [3, 1, 4, 0, 0], [3, 1, 4, 1, 0], [3, 1, 4, 1, 5]]),
     ("tuple returned by conditional helper", """
@intent.fn
def pick(c, a, b):
    return (a, b) if c else (b, a)
""","f32[2]","p, q = pick(n > 1, 1.0, 2.0)\nout[0] = p\nout[1] = q",[1,2]),
     ("helper with buffer arg in parallel with atomic result used in branch","""
@intent.fn
def take(counter, most):
    t = I.atomic.add(counter, index=0, value=1)
    if t < most:
        return t
    return most - 1
""","index[N]","c = I.buffer((1,), I.index, init=0)\nfor i in I.domain(0, N):\n    out[i] = take(c, 3)",[0,1,2,2,2]),
     ("cumsum along axis of matrix in helper reversed exclusive","","f32[M, N]","out[:, :] = I.cumsum(m[:, :], axis=1, inclusive=False, reverse=True)",[[10,9,7,4,0],[30,24,17,9,0]]),
     ("scan of tuple","""
@intent.fn
def mm(a, b):
    return I.minimum(a[0], b[0]), I.maximum(a[1], b[1])
""","f32[2, N]","lo, hi = I.scan((x[:], x[:]), axis=0, identity=(9.0, -9.0), combine=mm, inclusive=True)\nout[0, :] = lo\nout[1, :] = hi",[[3,1,1,1,1],[3,3,4,4,5]]),
     ("nested parallel in branch in loop","","f32[M, N]","out[:, :] = m[:, :] * 0\nfor t in I.domain(0, 2):\n    if t == 1:\n        for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):\n            out[i, j] = out[i, j] + m[i, j] * I.cast(t, I.f32)\n    else:\n        out[:, :] = out[:, :] + 1",[[1,2,3,4,5],[6,7,8,9,10]]),
     ("transposed store through reshape","","f32[N, M]","out[:, :] = I.reshape(I.reshape(I.transpose(m[:, :]), (N * M,)), (N, M))",[[j,j+5] for j in range(5)]),
     ("while with and reading","","index[]","i: I.index = 0\nwhile i < N and x[i] != 4.0:\n    i += 1\nout[()] = i",2),
     ("chained comparison with reads","","f32[N]","for i in I.parallel(I.domain(0, N)):\n    out[i] = 1.0 if 0 < i < N - 1 and x[i - 1] < x[i] > x[i + 1] else 0.0",[0,0,1,0,0]),
     ("scatter_reduce in loop with points","""
""","f32[M]","out[:] = I.zeros((M,), I.f32)\nfor j in I.parallel(I.domain(0, N)):\n    I.scatter_reduce(out, index=I.indices(I.domain(0, M)), value=m[:, j], combine=add)",[10,35]),
     ("atomic max in parallel","","i32[2]","out[:] = I.zeros((2,), I.i32)\nfor j in I.parallel(I.domain(0, N)):\n    I.atomic.max(out, index=j % 2, value=k[j])",[2,3]),
     ("record of tensors in loop carry","","f32[2, N]","s = I.record(a=x[:], b=x[:] * 0)\nfor j in range(3):\n    s = I.record(a=s.a + 1, b=s.b + s.a)\nout[0, :] = s.a\nout[1, :] = s.b",[[6,4,7,4,8],[12,6,15,6,18]]),
     ("assume_in_bounds on tensors","","f32[N]","out[:] = x[I.assume_in_bounds(k[:], x)]",[4,3,1,1,4]),
     ("indexing with row tensors and slices","","f32[2, 2]","if N >= 4 and M > 0:\n    out[:, :] = m[0:1, 2:4] + I.zeros((2, 1), I.f32)",[[2,3],[2,3]]),
     ("new axes and ellipsis","","f32[M, 1, N]","out[...] = m[:, None, :]",[[[0,1,2,3,4]],[[5,6,7,8,9]]]),
     ("value positions negative","","f32[]","v = I.full((4,), 2.0, I.f32)\nout[()] = v[-1] + v[0]",4),
     ("enumerate of stepped subregion","","index[]","t: I.index = 0\nfor j, i in enumerate(I.domain(0, 20, 3)[5:13]):\n    t = t * 100 + j * 20 + i\nout[()] = t",(6*100+29)*100+52),
     ("sum of products by reduce and by contract agree","","f32[]","out[()] = I.reduce.sum(x[:] * x[:]) - I.dot(x[:], x[:], acc_dtype=I.f32)",0),
     ("ragged ends","","index[M]","r = I.ragged(I.domain(0, M), I.domain(0, N), o)\nfor g in I.parallel(I.domain(0, M)):\n    out[g] = I.end(r[g])",[3,5]),
     ("ragged last","","f32[M]","r = I.ragged(I.domain(0, M), I.domain(0, N), o)\nfor g in I.parallel(I.domain(0, M)):\n    t: I.f32 = 0.0\n    for i in r[g]:\n        t = x[i]\n    out[g] = t",[4,5]),
     ("ragged enumerates mapped","","i32[M]","r = I.ragged(I.domain(0, M), I.domain(0, N), o, indices=k)\nfor g in I.parallel(I.domain(0, M)):\n    v = I.members(r[g])\n    out[g] = I.reduce.max(I.cast(v, I.i32))",[2,3]),
     ("region fold over a ragged region","","f32[M]","r = I.ragged(I.domain(0, M), I.domain(0, N), o)\nfor g in I.parallel(I.domain(0, M)):\n    out[g] = I.region_fold(x[r[g]], axis=0, summarize=summed, combine=add, identity=0.0)",[8,6]),
     ("subregion of a ragged region","","f32[M]","r = I.ragged(I.domain(0, M), I.domain(0, N), o)\nfor g in I.parallel(I.domain(0, M)):\n    d = r[g]\n    out[g] = I.reduce.sum(x[d])",[8,6]),
     ("scan with records reversed in helper with captures","""
@intent.fn
def horner(v, base):
    r = I.scan(I.record(w=v * 0 + base, v=v), axis=0, identity=I.record(w=1.0, v=0.0), combine=compose, inclusive=True, reverse=True)
    return r.v

@intent.fn
def compose(a, b):
    return I.record(w=a.w * b.w, v=a.v * b.w + b.v)
""","f32[N]","out[:] = horner(x[:], 2.0)",[((((5*2+1)*2+4)*2)+1)*2+3,(((5*2+1)*2+4)*2)+1,(5*2+1)*2+4,11,5]),
     ("read a buffer row in helper","""
@intent.fn
def shiftrow(b, r):
    b[r, 1:] = b[r, :-1]
""","f32[2, 4]","b = I.buffer((2, 4), I.f32, init=0.0)\nb[:, 0] = I.full((2,), 7.0, I.f32)\nshiftrow(b, 1)\nshiftrow(b, 1)\nout[:, :] = b[:, :]",[[7,0,0,0],[7,7,7,0]]),
     ("in place shift reads before writes","","f32[N]","out[:] = x[:]\nif N > 0:\n    out[1:] = out[:-1]",[3, 3, 1, 4, 1]),
     ("debug_assert in helper","""
@intent.fn
def sure(v):
    I.debug_assert(I.reduce.all(v > 0.0), "positive")
    return v
""","f32[N]","out[:] = sure(x[:])",[3,1,4,1,5]),
     ("return in one of nested branches in a void helper","""
@intent.fn
def maybe(target, i, v):
    if v > 2.0:
        if v > 4.5:
            return
        target[i] = v
        return
    target[i] = -v
""","f32[N]","out[:] = x[:] * 0\nfor i in I.parallel(I.domain(0, N)):\n    maybe(out, i, x[i])",[3,-1,4,-1,0]),
     ("return in a parallel loop of helper", """
@intent.fn
def all_of(target):
    for i in I.parallel(I.domain(0, target.shape[0])):
        if i > 2:
            return
        target[i] = 1.0
""","f32[N]","all_of(out)","E122"),
     ("recursion","""
@intent.fn
def again(v):
    return again(v)
""","f32[]","out[()] = again(1.0)","E106"),
     ("helper returns a domain and a count","""
@intent.fn
def halves(axis, length):
    return axis[: length // 2], axis[length // 2 :]
""","f32[2]","a, b = halves(I.domain(0, N), N)\nout[0] = I.reduce.sum(x[a])\nout[1] = I.reduce.sum(x[b])",[4,10]),
     ("loop over parts with carried state across parts","","f32[N]","s: I.f32 = 0.0\nfor c in I.domain(0, I.ceil_div(N, 2)):\n    part = I.domain(0, N)[c * 2 : I.minimum(c * 2 + 2, N)]\n    v = I.cumsum(x[part]) + s\n    out[part] = v\n    s = s + I.reduce.sum(x[part])",[3,4,8,9,14]),
     ("for over zero-extent dims","","f32[]","t: I.f32 = 1.0\nfor i in I.domain(3, 3):\n    t = t * x[i] if i < N else t\nout[()] = t",1),
     ("bool tensors reduce","","index[]","out[()] = I.reduce.sum(x[:] > 2.0, acc_dtype=I.index)",3),
     ("argmin of ties with where","","index[]","v, p = I.arg_reduce.max(I.select(k[:] == 2, x[:], 0.0), axis=0)\nout[()] = p",4),
     ("uniform in bounds","","f32[]","u = I.random.uniform(3, I.indices(I.domain(0, 64)))\nout[()] = 1.0 if I.reduce.all((u >= 0.0) & (u < 1.0)) else 0.0",1),
     ("saturated sum","","u8[]","out[()] = I.saturate_cast(I.reduce.sum(x[:]) * 100, I.u8)",255),
     ("fmod and rounding","","f32[3]","v: I.f32 = -7.5\nout[0] = I.fmod(v, 2.0)\nout[1] = I.round(v + 10.0)\nout[2] = I.floor(v + 7.0)",[-1.5,2,-1]),
     ("roll of rows","","f32[M, N]","out[:, :] = I.roll(m[:, :], 1, axis=1)",[[4,0,1,2,3],[9,5,6,7,8]]),
     ("two-d histogram by linear index","","i32[2, 2]","h = I.histogram(I.cast(x[:] > 2.0, I.i32) * 2 + I.cast(k[:] > 1, I.i32), bins=4, count_dtype=I.i32)\nout[:, :] = I.reshape(h, (2, 2))",[[1,1],[1,2]]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("helpers", "out", "body", "expected"), [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS]
)
def test_a_program_gives_what_the_manual_says(helpers, out, body, expected):
    if isinstance(expected, str):
        with pytest.raises(IntentError) as refused:
            kernel(out, body, helpers).capture()
        assert refused.value.code == expected
        return
    for found in (evaluated(kernel(out, body, helpers), out), by_machine(kernel(out, body, helpers), out)):
        np.testing.assert_allclose(np.array(found), np.array(expected), rtol=1e-6)
