"""Calls whose arrays share memory: an input keeps its values, outputs of a group may be one array."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation, CompileOptions
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.terms.launch import PointerArgument
from intent_np.terms.normal import same_arrays
from intent_np.testing.checked import Recipe, made
from intent_np.testing.oracles import examine
from intent_np.testing.shared import SHARED, share, twins
from intent_np.testing.triton_interpreter import unavailable

ORACLES = ("machine", *(() if unavailable() else ("triton",)))


@intent.kernel
def cleared(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ()]):
    """Instances clear y, and one sums x: no array of x may be that of y."""
    y[:] = I.full((x.shape[0],), 0.0, I.f32)
    z[()] = I.reduce.sum(x[:], axis=0)


@intent.kernel
def in_place(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    y[:] = x[:] * 2.0 + y[:]


@intent.kernel
def twice(
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("N",), I.constraints(alias="g")],
    z: I.Out[I.f32, ("N",), I.constraints(alias="g")],
):
    y[:] = x[:]
    z[:] = x[:] + 1.0


@pytest.mark.parametrize("kernel", [cleared, in_place, twice], ids=lambda k: k.name)
def test_every_machine_keeps_the_inputs(kernel: Any) -> None:
    kinds = set()
    for seed in range(6):
        recipe = Recipe({"N": 40}, SHARED, "integers", seed)
        given = made(kernel, recipe)
        names = ("y", "z") if kernel is twice else ("x", "y")
        one, other = (given[n] for n in names)
        assert np.may_share_memory(one, other)
        kinds.add(one.ctypes.data == other.ctypes.data)
        outcome = examine(kernel, [recipe], ORACLES, each_pass=True)
        assert outcome.failure is None
        assert outcome.calls == 1
    assert kinds == ({True} if kernel is twice else {True, False})


def test_copies_share_as_their_originals_do() -> None:
    memory = np.arange(12, dtype=np.int16)
    given = {"a": memory[2:8], "b": memory[4:10:2], "c": np.arange(3), "n": 4}
    copies = twins(given)
    for n in "abc":
        assert np.array_equal(copies[n], given[n])
        assert copies[n].strides == given[n].strides
        assert not np.may_share_memory(copies[n], given[n])
    copies["a"][2] = 77
    assert copies["b"][0] == 77
    assert memory[4] == 4


@intent.kernel
def unlike(
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("N",), I.constraints(alias="g")],
    z: I.Out[I.f32, ("N",), I.constraints(alias="g")],
    w: I.InOut[I.i32, ()],
):
    """Statements that would not share an instance if their outputs were apart, beside an update."""
    y[:] = I.full((x.shape[0],), 0.25, I.f32)
    z[:] = x[:] + I.reduce.sum(x[:], axis=0)
    for _ in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.add(w, index=(), value=1)


@intent.kernel
def scalars(y: I.Out[I.f32, (), I.constraints(alias="g")], z: I.Out[I.f32, (), I.constraints(alias="g")]):
    y[()] = 1.0
    z[()] = 2.0


@pytest.mark.parametrize("kernel", [twice, unlike, scalars], ids=lambda k: k.name)
def test_outputs_of_a_group_may_be_one_array_of_a_variant(kernel: Any) -> None:
    compilation = Compilation(kernel, SM_90, {}, CompileOptions())
    launch, _ = compilation.launch(generic_class(compilation.plan))
    pairs = same_arrays(a.view for a in launch.arguments if isinstance(a, PointerArgument))
    assert {("y", "z"), ("z", "y")} <= set(pairs)
    assert examine(kernel, [Recipe({"N": 40}, SHARED, "integers", 0)], ORACLES).failure is None


@intent.kernel
def ordered(
    x: I.In[I.f32, ("N", 16)],
    y: I.Out[I.f32, ("N", 16), I.constraints(alias="g")],
    z: I.Out[I.f32, ("N", 16), I.constraints(alias="g")],
):
    y[:, :] = I.sort(x[:, :], axis=1)
    z[:, :] = x[:, :]


def test_what_is_put_in_order_is_written_at_points_of_its_own() -> None:
    """Each member goes to its place, in an instance that has another element of the other output."""
    compilation = Compilation(ordered, SM_90, {}, CompileOptions())
    launch, _ = compilation.launch(generic_class(compilation.plan))
    assert not set(same_arrays(a.view for a in launch.arguments if isinstance(a, PointerArgument)))
    given = share(ordered, made(ordered, Recipe({"N": 5}, "contiguous", "integers", 0)), {}, np.random.default_rng(0))
    assert not np.may_share_memory(given["y"], given["z"])
