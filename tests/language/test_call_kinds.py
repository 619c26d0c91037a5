"""Every call of a helper is one in the program, whatever the helper does; what is no value of a helper is written out."""
# ruff: noqa: E501  (tables: helpers, and a body that calls them)

import re

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.passes.inline_calls import inline_calls
from intent_np.terms.core import Arena, find
from intent_np.terms.logical import LOGICAL, Call, Domain, Function, Perform, TensorReduce, inlined
from intent_np.terms.normal import Combine
from intent_np.terms.parse import parse
from intent_np.terms.text import show

from .test_call_places import memory, performed
from .test_calls import coordinates, in_frames, kernel, lines

ROWS = "for r in I.parallel(rows):\n    "

# what the helper does: helpers, the kernel's body, the calls of values and those of statements
CALLS = {
"reads a view": ("""
def row_of(source, r):
    return source[r, :]
""", ROWS + "y[r, :] = row_of(x, r) * 2", "row_of", ""),
"reads what was written": ("""
def row_of(source, r):
    return source[r, :]
""", ROWS + "y[r, :] = x[r, :]\n    v = row_of(y, r)\n    y[r, :] = v * 3\n    y[r, :] = row_of(y, r) + v", "row_of row_of", ""),
"reads at a computed place": ("""
def beside(source, i):
    return source[i] + source[i + 1]
""", ROWS + "for c in I.domain(0, N - 1):\n        y[r, c] = beside(x[r, :], c)", "beside", ""),
"reads a table where a condition allows it": ("""
def looked_up(table, i, n):
    return table[i] if 0 <= i and i < n else 0
""", ROWS + "z[r] = I.cast(looked_up(t, z[r], N), I.index)", "looked_up", ""),
"says whether a place is inside": ("""
def inside(i, n):
    return 0 <= i and i < n
""", ROWS + "if x[r, 0] > -9.0 if N > 0 else False:\n        if inside(z[r], N):\n            y[r, z[r]] = 7.0", "inside", ""),
"says so of a tensor": ("""
def inside(i, n):
    return (i >= 0) & (i < n)
""", ROWS + "i = I.indices(I.domain(0, N)) + 1\n    y[r, :] = I.gather(x[r, :], i, valid=inside(i, N), fill=0.0)", "inside", ""),
"computes where to write": ("""
def mirrored(i, n):
    return n - 1 - i
""", ROWS + "y[mirrored(r, M), :] = x[r, :]", "mirrored", ""),
"computes places that differ": ("""
def spread(columns, shift, n):
    return (I.indices(columns) + shift) % n
""", ROWS + "if N > 0:\n        I.scatter_unique(y, index=(r, spread(I.domain(0, N), 2, N)), value=x[r, :])", "spread", ""),
"scatters there": ("""
def scattered(target, r, i, v):
    I.scatter_unique(target, index=(r, i), value=v)
""", ROWS + "scattered(y, r, N - 1 - I.indices(I.domain(0, N)), x[r, :])", "", "scattered"),
"cuts a part": ("""
def total(v, low, high):
    return I.reduce.sum(v[low:high])
""", ROWS + "y[r, :] = total(x[r, :], 0, I.minimum(r, N))", "total", ""),
"is given two tensors of one extent": ("""
def weighted(v, w):
    return v * w
""", ROWS + "if r + 3 <= N:\n        y[r, r : r + 3] = weighted(x[r, r : r + 3], x[r, r : r + 3] + 1)", "weighted", ""),
"has extents of two members": ("""
def part(target, source, r, c):
    v = I.zeros((r + c,), I.f32) + source[r, 0 : r + c]
    target[r, 0 : r + c] = v * 2
    return I.reduce.sum(v)
""", "for r in I.domain(0, M):\n    for c in I.domain(0, M):\n        if r + c < N:\n            y[r, N - 1] = part(y, x, r, c)", "", "part"),
"gives a literal that its use decides": ("""
def sign(c):
    return 1 if c else -1
""", ROWS + "y[r, :] = x[r, :] * sign(r < 2)\n    z[r] = sign(r < 1)", "sign sign", ""),
"gives the same twice": ("""
def doubled(v):
    return v * 2
""", ROWS + "y[r, :] = doubled(x[r, :]) + doubled(x[r, :])", "doubled", ""),
"gives several": ("""
def ends(v):
    return I.record(low=I.reduce.min(v), high=I.reduce.max(v)), v - 1
""", ROWS + "e, v = ends(x[r, :])\n    if N > 0:\n        y[r, :] = v * e.low + e.high", "ends ends ends", ""),
"is given nothing": ("""
def table():
    return I.full((4,), 3.0, I.f32) + I.cast(I.indices(I.domain(0, 4)), I.f32)
""", ROWS + "y[r, :] = table()[1]", "table", ""),
"calls the like": ("""
def at(source, i):
    return source[i]

def either(source, i, j):
    return I.maximum(at(source, i), at(source, j))
""", ROWS + "for c in I.domain(1, N):\n        y[r, c] = either(x[r, :], c, c - 1)", "at at either", ""),
"is handed another helper": ("""
def plus_one(v):
    return v + 1

def twice(f, v):
    return f(f(v))
""", ROWS + "y[r, :] = twice(plus_one, x[r, :])", "plus_one plus_one twice", ""),
"does something and gives what it was given": ("""
def put(target, r, v):
    target[r, :] = v
    return v + 1
""", ROWS + "y[r, :] = put(y, r, x[r, :]) * 2", "", "put"),
"gives memory": ("""
def filled(v):
    kept = I.buffer(v.shape, I.f32)
    kept[:] = v
    return kept
""", ROWS + "a, b = filled(x[r, :]), filled(x[r, :] + 1)\n    a[:] = a[:] * b[:]\n    y[r, :] = a[:]", "", "filled filled"),
"gives memory of a helper that it calls": ("""
def made(n):
    return I.buffer((n,), I.f32)

def both(v):
    a, b = made(v.shape[0]), made(v.shape[0])
    a[:] = v
    b[:] = v * 2
    return I.record(a=a, b=b)
""", ROWS + "p = both(x[r, :])\n    y[r, :] = p.a[:] + p.b[:]", "", "both"),
"reads memory that another gives": ("""
def filled(v):
    kept = I.buffer(v.shape, I.f32)
    kept[:] = v
    return kept

def at(b, i):
    return b[i]
""", ROWS + "b = filled(x[r, :])\n    for c in I.domain(0, N):\n        y[r, c] = at(b, c)\n        b[c] = 0.0", "at", "filled"),
"is given what it gives": ("""
def f(a, v, last):
    t = v * 2
    return (t, a * 3) if last else (v - t, a)
""", ROWS + "p, q = 0, 0\n    for last in (False, True):\n        p, q = f(z[r] * 2 + 1 if last else z[r], z[r], last)\n    z[r] = p * q", "f", ""),
"is given what a loop makes of what it gives": ("""
def f(q, v):
    return v * 2, q * 3
""", ROWS + "q = z[r] * 2\n    for j in I.domain(0, N):\n        q = q + j\n    a, b = f(q, z[r])\n    z[r] = a + b", "f", ""),
"does something with what a loop makes of what it gives": ("""
def f(c, i, q, v):
    c[i] = q
    return v * 2, c[i] + 1
""", ROWS + "v = r + 1\n    q = v * 2\n    for j in I.domain(0, N):\n        q = q + j\n    a, b = f(z, r, q, v)\n    z[r] = a + b", "", "f"),
"cuts what has extents of its arguments": ("""
def plus(a, b):
    return a + b

def columns(v):
    return I.reduce.sum(v, axis=0)

def total(v, n):
    return I.reduce.sum(I.region_fold(v[:, 0:n], 0, summarize=columns, combine=plus, identity=I.zeros((n,), I.f32)))
""", "for r in I.domain(0, M):\n    for c in I.domain(0, M):\n        if r + c < N:\n            y[r, r + c] = total(x[:, :], r + c)", "total", ""),
"is called in a function of slices with extents of its arguments": ("""
def plus(a, b):
    return a + b

def squared(v):
    return v * v

def columns(v):
    return I.reduce.sum(squared(v), axis=0)

def total(v, n):
    return I.reduce.sum(I.region_fold(v[:, 0:n], 0, summarize=columns, combine=plus, identity=I.zeros((n,), I.f32)))
""", "for r in I.domain(0, M):\n    for c in I.domain(0, M):\n        if r + c < N:\n            y[r, r + c] = total(x[:, :], r + c)", "squared total", ""),
"is called in a function of slices": ("""
def squared(v):
    return v * v

def summed(v):
    return I.reduce.sum(squared(v))

def plus(a, b):
    return a + b
""", ROWS + "y[r, :] = I.region_fold(x[r, :], axis=0, summarize=summed, combine=plus, identity=0.0)", "squared", ""),
}  # fmt: skip


def names(program, kind):
    return sorted(c.procedure.name for c in dict.fromkeys(find(program, kind)))


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_one_in_the_program(run, monkeypatch, name):
    helpers, body, values, statements = CALLS[name]
    called = run(kernel(body, helpers), **memory())
    assert (names(called, Call), names(called, Perform)) == (values.split(), statements.split())
    program, written = in_frames(kernel(body, helpers), monkeypatch)
    assert parse(show(program), LOGICAL) is program
    # what is known is the same before and behind the pass, and what it leaves is what the author did not write as calls
    assert inline_calls(program) is inlined(written)
    assert not list(find(inline_calls(program), (Call, Perform)))
    assert coordinates(program) == coordinates(inline_calls(program)) == coordinates(written)
    expected = performed(written)
    for how in ({}, {"budget": 1}, {"seed": 3}, {"cuts": 3}):
        assert performed(program, **how) == expected


@pytest.mark.parametrize("seed", range(12))
def test_what_shapes_is_in_one_form_whatever_names_are(monkeypatch, seed):
    helpers, body, _, _ = CALLS["has extents of two members"]
    helpers = re.sub(r"\bc\b", f"b{7 * seed}", re.sub(r"\br\b", f"a{seed}", helpers))
    program, written = in_frames(kernel(body, helpers), monkeypatch)
    assert names(program, Perform) == ["part"]
    assert inlined(program) is inlined(written)


# ---- what is written out

WRITTEN = {
"a number known when compiling": ("""
def half(n):
    return n // 2
""", ROWS + "y[r, :] = x[r, :] * half(5)"),
"a domain": ("""
def behind(axis, begin):
    return axis[begin:]
""", ROWS + "c = behind(I.domain(0, N), I.minimum(r, N))\n    y[r, c] = x[r, c]"),
"an argument handed on": ("""
def first(a, b):
    return a
""", ROWS + "y[r, :] = first(x[r, :], r)"),
"a bound of a domain": ("""
def limit(i, n):
    return I.minimum(i * 2, n)
""", ROWS + "y[r, 0 : limit(r, N)] = x[r, 0 : limit(r, N)]"),
"an extent": ("""
def bins(n):
    return n + 1
""", ROWS + "y[r, :] = I.reduce.sum(I.zeros((bins(M),), I.f32))"),
"memory that nothing is done with": ("""
def made(n):
    return I.buffer((n,), I.f32, init=None)
""", ROWS + "b = made(N)\n    b[:] = x[r, :]\n    y[r, :] = b[:]"),
"memory of an extent that the helper's statements find": ("""
def counted(c, i):
    c[i] = I.clamp(c[i], 0, 9) + 1
    n = I.clamp(c[i], 0, 9)
    kept = I.buffer((n,), I.index)
    kept[:] = I.indices(I.domain(0, n))
    return kept
""", ROWS + "z[r] = I.reduce.sum(counted(z, r)[:])"),
"a combine": ("""
def larger(a, b):
    return I.maximum(a, b)

def largest(a, b):
    return larger(a, b)
""", ROWS + "y[r, :] = I.reduce(x[r, :], axis=0, identity=-9.0, combine=largest)"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_no_value_of_a_helper_is_written_out(run, monkeypatch, name):
    helpers, body = WRITTEN[name]
    called = run(kernel(body, helpers), **memory())
    assert not list(find(called, (Call, Perform)))
    program, written = in_frames(kernel(body, helpers), monkeypatch)
    assert inlined(program) is inlined(written)
    assert performed(program) == performed(written)


def test_a_combine_is_what_it_computes():
    """Two combines of one body are one, a builtin one is known as such, and no call hides either."""
    helpers, body = WRITTEN["a combine"]
    with Arena():
        program = kernel(body, helpers).capture()
        plain = kernel(body.replace("largest", "I.maximum")).capture()
        assert {r.combine for r in find(program, TensorReduce)} == set(find(plain, Combine))


def test_bounds_of_domains_have_no_calls():
    helpers, body = WRITTEN["a bound of a domain"]
    with Arena():
        program = kernel(f"{body}\n    z[r] = limit(r, N)", helpers).capture()
        assert names(program, Call) == ["limit"]
        assert not list(find(find(program, Domain), Call))
        assert all(not list(find(f, Call)) for f in find(program, Function))


# ---- what is wrong is told as it is where the text stands


@intent.fn
def at(source, i):
    return source[i]


@intent.fn
def past(source, i):
    return at(source, i + 1)


@intent.fn
def scattered(target, i, v):
    I.scatter_unique(target, index=i, value=v)


@intent.fn
def added(a, b):
    return a + b


@intent.fn
def kept_of(v):
    kept = I.buffer(v.shape, I.f32)
    kept[:] = v
    return kept[v.shape[0]]


def test_a_mistake_in_a_helper_names_its_line_and_every_call(wrong):
    @intent.kernel
    def reads(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            y[i] = at(x, i) + past(x, i)

    @intent.kernel
    def scatters(x: I.In[I.f32, ("N",)], p: I.In[I.index, ("N",)], y: I.Out[I.f32, ("N",)]):
        scattered(y, I.assume_in_bounds(p[:], y), x[:])

    @intent.kernel
    def adds(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)]):
        y[:] = added(x[:], z[:])

    @intent.kernel
    def keeps(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        y[:] = kept_of(x[:])

    for k, code, places in (
        (reads, "E301", ["return source[i]", "return at(source, i + 1)", "y[i] = at(x, i) + past(x, i)"]),
        (
            scatters,
            "E304",
            ["I.scatter_unique(target, index=i, value=v)", "scattered(y, I.assume_in_bounds(p[:], y), x[:])"],
        ),
        (adds, "E204", ["return a + b", "y[:] = added(x[:], z[:])"]),
        (keeps, "E301", ["return kept[v.shape[0]]", "y[:] = kept_of(x[:])"]),
    ):
        found = wrong(k)
        assert (found.code, lines(found)) == (code, places)
