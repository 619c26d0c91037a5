"""No fragment is larger than an instance can hold, however many axes a value has."""

from math import prod
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation
from intent_np.passes.blocks import LARGEST
from intent_np.runtime.examples import class_of
from intent_np.target import SM_90
from intent_np.terms.core import walk
from intent_np.terms.dtypes import DType, index
from intent_np.terms.gpu import GPU
from intent_np.terms.index import Value
from intent_np.terms.parse import parse
from kernels.matmul import matmul_f16
from kernels.reductions import col_sum, max_argmax_all, sum_all


@intent.kernel
def distances(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        value = x[:]
        largest = I.reduce.max(I.abs(value[:, None] - value[None, :]) * I.cast(i, I.f32), axis=1)
        y[i] = I.reduce.sum(largest, axis=0)


@intent.kernel
def integers(a: I.In[I.i16, ("M", "K")], b: I.In[I.i16, ("K", "N")], c: I.Out[I.i32, ("M", "N")]):
    c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.i32)


@intent.kernel
def wide_integers(a: I.In[I.i64, ("M", "K")], b: I.In[I.i64, ("K", "N")], c: I.Out[I.i64, ("M", "N")]):
    c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.i64)


@intent.kernel
def same_members(x: I.In[I.i64, ("M", "N")], w: I.In[I.f32, ("K",)], y: I.InOut[I.i64, (8,)]):
    """What is summed does not vary along the axis of the sum."""
    M, N = x.shape
    for p in I.parallel(I.domain(0, M)):
        sums = I.reduce.sum(x[p, :][:, None] // I.full((N, w.shape[0]), 5, I.i64), axis=1)
        I.atomic.and_(y, index=p % 8, value=I.reduce.min(sums, axis=0))


@pytest.mark.parametrize(
    ("kernel", "extents"),
    [
        (distances, {"N": 8000, "M": 3}),
        (distances, {"N": 100_000, "M": 3}),
        (integers, {"M": 512, "N": 512, "K": 512}),
        (wide_integers, {"M": 512, "N": 512, "K": 512}),
        (same_members, {"M": 512, "N": 5000, "K": 5000}),
    ],
    ids=["resident", "traversed", "no-instruction", "wide", "without-the-axis"],
)
def test_every_value_fits(kernel: Any, extents: dict[str, int]) -> None:
    compilation = Compilation(kernel, SM_90, {}, intent.CompileOptions())
    _, texts = compilation.launch(class_of(compilation.plan, extents))
    with compilation.arena:
        program = parse(texts["gpu"], GPU)
    values = [t for t in walk(program) if isinstance(t, Value) and isinstance(t.type, DType)]
    registers = {t: 2 if t.type.bytes == 8 and t.type is not index else 1 for t in values}
    assert max(prod(p.value for p in t.lanes) * registers[t] for t in values) <= LARGEST


def test_two_axes_of_one_domain_in_blocks() -> None:
    x, y = np.random.default_rng(0).random(150, np.float32), np.empty(2, np.float32)
    intent.compile(distances, target="cpu")(x, y)
    assert np.allclose(y, [0, abs(x[:, None] - x[None, :]).max(1).sum()], rtol=1e-5)


@pytest.mark.parametrize(
    ("m", "n", "blocks"),
    [
        (5, 8192, {"BM": 16, "BN": 64, "BK": 128}),
        (60, 8192, {"BM": 64, "BN": 64, "BK": 128}),
        (100, 8192, {"BM": 64, "BN": 128, "BK": 128}),
        (8192, 7, {"BM": 64, "BN": 16, "BK": 128}),
        (8192, 8192, {"BM": 128, "BN": 256, "BK": 64}),
    ],
)
def test_products_of_few_rows_have_many_instances(m: int, n: int, blocks: dict[str, int]) -> None:
    compilation = Compilation(matmul_f16, SM_90, {}, intent.CompileOptions())
    program, _ = compilation.launch(class_of(compilation.plan, {"M": m, "N": n, "K": 4096}))
    assert {p.name: p.value for p in program.constexprs} == blocks


@intent.kernel
def narrow_columns(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f32, ("N",)]):
    y[:] = I.reduce.sum(I.cast(x[:, :], I.f32), axis=0)


@pytest.mark.parametrize(
    ("kernel", "extents", "blocks"),
    [
        (col_sum, {"M": 1 << 20, "N": 32}, {"BN": 32, "BM": 256}),
        (narrow_columns, {"M": 1 << 20, "N": 32}, {"BN": 64, "BM": 128}),
        (sum_all, {"N": 1 << 24}, {"BN": 4096}),
        (max_argmax_all, {"N": 1 << 24}, {"BN": 2048}),
    ],
    ids=lambda p: getattr(p, "name", ""),
)
def test_blocks_of_reductions(kernel: Any, extents: dict[str, int], blocks: dict[str, int]) -> None:
    """Columns fill a line of memory, and no more; members that carry a place beside their value are fewer."""
    compilation = Compilation(kernel, SM_90, {}, intent.CompileOptions())
    launch, _ = compilation.launch(class_of(compilation.plan, extents))
    found = {p.name: p.value for p in launch.constexprs}
    assert {name: found[name] for name in blocks} == blocks


@intent.kernel
def sorted_product(x: I.In[I.f32, ("N", 512)], w: I.In[I.f32, (512, "N")], y: I.Out[I.f32, ("N", "N")]):
    y[:, :] = I.matmul(I.sort(x[:, :], axis=1), w[:, :], acc_dtype=I.f32)


def test_axes_beside_a_product_have_blocks() -> None:
    """A sort compares all members with all: member by member, these are 262,144 iterations."""
    compilation = Compilation(sorted_product, SM_90, {}, intent.CompileOptions())
    launch, _ = compilation.launch(class_of(compilation.plan, {"N": 16}))
    found = {p.name: p.value for p in launch.constexprs}
    assert {name: found[name] for name in ("BI", "BI_1")} == {"BI": 32, "BI_1": 16}
