"""Products that only feed sums are fused into them, whether they have names or not."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

from .printed import printed


@intent.kernel
def named(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        scaled = x[i] * 0.1
        z[i] = scaled - y[i]


@intent.kernel
def read_twice(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        scaled = x[i] * 0.1
        z[i] = I.exp(scaled) + (scaled - y[i])


@intent.kernel
def carried(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    """What was a product in one iteration is added to in the next."""
    for m in I.parallel(I.domain(0, x.shape[0])):
        state = 1.0
        for n in range(x.shape[1]):
            grown = state * 0.1
            state = x[m, n] * 3.0
            y[m] = grown + state


@intent.kernel
def chained(x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    """What a product is fused into stands in another product with a name."""
    for i in I.parallel(I.domain(0, x.shape[0])):
        scaled = x[i] * 0.1
        again = (scaled - y[i]) * 3.0
        z[i] = again + y[i]


@intent.kernel
def read_in_a_loop(x: I.In[I.f32, ("N",)], y: I.In[I.f32, (9, "N")], z: I.Out[I.f32, (9, "N")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        scaled = I.exp(x[i]) * 0.1
        for k in range(9):
            z[k, i] = scaled + y[k, i]


X = np.random.default_rng(2).standard_normal(50).astype("f4")
Y = np.random.default_rng(3).standard_normal(50).astype("f4")


def test_a_product_with_a_name_is_fused_into_the_sum_that_reads_it():
    made = printed(named)
    assert made.source.count("tl.fma(") == 1
    assert "scaled" not in made.source
    got = made({"x": X, "y": Y, "z": np.full(50, np.nan, "f4")})["z"]
    once = (X.astype("f8") * np.float32(0.1) - Y).astype("f4")  # one rounding, where a product has none of its own
    np.testing.assert_array_equal(got, once)


def test_a_product_that_is_read_twice_is_computed_once():
    source = printed(read_twice).source
    assert source.count("0.1") == 1


def test_products_in_products_are_fused_one_after_the_other():
    made = printed(chained)
    assert made.source.count("tl.fma(") == 2
    got = made({"x": X, "y": Y, "z": np.full(50, np.nan, "f4")})["z"]
    inner = (X.astype("f8") * np.float32(0.1) - Y).astype("f4")
    np.testing.assert_array_equal(got, (inner.astype("f8") * 3 + Y).astype("f4"))


def test_a_product_in_front_of_a_loop_is_not_computed_in_each_iteration():
    source = printed(read_in_a_loop).source
    assert source.index("exp(") < source.index("for k")


def test_states_of_loops_are_what_they_were_before_they_were_assigned():
    rows = np.random.default_rng(4).integers(-4, 5, (3, 6)).astype("f4")
    got = printed(carried)({"x": rows, "y": np.full(3, np.nan, "f4")})["y"]
    np.testing.assert_allclose(got, rows[:, -2] * 3 * np.float32(0.1) + rows[:, -1] * 3, rtol=1e-6)


@pytest.mark.parametrize("kernel", [named, read_twice, carried], ids=lambda k: k.name)
def test_without_the_pass_there_is_no_fused_operation(kernel: object) -> None:
    from intent_np.compiler import Compilation
    from intent_np.runtime.plan import generic_class
    from intent_np.target import SM_90

    compilation = Compilation(kernel, SM_90, {}, intent.CompileOptions(disable=("contract_fma",)))
    _, texts = compilation.launch(generic_class(compilation.plan))
    assert "fma" not in texts["gpu"]
