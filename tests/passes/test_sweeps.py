"""Region scans behind every pass and as printed Triton, beside the reference."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.numerics import storage
from intent_np.testing import validation as v
from intent_np.testing.triton_interpreter import unavailable
from tests.language.test_regions import forward_fill, recurrence

from .printed import prints_the_same

RNG = np.random.default_rng(19)


@intent.fn
def total(x):
    return I.reduce.sum(x, axis=0)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def running(x, state):
    return I.cumsum(x, axis=0) + state


@intent.kernel
def under_a_branch(x: I.In[I.i64, ("M", "N")], flag: I.In[I.i32, ("M",)], y: I.InOut[I.i64, ("M", "N")]):
    """What is swept in a branch is swept there alone; one sweep's states begin another."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        zero = I.cast(0, I.i64)
        if flag[row] > 0:
            found, last = I.region_scan(
                x[row, :], 0, summarize=total, combine=plus, identity=0, initial_state=zero, apply=plus, emit=running
            )
            again, _ = I.region_scan(
                found, 0, summarize=total, combine=plus, identity=0, initial_state=last, apply=plus, emit=running
            )
            y[row, :] = again
        else:
            y[row, :] = -y[row, :]


@intent.kernel
def products_of_slices(
    k: I.In[I.f32, ("N", "D")], u: I.In[I.f32, ("N", 8)], y: I.Out[I.f32, ("N", 8)], last: I.Out[I.f32, ("D", 8)]
):
    """A matrix is carried, whose rows are of unknown number."""
    time = I.domain(0, k.shape[0])
    found, final = I.region_scan(
        (k[time, :], u[time, :], I.indices(time)), 0, summarize=added, combine=plus, identity=I.zeros((k.shape[1], 8),
        I.f32), initial_state=I.zeros((k.shape[1], 8), I.f32), apply=plus, emit=read,
    )  # fmt: skip
    y[:, :] = found
    last[:, :] = final


@intent.fn
def added(k, u, time):
    return I.matmul(k, u, transpose_lhs=True, acc_dtype=I.f32)


@intent.fn
def read(k, u, time, state):
    seen = I.matmul(k, k, transpose_rhs=True, acc_dtype=I.f32)
    own = I.mask(seen, time[None, :] < time[:, None], 0.0)
    return I.matmul(k, state, acc_dtype=I.f32) + I.matmul(own, u, acc_dtype=I.f32)


KERNELS = {k.name: k for k in (recurrence, forward_fill, under_a_branch, products_of_slices)}
SIZES = ({"N": 0, "C": 3, "R": 2, "M": 2, "D": 3}, {"N": 1, "C": 1, "R": 1, "M": 1, "D": 1},
         {"N": 70, "C": 5, "R": 3, "M": 4, "D": 5}, {"N": 200, "C": 2, "R": 2, "M": 2, "D": 18})  # fmt: skip


def arguments(kernel: Any, extents: dict[str, int]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for p in kernel.parameters:
        if not hasattr(p, "shape"):
            given[p.name] = 3
            continue
        shape = tuple(extents.get(str(e), e) for e in p.shape)
        low = -1 if kernel is forward_fill else 0
        d = np.dtype(storage(p.dtype))
        given[p.name] = RNG.integers(low, 2, shape).astype(d) if p.mode != "out" else np.zeros(shape, d)
    return given


@pytest.mark.parametrize("which", ["generic", "bounded", "small blocks"], ids=lambda n: n.replace(" ", "-"))
@pytest.mark.parametrize("name", KERNELS)
def test_every_pass_keeps_outputs_and_states(name: str, which: str) -> None:
    made = v.stages(KERNELS[name], v.CLASSES[which])
    for extents in SIZES:
        found = v.validate(KERNELS[name], arguments(KERNELS[name], extents), v.CLASSES[which], made=made)
        assert found, f"{extents}: {found}"


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", KERNELS)
def test_printed_triton_does_the_same(name: str) -> None:
    prints_the_same(KERNELS[name], arguments(KERNELS[name], SIZES[2]))


@pytest.mark.parametrize("name", ["recurrence", "products_of_slices"])
def test_it_compiles(name: str) -> None:
    assert intent.compile(KERNELS[name], target="sm_90").variants[0].cubin
