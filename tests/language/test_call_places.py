"""Calls of helpers with effects in every place: the program does what the helpers' statements would, written there."""
# ruff: noqa: E501  (a table: helpers, and a body that calls them)

import numpy as np
import pytest

from intent_np.backends.reference import checking, logical
from intent_np.terms.core import find
from intent_np.terms.logical import Perform, inlined

from .test_calls import in_frames, kernel

CASES = {
"a branch that returns on both sides":  ("""
def pick(c, i, flag):
    if flag:
        c[i] = c[i] + 1
        return c[i] * 2
    c[i] = 7
    return 5
""","for r in I.parallel(rows):\n    v = pick(z, r, x[r, 0] > 0.0 if N > 0 else False)\n    z[r] = z[r] + v * 100"),
"a compare-exchange": ("""
def cas(c, i, e, d):
    r = I.atomic.compare_exchange(c, index=(i,), expected=e, desired=d)
    return r.success, r.old_value
""","for r in I.parallel(rows):\n    ok, old = cas(z, r, 1, 50)\n    if ok:\n        y[r, :] = x[r, :]\n    z[r] = z[r] + old"),
"one assertion twice": ("""
def note(c, i):
    I.debug_assert(c[i] >= 0, "ok")
    I.debug_assert(c[i] >= 0, "ok")
""","for r in I.parallel(rows):\n    note(z, r)\n    note(z, r)\n    z[r] = z[r] + 1"),
"a buffer of its own, read behind it": ("""
def local(v):
    b = I.buffer(v.shape, I.f32)
    b[:] = v * 2
    return I.reduce.sum(b[:]), b[0] if v.shape[0] > 0 else 0.0
""","for r in I.parallel(rows):\n    s, f = local(x[r, :])\n    y[r, :] = x[r, :] + s * f"),
"in a loop, twice": ("""
def acc(c, i, t):
    c[i] = c[i] * 2 + t
    return c[i]
""","for r in I.parallel(rows):\n    s: I.index = 0\n    for j in I.domain(0, N):\n        s = s + acc(z, r, j) - acc(z, r, s)\n    z[r] = s"),
"points in a loop": ("""
def acc(c, i, t):
    s: I.index = 0
    for j in I.domain(0, t):
        c[i] = c[i] * 2 + j
        s = s + c[i]
    return s
""","for j in I.domain(0, N):\n    for r in I.parallel(rows):\n        z[r] = acc(z, r, j) % 91"),
"a buffer handed on": ("""
def inner(b, k):
    b[k] = b[k] + 1.0
    return b[k]

def outer(b, v, i):
    b[i] = v
    t = inner(b, i)
    return inner(b, i) + t, t
""","for r in I.parallel(rows):\n    b = I.buffer((4,), I.f32, init=0.0)\n    p, q = outer(b, 3.0, 1)\n    u, w = outer(b, p, 2)\n    y[r, :] = b[1] * 1000 + b[2] * 100 + u * 10 + w + q"),
"a condition that acts": ("""
def more(c, i):
    c[i] = c[i] - 1
    return c[i] > 0
""","for r in I.parallel(rows):\n    n = 0\n    while more(z, r):\n        n += 1\n    y[r, :] = x[r, :] * I.cast(n, I.f32)"),
"a part of an axis": ("""
def part(target, row, d, v):
    target[row, d] = v[d]
    return I.reduce.sum(v[d])
""","for r in I.parallel(rows):\n    s: I.f32 = 0.0\n    for c in I.domain(0, I.ceil_div(N, 2)):\n        s = s + part(y, r, I.domain(0, N)[c * 2 : I.minimum(c * 2 + 2, N)], x[r, :])\n    y[r, :] = y[r, :] + s"),
"a return out of a loop": ("""
def scanrow(target, v, row, limit):
    for j in I.domain(0, v.shape[0]):
        if v[j] > limit:
            return j
        target[row, j] = v[j] + limit
    return -1
""","for r in I.parallel(rows):\n    z[r] = scanrow(y, x[r, :], r, 1.0) * 10 + scanrow(y, y[r, :], r, 2.0)"),
"two reads from before two stores": ("""
def swap(c, i, j):
    a, b = c[i], c[j]
    c[i] = b
    c[j] = a
    return a, b
""","for r in I.parallel(rows):\n    b = I.buffer((3,), I.index, init=r)\n    b[1] = 10\n    p, q = swap(b, 0, 1)\n    s, t = swap(b, 1, 2)\n    z[r] = b[0] + b[1] * 10 + b[2] * 100 + p * 1000 + q * 10000 + s * 100000 + t * 1000000"),
"a loop, then a read from before a store": ("""
def stale(c, i):
    k = c[i] % 3
    j = 0
    while j < k:
        j += 1
    old = c[i]
    c[i] = old + j
    return old, j
""","for r in I.parallel(rows):\n    o, j = stale(z, r)\n    z[r] = z[r] * 100 + o * 10 + j"),
"a read at what a loop found, from before a store": ("""
def stale(b, n):
    j: I.index = 0
    while j < n and j < 2:
        j += 1
    j = I.minimum(j, 2)
    old = b[j]
    b[j] = old + 5
    return old
""","for r in I.parallel(rows):\n    b = I.buffer((3,), I.index, init=r)\n    o = stale(b, z[r])\n    p = stale(b, z[r])\n    z[r] = o * 100 + p + b[0] * 1000"),
"a table of the kernel": ("""
def fill(b, v):
    for j in I.domain(0, 4):
        b[j] = v * j
    s: I.index = 0
    for j in I.domain(0, 4):
        s += b[j]
    return s, b[3]
""","b = I.buffer((4,), I.index, init=0)\nfor r in I.domain(0, M):\n    s, l = fill(b, z[r])\n    z[r] = s * 10 + l + b[1]"),
}  # fmt: skip


def memory():
    """What the kernels are called with."""
    x = np.arange(15, dtype=np.float32).reshape(3, 5) - 4
    return {
        "x": x,
        "y": np.ones((3, 5), np.float32),
        "z": np.array([3, 1, 2]),
        "t": np.array([0, 1, 1, 4, 9], np.int32),
    }


def performed(program, **how):
    """The bytes that a run leaves."""
    arrays = memory()
    logical.run(program, arrays, {}, **how)
    return {name: a.tobytes() for name, a in arrays.items()}


@pytest.mark.parametrize("name", CASES)
def test_a_call_in_its_place(run, monkeypatch, name):
    helpers, body = CASES[name]
    called = run(kernel(body, helpers), **memory())
    program, written = in_frames(kernel(body, helpers), monkeypatch)
    assert list(find(called, Perform))
    assert inlined(program) is inlined(written)
    expected = performed(written)
    for how in ({}, {"budget": 1}, {"seed": 3}):
        assert performed(program, **how) == performed(inlined(program), **how) == expected
    assert checking.check(program, memory()).findings == ()
