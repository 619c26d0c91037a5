"""Combines that use what is known at run time alone: behind every pass and as printed Triton."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing import validation as v
from intent_np.testing.triton_interpreter import unavailable

from .printed import prints_the_same

RNG = np.random.default_rng(17)


@intent.fn
def modular(a, b, m):
    return (a + b) % m


@intent.fn
def composed(f, g, m):
    """g after f, modulo m."""
    return I.record(scale=f.scale * g.scale % m, shift=(f.shift * g.scale + g.shift) % m)


@intent.kernel
def by_a_scalar(x: I.In[I.i32, ("M", "N")], m: I.i32, y: I.Out[I.i32, ("M",)], z: I.Out[I.i32, ("M", "N")]):
    y[:] = I.reduce(x[:, :], axis=1, identity=0, combine=modular, combine_operands=(m,))
    for row in I.parallel(I.domain(0, x.shape[0])):
        z[row, :] = I.scan(x[row, :], identity=0, combine=modular, combine_operands=(m,), inclusive=False)


@intent.kernel
def by_a_row(x: I.In[I.i32, ("M", "N")], m: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)], z: I.Out[I.i32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row] = I.reduce(x[row, :], axis=0, identity=0, combine=modular, combine_operands=(m[row],))
        z[row, :] = I.scan(x[row, :], identity=0, combine=modular, combine_operands=(m[row],), inclusive=True)


@intent.kernel
def records(a: I.In[I.i64, ("N",)], b: I.In[I.i64, ("N",)], m: I.i64, y: I.Out[I.i64, ("N",)]):
    steps = I.record(scale=a[:], shift=b[:])
    start = I.record(scale=1, shift=0)
    y[:] = I.scan(steps, 0, identity=start, combine=composed, combine_operands=(m,), inclusive=True).shift


KERNELS = {k.name: k for k in (by_a_scalar, by_a_row, records)}


def arguments(kernel: Any, m: int, n: int) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for p in kernel.parameters:
        if not hasattr(p, "shape"):
            given[p.name] = 7
            continue
        shape = tuple({"M": m, "N": n}[str(e)] for e in p.shape)
        d = np.int64 if kernel is records else np.int32
        given[p.name] = RNG.integers(2 if p.name == "m" else 0, 7, shape).astype(d)
    return given


@pytest.mark.parametrize("which", ["generic", "bounded", "small blocks"], ids=lambda n: n.replace(" ", "-"))
@pytest.mark.parametrize("name", KERNELS)
def test_every_pass_keeps_the_result(name: str, which: str) -> None:
    made = v.stages(KERNELS[name], v.CLASSES[which])
    for m, n in ((1, 1), (3, 40), (2, 0), (5, 70)):
        found = v.validate(KERNELS[name], arguments(KERNELS[name], m, n), v.CLASSES[which], made=made)
        assert found, f"{m} {n}: {found}"


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", KERNELS)
def test_printed_triton_does_the_same(name: str) -> None:
    prints_the_same(KERNELS[name], arguments(KERNELS[name], 3, 40))


@pytest.mark.parametrize("name", KERNELS)
def test_it_compiles(name: str) -> None:
    assert intent.compile(KERNELS[name], target="sm_90").variants[0].cubin
