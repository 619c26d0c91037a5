"""Seed 520116 of `intent-np fuzz`, device: different; it was no difference, but a call that has no meaning.

A product of members of f8e4m3fn, which has no infinity, passes the range: each machine has some value there."""

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing import check_kernel

DTYPE = ml_dtypes.float8_e4m3fn
ROWS = np.array([[-7.0] * 8, [200, -200, 200, 0, 0, 200, 0, -448], [1, 2, 3, 0.5, 0.25, 1, 2, 4]], DTYPE)


@intent.fn
def product(a, b):
    return a * b


@intent.fn
def total(a, b):
    return a + b


@intent.kernel
def reduced(x: I.In[I.f8e4m3fn, ("N", 8)], y: I.Out[I.f8e4m3fn, ("N",)], z: I.Out[I.f8e4m3fn, ("N",)]):
    y[:] = I.reduce(x[:, :], axis=1, identity=1, combine=product)
    z[:] = I.reduce(x[:, :], axis=1, identity=0, combine=total)


@intent.kernel
def kept(x: I.In[I.f8e4m3fn, ("N", 8)], y: I.Out[I.f8e4m3fn, ("N", 1)], z: I.Out[I.f32, ("N", 1)]):
    y[:, :] = I.reduce(x[:, :], axis=1, identity=1, combine=product, keepdims=True)
    z[:, :] = I.reduce.sum(x[:, :], axis=1, keepdims=True)


@intent.kernel
def scanned(x: I.In[I.f8e4m3fn, ("N", 8)], y: I.Out[I.f8e4m3fn, ("N", 8)], z: I.Out[I.f8e4m3fn, ("N", 8)]):
    y[:, :] = I.scan(x[:, :], axis=1, identity=1, combine=product, inclusive=True)
    z[:, :] = I.scan(x[:, :], axis=1, identity=0, combine=total, inclusive=True, reverse=True)


@intent.kernel
def contracted(x: I.In[I.f8e4m3fn, ("N", 8)], y: I.Out[I.f8e4m3fn, ("N",)]):
    y[:] = I.matvec(x[:, :], I.full((8,), 2.0, I.f8e4m3fn), acc_dtype=I.f8e4m3fn)


@intent.kernel
def updated(x: I.In[I.f8e4m3fn, ("N", 8)], y: I.InOut[I.f8e4m3fn, (1,)], z: I.Out[I.f8e4m3fn, ()]):
    rows = I.indices(I.domain(0, x.shape[0]))
    I.scatter_reduce(y, index=(rows % 1,), value=x[:, 0], combine=product)
    z[()] = I.reduce(I.full((8,), 1.0, I.f8e4m3fn), axis=0, identity=0, combine=total)


def poison(kernel, y, z):
    checked = check_kernel(kernel, {"x": ROWS, "y": y, "z": z} if z is not None else {"x": ROWS, "y": y})
    return checked, checked.poison["y"].tolist(), checked.poison["z"].tolist() if z is not None else None


@pytest.mark.parametrize(
    ("kernel", "shape", "y", "z"),
    [
        (reduced, (3,), [1, 1, 0], [0, 1, 0]),
        (
            scanned,
            (3, 8),
            [[0] * 3 + [1] * 5, [0] + [1] * 7, [0] * 8],
            [[0] * 8] * 3,
        ),
        (kept, (3, 1), [[1], [1], [0]], [[0], [0], [0]]),
        (contracted, (3,), [0, 1, 0], None),
    ],
)
def test_what_may_pass_the_range_has_no_meaning(kernel, shape, y, z):
    kinds = {p.name: np.float32 if p.dtype.name == "f32" else DTYPE for p in kernel.parameters}
    checked, *found = poison(kernel, np.zeros(shape, DTYPE), None if z is None else np.zeros(shape, kinds["z"]))
    assert found == [y, z]
    assert {f.code for f in checked.findings} == {"E507"}
    assert "largest finite value" in checked.findings[0].found


def test_updates_that_pass_it_poison_what_they_update_and_nothing_else():
    _, y, z = poison(updated, np.ones(1, DTYPE), np.zeros((), DTYPE))
    assert (y, z) == ([True], False)
