"""Folds of slices below the author's language: in coordinates with any cut, on the program machine in blocks of any
size, and as printed Triton."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.reference import logical, normal
from intent_np.backends.triton.printer import print_triton
from intent_np.passes.pipeline import Trace, run
from intent_np.terms.core import Arena, find
from intent_np.terms.normal import Part, Region
from intent_np.testing.triton_interpreter import interpret, unavailable
from tests.language.test_regions import attention

RNG = np.random.default_rng(8)


@intent.fn
def moments(values):
    count = I.reduce.sum(I.full(values.shape, 1, I.f32), axis=0)
    mean = I.reduce.sum(values, axis=0) / count
    return I.record(count=count, mean=mean, spread=I.reduce.sum((values - mean) * (values - mean), axis=0))


@intent.fn
def together(a, b):
    count = a.count + b.count
    share = b.count / I.maximum(count, 1)
    step = b.mean - a.mean
    spread = a.spread + b.spread + step * step * a.count * share
    return I.record(count=count, mean=a.mean + step * share, spread=spread)


@intent.kernel
def variances(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("M",)], n: I.Out[I.f32, ("M",)]):
    """Summaries of a tensor of columns."""
    nothing = I.record(count=0.0, mean=0.0, spread=0.0)
    found = I.region_fold(x[:, :], axis=0, summarize=moments, combine=together, identity=nothing)
    y[:] = found.spread
    n[:] = found.count + I.zeros((x.shape[1],), I.f32)


@intent.fn
def ends(x, places):
    """The first and the last marked member: order matters, rows and columns of the summary differ."""
    far = I.reduce.min(I.select(x > 0, places[None, :], 2**29), axis=1)
    near = I.reduce.max(I.select(x > 0, places[None, :], -1), axis=1)
    return near[:, None] - far[None, :], near, far


@intent.fn
def outer_ends(a, b):
    near, far = I.maximum(a[1], b[1]), I.minimum(a[2], b[2])
    return near[:, None] - far[None, :], near, far


@intent.kernel
def spans(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "M")], t: I.Out[I.i32, ("M",)]):
    N = x.shape[1]
    axis = I.domain(0, N)
    start = (I.full((x.shape[0], x.shape[0]), -1 - 2**29, I.i32), -1, 2**29)
    table, near, far = I.region_fold(
        (x[:, axis], I.cast(I.indices(axis), I.i32)), axis=(1, 0), summarize=ends, combine=outer_ends, identity=start
    )
    y[:, :] = table
    t[:] = near - far


@intent.fn
def last_of(x, places):
    at = I.reduce.max(I.select(x >= 0, places, -1), axis=0)
    return at, I.reduce.sum(I.select(places == at, x, 0), axis=0)


@intent.fn
def later(a, b):
    return I.select(b[0] >= 0, b[0], a[0]), I.select(b[0] >= 0, b[1], a[1])


@intent.kernel
def newest(x: I.In[I.i32, ("R", "N")], y: I.Out[I.i32, ("R",)], s: I.Out[I.i64, ()]):
    """Does not commute; and an axis of four, which two regions cut one inside the other."""
    axis = I.domain(0, x.shape[1])
    for r in I.parallel(I.domain(0, x.shape[0])):
        _, y[r] = I.region_fold(
            (x[r, axis], I.cast(I.indices(axis), I.i32)), 0, summarize=last_of, combine=later, identity=(-1, 0)
        )
    s[()] = I.region_fold(I.cast(x[:, :], I.i64), 0, summarize=of_rows, combine=plus, identity=0)


@intent.fn
def of_rows(x):
    zeros = I.zeros((x.shape[0],), I.i64)
    return I.reduce.sum(I.region_fold(x, 1, summarize=of_columns, combine=plus, identity=zeros), axis=0)


@intent.fn
def of_columns(x):
    return I.reduce.sum(x, axis=1)


@intent.fn
def plus(a, b):
    return a + b


def arguments(kernel, n):
    m = 5
    if kernel is attention:
        m = min(m, n)
        given = {"q": (m, 6), "k": (n, 6), "v": (n, 3), "y": (m, 3)}
        made = {name: RNG.standard_normal(s).astype(np.float32) for name, s in given.items()}
        return made, {"scale": 0.5}
    if kernel is variances:
        x = (RNG.standard_normal((n, m)) + 9).astype(np.float32)
        return {"x": x, "y": np.zeros(m, np.float32), "n": np.zeros(m, np.float32)}, {}
    x = RNG.integers(-3, 2, (m, n)).astype(np.int32)
    if kernel is spans:
        return {"x": x, "y": np.zeros((m, m), np.int32), "t": np.zeros(m, np.int32)}, {}
    return {"x": x, "y": np.zeros(m, np.int32), "s": np.zeros((), np.int64)}, {}


def agree(found, wanted):
    for name, a in wanted.items():
        np.testing.assert_allclose(found[name], a, rtol=1e-4, atol=1e-4, err_msg=name)


KERNELS = [attention, variances, spans, newest]


@pytest.mark.parametrize("n", [0, 1, 2, 37, 300])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_regions_in_coordinates_and_in_blocks(kernel, n):
    arrays, scalars = arguments(kernel, n)
    wanted = {name: a.copy() for name, a in arrays.items()}
    with Arena():
        program = kernel.capture({})
        logical.run(program, wanted, scalars)
        trace = Trace()
        run(program, trace=trace)
        lowered = trace.programs["lower_to_coordinates"]
        assert list(find(lowered, Region))
        assert list(find(lowered, Part))
        for cuts in (1, 2, 7):
            found = {name: a.copy() for name, a in arrays.items()}
            normal.run(lowered, found, scalars, cuts=cuts)
            agree(found, wanted)
    artifact = intent.compile(kernel, target="cpu", options=intent.CompileOptions(check=True))
    found = {name: a.copy() for name, a in arrays.items()}
    artifact(*(found.get(p.name, scalars.get(p.name)) for p in kernel.parameters))
    agree(found, wanted)


@pytest.mark.parametrize("size", [1, 4, 64])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_regions_as_printed_triton(kernel, size):
    arrays, scalars = arguments(kernel, 37)
    wanted = {name: a.copy() for name, a in arrays.items()}
    with Arena() as space:
        program = kernel.capture({})
        logical.run(program, wanted, scalars)
        sizes = dict.fromkeys(("columns", "n", "axis"), size)
        launch = run(program, options={"block_axes": {"sizes": sizes}, "lower_to_triton": {"index_bits": 64}})
        source = print_triton(launch.function)
        with space:
            if reason := unavailable():
                pytest.skip(reason)
            interpret(launch, source, arrays, scalars)
    agree(arrays, wanted)
