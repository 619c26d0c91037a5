"""Counts by number: one pass over the members, in which a provider counts a block of them at once."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

from .printed import by_reference, printed

RNG = np.random.default_rng(5)


@intent.kernel
def of_bytes(x: I.In[I.u8, ("N",)], y: I.Out[I.i32, (256,)]):
    y[:] = I.histogram(x[:], bins=256, count_dtype=I.i32)


@intent.kernel
def of_valid(x: I.In[I.i32, ("N",)], valid: I.In[I.bool, ("N",)], y: I.Out[I.i64, (100,)]):
    y[:] = I.histogram(x[:], bins=100, valid=valid[:], count_dtype=I.i64)


@intent.kernel
def narrow(x: I.In[I.i16, ("N",)], y: I.Out[I.u8, (33,)]):
    y[:] = I.histogram(x[:] + 1, bins=33, count_dtype=I.u8)


@intent.kernel
def running(x: I.In[I.u64, ("N",)], y: I.Out[I.i32, (64,)]):
    y[:] = I.cumsum(I.histogram(x[:], bins=64, count_dtype=I.i32), axis=0)


@intent.kernel
def by_hand(x: I.In[I.i32, ("N",)], w: I.In[I.i32, ("N",)], y: I.Out[I.i32, (40,)]):
    bins = I.domain(0, 40)
    same = x[:][None, :] == I.cast(I.indices(bins), I.i32)[:, None]
    y[:] = I.reduce.sum(I.cast(same & (w[:] > 0)[None, :], I.i32), axis=1)


def _given(kernel, n):
    for p in kernel.parameters:
        shape = tuple(n if e == "N" else e for e in p.shape)
        dtype = np.dtype(
            {"i8": "i1", "u8": "u1", "i16": "i2", "i32": "i4", "i64": "i8", "u64": "u8", "bool": "?"}[str(p.dtype)]
        )
        if p.mode == "out":
            yield p.name, np.full(shape, 7, dtype)
        elif dtype == np.dtype("u8"):
            yield p.name, RNG.choice(np.array([0, 1, 5, 63, 64, 2**32, 2**63, 2**64 - 1], dtype), shape)
        else:
            yield (
                p.name,
                RNG.integers(0 if dtype.kind in "ub" else -3, 2 if dtype.kind == "b" else 110, shape).astype(dtype),
            )


@pytest.mark.parametrize("n", [0, 1, 16, 131])
@pytest.mark.parametrize("kernel", [of_bytes, of_valid, narrow, running, by_hand], ids=lambda k: k.name)
def test_counted_at_once(kernel, n):
    made = printed(kernel, block_axes={"sizes": {"n": 16}})
    assert made.source.count("tl.histogram(") == 2, made.source
    given = dict(_given(kernel, n))
    found, expected = made(given), by_reference(kernel, given)
    np.testing.assert_array_equal(found["y"], expected["y"])


@intent.kernel
def of_few(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (4,)]):
    y[:] = I.histogram(x[:], bins=4, count_dtype=I.i32)


@intent.kernel
def of_any(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("B",)]):
    y[:] = I.histogram(x[:], bins=y.shape[0], count_dtype=I.i32)


@intent.kernel
def of_rows(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", 64)]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        y[m, :] = I.histogram(x[m, :], bins=64, count_dtype=I.i32)


@pytest.mark.parametrize("kernel", [of_few, of_any, of_rows], ids=lambda k: k.name)
def test_few_bins_and_those_of_unknown_number_are_compared(kernel):
    assert "tl.histogram" not in printed(kernel).source


@pytest.mark.parametrize("n", [0, 1, 100, 4096 * 3 + 5])
def test_counts_are_split_among_instances(n):
    made = printed(of_valid, split_reductions={"split": True, "members": 64, "parts": 7})
    assert "atomic_add" in made.source
    assert made.source.count("tl.histogram(") == 2
    given = dict(_given(of_valid, n))
    found, expected = made(given), by_reference(of_valid, given)
    np.testing.assert_array_equal(found["y"], expected["y"])
