"""Instances whose loops are longest are started first."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

from .printed import by_reference, printed


@intent.kernel
def triangle(
    a: I.In[I.f32, ("M", "M")], b: I.In[I.f32, ("M", "N"), I.constraints(finite=True)], c: I.Out[I.f32, ("M", "N")]
):
    m = I.domain(0, a.shape[0])
    lower = I.indices(m)[None, :] <= I.indices(m)[:, None]
    c[:, :] = I.matmul(I.mask(a[m, m], lower, 0), b[:, :], acc_dtype=I.f32)


@intent.kernel
def upper_triangle(
    a: I.In[I.f32, ("M", "M")], b: I.In[I.f32, ("M", "N"), I.constraints(finite=True)], c: I.Out[I.f32, ("M", "N")]
):
    m = I.domain(0, a.shape[0])
    upper = I.indices(m)[None, :] >= I.indices(m)[:, None]
    c[:, :] = I.matmul(I.mask(a[m, m], upper, 0), b[:, :], acc_dtype=I.f32)


@intent.kernel
def many_triangles(a: I.In[I.f32, ("B", "M", "M")], y: I.Out[I.f32, ("B", "M")]):
    for b in I.parallel(I.domain(0, a.shape[0])):
        m = I.domain(0, a.shape[1])
        lower = I.indices(m)[None, :] <= I.indices(m)[:, None]
        y[b, m] = I.reduce.sum(I.mask(a[b, m, m], lower, 0), axis=1)


@intent.kernel
def square(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)


@intent.kernel
def totals(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[:] = I.reduce.sum(x[:, :], axis=1)


@pytest.mark.parametrize("kernel", [upper_triangle, square, totals], ids=lambda k: k.name)
def test_others_are_numbered_from_the_first(kernel):
    assert "mirrored" not in printed(kernel).source


def test_a_triangle_is_begun_where_it_is_widest():
    asked = {"block_axes": {"sizes": {"m": 16, "n": 16}}}
    made = printed(triangle, **asked)
    assert "mirrored" in made.source
    assert "mirrored" not in printed(triangle, **asked, lower_to_triton={"longest_first": False}).source
    rng = np.random.default_rng(3)
    a, b = rng.integers(-4, 5, (70, 70)).astype("f4"), rng.integers(-4, 5, (70, 20)).astype("f4")
    given = {"a": a, "b": b, "c": np.full((70, 20), np.nan, "f4")}
    np.testing.assert_array_equal(made(given)["c"], np.tril(a) @ b)
    np.testing.assert_array_equal(by_reference(triangle, given)["c"], np.tril(a) @ b)


def test_of_many_triangles_the_widest_rows_of_all_are_first():
    """Instances of one block of rows follow each other, and the blocks are counted down."""
    made = printed(many_triangles, block_axes={"sizes": {"m": 16}}, choose_plan={"policy": "directed"})
    lines = [line.strip() for line in made.source.splitlines()]
    assert "b = pid % B" in lines
    assert next(line for line in lines if line.startswith("pm = ")).endswith("- 1 - pid // B")
    a = np.random.default_rng(4).integers(-4, 5, (3, 70, 70)).astype("f4")
    given = {"a": a, "y": np.full((3, 70), np.nan, "f4")}
    np.testing.assert_array_equal(made(given)["y"], np.tril(a).sum(axis=2))
    np.testing.assert_array_equal(by_reference(many_triangles, given)["y"], np.tril(a).sum(axis=2))
    alone = printed(many_triangles, block_axes={"sizes": {"m": 16}}, lower_to_triton={"longest_first": False})
    assert "- 1 - pid" not in alone.source
