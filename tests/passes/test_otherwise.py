"""What the lowering does in another way once it finds that the first one does not lead on."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing.triton_interpreter import unavailable

from .printed import is_kept_by_every_pass, prints_the_same

RNG = np.random.default_rng(31)


@intent.fn
def total(x):
    return I.reduce.sum(x, axis=0)


@intent.fn
def plus(a, b):
    return a + b


# ---- summaries that go together as wholes


@intent.fn
def shear(x):
    """The product of the matrices ((1, x), (0, 1)) of a slice."""
    i = I.indices(I.domain(0, 2))
    corner = i[:, None] < i[None, :]
    return I.select(corner, I.reduce.sum(x, axis=0), I.cast(i[:, None] == i[None, :], I.i32))


@intent.fn
def product(a, b):
    return I.matmul(a, b, acc_dtype=I.i32)


@intent.kernel
def multiplied(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", 2, 2)]):
    i = I.indices(I.domain(0, 2))
    for m in I.parallel(I.domain(0, x.shape[0])):
        unit = I.cast(i[:, None] == i[None, :], I.i32)
        y[m, :, :] = I.region_fold(x[m, :], 0, summarize=shear, combine=product, identity=unit)


@intent.fn
def best_is_zero(x):
    """Scores of a slice, but for what all have in common."""
    sums = I.reduce.sum(x, axis=0)
    return sums - I.reduce.max(sums, axis=0)


@intent.fn
def scored(a, b):
    return best_is_zero(I.transpose(I.join(a, b), (1, 0)))


@intent.kernel
def scores(x: I.In[I.i32, ("N", "D")], y: I.Out[I.i32, ("D",)], worst: I.Out[I.i32, ()]):
    """A reduction of summaries whose extent only the call knows."""
    zeros = I.zeros((x.shape[1],), I.i32)
    found = I.region_fold(x[:, :], 0, summarize=best_is_zero, combine=scored, identity=zeros)
    y[:] = found
    worst[()] = I.reduce.min(found, axis=0)


@intent.fn
def turn_by(x):
    """The permutation that a slice's steps around a ring of five make."""
    return (I.indices(I.domain(0, 5)) + I.reduce.sum(x, axis=0)) % 5


@intent.fn
def one_then_other(a, b):
    return I.gather(b, (I.assume_in_bounds(a, b, axis=0),))


@intent.kernel
def permuted(x: I.In[I.index, ("N",)], y: I.Out[I.index, (5,)], last: I.Out[I.index, (5,)]):
    """A gather of summaries, in a loop and at two places of what it gives."""
    start = I.indices(I.domain(0, 5))
    y[:] = start
    for n in I.domain(0, 3):
        found = I.region_fold(x[:] + n, 0, summarize=turn_by, combine=one_then_other, identity=start)
        y[:] = y[:] + I.flip(found, 0) * found
    last[:] = I.region_fold(x[:], 0, summarize=turn_by, combine=one_then_other, identity=start)


@intent.fn
def meetings(x):
    sums = I.reduce.sum(x, axis=0)
    return sums[:, None] + sums[None, :]


@intent.fn
def with_transpose(a, b):
    return a + I.transpose(b)


@intent.fn
def by_position(a, b):
    return I.select(I.indices(I.domain(0, 4)) < 2, a + b, I.maximum(a, b))


@intent.fn
def both_kinds(x):
    return I.select(I.indices(I.domain(0, 4)) < 2, I.reduce.sum(x, axis=0), I.reduce.max(x, axis=0))


@intent.kernel
def symmetric(x: I.In[I.i32, ("N", 4)], y: I.Out[I.i32, (4, 4)], z: I.Out[I.i32, (4,)]):
    y[:, :] = I.region_fold(x[:, :], 0, summarize=meetings, combine=with_transpose, identity=0)
    least = I.select(I.indices(I.domain(0, 4)) < 2, I.full((4,), 0, I.i32), I.full((4,), -99, I.i32))
    z[:] = I.region_fold(x[:, :], 0, summarize=both_kinds, combine=by_position, identity=least)


@intent.fn
def equal_pairs(x, at):
    """How many members of a slice are the last of their kind in it, and the kinds that it has."""
    kinds = I.indices(I.domain(0, 4))
    later = (x[:, None] == x[None, :]) & (at[:, None] < at[None, :])
    last = I.select(I.reduce.any(later, axis=1), -1, I.cast(x, I.index))
    return I.reduce.any(last[:, None] == kinds[None, :], axis=0)


@intent.fn
def either(a, b):
    return a | b


@intent.kernel
def members_with_members(x: I.In[I.index, ("N",)], y: I.Out[I.bool, (4,)]):
    axis = I.domain(0, x.shape[0])
    y[:] = I.region_fold((x[axis], I.indices(axis)), 0, summarize=equal_pairs, combine=either, identity=False)


# ---- states that move


@intent.fn
def moved_on(steps, state):
    return I.gather(state, ((I.indices(I.domain(0, 5)) + steps) % 5,))


@intent.fn
def first_of(x, state):
    at = I.cumsum(x, axis=0) % 5
    return I.reduce.sum(I.select(at[:, None] == I.indices(I.domain(0, 5))[None, :], state[None, :], 0), axis=1)


@intent.kernel
def ring(x: I.In[I.index, ("M", "N")], r: I.In[I.i32, (5,)], y: I.Out[I.i32, ("M", "N")], z: I.Out[I.i32, ("M", 5)]):
    """A region scan whose state turns, read at a place that each member has of its own."""
    for m in I.parallel(I.domain(0, x.shape[0])):
        y[m, :], z[m, :] = I.region_scan(
            x[m, :], 0, summarize=total, combine=plus, identity=0, initial_state=r[:] + I.cast(m, I.i32),
            apply=moved_on, emit=first_of,
        )  # fmt: skip


# ---- conditions that take a loop


@intent.fn
def running(x, state):
    return I.cumsum(x, axis=0) + state


@intent.kernel
def until_high(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], often: I.Out[I.i32, ()], s: I.Out[I.i32, ("N",)]):
    """A region scan decides on what is written, and on a carried tensor."""
    n = I.cast(0, I.i32)
    carried = x[:]
    while (
        I.reduce.max(
            I.region_scan(
                x[:] + y[:], 0, summarize=total, combine=plus, identity=0, initial_state=n, apply=plus, emit=running
            )[0],
            axis=0,
        )
        < 500
        and n < 60
    ):
        n += 7
        y[:] = y[:] + 1
        carried = I.flip(carried, 0) + n
    often[()] = n
    s[:] = carried


@intent.kernel
def until_turned(x: I.In[I.index, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    """A fold of wholes in a condition; each member has its own number of iterations."""
    start = I.indices(I.domain(0, 5))
    for m in I.parallel(I.domain(0, x.shape[0])):
        n = I.cast(0, I.index)
        for _ in I.domain(0, 9):
            turned = I.region_fold(x[m, :] + n, 0, summarize=turn_by, combine=one_then_other, identity=start)
            if turned[0] == 3 and turned[1] == 4:
                break
            n += 1
        y[m] = I.cast(n, I.i32)


# ---- what accesses found, elsewhere


@intent.kernel
def found_elsewhere(
    at: I.In[I.index, ("N",)], z: I.InOut[I.i32, (7,)], y: I.Out[I.i32, ("N",)], s: I.Out[I.i32, ()],
    c: I.InOut[I.u32, ("N",)], won: I.Out[I.bool, ("N",)],
):  # fmt: skip
    old = I.atomic.add(z, index=(at[:] % 7,), value=0)
    y[:] = I.flip(old, 0) * 2
    s[()] = I.reduce.max(old, axis=0)
    first = I.atomic.compare_exchange(c, index=(I.indices(I.domain(0, at.shape[0])),), expected=3, desired=4)
    won[:] = I.flip(first.success, 0)


@intent.kernel
def found_and_combined(
    at: I.In[I.index, ("M", "N")], z: I.InOut[I.i32, (7,)], y: I.Out[I.i32, ("M", "N")], s: I.Out[I.i32, ("M",)],
    b: I.In[I.index, ("N",)], t: I.Out[I.i32, ()],
):  # fmt: skip
    """Points of a traversal ask for what all of them found, as do an iteration and what was stored."""
    for m in I.parallel(I.domain(0, at.shape[0])):
        old = I.atomic.add(z, index=(at[m, :] % 7,), value=0)
        y[m, :] = old - I.reduce.max(old, axis=0)
        kept = I.buffer((at.shape[1],), I.i32)
        kept[:] = old
        s[m] = I.reduce.max(I.cumsum(kept[:], axis=0), axis=0)
    n = I.cast(0, I.i32)
    for _ in range(3):
        n += I.reduce.min(I.atomic.max(z, index=(b[:] % 7,), value=-9), axis=0)
    t[()] = n


@intent.kernel
def found_behind(x: I.In[I.i32, ("M",)], at: I.In[I.i32, ("G + 1",)], y: I.InOut[I.i32, ("M",)]):
    """What the first accesses of all members found decides on the second ones, by way of a loop, too."""
    G, M = at.shape[0] - 1, x.shape[0]
    rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
    for g in I.parallel(I.domain(0, G)):
        for t in I.parallel(rows[g]):
            old = I.atomic.add(y, index=(t,), value=x[t])
            n = old + 5
            for _ in range(3):
                n = n + x[t] * old
            if old > 3:
                I.atomic.max(y, index=(t,), value=n)


@intent.kernel
def turned_rows(x: I.In[I.i32, ("M",)], at: I.In[I.i32, ("G + 1",)], y: I.InOut[I.i32, ("M",)]):
    """Rows in place, which nothing known keeps apart from each other."""
    G, M = at.shape[0] - 1, x.shape[0]
    rows = I.ragged(I.domain(0, G), I.domain(0, M), at)
    for g in I.parallel(I.domain(0, G)):
        y[rows[g]] = x[rows[g]] * 3
        y[rows[g]] = I.flip(y[rows[g]], 0) + y[rows[g]]


def some(*shape: int, dtype: Any = np.int32, low: int = -3, high: int = 9) -> Any:
    return RNG.integers(low, high, shape).astype(dtype)


def index(*shape: int) -> Any:
    return some(*shape, dtype=np.int64, low=0)


KERNELS: dict[Any, dict[str, Any]] = {
    multiplied: {"x": some(3, 150), "y": some(3, 2, 2)},
    scores: {"x": some(150, 6), "y": some(6), "worst": some()},
    permuted: {"x": index(150), "y": index(5), "last": index(5)},
    symmetric: {"x": some(150, 4), "y": some(4, 4), "z": some(4)},
    members_with_members: {"x": index(150) % 3, "y": np.zeros(4, bool)},
    ring: {"x": index(3, 150), "r": some(5), "y": some(3, 150), "z": some(3, 5)},
    until_high: {"x": some(90), "y": some(90), "often": some(), "s": some(90)},
    until_turned: {"x": index(4, 70), "y": some(4)},
    found_and_combined: {"at": index(3, 90), "z": some(7), "y": some(3, 90), "s": some(3), "b": index(90), "t": some()},
    found_behind: {"x": some(50), "at": np.int32([0, 3, 3, 20, 21, 50]), "y": some(50)},
    turned_rows: {"x": some(50), "at": np.int32([0, 3, 3, 20, 21, 50]), "y": some(50)},
    found_elsewhere: {
        "at": index(90), "z": some(7), "y": some(90), "s": some(), "c": some(90, dtype=np.uint32, low=0),
        "won": np.zeros(90, bool),
    },
}  # fmt: skip


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
