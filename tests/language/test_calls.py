"""Helpers with effects are calls in the program; a call and its statements are one; errors inside name both lines."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
import kernels
from intent_np.backends.reference import checking, logical
from intent_np.errors import CheckError, error
from intent_np.language import definition
from intent_np.passes.inline_calls import inline_calls
from intent_np.terms.core import Arena, find
from intent_np.terms.logical import LOGICAL, Call, Perform, Procedure, TensorSort, accesses, inlined
from intent_np.terms.text import show
from tests.sources import executed

from .random_control import source

SIGNATURE = (
    'x: I.In[I.f32, ("M", "N")], y: I.InOut[I.f32, ("M", "N")], z: I.InOut[I.index, ("M",)], t: I.In[I.i32, ("N",)]'
)

# helpers, the kernel's body with calls of them, and the body as it is without helpers
PAIRS = {
    "a store": (
        """
def put(target, row, v):
    target[row, :] = v
""",
        "for r in I.parallel(rows):\n    put(y, r, x[r, :] * 2)",
        "for r in I.parallel(rows):\n    y[r, :] = x[r, :] * 2",
    ),
    "a value from before a store": (
        """
def bump(counts, i):
    old = counts[i]
    counts[i] = old + 1
    return old

def twice(counts, i):
    a = bump(counts, i)
    return a, bump(counts, i)
""",
        "for r in I.parallel(rows):\n    a, b = twice(z, r)\n    z[r] = z[r] + a * 10 + b",
        "for r in I.parallel(rows):\n    a = z[r]\n    z[r] = a + 1\n    b = z[r]\n    z[r] = b + 1\n"
        "    z[r] = z[r] + a * 10 + b",
    ),
    "a loop": (
        """
def least(v, low, high, limit):
    while low < high:
        middle = (low + high) // 2
        if v[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low
""",
        "for r in I.parallel(rows):\n    z[r] = least(t, 0, N, I.cast(z[r], I.i32))",
        "for r in I.parallel(rows):\n    low, high = 0, N\n    while low < high:\n        middle = (low + high) // 2\n"
        "        if t[middle] < I.cast(z[r], I.i32):\n            low = middle + 1\n        else:\n"
        "            high = middle\n    z[r] = low",
    ),
    "an atomic whose old value is a slot": (
        """
def slot(counts, i):
    return I.atomic.add(counts, index=(i,), value=1)
""",
        "for r in I.parallel(rows):\n    k = slot(z, r)\n    if 0 <= k and k < N:\n        y[r, k] = 1.0",
        "for r in I.parallel(rows):\n    k = I.atomic.add(z, index=(r,), value=1)\n"
        "    if 0 <= k and k < N:\n        y[r, k] = 1.0",
    ),
    "a buffer of its own": (
        """
def reversed_into(target, row, v):
    kept = I.buffer(v.shape, I.f32)
    kept[:] = v
    target[row, :] = I.flip(kept[:])
""",
        "for r in I.parallel(rows):\n    reversed_into(y, r, x[r, :])",
        "for r in I.parallel(rows):\n    kept = I.buffer((N,), I.f32)\n    kept[:] = x[r, :]\n"
        "    y[r, :] = I.flip(kept[:])",
    ),
    "a buffer that is given back": (
        """
def filled(n, v):
    kept = I.buffer((n,), I.f32)
    kept[:] = v
    return kept
""",
        "for r in I.parallel(rows):\n    b = filled(N, x[r, :])\n    b[:] = b[:] + 1\n    y[r, :] = b[:]",
        "for r in I.parallel(rows):\n    kept = I.buffer((N,), I.f32)\n    kept[:] = x[r, :]\n"
        "    kept[:] = kept[:] + 1\n    y[r, :] = kept[:]",
    ),
    "parts of an axis": (
        """
def part(target, source, row, begin, end):
    columns = I.domain(0, target.shape[1])[begin:end]
    target[row, columns] = source[row, columns]
""",
        "for r, c in I.parallel((rows, I.domain(0, I.ceil_div(N, 4)))):\n"
        "    part(y, x, r, c * 4, I.minimum(c * 4 + 4, N))",
        "for r, c in I.parallel((rows, I.domain(0, I.ceil_div(N, 4)))):\n"
        "    columns = I.domain(0, N)[c * 4 : I.minimum(c * 4 + 4, N)]\n    y[r, columns] = x[r, columns]",
    ),
    "an extent that arguments have in common": (
        """
def copied(target, row, begin, end, v):
    target[row, begin:end] = v
""",
        "for r in I.parallel(rows):\n    if r + 3 <= N:\n        copied(y, r, r, r + 3, x[r, r : r + 3])",
        "for r in I.parallel(rows):\n    if r + 3 <= N:\n        y[r, r : r + 3] = x[r, r : r + 3]",
    ),
    "points inside": (
        """
def each(target, source, scale):
    for i, j in I.parallel((I.domain(0, target.shape[0]), I.domain(0, target.shape[1]))):
        if source[i, j] > 0:
            target[i, j] = source[i, j] * scale

def then(target, source):
    each(target, source, 2.0)
    each(target, target, 3.0)
""",
        "then(y, x)",
        "for i, j in I.parallel((rows, I.domain(0, N))):\n    if x[i, j] > 0:\n        y[i, j] = x[i, j] * 2.0\n"
        "for i, j in I.parallel((rows, I.domain(0, N))):\n    if y[i, j] > 0:\n        y[i, j] = y[i, j] * 3.0",
    ),
}  # fmt: skip


def kernel(body, helpers=""):
    """A kernel of this body, and the helpers that it calls."""
    text = "".join(f"\n@intent.fn\ndef {h}" for h in helpers.split("\ndef ")[1:])
    text += f"\n\n@intent.kernel\ndef k({SIGNATURE}):\n    M, N = x.shape\n    rows = I.domain(0, M)\n"
    return executed(text + "".join(f"    {line}\n" for line in body.splitlines()))["k"]


def coordinates(program):
    """Where every access is made, and under which conditions."""
    return {(a.view, *(tuple(map(inlined, ts)) for ts in (a.subscripts, a.conditions))) for a in accesses(program.body)}


@pytest.mark.parametrize("name", PAIRS)
def test_a_call_is_what_the_helper_says(run, name):
    helpers, called, written = PAIRS[name]
    x, y, z = np.arange(15, dtype=np.float32).reshape(3, 5) - 4, np.ones((3, 5), np.float32), np.array([3, 1, 2])
    t, memory = np.array([0, 1, 1, 4, 9], np.int32), []
    programs = []
    for k in (kernel(called, helpers), kernel(written)):
        arrays = {n: a.copy() for n, a in (("x", x), ("y", y), ("z", z), ("t", t))}
        programs.append(run(k, **arrays))
        memory.append({n: a.tolist() for n, a in arrays.items()})
    assert memory[0] == memory[1]
    first, second = programs
    assert list(find(first, Perform))
    assert not list(find(inline_calls(first), (Call, Perform, Procedure)))
    assert inline_calls(first).body == inline_calls(second).body
    assert coordinates(first) == coordinates(second)


def in_frames(k, monkeypatch, *args, **keywords):
    """The program, and as it is before calls are made procedures."""
    program = k.capture(*args, **keywords)
    with monkeypatch.context() as m:
        m.setattr(definition, "outlined", lambda body, *_: body)
        return program, k.capture(*args, **keywords)


@pytest.mark.parametrize("seed", range(1, 60, 2))
def test_calls_of_random_programs_are_their_statements(monkeypatch, seed):
    text = source(seed)
    if "@intent.fn" not in text:
        return
    program, frames = in_frames(executed(text)["k"], monkeypatch)
    assert bool(list(find(program, Perform))) == bool(list(find(frames, Perform)))
    assert inlined(program) is inlined(frames)
    assert coordinates(program) == coordinates(frames)


@pytest.mark.parametrize("case", kernels.cases(), ids=lambda case: case.name)
def test_accesses_of_the_corpus_are_the_same_before_and_after(monkeypatch, case):
    for k, constexprs in case.launches:
        with Arena():
            program, frames = in_frames(k, monkeypatch, constexprs)
            after = inline_calls(program)
            assert not list(find(after, (Call, Perform)))
            assert inlined(frames) is after
            assert coordinates(program) == coordinates(after)
            assert LOGICAL.check(after) == []


def test_procedures_are_over_what_they_are_called_with():
    helpers, called, _ = PAIRS["a value from before a store"]
    assert show(kernel(called, helpers).capture()).endswith(
        """\
old_1 = read counts[i]
bump = procedure (counts, i) gives old_1
  write counts[i] = old_1 + 1
p = perform bump(counts, i)
old_2 = read counts[i] after (earlier 2)
bump_1 = as bump procedure (counts, i, (earlier 2)) gives old_2
  write counts[i] = old_2 + 1
p_1 = perform bump_1(counts, i, p)
twice = procedure (counts, i) gives (result 0 of p), (result 0 of p_1)
  p
  p_1
p_2 = perform twice(z, r)
logical @k(x, y, z, t) {
  parallel r:
    p_2
    write z[r] = (read z[r] after p_2) + (result 0 of p_2) * 10 + (result 1 of p_2)
}
"""
    )


# ---- errors


@intent.fn
def put(target, i, v):
    target[i] = v


@intent.fn
def beside(target, i, v):
    put(target, i + 1, v)


def lines(error):
    """The marked line, and the lines of the calls."""
    assert all(word == "called from" for word, _ in error.related)
    return [error.span.text.strip(), *(place.text.strip() for _, place in error.related)]


def test_an_access_outside_names_every_call(wrong):
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            put(y, i, x[i])
            beside(y, i, x[i])

    found = wrong(k)
    assert found.code == "E301"
    assert lines(found) == ["target[i] = v", "put(target, i + 1, v)", "beside(y, i, x[i])"]


def test_a_race_names_the_call(wrong):
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            put(y, i, x[i] + y[0])

    found = wrong(k)
    assert found.code == "E305"

    @intent.kernel
    def two(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            put(y, i, x[i])
            if i > 0:
                put(y, i - 1, x[i])

    found = wrong(two)
    assert found.code == "E304"
    words = [(word, place.text.strip()) for word, place in found.related]
    assert words == [("first written", "target[i] = v"), ("called from", "put(y, i - 1, x[i])")]


@intent.fn
def at(source, i):
    return source[I.assume_in_bounds(i, source)]


@intent.fn
def quotient(a, b):
    return a // b


@intent.kernel
def promised(x: I.In[I.i32, ("N",)], p: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        a, q = at(x, i), I.assume_unique(I.assume_in_bounds(p[i], y))
        put(z, i, quotient(a, a))
        put(y, q, quotient(at(x, p[i]), p[i] - 2))


def test_what_goes_wrong_at_run_time_names_the_call():
    x, y = np.array([1, 2, 3], np.int32), np.zeros(3, np.int32)
    with Arena():
        program = promised.capture()
        with pytest.raises(CheckError) as found:
            logical.run(program, {"x": x, "p": np.array([0, 7, 1], np.int32), "y": y.copy(), "z": y.copy()}, {})
        # of two calls of one helper, the one that is wrong
        assert lines(found.value)[-1] == "put(y, q, quotient(at(x, p[i]), p[i] - 2))"
        checked = checking.check(program, {"x": x, "p": np.array([0, 2, 1], np.int32), "y": y, "z": y.copy()})
        (divided,) = [e for e in checked.findings if e.span.text.strip() == "return a // b"]
        assert ("called from", "put(y, q, quotient(at(x, p[i]), p[i] - 2))") in [
            (word, place.text.strip()) for word, place in divided.related
        ]


@intent.fn
def sorted_pairs(v):
    return I.sort(v) + I.argsort(v)


def test_what_a_pass_says_of_a_line_in_a_helper_names_the_call():
    @intent.kernel
    def k(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, (2, "N")]):
        y[0, :] = x[:]
        y[1, :] = x[:] + I.cast(sorted_pairs(I.cast(x[:], I.index)), I.i64)

    with Arena() as space:
        (sort, *_) = find(inline_calls(k.capture()), TensorSort)
        problem = error("E708", space.spans[sort][0], construct="it")
    assert lines(problem) == [
        "return I.sort(v) + I.argsort(v)",
        "y[1, :] = x[:] + I.cast(sorted_pairs(I.cast(x[:], I.index)), I.i64)",
    ]
