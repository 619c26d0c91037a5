"""Programs that the corpus lacks: guarded reads, several stores with different axes, two coordinates of one domain."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I


@intent.kernel
def guarded(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, y.shape[0])):
        y[i] = x[i] if i < N else -1.0


@intent.kernel
def first(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, y.shape[0])):
        y[i] = x[0] if N > 0 else 2.0


@intent.kernel
def centered(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("N", "M")], total: I.Out[I.f32, ("M",)]):
    value = x[:, :]
    y[:, :] = value - I.reduce.sum(value, axis=0, keepdims=True)
    total[:] = I.reduce.sum(value, axis=0)


@intent.kernel
def pairwise(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N", "N")], z: I.Out[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    value = x[points]
    difference = value[:, None] - value[None, :]
    y[points, points] = difference
    z[points] = I.reduce.sum(difference * difference, axis=1)


@intent.kernel
def shifted(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(1, N)):
        y[i] = x[i - 1] + x[i]
    if N > 0:
        y[0] = x[0]


def squares(n, m):
    x = np.arange(n * m, dtype=np.float32).reshape(n, m)
    return x, np.full((n, m), np.nan, np.float32), np.full(m, np.nan, np.float32)


def vectors(n, m):
    return np.arange(1, n + 1, dtype=np.float32), np.full(m, np.nan, np.float32)


CALLS = [
    (guarded, lambda n: vectors(n, 2 * n + 3), lambda x, y: [np.concatenate([x, np.full(len(y) - len(x), -1)])]),
    (first, lambda n: vectors(n, 7), lambda x, y: [np.full(7, x[0] if len(x) else 2)]),
    (centered, lambda n: squares(n, 3 * n), lambda x, y, t: [x - x.sum(0), x.sum(0)]),
    (
        pairwise,
        lambda n: (vectors(n, n)[0], *squares(n, n)[1:]),
        lambda x, y, z: [x[:, None] - x, ((x[:, None] - x) ** 2).sum(1)],
    ),
    (shifted, lambda n: vectors(n, n), lambda x, y: [x + np.concatenate([[0], x[:-1]]) if len(x) else x]),
]


@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize(("kernel", "arguments", "expected"), CALLS, ids=lambda v: getattr(v, "name", ""))
def test_small_programs(kernel, arguments, expected, target):
    artifact = intent.compile(kernel, target=target, options=intent.CompileOptions(check=True))
    for n in (0, 1, 2, 17, 65):
        given = arguments(n)
        artifact(*given)
        wanted = expected(*given)
        for got, want in zip(given[-len(wanted) :], wanted, strict=True):
            np.testing.assert_array_equal(got, want)


@intent.kernel
def static_rows(x: I.In[I.f32, (7, 5001)], y: I.Out[I.f32, (7,)], z: I.Out[I.f32, ()]):
    y[:] = I.reduce.max(x[:, :], axis=1)
    z[()] = I.reduce.max(x[:, :])


def test_lanes_behind_a_static_extent_are_guarded():
    """A member of the axis is certainly inside; a lane of its block is not."""
    x = np.random.default_rng(1).standard_normal((7, 5001)).astype(np.float32) - 9
    y, z = intent.compile(static_rows, target="cpu", options=intent.CompileOptions(check=True)).run(x)
    np.testing.assert_array_equal(y, x.max(1))
    assert z == x.max()
