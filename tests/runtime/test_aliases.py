"""Arguments that share memory: an input keeps its values while the kernel runs, on every target and in every class."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation, CompileOptions
from intent_np.errors import CallError
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.plan import Argument, KernelPlan, VariantPlan, ViewPlan, generic_class
from intent_np.runtime.variants import Variant
from intent_np.target import SM_90
from intent_np.terms.launch import PointerArgument
from intent_np.terms.normal import same_arrays
from tests.runtime.fakes import AXPBY, AXPBY_TYPES, DeviceArray, FakeDriver, axpby_variant, float_array, run_axpby


@intent.kernel
def scaled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i] * 2.0


@intent.kernel
def normalized(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        y[row, :] = value - I.reduce.max(value, axis=0)


@intent.kernel
def transposed(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N", "M")]):
    y[:, :] = I.transpose(x[:, :])


@intent.kernel
def cleared_first(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    y[points] = I.full((x.shape[0],), 0.0, I.f32)
    z[points] = x[points] + 1.0


@intent.kernel
def read_behind(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        largest = I.reduce.max(value, axis=0)
        y[row, :] = value - largest
        z[row, :] = value - I.reduce.sum(value * largest, axis=0)


@intent.kernel
def gathered(x: I.In[I.f32, ("N",)], w: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    y[points] = y[points] + x[points] * I.reduce.sum(w[points], axis=0)


APART = {"share_traversals": {"merge": False}}
"""Loops are not merged: each store of a traversed axis has a loop of its own: some of them come before reads."""

Expected = Callable[..., list[Any]]
KERNELS: dict[str, tuple[Any, str, str, int, Expected]] = {
    "scaled": (scaled, "i", "o", 1, lambda x, y: [x * 2]),
    "normalized": (normalized, "i", "o", 2, lambda x, y: [x - x.max(1, keepdims=True)]),
    "transposed": (transposed, "i", "o", 2, lambda x, y: [x.T]),
    "cleared_first": (cleared_first, "i", "oo", 1, lambda x, y, z: [x * 0, x + 1]),
    "read_behind": (
        read_behind, "i", "oo", 2,
        lambda x, y, z: [
            x - x.max(1, keepdims=True),
            x - (x * x.max(1, keepdims=True)).sum(1, keepdims=True),
        ],
    ),
    "gathered": (gathered, "ii", "o", 1, lambda x, w, y: [y + x * w.sum()]),
}  # fmt: skip


@cache
def compiled(name: str, target: str, apart: bool) -> Any:
    return intent.compile(KERNELS[name][0], target=target, options=CompileOptions(passes=APART if apart else {}))


SIDE = 3


@st.composite
def views(draw: st.DrawFn, rank: int, count: int) -> list[np.ndarray]:
    """Views of `rank` dimensions of SIDE elements into one allocation, often the very same one."""
    memory = np.random.default_rng(draw(st.integers(0, 9))).integers(-4, 5, 200).astype(np.float32)
    found: list[np.ndarray] = []
    for _ in range(count):
        if found and draw(st.booleans()):
            found.append(found[draw(st.integers(0, len(found) - 1))])
            continue
        steps = draw(st.sampled_from([(1,), (2,), (-1,)] if rank == 1 else [(3, 1), (7, 2), (1, 3), (-4, 1)]))
        start = draw(st.integers(0, 12)) + sum(-step * (SIDE - 1) for step in steps if step < 0)
        byte_steps = tuple(step * 4 for step in steps)
        found.append(np.lib.stride_tricks.as_strided(memory[start:], (SIDE,) * rank, byte_steps))
    return found


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize(("target", "apart"), [("cpu", False), ("cpu", True), ("reference", False)])
@pytest.mark.parametrize("name", KERNELS)
def test_inputs_keep_their_values(name: str, target: str, apart: bool, data: st.DataObject) -> None:
    _, inputs, outputs, rank, expected = KERNELS[name]
    arrays = data.draw(views(rank, len(inputs) + len(outputs)))
    written = arrays[len(inputs) :]
    wanted = expected(*(a.copy() for a in arrays))
    try:
        compiled(name, target, apart)(*arrays)
    except CallError as refused:
        if refused.code == "E415" and len(written) > 1 and np.may_share_memory(*written):
            return
        raise
    for got, want in zip(written, wanted, strict=True):
        assert np.array_equal(got, want)


@pytest.mark.parametrize(
    ("name", "apart", "pairs"),
    [
        ("scaled", False, {("x", "y")}),
        ("normalized", False, {("x", "y")}),
        ("transposed", False, set()),  # another instance reads what one writes
        ("cleared_first", False, {("x", "y"), ("x", "z")}),  # the read moves ahead of the store
        ("read_behind", False, {("x", "y"), ("x", "z")}),  # both are stored in the last traversal
        ("read_behind", True, set()),  # a traversal reads what another has stored, whichever comes first
        ("gathered", False, {("x", "y"), ("w", "y")}),  # one instance sums, then writes
    ],
)
def test_the_compiler_knows_which_arrays_may_be_one(name: str, apart: bool, pairs: set[tuple[str, str]]) -> None:
    compilation = Compilation(KERNELS[name][0], SM_90, {}, CompileOptions(passes=APART if apart else {}))
    launch, _ = compilation.launch(generic_class(compilation.plan))
    assert set(same_arrays(a.view for a in launch.arguments if isinstance(a, PointerArgument))) == pairs


def test_one_array_for_input_and_output_costs_no_copy() -> None:
    x = np.arange(SIDE, dtype=np.float32)
    one = intent.compile(scaled, target="cpu")
    one(x, x)
    assert x.tolist() == [0, 2, 4]
    assert not one.remarks


@intent.kernel
def twice(
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("N",), I.constraints(alias="g")],
    z: I.Out[I.f32, ("N",), I.constraints(alias="g")],
):
    points = I.domain(0, x.shape[0])
    y[points] = x[points]
    z[points] = x[points] + 1.0


@intent.kernel
def twice_by_point(
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("N",), I.constraints(alias="g")],
    z: I.Out[I.f32, ("N",), I.constraints(alias="g")],
):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i]
        z[i] = x[i] + 1.0


@pytest.mark.parametrize("kernel", [twice, twice_by_point], ids=lambda k: k.name)
@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize("check", [False, True])
def test_outputs_of_a_group_are_written_in_the_order_of_the_statements(kernel: Any, target: str, check: bool) -> None:
    x, y = np.arange(5, dtype=np.float32), np.zeros(6, np.float32)
    compiled = intent.compile(kernel, target=target, options=CompileOptions(check=check))
    compiled(x, y[:5], y[:5])
    assert y.tolist() == [1, 2, 3, 4, 5, 0]
    with pytest.raises(CallError, match="E415"):
        compiled(x, y[:5], y[1:])


@intent.kernel
def turned_outputs(
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("N",), I.constraints(alias="g")],
    z: I.Out[I.f32, ("N",), I.constraints(alias="g")],
):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        y[i] = x[i]
        z[N - 1 - i] = x[i]


@intent.kernel
def read_again(
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("N",), I.constraints(alias="g")],
    z: I.Out[I.f32, ("N",), I.constraints(alias="g")],
):
    y[:] = x[:]
    z[:] = y[:] + 1.0


@pytest.mark.parametrize(
    ("kernel", "target"), [(turned_outputs, "reference"), (turned_outputs, "cpu"), (read_again, "reference")]
)
def test_outputs_of_a_group_that_are_written_elsewhere_or_read_are_apart(kernel: Any, target: str) -> None:
    x, y = np.arange(5, dtype=np.float32), np.full(5, 9, np.float32)
    with pytest.raises(CallError, match="E415"):
        intent.compile(kernel, target=target)(x, y, y)
    assert (y == 9).all()


# ---- the device


def device() -> DeviceArtifact:
    return DeviceArtifact(AXPBY, SM_90, driver=FakeDriver(AXPBY_TYPES, run_axpby), specialize=axpby_variant)


@settings(max_examples=100, deadline=None)
@given(st.lists(views(1, 3), min_size=1, max_size=4))
def test_calls_of_any_alias_class_in_any_order(calls: list[list[np.ndarray]]) -> None:
    one = device()
    for x, y, z in calls:
        dense = [np.ascontiguousarray(a) if a.strides != (4,) else a for a in (x, y, z)]
        x, y, z = dense
        wanted = x * 2 + y
        one(DeviceArray(x), 2.0, DeviceArray(y), 1.0, DeviceArray(z))
        assert np.array_equal(z, wanted)


def test_the_class_of_a_call_is_part_of_the_variant() -> None:
    one = device()
    memory = np.arange(20, dtype=np.float32)
    x, y, z = memory[0:4], memory[8:12], memory[16:20]
    for first in (x, z):  # disjoint, identical
        one(DeviceArray(first), 1.0, DeviceArray(y), 1.0, DeviceArray(z))
    (plain,) = one.variants
    assert plain.plan.holds.copied == ()
    assert "x may be z" in one.explain()
    one(DeviceArray(memory[14:18]), 1.0, DeviceArray(z), 1.0, DeviceArray(z))
    assert [v.plan.holds.copied for v in one.variants] == [(), ("x", "y")]
    assert one.variants[1].cubin is plain.cubin
    assert one.variants[1].name == plain.name + "-copy_x-copy_y"
    assert len(one.driver.loads) == 1  # type: ignore[attr-defined]
    assert "x, y copied first" in one.explain()


def test_an_aliased_call_is_remembered_too() -> None:
    one = device()
    memory = np.arange(8, dtype=np.float32)
    arguments = (DeviceArray(memory[:4]), 1.0, DeviceArray(np.zeros(4, np.float32)), 1.0, DeviceArray(memory[1:5]))
    one(*arguments)
    one._slow = lambda _: pytest.fail("the second call was resolved again")  # type: ignore[method-assign]
    one(*arguments)
    assert memory.tolist() == [0, 0, 0, 1, 2, 5, 6, 7]


PAIR = KernelPlan("pair", tuple(ViewPlan(n, "f32", "out", ("N",), alias="g") for n in "yz"))


def pair_variant(holds: Any) -> Variant:
    arguments = (*(Argument(n, "pointer", n, "*fp32") for n in "yz"), Argument("N", "scalar", "N", "i32"))
    plan = VariantPlan(holds, "pair", arguments, ("1",), num_warps=4, identical=(("y", "z"), ("z", "y")))
    return Variant(plan, b"", "", "", {})


def run_pair(y: int, z: int, n: int, *scratch: int) -> None:
    float_array(y, n)[:] = 1
    float_array(z, n // 2)[:] = 2


def test_outputs_that_are_one_array_of_the_host_are_one_on_the_device() -> None:
    one = DeviceArtifact(PAIR, SM_90, driver=FakeDriver(["*fp32"] * 2 + ["i32"], run_pair), specialize=pair_variant)
    y = np.zeros(4, np.float32)
    one(y, y)
    assert y.tolist() == [2, 2, 1, 1]
    memory = np.zeros(5, np.float32)
    with pytest.raises(CallError, match="E415"):
        one(memory[:4], memory[1:])
    assert not memory.any()
