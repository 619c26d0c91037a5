"""Folds and scans over regions: their meaning at every cut, against loops in Python."""

import math

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.reference import logical
from intent_np.passes.inline_calls import inline_calls
from intent_np.terms.core import find
from intent_np.terms.logical import Call, RegionFold, RegionScan

from .slices import plus, products

RNG = np.random.default_rng(3)


CUTS = (1, 2, 3, 7, 1000)


EXTENTS = (0, 1, 2, 13, 64)


@pytest.fixture
def cut(run):
    """`cut(kernel, rtol, ...)`: executed with the axis in any number of slices; each gives the results of the first."""

    def execute(kernel, rtol=0.0, **arguments):
        fresh = {n: a.copy() if isinstance(a, np.ndarray) else a for n, a in arguments.items()}
        program = run(kernel, **arguments)
        arrays = {n: a for n, a in fresh.items() if isinstance(a, np.ndarray)}
        scalars = {n: a for n, a in fresh.items() if n not in arrays}
        for cuts in CUTS[1:]:
            again = {n: a.copy() for n, a in arrays.items()}
            logical.run(program, again, scalars, cuts=cuts)
            for n, a in again.items():
                np.testing.assert_allclose(a, arguments[n], rtol=rtol, atol=rtol, err_msg=f"{n}, {cuts} slices")
        return program

    return execute


@intent.fn
def attend(keys, values, places, query, last, scale):
    """Scores of a slice of the keys, relative to the largest, and what they weigh."""
    score = I.select(places <= last, I.contract(query, keys, reduce=((0, 1),), acc_dtype=I.f32) * scale, -math.inf)
    top = I.reduce.max(score, axis=0)
    weight = I.select(score == -math.inf, 0.0, I.exp(score - top))
    return I.record(
        top=top, total=I.reduce.sum(weight, axis=0),
        out=I.contract(weight, values, reduce=((0, 0),), acc_dtype=I.f32),
    )  # fmt: skip


@intent.fn
def heavier(a, b):
    top = I.maximum(a.top, b.top)
    left = I.select(a.top == -math.inf, 0.0, I.exp(a.top - top))
    right = I.select(b.top == -math.inf, 0.0, I.exp(b.top - top))
    return I.record(out=a.out * left + b.out * right, top=top, total=a.total * left + b.total * right)


@intent.kernel
def attention(
    q: I.In[I.f32, ("M", "D")], k: I.In[I.f32, ("N", "D")], v: I.In[I.f32, ("N", "E")], scale: I.f32,
    y: I.Out[I.f32, ("M", "E")],
):  # fmt: skip
    M, _ = q.shape
    N, _ = v.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        found = I.region_fold(
            source=(k[columns], v[columns], I.indices(columns)), axis=0, summarize=attend, combine=heavier,
            identity=I.record(top=-math.inf, total=0.0, out=0.0), operands=(q[row], row, scale),
        )  # fmt: skip
        y[row] = found.out / found.total


@pytest.mark.parametrize("n", EXTENTS[1:])
def test_a_fold_with_contractions_inside(cut, n):
    m = min(n, 5)
    q, k, v = (RNG.standard_normal(s).astype(np.float32) for s in ((m, 6), (n, 6), (n, 3)))
    y = np.zeros((m, 3), np.float32)
    program = cut(attention, rtol=1e-5, q=q, k=k, v=v, scale=0.5, y=y)
    assert len(list(find(program, RegionFold))) == 1
    for row in range(m):
        score = (q[row].astype(float) @ k[: row + 1].T.astype(float)) * 0.5
        weight = np.exp(score - score.max())
        np.testing.assert_allclose(y[row], weight @ v[: row + 1] / weight.sum(), rtol=1e-5, atol=1e-6)


@intent.fn
def best_run(x):
    """Largest sum of neighbours in a slice: of all, of a beginning, of an end, and the sum of the slice."""
    ahead = I.cumsum(x, axis=0)
    behind = I.cumsum(x, axis=0, reverse=True)
    least = I.reduce.min(I.cumsum(x, axis=0, inclusive=False), axis=0)
    inner = I.reduce.max(ahead - I.cummin(I.minimum(I.cumsum(x, axis=0, inclusive=False), 0), axis=0), axis=0)
    return (
        I.maximum(inner, 0),
        I.maximum(I.reduce.max(ahead, axis=0), 0),
        I.maximum(I.reduce.max(behind, axis=0), 0),
        I.reduce.sum(x, axis=0),
    )


@intent.fn
def joined(a, b):
    (best, head, tail, total), (other, head2, tail2, total2) = a, b
    return (
        I.maximum(I.maximum(best, other), tail + head2),
        I.maximum(head, total + head2),
        I.maximum(tail2, tail + total2),
        total + total2,
    )


@intent.kernel
def largest_run(x: I.In[I.i64, ("N", "M")], y: I.Out[I.i64, ("M",)]):
    y[:], _, _, _ = I.region_fold(x[:, :], 0, summarize=best_run, combine=joined, identity=(0, 0, 0, 0))


@pytest.mark.parametrize("n", EXTENTS)
def test_a_fold_keeps_the_order(cut, n):
    x, y = RNG.integers(-9, 9, (n, 4)), np.zeros(4, np.int64)
    cut(largest_run, x=x, y=y)
    for m in range(4):
        sums = [0] + [int(x[i:j, m].sum()) for i in range(n) for j in range(i + 1, n + 1)]
        assert y[m] == max(sums)


@intent.kernel
def inner_axes(x: I.In[I.i64, (3, "N", 4)], z: I.In[I.i64, ("N", 2)], y: I.Out[I.i64, (3, 4)], w: I.Out[I.i64, ()]):
    y[:, :] = I.region_fold(x[:, :, :], axis=1, summarize=over_the_middle, combine=plus, identity=0)
    w[()] = I.region_fold((x[:, :, :], z[:, :]), axis=(1, 0), summarize=products, combine=plus, identity=0)


@intent.fn
def over_the_middle(x):
    return I.reduce.sum(x, axis=1)


@pytest.mark.parametrize("n", EXTENTS)
def test_an_axis_for_each_component_and_a_fold_inside(cut, n):
    x, z = RNG.integers(-9, 9, (3, n, 4)), RNG.integers(-9, 9, (n, 2))
    y, w = np.zeros((3, 4), np.int64), np.zeros((), np.int64)
    cut(inner_axes, x=x, z=z, y=y, w=w)
    np.testing.assert_array_equal(y, x.sum(1))
    assert w == np.einsum("inj,nk->", x, z)


@intent.fn
def gain(x, g, _):
    """A slice as the map state -> a * state + b, whose factors are those of its members."""
    behind = I.cumprod(g, axis=0, reverse=True, inclusive=False)
    return I.reduce.prod(g, axis=0), I.reduce.sum(behind * x, axis=0)


@intent.fn
def then(a, b):
    return a[0] * b[0], a[1] * b[0] + b[1]


@intent.fn
def through(summary, state):
    return summary[0] * state + summary[1]


@intent.fn
def states(x, g, state, power):
    scale = I.cumprod(g, axis=0)
    steps, offsets = I.scan((g, x), axis=0, identity=(1, 0), combine=then, inclusive=True)
    return I.record(after=steps * state + offsets, scaled=offsets * power, scale=scale)


@intent.kernel
def recurrence(
    x: I.In[I.i64, ("N", "C")], g: I.In[I.i64, ("N", "C")], h: I.In[I.i64, ("C",)], power: I.i64,
    y: I.Out[I.i64, ("N", "C")], last: I.Out[I.i64, ("C",)],
):  # fmt: skip
    found, final = I.region_scan(
        source=(x[:, :], g[:, :]), axis=0, summarize=gain, combine=then, identity=(1, 0), initial_state=h[:],
        apply=through, emit=states, operands=(power,),
    )  # fmt: skip
    y[:, :] = found.after
    last[:] = final


@pytest.mark.parametrize("n", EXTENTS)
def test_a_recurrence_over_slices(cut, n):
    x, g, h = RNG.integers(-3, 3, (n, 5)), RNG.integers(-2, 3, (n, 5)), RNG.integers(-9, 9, 5)
    y, last = np.zeros((n, 5), np.int64), np.zeros(5, np.int64)
    program = cut(recurrence, x=x, g=g, h=h, power=3, y=y, last=last)
    assert len(list(find(program, RegionScan))) == 1
    state, wanted = h, np.zeros((n, 5), np.int64)
    for i in range(n):
        with np.errstate(over="ignore"):
            state = g[i] * state + x[i]
        wanted[i] = state
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(last, state)


@intent.fn
def newest(x, places):
    """The last marked place of a slice, and its value."""
    at = I.reduce.max(I.select(x >= 0, places, -1), axis=0)
    return at, I.reduce.sum(I.select(places == at, x, 0), axis=0)


@intent.fn
def later(a, b):
    return I.select(b[0] >= 0, b[0], a[0]), I.select(b[0] >= 0, b[1], a[1])


@intent.fn
def kept(summary, state):
    return I.record(seen=I.select(summary[0] >= 0, summary[1], state.seen))


@intent.fn
def filled(x, places, state):
    at, seen = I.scan((I.select(x >= 0, places, -1), x), axis=0, identity=(-1, 0), combine=later, inclusive=True)
    return I.select(at >= 0, seen, state.seen)


@intent.kernel
def forward_fill(x: I.In[I.i32, ("R", "N")], start: I.i32, y: I.Out[I.i32, ("R", "N")], last: I.Out[I.i32, ("R",)]):
    R, N = x.shape
    axis = I.domain(0, N)
    for r in I.parallel(I.domain(0, R)):
        y[r], final = I.region_scan(
            (x[r, axis], I.indices(axis)), 0, summarize=newest, combine=later, identity=(-1, 0),
            initial_state=I.record(seen=start), apply=kept, emit=filled,
        )  # fmt: skip
        last[r] = final.seen


@pytest.mark.parametrize("n", EXTENTS)
def test_states_of_parallel_rows(cut, n):
    x = RNG.integers(-3, 3, (4, n)).astype(np.int32)
    y, last = np.zeros((4, n), np.int32), np.zeros(4, np.int32)
    cut(forward_fill, x=x, start=99, y=y, last=last)
    for r in range(4):
        seen = 99
        for i in range(n):
            seen = x[r, i] if x[r, i] >= 0 else seen
            assert y[r, i] == seen
        assert last[r] == seen


def test_a_broken_law_shows(run):
    """The cut is real: of a summary that is none, the result depends on it."""

    @intent.fn
    def count(x):
        return I.reduce.max(I.zeros(x.shape, I.i32) + 1, axis=0)

    @intent.kernel
    def kernel(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, ()]):
        y[()] = I.region_fold(x[:], 0, summarize=count, combine=plus, identity=0)

    y = np.zeros((), np.int32)
    program = run(kernel, x=np.zeros(8, np.float32), y=y)
    assert y == 1
    logical.run(program, {"x": np.zeros(8, np.float32), "y": y}, cuts=3)
    assert y == 3


@intent.fn
def normalized(x, scale):
    """A helper of a helper of slices, whose parameters are called alike."""
    return I.region_fold(x, 0, summarize=scaled_total, combine=plus, identity=0, operands=(scale,))


@intent.fn
def scaled_total(x, scale):
    return I.reduce.sum(x * scale, axis=0)


def test_regions_in_helpers_are_inlined(run):
    @intent.kernel
    def kernel(x: I.In[I.i64, ("N", "M")], s: I.In[I.i64, ("M",)], y: I.Out[I.i64, (2, "M")]):
        y[0] = normalized(x[:, :], s[:])
        y[1] = normalized(x[:, :] + 1, s[:] * 2)

    x, s, y = RNG.integers(-9, 9, (7, 3)), RNG.integers(-9, 9, 3), np.zeros((2, 3), np.int64)
    program = run(kernel, x=x, s=s, y=y)
    wanted = np.stack([x.sum(0) * s, (x + 1).sum(0) * s * 2])
    np.testing.assert_array_equal(y, wanted)
    assert len(list(find(program, Call))) == 2
    inlined = inline_calls(program)
    assert not list(find(inlined, Call))
    again = np.zeros((2, 3), np.int64)
    logical.run(inlined, {"x": x, "s": s, "y": again}, cuts=3)
    np.testing.assert_array_equal(again, wanted)
