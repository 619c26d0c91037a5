"""A select that decides what is read is as sure as the side that a lane takes, and so is a maximum in memory."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import expected


@intent.kernel
def greatest(x: I.In[I.f32, ("N",)], m: I.In[I.bool, ("N",)], z: I.InOut[I.f32, (1,)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(z, index=0, value=I.mask(x[p] ** 1, m[p], 0.0), combine=I.maximum)


@intent.kernel
def product(x: I.In[I.f16, ("N", 3)], m: I.In[I.bool, ("N",)], y: I.Out[I.f16, ("N",)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        if m[p]:
            t = I.reduce.prod(x[p, :], axis=0)
        else:
            t = x[p, 0]
        y[p] = t


@intent.kernel
def uncertain(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        if I.exp(x[p]) > 2.718281828459045:
            t = x[p]
        else:
            t = x[0]
        y[p] = t


def test_a_maximum_of_what_is_not_exact() -> None:
    x, z = np.array([7, 3], "f4"), np.array([5], "f4")
    one = expected(greatest, {"x": x, "m": np.array([True, False]), "z": z})["z"]
    assert one.value == 7
    assert 0 < one.bound < 1e-5
    none = expected(greatest, {"x": x, "m": np.array([False, False]), "z": z})["z"]
    assert (none.value, none.bound) == (5, 0)


def test_each_lane_has_the_error_of_its_side() -> None:
    x = np.array([[1.5, 1.25, 3], [1.5, 1.25, 3]], "f2")
    for m in ([True, False], [True, True], [False, False]):
        y = expected(product, {"x": x, "m": np.array(m), "y": np.zeros(2, "f2")})["y"]
        assert [bool(b > 0) for b in y.bound] == m


def test_nothing_is_known_where_the_condition_is_not_sure() -> None:
    y = expected(uncertain, {"x": np.array([0, 1, 2], "f4"), "y": np.zeros(3, "f4")})["y"]
    assert y.bound.tolist() == [0, np.inf, 0]
