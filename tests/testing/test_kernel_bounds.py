"""Bounds that come from the program: as tight as an oracle's, and never below what a machine does."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.corpus.cases import entries
from intent_np.corpus.verify import calls, compiled
from intent_np.testing import arguments, compare, expected

KERNELS = [
    "pointwise:swiglu", "reductions:row_sum", "norms:layer_norm", "softmax:softmax", "matmul:matmul_f16",
    "quantized:mxfp4_matmul", "quantized:mxfp8_matmul", "quantized:sparse_2_4_matmul",
]  # fmt: skip


@pytest.mark.parametrize("place", KERNELS)
def test_they_agree_with_hand_written_oracles(place: str) -> None:
    file, name = place.split(":")
    (entry,) = entries([f"kernels/{file}.py:{name}"])
    launch = compiled(entry, "cpu")
    for call in list(calls(entry.case))[:6]:
        given = arguments(entry.case, call.extents, call.seed, call.layout, call.values)
        own, ours = entry.case.expected(given), expected(entry.kernel, given, entry.constexprs)
        launch(*given.values())
        for output, want in ours.items():
            assert compare(given[output], want).ok, f"{call}: {compare(given[output], want).message}"
            bound, other = (np.broadcast_to(e.bound, want.value.shape) for e in (want, own[output]))
            known = np.isfinite(bound) & np.isfinite(other) & (other > 0)
            assert (bound[known] <= 4 * other[known]).all()
            if call.values not in ("special", "extreme"):
                assert np.isfinite(bound[np.isfinite(other)]).all()


@intent.kernel
def jump(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)], k: I.Out[I.i32, ("N",)]):
    third = x[:] / 3.0 * 3.0
    y[:] = I.select(third < x[:], 1.0, 0.0)
    z[:] = I.exp(x[:]) - I.exp(x[:] + 1.0e-6)
    k[:] = I.cast(I.exp(x[:]), I.i32)


def test_what_hangs_on_rounding_has_no_small_bound() -> None:
    x = np.float32([1.0, 2.0, 7.3])
    given = {"x": x, "y": np.zeros(3, np.float32), "z": np.zeros(3, np.float32), "k": np.zeros(3, np.int32)}
    found = expected(jump, given)
    # the quotient and the product are each correctly rounded, so that the comparison is decided
    assert (np.broadcast_to(found["y"].bound, 3) == 0).all()
    # the difference of two exponentials may be off by their ULPs, far more than one of its own
    assert (found["z"].bound >= 2 * np.spacing(np.exp(x))).all()
    assert (found["z"].bound <= 8 * np.spacing(np.exp(x))).all()
    # an integer of a value that is not certain
    assert np.isinf(found["k"].bound).all()


@intent.kernel
def carried(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        total = I.cast(0.0, I.f32)
        for _ in I.domain(0, 8):
            total = total + I.exp(x[i])
        y[i] = y[i] + total
    z[:] = y[:]


def test_bounds_go_through_loops_and_memory() -> None:
    given = {"x": np.float32([0.0, 1.0]), "y": np.float32([5.0, 5.0]), "z": np.zeros(2, np.float32)}
    found = expected(carried, given)
    np.testing.assert_array_equal(given["y"], 5)
    np.testing.assert_allclose(found["y"].value, 5 + 8 * np.exp([0, 1]), rtol=1e-6)
    np.testing.assert_array_equal(found["y"].bound, found["z"].bound)
    assert (found["y"].bound > 0).all()
    assert (found["y"].bound < 1e-4).all()
    artifact = intent.compile(carried, target="reference")
    artifact(*given.values())
    assert compare(given["y"], found["y"]).ok
    given["y"][1] += np.float32(1e-3)
    assert not compare(given["y"], found["y"]).ok


@intent.fn
def total(a, b):
    return a + b


@intent.kernel
def gathered_sums(
    x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("M",)], most: I.InOut[I.f32, ("M",)],
    last: I.InOut[I.f32, ("M",)], count: I.InOut[I.i32, ("M",)],
):  # fmt: skip
    places = I.assume_in_bounds(I.cast(at[:], I.index), y)
    I.scatter_reduce(y, (places,), x[:], combine=total)
    I.atomic.max(most, places, x[:])
    I.atomic.exchange(last, places, x[:])
    I.scatter_reduce(count, (places,), 1, combine=total)


def test_sums_in_memory_may_be_in_any_order() -> None:
    rng = np.random.default_rng(0)
    x, at = rng.normal(size=4000).astype(np.float32), np.sort(rng.integers(0, 5, 4000)).astype(np.int32)
    at[-1] = 6
    given = {
        "x": x,
        "at": at,
        **{n: np.zeros(8, np.float32) for n in ("y", "most", "last")},
        "count": np.zeros(8, np.int32),
    }
    found = expected(gathered_sums, given)
    for order in (np.arange(4000), np.arange(4000)[::-1], np.argsort(x), rng.permutation(4000)):
        y = np.zeros(8, np.float32)
        np.add.at(y, at[order], x[order])  # one after the other, in f32
        assert compare(y, found["y"]).ok
    sums = np.bincount(at, np.abs(x), 8)
    assert (found["y"].bound <= 1e-4 * sums + 2.0**-112).all()  # far from nothing
    assert (np.broadcast_to(found["y"].bound, 8)[[5, 7]] == 0).all()
    assert (np.broadcast_to(found["most"].bound, 8) == 0).all()
    assert np.isinf(found["last"].bound[:5]).all()
    assert found["last"].bound[6] == 0
    assert (np.broadcast_to(found["count"].bound, 8) == 0).all()
    wrong = found["y"].value.astype(np.float32)
    wrong[2] += 1e-2 * sums[2]
    assert not compare(wrong, found["y"]).ok


@intent.kernel
def kept_for_a_while(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        held = I.buffer((2,), I.f32)
        held[0] = I.exp(x[i])
        held[1] = x[i]
        y[i] = held[0] + held[1]


def test_bounds_go_through_buffers() -> None:
    given = {"x": np.float32([0.0, 1.0]), "y": np.zeros(2, np.float32)}
    bound = expected(kept_for_a_while, given)["y"].bound
    assert ((bound > 0) & (bound < 1e-5)).all()


@intent.kernel
def decided(x: I.In[I.f32, ("N",)], y: I.In[I.f64, ("N",)], z: I.Out[I.f32, ("N",)], w: I.Out[I.f64, ("N",)]):
    z[:] = I.cast(I.exp(x[:]) < 1.0, I.f32)
    w[:] = I.cast(y[:] != I.floor(y[:]), I.f64)


def test_what_is_decided_on_values_of_which_some_are_certain() -> None:
    x = np.array([-8.0, 0.0, -0.25, 4.0], np.float32)
    y = np.array([-1.25, 3.0, np.inf, 2.5])
    found = expected(decided, {"x": x, "y": y, "z": np.zeros(4, np.float32), "w": np.zeros(4)})
    assert found["z"].bound.tolist() == [0, np.inf, 0, 0]
    assert found["z"].value[[0, 2, 3]].tolist() == [1, 1, 0]
    assert found["w"].value.tolist() == [1, 0, 0, 1]
    assert not np.any(found["w"].bound)
