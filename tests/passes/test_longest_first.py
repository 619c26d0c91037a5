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


def coordinates(source, **sizes):
    """What every instance takes, in the order of their numbers, by the lines that the kernel itself decodes with."""
    lines = [line.strip() for line in source.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("pid = "))
    last = next(i for i, line in enumerate(lines) if line.startswith("pm = "))
    scope = {"cdiv": lambda a, b: -(-a // b), "min": min, **sizes}
    decode = "\n".join(lines[first + 1 : last + 1]).replace("tl.cdiv", "cdiv")
    for pid in range(sizes["B"] * -(-sizes["M"] // sizes["BM"])):
        exec(decode, scope | (found := {"pid": pid}), found)
        yield found["b"], found["pm"]


def test_of_many_triangles_the_widest_rows_of_eight_are_first():
    """Of eight matrices at a time, the instances of one block of rows follow each other, and the blocks are counted
    down."""
    made = printed(many_triangles, block_axes={"sizes": {"m": 16}}, choose_plan={"policy": "directed"})
    for B in (1, 7, 8, 19):
        groups = [range(first, min(first + 8, B)) for first in range(0, B, 8)]
        wanted = [(b, block) for group in groups for block in reversed(range(5)) for b in group]
        assert list(coordinates(made.source, B=B, M=70, BM=16)) == wanted
    a = np.random.default_rng(4).integers(-4, 5, (19, 70, 70)).astype("f4")
    given = {"a": a, "y": np.full((19, 70), np.nan, "f4")}
    np.testing.assert_array_equal(made(given)["y"], np.tril(a).sum(axis=2))
    np.testing.assert_array_equal(by_reference(many_triangles, given)["y"], np.tril(a).sum(axis=2))
    alone = printed(many_triangles, block_axes={"sizes": {"m": 16}}, lower_to_triton={"longest_first": False})
    assert "height" not in alone.source


def test_few_blocks_with_a_product_are_no_pipeline():
    """Those at the end of a range whose other blocks have a loop of their own; without a product nothing is one."""
    product = printed(square, block_axes={"sizes": {"m": 16, "n": 16, "k": 16}}).source.splitlines()
    at = product.index("    # boundary blocks of k")
    assert product[at + 1].endswith(", num_stages=1):")
    assert sum("num_stages" in line for line in product) == 1
    made = printed(many_triangles, block_axes={"sizes": {"m": 16}}, choose_plan={"policy": "directed"})
    assert "num_stages" not in made.source
