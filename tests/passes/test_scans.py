"""Scans along resident and traversed axes, in both directions, behind every pass and as printed Triton."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.passes.pipeline import language_of
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from intent_np.testing import validation as v
from intent_np.testing.triton_interpreter import unavailable

from .printed import BLOCKS, by_reference, printed

RNG = np.random.default_rng(5)


@intent.fn
def later(a, b):
    """Two functions x -> scale * x + shift, the first one first: this does not commute."""
    return I.record(scale=a.scale * b.scale, shift=a.shift * b.scale + b.shift)


@intent.fn
def either(a, b):
    return a | b


@intent.fn
def larger(a, b):
    chosen = b.value > a.value
    return I.record(value=I.select(chosen, b.value, a.value), place=I.select(chosen, b.place, a.place))


@intent.kernel
def sums(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")], z: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = x[row, columns]
        y[row, columns] = I.cumsum(value, axis=0)
        z[row, columns] = I.cumsum(value, axis=0, inclusive=False)


@intent.kernel
def suffixes(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")], z: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = x[row, columns]
        y[row, columns] = I.cummax(value, axis=0, reverse=True)
        z[row, columns] = I.cumsum(value, axis=0, inclusive=False, reverse=True)


@intent.kernel
def recurrence(
    a: I.In[I.i64, ("M", "N")], b: I.In[I.i64, ("M", "N")], y: I.Out[I.i64, ("M", "N")], z: I.Out[I.i64, ("M", "N")]
):
    M, N = a.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        step = I.record(scale=a[row, columns], shift=b[row, columns])
        h = I.scan(step, 0, identity=I.record(scale=1, shift=0), combine=later, inclusive=True)
        y[row, columns] = h.shift
        z[row, columns] = h.scale - h.shift


@intent.kernel
def backwards(a: I.In[I.i64, ("M", "N")], b: I.In[I.i64, ("M", "N")], y: I.Out[I.i64, ("M", "N")]):
    M, N = a.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        step = I.record(scale=a[row, columns], shift=b[row, columns])
        y[row, columns] = I.scan(
            step, 0, identity=I.record(scale=1, shift=0), combine=later, inclusive=False, reverse=True
        ).shift


@intent.kernel
def normalised(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], m: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = x[row, columns]
        running = I.cumsum(value, axis=0)
        y[row, columns] = running / I.reduce.sum(value, axis=0)
        m[row] = I.reduce.max(running, axis=0)


@intent.kernel
def twice(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row, :] = I.cummax(I.cumsum(x[row, :], axis=0) % 7, axis=0)


@intent.kernel
def columns_of(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[:, :] = I.cumsum(x[:, :], axis=0)


@intent.kernel
def places(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], p: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        found = I.scan(
            I.record(value=x[row, columns], place=I.cast(I.indices(columns), I.i32)), 0,
            identity=I.record(value=-float("inf"), place=-1), combine=larger, inclusive=True,
        )  # fmt: skip
        y[row, columns] = found.value
        p[row, columns] = found.place


@intent.kernel
def flags(x: I.In[I.i32, ("M", "N")], y: I.Out[I.bool, ("M", "N")], z: I.Out[I.i8, ("M", "N")]):
    y[:, :] = I.scan(x[:, :] > 7, 1, identity=False, combine=either, inclusive=True)
    z[:, :] = I.cummin(I.cast(x[:, :], I.i8), axis=1, reverse=False)


KERNELS = {
    "sums": sums, "suffixes": suffixes, "recurrence": recurrence, "backwards": backwards, "normalised": normalised,
    "twice": twice, "columns_of": columns_of, "places": places, "flags": flags,
}  # fmt: skip


def arguments(kernel: Any, m: int, n: int) -> dict[str, Any]:
    """What a kernel is called with: small numbers, so that sums of floats are exact."""
    made: dict[str, Any] = {}
    for p in kernel.parameters:
        shape = {"x": (m, n), "y": (m, n), "z": (m, n), "a": (m, n), "b": (m, n), "p": (m, n), "m": (m,)}[p.name]
        dtype = p.dtype.name.replace("bool", "bool_")
        d = np.dtype({"i": "int", "f": "float"}.get(dtype[0], dtype[0]) + dtype[1:] if dtype != "bool_" else "bool")
        made[p.name] = RNG.integers(-3, 9, shape).astype(d) if p.mode == "in" else np.zeros(shape, d)
    return made


@pytest.mark.parametrize("which", v.CLASSES, ids=lambda n: n.replace(" ", "-"))
@pytest.mark.parametrize("name", KERNELS)
def test_every_pass_keeps_the_prefixes(name: str, which: str) -> None:
    kernel, launch_class = KERNELS[name], v.CLASSES[which]
    made = v.stages(kernel, launch_class)
    for m, n in ((1, 1), (3, 16), (2, 33), (5, 64), (0, 5), (3, 0), (2, 200)):
        fitted = [-(-e // launch_class.divisor) * launch_class.divisor for e in (m, n)]
        found = v.validate(kernel, arguments(kernel, *fitted), launch_class, made=made, steps=2)
        assert found, f"{fitted}: {found}"


# ---- as printed Triton


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", KERNELS)
def test_printed_triton_has_the_prefixes(name: str) -> None:
    kernel = KERNELS[name]
    for options in ({}, BLOCKS):
        text = printed(kernel, **options)
        for m, n in ((1, 1), (2, 37)):
            given = arguments(kernel, m, n)
            found, expected = text(given), by_reference(kernel, given)
            for k, x in found.items():
                np.testing.assert_allclose(x, expected[k], rtol=1e-6, err_msg=text.source)


def test_a_row_is_one_loop() -> None:
    """A recurrence reads and writes each element once: one loop over the row, and that over its last block."""
    text = printed(recurrence)[2]
    assert text.count("for ") == 2
    assert text.count("tl.load(") == 4
    assert text.count("associative_scan") == 2


@pytest.mark.parametrize("name", KERNELS)
def test_text_of_every_level_is_read_back(name: str) -> None:
    made = v.stages(KERNELS[name])
    with made.space:
        for stage, program in made.programs.items():
            assert parse(show(program), language_of(program)) is program, stage


# ---- at other places, and what there is no form for


@intent.kernel
def elsewhere(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)], z: I.Out[I.i32, ("M",)]):
    places = I.cast(at[:], I.index)
    y[:] = I.cumsum(x[:])[I.assume_in_bounds(places, x)]
    z[:] = I.cummin(x[:], reverse=True, inclusive=False)[I.assume_in_bounds(places, x)]


def test_a_prefix_at_another_place_is_a_reduction() -> None:
    x, at = RNG.integers(-9, 9, 70).astype(np.int32), RNG.integers(0, 70, 9).astype(np.int32)
    given = {"x": x, "at": at, "y": np.zeros(9, np.int32), "z": np.zeros(9, np.int32)}
    assert (found := v.validate(elsewhere, given)), found
    want = [int(x[i + 1 :].min(initial=np.iinfo(np.int32).max)) for i in at]
    y, z = np.zeros(9, np.int32), np.zeros(9, np.int32)
    intent.compile(elsewhere, target="cpu")(x, at, y, z)
    assert y.tolist() == np.cumsum(x)[at].tolist()
    assert z.tolist() == want


@intent.kernel
def both_ways(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[:] = I.cumsum(x[:]) - I.cumsum(x[:], reverse=True)


@intent.kernel
def nested(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[:, :] = I.cumsum(I.cumsum(x[:, :], axis=0), axis=1)


@pytest.mark.parametrize("kernel", [both_ways, nested], ids=lambda k: k.name)
def test_fragments_that_hold_the_axes_have_both(kernel: Any) -> None:
    for n in (1, 7, 200):
        shapes = {"x": (5, n), "y": (5, n)} if kernel is nested else {"x": (n,), "y": (n,)}
        given = {k: RNG.integers(-9, 9, s).astype(np.int32) for k, s in shapes.items()}
        made = v.stages(kernel, v.LaunchClass("bounded", lambda p: {"bind_class": {"bounds": {"M": 8, "N": 256}}}))
        assert (found := v.validate(kernel, given, made=made)), found
