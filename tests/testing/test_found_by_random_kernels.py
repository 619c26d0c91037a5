"""What random kernels found, each in its smallest form, held against every machine that is here."""

from typing import Any

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.terms.core import Arena
from intent_np.testing.checked import recipes
from intent_np.testing.oracles import examine
from intent_np.testing.triton_interpreter import unavailable

ORACLES = ("reference", "machine", "text", *(() if unavailable() else ("triton",)))


@intent.kernel
def in_two_groups(x: I.In[I.i32, ("K", 5)], z: I.InOut[I.i32, ("K",)], w: I.InOut[I.i32, ("M",)]):
    """Groups that share a launch, of which one uses a tuple."""
    for p in I.parallel(I.domain(0, x.shape[0])):
        least, _ = I.arg_reduce.min(x[p, :], axis=0)
        I.atomic.add(z, index=p, value=least)
    w[:] = 1


@intent.kernel
def sums_of_fp8(x: I.In[I.f8e5m2, ("M", "N")], y: I.Out[I.f8e5m2, ("M",)]):
    """Triton would add bits."""
    y[:] = I.reduce.sum(x[:, :], axis=1, acc_dtype=I.f8e5m2)


@intent.kernel
def roots_in_fp8(x: I.In[I.f8e4m3fn, ("N",)], y: I.Out[I.f8e4m3fn, ("N",)]):
    """NaN stays NaN in a format without infinities."""
    y[:] = I.sqrt(x[:])


@intent.fn
def largest(values):
    return I.reduce.max(values, axis=0)


@intent.kernel
def fold_of_minima(x: I.In[I.i32, ("K", 8)], y: I.InOut[I.i32, ()]):
    """The part of an axis that a region has in hand fills a fragment as the axis does."""
    y[()] = I.region_fold(
        I.reduce.min(x[:, :], axis=0), axis=0, summarize=largest, combine=I.maximum, identity=-(2**31)
    )


@intent.kernel
def read_every_third(x: I.In[I.f32, ("3 * N + 3",)], y: I.Out[I.f32, ("N + 1",)]):
    """A stepped axis has an extent that is a sum of multiples of the step."""
    y[:] = x[::3]


@intent.kernel
def extent_of_nothing_that_is_left(x: I.In[I.i32, ("N + 2",)], y: I.InOut[I.i32, ("M",)]):
    """An extent that only a view shows which nobody reads."""
    I.scatter_reduce(y, index=I.indices(I.domain(0, x.shape[0] - 2)) % 1, value=3, combine=I.maximum,
                     valid=I.indices(I.domain(0, x.shape[0] - 2)) < y.shape[0])  # fmt: skip


@intent.kernel
def complement_of_bytes(x: I.In[I.u8, ("N",)], y: I.Out[I.u8, ("N",)]):
    """All ones are no -1 in an unsigned integer."""
    y[:] = ~(3 // I.maximum(x[:], 1))


@intent.kernel
def limited_scalars_of_16_bits(x: I.In[I.u16, ()], y: I.In[I.u16, ("N",)], z: I.Out[I.u16, ("N",)]):
    """A literal beside a narrow scalar is of its dtype."""
    z[:] = I.ceil_div(y[:], I.maximum(3 % I.maximum(x[()], 1), 1))


@intent.kernel
def sort_of_what_was_stored(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.InOut[I.f32, ("N",)]):
    """Members go to their places, and what they are read behind stays where it is."""
    y[:] = x[:] * 2
    z[:] = I.sort(y[:], axis=0)


@intent.kernel
def updates_over_three_axes(x: I.In[I.i32, ("K", 2)], y: I.In[I.i32, ("M", "K")], z: I.InOut[I.i32, (5,)]):
    """What an update is over is in one fragment."""
    K, M = x.shape[0], y.shape[0]
    at = I.clamp(I.cast(I.reduce.max(x[:, :], axis=1), I.index), 0, 4)
    for p, q in I.parallel((I.domain(0, K), I.domain(0, M))):
        I.scatter_reduce(z, index=at, value=y[q, p], combine=I.maximum)


@intent.kernel
def carry_beside_more(x: I.In[I.i64, (6,)], w: I.In[I.i64, (3, 6)], y: I.Out[I.i64, (12,)]):
    """Behind its loop a carry is asked for where it has no elements, and not used there."""
    last = x[:]
    for i in I.domain(0, 3):
        last = w[i, :]
    y[:] = I.concat((last, w[0, :]), axis=0)


KERNELS = [
    in_two_groups, sums_of_fp8, roots_in_fp8, fold_of_minima, read_every_third,
    complement_of_bytes, carry_beside_more,
    updates_over_three_axes, sort_of_what_was_stored, limited_scalars_of_16_bits,
    extent_of_nothing_that_is_left,
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_every_machine_agrees(kernel: Any) -> None:
    outcome = examine(kernel, recipes(kernel, count=4, points=2**10), ORACLES)
    assert outcome.status == "ok", outcome.failure
    assert outcome.calls


@intent.fn
def smaller_or_same(a, s):
    if s:
        return I.minimum(a, a)
    return a


@intent.kernel
def constant_index_through_a_helper(x: I.In[I.index, ("N",)], y: I.Out[I.index, ("N",)], s: I.bool):
    """A constant that was given a dtype keeps it in a helper."""
    y[:] = x[:] + smaller_or_same(I.cast(5, I.index), s)


@intent.kernel
def last_first(x: I.In[I.f32, ("2 * N + 2",)], y: I.Out[I.f32, ("N + 1",)]):
    """A quotient without a remainder is the number that it is."""
    N = (x.shape[0] - 2) // 2
    y[N + 1 - 1 - I.indices(I.domain(0, N + 1))] = x[::2]


@pytest.mark.parametrize("kernel", [constant_index_through_a_helper, last_first], ids=lambda k: k.name)
def test_it_is_captured(kernel: Any) -> None:
    with Arena():
        kernel.capture({})
