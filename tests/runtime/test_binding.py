"""Wrong arguments: a typed error names the parameter, what came and what was expected."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from intent_np.errors import CallError
from intent_np.runtime.aliases import IDENTICAL, OVERLAPPING, copied, pairs, relation, spans
from intent_np.runtime.binding import bind
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.host import HostArtifact, Machine
from intent_np.runtime.plan import KernelPlan, ScalarPlan, ViewPlan
from intent_np.target import CPU, SM_90
from tests.runtime.fakes import AXPBY, AXPBY_TYPES, DeviceArray, FakeDriver, axpby_variant

GATHER = KernelPlan(
    "ragged",
    (
        ViewPlan("values", "f32", "in", ("N", "D"), strides=(None, "1")),
        ViewPlan("offsets", "index", "in", ("G + 1",)),
        ScalarPlan("scale", "f16"),
        ScalarPlan("flag", "bool"),
        ViewPlan("out", "f32", "out", ("G", "D")),
    ),
    constexprs={"D": 4, "mode": "fast"},
)


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def good() -> list[Any]:
    return [zeros(10, 4), zeros(4, dtype=np.int64), 0.5, True, zeros(3, 4)]


def test_a_good_call_binds_every_name() -> None:
    call = bind(GATHER, good())
    assert call.extents == {"N": 10, "D": 4, "G": 3}
    assert call.scalars == {"scale": 0.5, "flag": True}
    assert call.values()["values_s0"] == 4


@pytest.mark.parametrize(
    ("index", "argument", "code", "parameter", "words"),
    [
        (0, zeros(10, 4, dtype=np.float64), "E402", "values", ["expected: f32", "found:    float64"]),
        (0, zeros(10, 4, dtype=">f4"), "E402", "values", [">f4"]),
        (0, zeros(10), "E403", "values", ["rank 2, values: in f32[N, D]", "rank 1, shape (10,)"]),
        (0, zeros(10, 5), "E404", "values", ["axis 1", "D = 4, from a constexpr", "found:    5"]),
        (0, zeros(4, 10).T, "E407", "values", ["axis 1", "expected: 1 element\n", "10 elements"]),
        (0, [[1.0]], "E409", "values", ["list"]),
        (1, zeros(7, dtype=np.int64), "E404", "offsets", ["axis 0", "G + 1 = 4, for G = 3"]),
        (1, zeros(4, dtype=np.int32), "E402", "offsets", ["index", "int32"]),
        (2, 1e6, "E411", "scale", ["f16", "1000000.0"]),
        (2, 2049, "E411", "scale", ["2049 (int)"]),
        (2, "x", "E411", "scale", ["'x' (str)"]),
        (2, True, "E411", "scale", ["bool"]),
        (3, 1, "E411", "flag", ["1 (int)"]),
        (4, np.broadcast_to(zeros(1, 4), (3, 4)), "E406", "out", ["read-only"]),
        (4, zeros(3, 3), "E404", "out", ["D = 4"]),
    ],
)
def test_a_wrong_argument(index: int, argument: Any, code: str, parameter: str | None, words: list[str]) -> None:
    arguments = good()
    arguments[index] = argument
    with pytest.raises(CallError) as caught:
        bind(GATHER, arguments)
    assert caught.value.code == code
    assert caught.value.parameter == parameter
    for word in words:
        assert word in str(caught.value)


def test_a_wrong_count_shows_the_signature() -> None:
    with pytest.raises(CallError, match="takes 5 arguments, not 1") as caught:
        bind(GATHER, [zeros(1)])
    assert "ragged(values: in f32[N, D], offsets: in index[G + 1], scale: f16" in caught.value.fix


def test_an_output_that_shares_its_elements_is_refused() -> None:
    kernel = KernelPlan("k", (ViewPlan("x", "f32", "inout", ("N",)),))
    shared = np.lib.stride_tricks.as_strided(zeros(1), (4,), (0,))
    with pytest.raises(CallError) as caught:
        bind(kernel, [shared])
    assert caught.value.code == "E414"
    bind(kernel, [shared[:0]])


def test_elements_must_be_aligned() -> None:
    kernel = KernelPlan("k", (ViewPlan("x", "f32", "in", ("N",)),))
    odd = np.zeros(17, np.uint8)[1:].view(np.float32)
    with pytest.raises(CallError) as caught:
        bind(kernel, [odd])
    assert caught.value.code == "E413"


@pytest.mark.parametrize("value", [5, 2048, 0.1, -0.0, float("inf"), float("nan"), np.float32(2), np.int8(3)])
def test_scalars_that_fit(value: Any) -> None:
    arguments = good()
    arguments[2] = value
    bound = bind(GATHER, arguments).scalars["scale"]
    assert isinstance(bound, float)
    assert bound == value or value != value


def test_small_floats_are_ml_dtypes_in_numpy_and_bits_on_the_device() -> None:
    kernel = KernelPlan("k", (ViewPlan("x", "bf16", "in", ("N",)), ViewPlan("y", "f8e4m3fn", "in", ("N",))))
    bind(kernel, [zeros(2, dtype=ml_dtypes.bfloat16), zeros(2, dtype=ml_dtypes.float8_e4m3fn)])
    bind(kernel, [DeviceArray(zeros(2, dtype=np.uint16)), DeviceArray(zeros(2, dtype=np.uint8))])
    with pytest.raises(CallError):
        bind(kernel, [zeros(2, dtype=np.uint16), zeros(2, dtype=np.uint8)])


# ---- overlap


def overlapping(first: ViewPlan, second: ViewPlan) -> Any:
    kernel = KernelPlan("k", (first, second))
    memory = zeros(8)
    HostArtifact(kernel, CPU, Machine(lambda values: None))(memory[:5], memory[3:])


def view(name: str, mode: Any, **promises: Any) -> ViewPlan:
    return ViewPlan(name, "f32", mode, ("N",), **promises)


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (view("x", "in"), view("y", "out"), None),
        (view("x", "in"), view("y", "in", noalias=True), None),
        (view("x", "out"), view("y", "in", noalias=True), "E408"),
        (view("x", "out"), view("y", "inout"), "E415"),
        (view("x", "out", noalias=True), view("y", "inout"), "E408"),
        (view("x", "out", alias="g"), view("y", "inout", alias="g"), "E415"),
        (view("x", "out", alias="g"), view("y", "inout", alias="h"), "E415"),
    ],
)
def test_overlap(first: ViewPlan, second: ViewPlan, code: str | None) -> None:
    if code is None:
        overlapping(first, second)
        return
    with pytest.raises(CallError) as caught:
        overlapping(first, second)
    assert caught.value.code == code
    assert caught.value.parameter == "x"


def test_an_input_keeps_its_values_whatever_group_it_is_in() -> None:
    kernel = KernelPlan("k", (view("x", "out", alias="g"), view("y", "in", alias="g")))
    memory = zeros(8)
    for first, second, how in ((memory[:5], memory[3:], OVERLAPPING), (memory, memory, IDENTICAL)):
        call = bind(kernel, [first, second])
        places = {"x": 0, "y": 1}
        found = relation(spans(call, places, pairs(kernel)), [first.ctypes.data, second.ctypes.data])
        assert found == (how,)
        assert copied(call, pairs(kernel), found, ()) == ("y",)
        assert copied(call, pairs(kernel), found, [("y", "x")]) == (("y",) if how == OVERLAPPING else ())


def test_outputs_of_one_group_may_be_one_array_where_the_machine_is_right_for_that() -> None:
    kernel = KernelPlan("k", (view("x", "out", alias="g"), view("y", "out", alias="g")))
    memory = zeros(8)
    HostArtifact(kernel, CPU, Machine(lambda values: None, (("x", "y"),)))(memory, memory)
    for machine in (Machine(lambda values: None), Machine(lambda values: None, (("x", "y"),))):
        with pytest.raises(CallError, match="E415"):
            HostArtifact(kernel, CPU, machine)(memory[:5], memory[3:])
    with pytest.raises(CallError, match="E415"):
        HostArtifact(kernel, CPU, Machine(lambda values: None))(memory, memory)


def test_nothing_is_launched_by_a_wrong_call() -> None:
    driver = FakeDriver(AXPBY_TYPES)
    one = DeviceArtifact(AXPBY, SM_90, specialize=axpby_variant, driver=driver)
    x = DeviceArray(zeros(4))
    with pytest.raises(CallError):
        one(x, 1.0, DeviceArray(zeros(4)), 1.0, DeviceArray(zeros(3)))
    with pytest.raises(CallError):
        one(x, 1.0, DeviceArray(zeros(4)), 1.0, DeviceArray(zeros(4), writable=False))
    assert driver.launches == []


# ---- run: outputs that the runtime allocates


def test_run_needs_the_extents_that_only_outputs_name() -> None:
    fill = KernelPlan("fill", (ScalarPlan("value", "f32"), ViewPlan("y", "f32", "out", ("N", "2 * N"))))

    def execute(values: Any) -> None:
        values["y"][...] = values["value"]

    one = HostArtifact(fill, CPU, Machine(execute))
    y = one.run(2.0, extents={"N": 3})
    assert y.shape == (3, 6)
    assert y.tolist() == [[2.0] * 6] * 3
    with pytest.raises(CallError) as caught:
        one.run(2.0)
    assert (caught.value.code, caught.value.parameter) == ("E410", "y")


def test_run_checks_the_given_extents() -> None:
    one = HostArtifact(GATHER, CPU, Machine(lambda values: None))
    assert one.run(*good()[:-1]).shape == (3, 4)
    with pytest.raises(CallError, match="G = 3"):
        one.run(*good()[:-1], extents={"G": 4})


MATRIX = KernelPlan("k", (ViewPlan("y", "f16", "out", ("M", "N")),))


@pytest.mark.parametrize(("shape", "strides"), [((4, 6), (8, 2)), ((3, 3), (2, 2)), ((2, 5), (0, 2))])
def test_an_output_does_not_overlap_itself(shape: tuple[int, int], strides: tuple[int, int]) -> None:
    with pytest.raises(CallError) as caught:
        bind(MATRIX, [np.lib.stride_tricks.as_strided(np.zeros(64, np.float16), shape, strides)])
    assert caught.value.code == "E414"


def test_sliced_and_transposed_outputs_do_not_overlap_themselves() -> None:
    buffer = np.zeros((8, 12), np.float16)
    for output in (buffer[::2, ::3], buffer.T, buffer[::-1, 1:], buffer[:1], buffer[:, :1]):
        bind(MATRIX, [output])
