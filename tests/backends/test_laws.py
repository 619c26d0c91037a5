"""Laws in checking mode, and poison within what they are about: combines, folds, states and outputs."""

from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import check_kernel

from .checked import codes


@intent.fn
def modular(a, b, modulus):
    return (a + b) % modulus


@intent.fn
def first_of(a, b):
    return I.select(a == 0, b, a)


@intent.kernel
def combining(
    x: I.In[I.i32, ("N",)], modulus: I.i32, y: I.Out[I.i32, ()], z: I.Out[I.i32, ()], w: I.Out[I.i32, ("N",)]
):
    y[()] = I.reduce(x[:], axis=0, identity=0, combine=modular, combine_operands=(modulus,))
    z[()] = I.reduce(x[:], axis=0, identity=0, combine=first_of)
    w[:] = I.scan(x[:], axis=0, identity=0, combine=first_of, inclusive=True)


def combined(modulus: int) -> Any:
    outputs = {"y": np.zeros((), np.int32), "z": np.zeros((), np.int32), "w": np.zeros(4, np.int32)}
    return check_kernel(combining, {"x": np.int32([1, 2, 0, 3]), "modulus": modulus} | outputs)


def test_a_reduction_commutes_and_a_scan_need_not():
    (broken,) = combined(1000).findings
    assert (broken.code, broken.expected) == ("E503", "combine(a, b) == combine(b, a)")
    assert broken.span.text.strip().startswith("z[()]")


def test_poison_that_arises_in_a_combine_reaches_its_result():
    checked = combined(0)
    assert "E507" in codes(checked)
    assert checked.poison["y"]
    assert not checked.poison["z"]


@intent.fn
def moments(a, b):
    n = a[0] + b[0]
    apart = b[1] - a[1]
    share = I.select(n > 0.0, b[0] / n, 0.0)
    return n, a[1] + apart * share, a[2] + b[2] + apart * apart * a[0] * share


@intent.kernel
def variance(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    (N,) = x.shape
    one = I.full((N,), 1.0, I.f32)
    _, _, total = I.reduce((one, x[:], x[:] * 0.0), axis=0, identity=(0.0, 0.0, 0.0), combine=moments)
    y[()] = total


def test_rounding_is_not_taken_for_a_broken_law():
    x = np.float32(1e4) + np.random.default_rng(0).standard_normal(100).astype(np.float32)
    assert codes(check_kernel(variance, {"x": x, "y": np.zeros((), np.float32)})) == []


@intent.fn
def scores(x):
    top = I.reduce.max(x, axis=0)
    return top, I.reduce.sum(I.exp(x - top), axis=0)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def together(a, b):
    top = I.maximum(a[0], b[0])
    return top, a[1] * I.exp(a[0] - top) + b[1] * I.exp(b[0] - top)


@intent.fn
def forgetful(a, b):
    return I.maximum(a[0], b[0]), a[1] + b[1]


@intent.kernel
def normalizer(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()], WELL: I.Constexpr[bool] = True):
    top, total = I.region_fold(
        x[:], 0, summarize=scores, combine=together if WELL else forgetful, identity=(-1.0e30, 0.0)
    )
    y[()] = top + I.log(total)


def test_a_fold_is_tried_at_several_cuts():
    given = {"x": np.float32([0, 3, 1, 2, -1]), "y": np.zeros((), np.float32)}
    assert codes(check_kernel(normalizer, given)) == []
    checked = check_kernel(normalizer, given, {"WELL": False})
    assert set(codes(checked)) == {"E503"}
    assert "summarize(A ++ B) == combine(summarize(A), summarize(B))" in {f.expected for f in checked.findings}
    assert "component 1" in checked.findings[0].found


@intent.fn
def run_total(x):
    return I.reduce.sum(x, axis=0)


@intent.fn
def later(summary, state):
    return state + summary


@intent.fn
def earlier(summary, state):
    return state


@intent.fn
def shown(x, state):
    return I.cumsum(x, axis=0) + state


@intent.kernel
def totals(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)], last: I.Out[I.i64, ()], WELL: I.Constexpr[bool] = True):
    y[:], last[()] = I.region_scan(
        source=x[:], axis=0, summarize=run_total, combine=plus, identity=0, initial_state=5,
        apply=later if WELL else earlier, emit=shown,
    )  # fmt: skip


def test_states_and_outputs_of_a_region_scan_are_tried():
    given = {"x": np.arange(1, 6), "y": np.zeros(5, np.int64), "last": np.zeros((), np.int64)}
    assert codes(check_kernel(totals, given)) == []
    checked = check_kernel(totals, given, {"WELL": False})
    assert "emit(A ++ B, state)" in str(checked)


@intent.kernel
def quotients(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)], last: I.Out[I.i64, ()]):
    y[:], last[()] = I.region_scan(
        source=12 // x[:], axis=0, summarize=run_total, combine=plus, identity=0, initial_state=5, apply=later,
        emit=shown,
    )  # fmt: skip


def test_poison_goes_through_slices():
    given = {"x": np.array([1, 2, 0, 3, 4]), "y": np.zeros(5, np.int64), "last": np.zeros((), np.int64)}
    checked = check_kernel(quotients, given)
    assert codes(checked) == ["E507"]
    np.testing.assert_array_equal(checked.poison["y"], [0, 0, 1, 1, 1])
    assert checked.poison["last"]


@intent.kernel
def gathered_up(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], y: I.InOut[I.i32, (4,)], k: I.i32):
    for i in I.parallel(I.domain(0, x.shape[0])):
        p = I.assume_in_bounds(at[i], y, axis=0)
        I.scatter_reduce(y, index=p, value=x[i], combine=I.maximum)
    for i in I.parallel(I.domain(0, x.shape[0])):
        p = I.assume_in_bounds(at[i], y, axis=0)
        I.scatter_reduce(y, index=p, value=x[i], combine=modular, combine_operands=(k,))


@intent.kernel
def last_wins(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], y: I.InOut[I.i32, (4,)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=I.assume_in_bounds(at[i], y, axis=0), value=x[i], combine=first_of)


def test_what_is_combined_into_elements_obeys_its_laws():
    given = {"x": np.int32([5, 6, 7, 1]), "at": np.array([2, 0, 2, 1]), "y": np.zeros(4, np.int32)}
    assert codes(check_kernel(gathered_up, given | {"k": 100})) == []
    (broken,) = check_kernel(last_wins, given).findings
    assert (broken.code, broken.expected) == ("E503", "combine(a, b) == combine(b, a)")


@intent.fn
def limited(a, b, m):
    return I.minimum(I.maximum(a, b), m)


@intent.kernel
def limits(x: I.In[I.f32, ("N",)], at: I.In[I.index, ("N",)], m: I.In[I.f32, ("N",)], y: I.InOut[I.f32, (4,)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        p = I.assume_in_bounds(at[i], y, axis=0)
        I.scatter_reduce(y, index=p, value=x[i], combine=limited, combine_operands=(m[i],))


def test_lanes_that_meet_bring_operands_that_leave_their_order_open():
    def found(*m):
        x, at, y = np.float32([5, 6, 7, 1]), np.array([2, 0, 2, 1]), np.zeros(4, np.float32)
        return check_kernel(limits, {"x": x, "at": at, "y": y, "m": np.float32(m)}).findings

    assert found(3, 9, 3, 2) == ()
    assert found(8, 9, 7, 2) == ()  # each is above all that is brought
    (broken,) = found(3, 9, 9, 2)
    assert broken.code == "E503"
    assert broken.expected == "combine(combine(a, b, m), c, n) == combine(combine(a, c, n), b, m)"
    assert broken.found == "7 and 3 for a = 0, b = 5, m = 3, c = 7, n = 9"


@intent.kernel
def numbered(x: I.In[I.i32, ("N",)], c: I.InOut[I.i32, (1,)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        n = I.atomic.add(c, index=0, value=1)
        I.debug_assert(n != 0 or x[i] > 0, "the first is positive")
        y[i] = n


def test_what_only_another_order_of_points_shows_is_found():
    given = {"x": np.int32([1] + [-1] * 40), "c": np.zeros(1, np.int32), "y": np.zeros(41, np.int32)}
    checked = check_kernel(numbered, given)
    assert codes(checked) == ["E520"]
    assert "in another order of the points" in checked.findings[0].render()
    assert (given["c"][0], given["y"].tolist()) == (41, [*range(41)])  # the order of the call is the plain one
