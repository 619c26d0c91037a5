"""A range that predicates cut at both ends is walked by three loops, or by one where it has few blocks.

The one asks in each block; or, where it multiplies matrices, in the blocks at the ends, which a branch tells apart.
"""

import re

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

from .printed import by_reference, is_kept_by_every_pass, printed

SIZES = {"block_axes": {"sizes": {"row": 16, "column": 16, "M": 16, "N": 16}}, "choose_plan": {"policy": "directed"}}


def windowed(width: int):
    """The sum of the last `width` elements of each row of a triangle."""

    @intent.kernel
    def sums(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
        row, column = I.domain(0, x.shape[0]), I.domain(0, x.shape[1])
        places, rows = I.indices(column)[None, :], I.indices(row)[:, None]
        y[:] = I.reduce.sum(I.mask(x[row, column], (places <= rows) & (rows < places + width), 0), axis=1)

    return sums


def banded(width: int):
    """Sums of rows of a product, and their largest elements, in a band of `width` places up to the diagonal."""

    @intent.kernel
    def band(x: I.In[I.f16, ("P", 16)], z: I.In[I.f16, ("Q", 16)], y: I.Out[I.f32, ("P",)], top: I.Out[I.f32, ("P",)]):
        M, N = I.domain(0, x.shape[0]), I.domain(0, z.shape[0])
        row, column = I.indices(M)[:, None], I.indices(N)[None, :]
        product = I.matmul(x[M, :], z[N, :], transpose_rhs=True, acc_dtype=I.f32)
        seen = (column <= row) & (row < column + width)
        y[M] = I.reduce.sum(I.mask(product * 0.5, seen, 0), axis=1)
        top[M] = I.reduce.max(I.mask(product * 0.5, seen, -np.inf), axis=1)

    return band


def masked_operand(width: int):
    """The product of a matrix, of which a band is taken, with another one."""

    @intent.kernel
    def product(
        a: I.In[I.f16, ("P", "Q")], b: I.In[I.f16, ("Q", 16), I.constraints(finite=True)], y: I.Out[I.f32, ("P", 16)]
    ):
        M, N = I.domain(0, a.shape[0]), I.domain(0, a.shape[1])
        row, column = I.indices(M)[:, None], I.indices(N)[None, :]
        y[:, :] = I.matmul(I.mask(a[M, N], (column <= row) & (row < column + width), 0), b[N, :], acc_dtype=I.f32)

    return product


@pytest.mark.parametrize(("width", "loops"), [(32, 1), (64, 1), (128, 3)])
def test_few_blocks_have_one_loop(width, loops):
    made = printed(windowed(width), **SIZES)
    assert made.source.count(" in range(") == loops
    for n in (1, 40, 333):
        x = np.random.default_rng(n).integers(-4, 5, (n, n)).astype("f4")
        given = {"x": x, "y": np.full(n, np.nan, "f4")}
        wanted = np.array([x[i, max(0, i - width + 1) : i + 1].sum() for i in range(n)], "f4")
        np.testing.assert_array_equal(made(given)["y"], wanted)
        np.testing.assert_array_equal(by_reference(windowed(width), given)["y"], wanted)


def of_a_band(p: int, q: int) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(p + q)
    x, z = (chance.integers(-2, 3, (n, 16)).astype("f2") for n in (p, q))
    return {"x": x, "z": z, "y": np.full(p, 7, "f4"), "top": np.full(p, 7, "f4")}


@pytest.mark.parametrize(
    ("width", "branched", "loops"), [(20, 40, 1), (100, 40, 1), (100, 6, 3), (20, 0, 1), (700, 40, 3)]
)
def test_products_are_masked_in_the_blocks_at_the_ends(width, branched, loops):
    made = printed(banded(width), **SIZES, narrow_ranges={"branched": branched})
    assert made.source.count(" in range(") + made.source.count(" in tl.range(") == loops, made.source
    branches = made.source.count("        if (")
    assert branches == (loops == 1 and branched > 0), made.source  # one for all that is made of the product
    for p, q in ((1, 1), (40, 40), (333, 333), (200, 60), (60, 200)):
        given = of_a_band(p, q)
        wanted = by_reference(banded(width), given)
        for name, found in made(given).items():
            np.testing.assert_array_equal(found, wanted[name], err_msg=f"{name} of {p} x {q}, {made.source}")


def test_what_is_masked_is_computed_once_and_not_copied():
    @intent.kernel
    def weighed(x: I.In[I.f16, ("P", 16)], z: I.In[I.f16, ("Q", 16)], y: I.Out[I.f32, ("P",)]):
        M, N = I.domain(0, x.shape[0]), I.domain(0, z.shape[0])
        row, column = I.indices(M)[:, None], I.indices(N)[None, :]
        seen = (column <= row) & (row < column + 40)
        product = I.mask(I.matmul(x[M, :], z[N, :], transpose_rhs=True, acc_dtype=I.f32), seen, 0)
        y[M] = I.reduce.sum(I.mask(I.tanh(product) + product, seen, 0), axis=1)

    made = printed(weighed, **SIZES)
    assert made.source.count("tanh(") == 1, made.source
    bound = re.findall(r"^ +(\w+) = (.+)$", made.source, re.MULTILINE)
    copies = [name for name, value in bound if value in dict(bound)]
    assert copies == [], made.source
    given = {n: a for n, a in of_a_band(70, 70).items() if n != "top"}
    np.testing.assert_allclose(made(given)["y"], by_reference(weighed, given)["y"], rtol=1e-5, atol=1e-5)


def test_a_masked_operand_of_a_product_has_loops_of_its_own():
    """Where the mask is decided it comes from memory as it is, which no branch can tell the product."""
    made = printed(masked_operand(100), **SIZES)
    assert " if " not in made.source.partition("def product")[2]
    assert made.source.count(" in range(") == 1
    chance = np.random.default_rng(0)
    a, b = chance.integers(-2, 3, (150, 170)).astype("f2"), chance.integers(-2, 3, (170, 16)).astype("f2")
    given = {"a": a, "b": b, "y": np.full((150, 16), 7, "f4")}
    np.testing.assert_array_equal(made(given)["y"], by_reference(masked_operand(100), given)["y"])


def test_every_pass_keeps_a_band():
    is_kept_by_every_pass(banded(20), of_a_band(70, 70))
