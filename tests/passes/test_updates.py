"""Combining and atomic accesses behind every pass and as printed Triton, against Python and NumPy."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.numerics import storage
from intent_np.passes.pipeline import language_of
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from intent_np.testing import validation as v
from intent_np.testing.triton_interpreter import unavailable
from tests.sources import executed

from .printed import BLOCKS, by_reference, printed

RNG = np.random.default_rng(3)


@intent.fn
def total(a, b):
    return a + b


@intent.fn
def greatest(a, b):
    return I.maximum(a, b)


@intent.fn
def mixed(a, b):
    return (a * b + a + b) % 97


@intent.kernel
def embedding_backward(g: I.In[I.f32, ("N", "D")], token: I.In[I.i32, ("N",)], w: I.InOut[I.f32, ("V", "D")]):
    N, _D = g.shape
    for n in I.parallel(I.domain(0, N)):
        place = I.cast(token[n], I.index)
        I.scatter_reduce(w, (place, slice(None)), g[n, :], combine=total, valid=(place >= 0) & (place < w.shape[0]))


@intent.kernel
def counted(x: I.In[I.i32, ("N",)], count: I.InOut[I.i32, ("B",)]):
    bins = I.cast(x[:], I.index)
    I.scatter_reduce(count, (bins,), 1, combine=total, valid=(bins >= 0) & (bins < count.shape[0]))


@intent.kernel
def extremes(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("M",)], z: I.InOut[I.i64, ("M",)]):
    places = I.assume_in_bounds(I.cast(at[:], I.index), y)
    I.scatter_reduce(y, (places,), x[:], combine=greatest)
    I.scatter_reduce(z, (places,), I.cast(x[:], I.i64), combine=mixed)


@intent.kernel
def partition(x: I.In[I.i32, ("N",)], count: I.InOut[I.i64, (1,)], y: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        value = x[i]
        if value >= 0:
            slot = I.atomic.add(count, 0, 1, order="acq_rel")
            y[I.assume_in_bounds(I.cast(slot, I.index), y)] = value


@intent.kernel
def all_alike(x: I.In[I.i32, ("N",)], count: I.InOut[I.i64, (1,)], y: I.InOut[I.i32, ("M",)]):
    for _ in I.parallel(I.domain(0, y.shape[0])):
        slot = I.assume_in_bounds(I.cast(I.atomic.add(count, 0, 1), I.index), y)
        I.scatter_reduce(y, slot, I.reduce.max(x[:]), combine=greatest)


@intent.kernel
def rows(x: I.In[I.f32, ("M", "N")], y: I.InOut[I.f32, ("N",)], most: I.InOut[I.f32, ()]):
    M, _N = x.shape
    for m in I.parallel(I.domain(0, M)):
        I.atomic.add(y, slice(None), x[m, :])
        I.atomic.max(most, (), I.reduce.sum(x[m, :], axis=0))


@intent.fn
def wrapped(a, b, m, offset):
    return (a - offset + b - offset) % m + offset


@intent.kernel
def with_operands(
    x: I.In[I.i64, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i64, ("M",)], z: I.InOut[I.f16, ("M",)]
):
    places = I.assume_in_bounds(I.cast(at[:], I.index), y)
    m = I.cast(y.shape[0], I.i64) + 5
    I.scatter_reduce(y, places, I.abs(x[:]), combine=wrapped, combine_operands=(m, 0))
    for i in I.parallel(I.domain(0, x.shape[0])):
        least = I.cast(m, I.f16) / 2.0
        place = I.assume_in_bounds(I.cast(at[i], I.index), z)
        I.scatter_reduce(z, place, I.cast(x[i], I.f16), combine=limited, combine_operands=(least, x[i] < 9))


@intent.fn
def limited(a, b, least, kept):
    return I.select(kept, I.maximum(I.maximum(a, b), least), 0.0)


@intent.kernel
def read_behind(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("M",)], z: I.Out[I.i32, ("M",)]):
    I.scatter_reduce(y, (I.assume_in_bounds(I.cast(at[:], I.index), y),), x[:], combine=total)
    z[:] = y[:] * 2


@intent.kernel
def bits(x: I.In[I.u32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.u32, ("M", 16)]):
    places = I.assume_in_bounds(I.cast(at[:], I.index), y, axis=0)
    I.atomic.xor(y, (places, 0), x[:], valid=x[:] > 3)
    I.atomic.max(y, (places, 1), x[:], order="release")


@intent.kernel
def exchanged(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], old: I.Out[I.f32, ("N",)], won: I.Out[I.bool, ("N",)]):
    points = I.domain(0, x.shape[0])
    value = x[points]
    r = I.atomic.compare_exchange(y, I.indices(points), expected=value, desired=value + 5.0, valid=value > -2.0)
    old[points] = r.old_value + 1.0
    won[points] = r.success


@intent.kernel
def narrow(x: I.In[I.f16, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f16, ("M",)], z: I.InOut[I.i16, ("M",)]):
    places = I.assume_in_bounds(I.cast(at[:], I.index), y)
    I.atomic.add(y, places, x[:])
    I.atomic.min(z, places, I.cast(x[:], I.i16))


@intent.kernel
def one_after_the_other(x: I.In[I.i64, ("N",)], y: I.InOut[I.i64, ("M",)], z: I.Out[I.i64, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if y.shape[0] > 0:
            I.atomic.add(y, 0, x[i])
    if y.shape[0] > 0:
        z[:] = x[:] + I.atomic.load(y, 0)


KERNELS = {
    "embedding_backward": embedding_backward, "counted": counted, "extremes": extremes, "partition": partition,
    "all_alike": all_alike, "with_operands": with_operands,
    "rows": rows, "read_behind": read_behind, "bits": bits, "exchanged": exchanged, "narrow": narrow,
    "one_after_the_other": one_after_the_other,
}  # fmt: skip
EXTENTS = {
    "N": (0, 1, 7, 40, 70), "M": (3, 1, 5, 2, 9), "D": (4, 1, 5, 33, 16), "V": (3, 1, 5, 9, 20), "B": (1, 4, 7, 9, 3),
}  # fmt: skip


def arguments(kernel: Any, call: int, divisor: int = 1) -> dict[str, Any]:
    """What a kernel is called with: small numbers, so that sums of floats are exact in every order."""
    extents = {k: -(-e[call] // divisor) * divisor for k, e in EXTENTS.items()}
    made: dict[str, Any] = {}
    for p in kernel.parameters:
        shape = tuple(extents.get(str(e), e) for e in p.shape)
        d = np.dtype(storage(p.dtype))
        high = extents["M"] if p.name == "at" else 9
        low = 0 if p.name in ("at", "token") or d.kind == "u" else -4
        empty = p.mode == "out" or p.name == "count"
        made[p.name] = np.zeros(shape, d) if empty else RNG.integers(low, high, shape).astype(d)
    return made


@pytest.mark.parametrize("which", v.CLASSES, ids=lambda n: n.replace(" ", "-"))
@pytest.mark.parametrize("name", KERNELS)
def test_every_pass_keeps_what_becomes_of_elements(name: str, which: str) -> None:
    kernel, launch_class = KERNELS[name], v.CLASSES[which]
    made = v.stages(kernel, launch_class)
    for call in range(len(EXTENTS["N"])):
        found = v.validate(kernel, arguments(kernel, call, launch_class.divisor), launch_class, made=made)
        assert found, f"{call}: {found}"


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", KERNELS)
def test_printed_triton_does_the_same(name: str) -> None:
    kernel = KERNELS[name]
    for options in ({}, BLOCKS):
        text = printed(kernel, **options)
        for call in range(1, len(EXTENTS["N"])):
            given = arguments(kernel, call)
            found, expected = text(given), by_reference(kernel, given)
            for k, x in found.items():
                np.testing.assert_array_equal(x, expected[k], err_msg=text.source)


@pytest.mark.parametrize("name", KERNELS)
def test_text_of_every_level_is_read_back(name: str) -> None:
    made = v.stages(KERNELS[name])
    with made.space:
        for stage, program in made.programs.items():
            assert parse(show(program), language_of(program)) is program, stage


@intent.kernel
def replaced(x: I.InOut[I.i32, ("M + 3",)], y: I.InOut[I.i32, ("M",)]):
    points = I.domain(0, y.shape[0])
    old = x[points]
    x[:] = I.full(x.shape, 7, I.i32)
    I.scatter_reduce(y, (I.indices(points),), old, combine=total)


def test_an_update_brings_what_was_there_before_a_store() -> None:
    for m in (1, 7, 300):
        given = {"x": RNG.integers(0, 9, m + 3).astype(np.int32), "y": RNG.integers(0, 9, m).astype(np.int32)}
        bounds = {"bind_class": {"bounds": {"M": 512}}}
        made = v.stages(replaced, options=intent.CompileOptions(passes=bounds))
        assert (found := v.validate(replaced, given, made=made)), found
        x, y = given["x"].copy(), given["y"].copy()
        v.stages(replaced).launch("form_groups")(x, y)
        assert (x == 7).all()
        np.testing.assert_array_equal(y, given["x"][:m] + given["y"])


@intent.kernel
def read_ahead(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("M",)], z: I.Out[I.i32, ("M",)]):
    old = y[:]
    I.scatter_reduce(y, (I.assume_in_bounds(I.cast(at[:], I.index), y),), x[:], combine=total)
    z[:] = old * 2


@pytest.mark.parametrize("which", v.CLASSES, ids=lambda n: n.replace(" ", "-"))
def test_a_read_ahead_of_an_update_sees_what_was_there(which: str) -> None:
    launch_class = v.CLASSES[which]
    made = v.stages(read_ahead, launch_class)
    for call in range(len(EXTENTS["N"])):
        given = arguments(read_ahead, call, launch_class.divisor)
        assert (found := v.validate(read_ahead, given, launch_class, made=made)), found


BOTH = ("relaxed", "acquire", "release", "acq_rel")
ORDERS = {
    "load": ("relaxed", "acquire"), "store": ("relaxed", "release"), "exchange": BOTH, "add": BOTH, "max": BOTH,
    "min": BOTH, "and_": BOTH, "or_": BOTH, "xor": BOTH, "compare_exchange": BOTH,
}  # fmt: skip


@pytest.mark.parametrize("operation", ORDERS)
def test_the_order_of_an_access_is_that_of_its_instruction(operation: str) -> None:
    """Each order that the manual has is the one that is printed; every other one is refused."""
    brings = {"load": "", "compare_exchange": ", expected=1, desired=2"}.get(operation, ", value=1")
    keeps = "" if operation == "store" else "y[0] = "
    found = ".old_value" if operation == "compare_exchange" else ""
    for order in (*BOTH, "seq_cst"):
        access = f'{keeps}I.atomic.{operation}(y, index=1{brings}, order="{order}"){found}'
        kernel = executed(f"@intent.kernel\ndef kernel(y: I.InOut[I.i32, (4,)]):\n    {access}\n")["kernel"]
        if order in ORDERS[operation]:
            lines = [line for line in printed(kernel).source.splitlines() if "sem=" in line]
            assert len(lines) == 1
            assert f'sem="{order}"' in lines[0]
        else:
            with pytest.raises(intent.CompileError) as refused:
                kernel.capture()
            assert refused.value.code == "E310"


@intent.kernel
def messages(
    x: I.In[I.i32, ("M", 64)], data: I.InOut[I.i32, ("M", 64)], flag: I.InOut[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]
):
    for p in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.store(data, (p, slice(None)), x[p, :])
        I.atomic.store(flag, p, 1, order="release")
        q = (p + 1) % x.shape[0]
        seen = I.atomic.load(flag, q, order="acquire")
        y[p] = I.select(seen == 1, I.atomic.load(data, (q, 5)), -1)


@intent.kernel
def published(x: I.In[I.i32, ("M",)], data: I.InOut[I.i32, ("M",)], flag: I.InOut[I.i32, ("M", 2)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.store(data, p, x[p])
        I.atomic.add(flag, (p, 1), 1, order="release")


@intent.kernel
def counted_apart(x: I.In[I.i32, ("M",)], data: I.InOut[I.i32, ("M",)], flag: I.InOut[I.i32, ("M", 2)]):
    for p in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.store(data, p, x[p])
        I.atomic.add(flag, (p, 1), 1)


def test_what_is_released_is_there_and_what_is_acquired_comes_behind() -> None:
    lines = [line.strip() for line in intent.compile(messages, "sm_90").source.splitlines()]
    (release,) = (i for i, line in enumerate(lines) if 'sem="release"' in line)
    (acquire,) = (i for i, line in enumerate(lines) if 'sem="acquire"' in line)
    stored = max(i for i, line in enumerate(lines) if "atomic_xchg" in line and i < release)
    read = min(i for i, line in enumerate(lines) if "atomic_or" in line and i > acquire)
    assert stored < release < acquire < read
    assert "tl.debug_barrier()" in lines[stored:release]
    assert "tl.debug_barrier()" in lines[acquire:read]


def test_one_instance_writes_what_it_releases() -> None:
    source = intent.compile(published, "sm_90").source
    assert "if program <" not in source
    assert source.index("tl.atomic_xchg(data") < source.index("tl.debug_barrier()") < source.index('sem="release"')
    assert "tl.debug_barrier()" not in intent.compile(counted_apart, "sm_90").source


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_a_message_arrives_whole(order: str) -> None:
    x = RNG.integers(0, 99, (9, 64)).astype(np.int32)
    made = v.stages(messages)
    for name in made.programs:
        if name == "capture":
            continue
        data, flag, y = np.zeros_like(x), np.zeros(9, np.int32), np.zeros(9, np.int32)
        made.launch(name, **({} if name == "lower_to_coordinates" else {"order": order}))(x, data, flag, y)
        sent = np.roll(x[:, 5], -1)
        assert ((y == sent) | (y == -1)).all(), name
        assert flag.all(), name
