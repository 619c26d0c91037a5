"""Sums of weights relative to a maximum: padded lanes are masked where the maximum is taken, and not once more.

What is no member has -inf there, and weighs nothing; where the maximum is -inf or NaN, every sum over a member is NaN.
"""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

from .printed import BLOCKS, by_reference, is_kept_by_every_pass, printed

LENGTHS = (1, 15, 16, 40)
INF, NAN = np.inf, np.nan


@intent.kernel
def weighed(x: I.In[I.f32, ("M", "N")], total: I.Out[I.f32, ("M",)], largest: I.Out[I.f32, ("M",)]):
    """The sum of exp(x - max x) of each row."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        largest[row] = I.reduce.max(value, axis=0)
        total[row] = I.reduce.sum(I.exp(value - I.reduce.max(value, axis=0)), axis=0)


@intent.kernel
def weighed_products(
    x: I.In[I.f16, ("M", 32)], z: I.In[I.f16, ("N", 32)], v: I.In[I.f16, ("N", 32)], y: I.Out[I.f32, ("M", 32)],
    total: I.Out[I.f32, ("M",)],
):  # fmt: skip
    """Rows of `v`, weighed by products that are seen up to the diagonal."""
    m, n = I.domain(0, x.shape[0]), I.domain(0, z.shape[0])
    seen = I.indices(n)[None, :] <= I.indices(m)[:, None] - 8
    scores = I.select(seen, I.matmul(x[m, :], z[n, :], transpose_rhs=True, acc_dtype=I.f32) * 0.25, -INF)
    weight = I.exp(scores - I.reduce.max(scores, axis=1, keepdims=True))
    total[m] = I.reduce.sum(weight, axis=1)
    y[m, :] = I.matmul(I.cast(weight, I.f16), v[n, :], acc_dtype=I.f32)


@intent.kernel
def relative_to_given(x: I.In[I.f32, ("M", "N")], to: I.In[I.f32, ("M",)], total: I.Out[I.f32, ("M",)]):
    """The sum of exp(x - to), where `to` is no maximum of x."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        total[row] = I.reduce.sum(I.exp(x[row, :] - to[row]), axis=0)


@intent.kernel
def relative_to_others(x: I.In[I.f32, ("M", "N")], z: I.In[I.f32, ("M", "N")], total: I.Out[I.f32, ("M",)]):
    """The sum of exp(x - max z)."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        total[row] = I.reduce.sum(I.exp(x[row, :] - I.reduce.max(z[row, :], axis=0)), axis=0)


@intent.kernel
def relative_to_larger(x: I.In[I.f32, ("M", "N")], sink: I.In[I.f32, ("M",)], total: I.Out[I.f32, ("M",)]):
    """The sum of exp(x - max(sink, max x))."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        total[row] = I.reduce.sum(I.exp(value - I.maximum(I.reduce.max(value, axis=0), sink[row])), axis=0)


@intent.kernel
def weights_kept(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], total: I.Out[I.f32, ("M",)]):
    """Weights that are stored as well."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.tanh(x[row, :])
        weight = I.exp(value - I.reduce.max(value, axis=0))
        total[row] = I.reduce.sum(weight, axis=0)
        y[row, :] = weight


def rows(n: int, m: int = 9) -> np.ndarray:
    """Rows of what a maximum may be of: numbers, nothing but -inf, NaN in one place, infinities among numbers."""
    x = np.random.default_rng(n).integers(-6, 7, (m, n)).astype("f4")
    x[1] = -INF
    x[2, n // 2] = NAN
    x[3, n - 1] = INF
    x[4, 0] = -INF
    x[5] = INF
    x[6] = -INF
    x[6, n // 3] = NAN
    return x


def empty(*shape: int) -> np.ndarray:
    return np.full(shape, 7, "f4")


def agrees(kernel, given, **passes) -> str:
    """Assert that the text, in small blocks, leaves what the reference does, but for the order of sums; the text."""
    made, wanted = printed(kernel, **BLOCKS, **passes), by_reference(kernel, given)
    for name, found in made(given).items():
        np.testing.assert_allclose(found, wanted[name], rtol=2e-6, atol=1e-6, err_msg=f"{name} of\n{made.source}")
    return made.source


@pytest.mark.parametrize("n", LENGTHS)
def test_a_sum_of_weights_is_masked_where_its_maximum_is(n):
    given = {"x": rows(n), "total": empty(9), "largest": empty(9)}
    source = agrees(weighed, given)
    assert "tl.where" not in source, source  # -inf is what masked loads are filled with


@pytest.mark.parametrize("held", [False, True])
def test_a_row_without_members_has_no_weight(held):
    """Where a fragment holds the row, it has padded lanes alone; no block of a loop does."""
    bounds = {"bind_class": {"bounds": {"N": 16}}} if held else {}
    given = {"x": empty(9, 0), "total": empty(9), "largest": empty(9)}
    assert (by_reference(weighed, given)["total"] == 0).all()
    agrees(weighed, given, **bounds)
    agrees(weighed, given | {"x": rows(5)}, **bounds)


@pytest.mark.parametrize("n", [1, 17, 40])
def test_products_are_masked_once_for_all_that_is_made_of_their_weights(n):
    chance = np.random.default_rng(n)
    x, z, v = (chance.integers(-2, 3, (k, 32)).astype("f2") for k in (40, n, n))
    given = {"x": x, "z": z, "v": v, "y": empty(40, 32), "total": empty(40)}
    source, wanted = agrees(weighed_products, given), by_reference(weighed_products, given)
    assert np.isnan(wanted["total"][:8]).all()
    assert np.isfinite(wanted["total"][8:]).all()
    products = [loop for loop in source.split(" in range(")[1:] if "tl.dot(x_value" in loop]
    assert products, source
    assert all(loop.count("tl.where(") == 1 for loop in products), source


@pytest.mark.parametrize("n", LENGTHS)
def test_weights_relative_to_anything_else_are_masked_themselves(n):
    x, to = rows(n), np.array([-INF, 0, NAN, INF, 1, 2, 3, -INF, -INF], "f4")
    assert "tl.where" in agrees(relative_to_given, {"x": x, "to": to, "total": empty(9)})
    assert "tl.where" in agrees(relative_to_others, {"x": np.zeros_like(x), "z": x, "total": empty(9)})


@pytest.mark.parametrize("n", LENGTHS)
def test_what_is_at_least_a_maximum_serves_as_one(n):
    sink = np.array([0, -INF, NAN, INF, 1, 2, -INF, -INF, -INF], "f4")
    assert "tl.where" not in agrees(relative_to_larger, {"x": rows(n), "sink": sink, "total": empty(9)})


@pytest.mark.parametrize("n", LENGTHS)
def test_weights_that_are_kept_are_computed_once(n):
    source = agrees(weights_kept, {"x": rows(n), "y": empty(9, n), "total": empty(9)})
    assert all(loop.count("exp(") <= 1 for loop in source.split(" in range(")), source


def test_every_pass_keeps_sums_of_weights():
    is_kept_by_every_pass(weighed, {"x": rows(40), "total": empty(9), "largest": empty(9)})
