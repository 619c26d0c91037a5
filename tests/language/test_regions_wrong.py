"""Regions that say what they must not: what tells where the cuts are, and other mistakes."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

from .slices import plus, products, total

RNG = np.random.default_rng(3)


def first_member(x):
    return x[0]


def extent_as_number(x):
    return I.reduce.sum(x, axis=0) + I.cast(x.shape[0], I.f32)


def local_positions(x):
    return I.reduce.sum(I.cast(I.indices(I.domain(0, x.shape[0])), I.f32), axis=0)


def place_of_the_largest(x):
    return I.cast(I.arg_reduce.max(x, 0)[1], I.f32)


def middle_member(x):
    return I.reduce.max(I.sort(x, 0), axis=0)


def a_part(x):
    return I.reduce.sum(x[1:], axis=0)


def summary_is_the_slice(x):
    return x


def counted(x):
    return I.cast(I.reduce.sum(I.histogram(I.cast(x, I.i32), bins=2, count_dtype=I.i32)), I.f32)


def flattened(x):
    return I.reduce.sum(I.reshape(x[:, None] + I.zeros((x.shape[0], 2), I.f32), (-1,)), axis=0)


def doubled(x):
    return I.reduce.sum(I.zeros((x.shape[0] * 2,), I.f32), axis=0)


def folded_again(x):
    return I.region_fold(x, 0, summarize=total, combine=plus, identity=0.0)


@pytest.mark.parametrize(
    ("function", "code", "says"),
    [
        (first_member, "E211", "a coordinate in a slice"),
        (extent_as_number, "E211", "the extent of a slice as a number"),
        (local_positions, "E211", "positions in a slice"),
        (place_of_the_largest, "E211", "positions in a slice"),
        (middle_member, "E211", "I.sort"),
        (a_part, "E211", "a part of a slice"),
        (summary_is_the_slice, "E211", "the shape of a summary"),
        (counted, "E211", "I.histogram"),
        (flattened, "E211", ""),
        (doubled, "E211", ""),
        (folded_again, "E211", "I.region_fold"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_the_cut_axis_meets_what_does_not_tell_the_cut(wrong, function, code, says):
    helper = intent.fn(function)

    @intent.kernel
    def kernel(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
        y[()] = I.region_fold(x[:], 0, summarize=helper, combine=plus, identity=0.0)

    found = wrong(kernel)
    assert found.code == code
    assert says in str(found)
    assert found.span is not None
    assert "summarize of I.region_fold" in str(found)


def test_other_axes_are_free(run):
    @intent.fn
    def middles(x, w):
        ordered = I.sort(x, axis=1)
        turned = I.transpose(I.reshape(ordered, (x.shape[0], 2, 2)), (1, 0, 2))
        return I.reduce.sum(turned[1, :, 0] * w[1], axis=0)

    @intent.kernel
    def right(x: I.In[I.f32, ("N", 4)], w: I.In[I.f32, (2,)], y: I.Out[I.f32, ()]):
        y[()] = I.region_fold(x[:, :], 0, summarize=middles, combine=plus, identity=0.0, operands=(w[:],))

    x, y = RNG.integers(-9, 9, (11, 4)).astype(np.float32), np.zeros((), np.float32)
    run(right, x=x, w=np.array([1, 2], np.float32), y=y)
    assert y == 2 * np.sort(x, 1)[:, 2].sum()


@intent.fn
def writing(x, y):
    y[()] = 0.0
    return I.reduce.sum(x, axis=0)


@intent.fn
def two(a, b):
    return a, b


@intent.fn
def wider(a, b):
    return I.cast(a + b, I.f64)


@intent.fn
def state_alone(x, state):
    return state


@intent.fn
def added(summary, state):
    return summary + state


@intent.fn
def vector(summary, state):
    return summary + state + I.zeros((2,), I.f32)


@intent.kernel
def a_view(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ()]):
    y[()] = I.region_fold(x[:], 0, summarize=writing, combine=plus, identity=0.0, operands=(y,))


@intent.kernel
def two_from_one(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(x[:], 0, summarize=total, combine=two, identity=0.0)


@intent.kernel
def another_dtype(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(x[:], 0, summarize=total, combine=wider, identity=0.0)


@intent.kernel
def identities(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(x[:], 0, summarize=total, combine=plus, identity=(0.0, 1.0))


@intent.kernel
def no_extent_in_common(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold((x[:], z[:]), 0, summarize=products, combine=plus, identity=0.0)


@intent.kernel
def no_axis(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(x[:], 1, summarize=total, combine=plus, identity=0.0)


@intent.kernel
def emits_no_axis(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:], _ = I.region_scan(
        x[:], 0, summarize=total, combine=plus, identity=0.0, initial_state=I.cast(0, I.f32), apply=added,
        emit=state_alone,
    )  # fmt: skip


@intent.kernel
def state_changes(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:], _ = I.region_scan(
        x[:], 0, summarize=total, combine=plus, identity=0.0, initial_state=I.cast(0, I.f32), apply=vector, emit=plus
    )


@intent.kernel
def no_function(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(x[:], 0, summarize=total, combine=0, identity=0.0)


@intent.kernel
def wrong_identity(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(x[:], 0, summarize=total, combine=plus, identity=I.zeros((2,), I.f32))


@pytest.mark.parametrize(
    ("kernel", "code", "says"),
    [
        (a_view, "E102", "read what the region needs in front of it"),
        (two_from_one, "E208", "(f32, f32)"),
        (another_dtype, "E208", "(f64)"),
        (identities, "E208", "one identity for each component"),
        (no_extent_in_common, "E208", "(N, M)"),
        (no_axis, "E206", "axis 1"),
        (emits_no_axis, "E208", "emit tensors along the cut axis"),
        (state_changes, "E208", "f32(2,)"),
        (no_function, "E113", "@intent.fn"),
        (wrong_identity, "E208", "f32(2,)"),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_mistakes_are_told(told, kernel, code, says):
    told(kernel, code, says)
