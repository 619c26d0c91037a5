"""Buffers on the way down: every level means what the author wrote, and what no one reads any more is gone."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.errors import CompileError
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena, find
from intent_np.terms.launch import LAUNCH, WorkspaceArgument
from intent_np.terms.normal import View
from intent_np.terms.parse import parse
from intent_np.terms.text import brief, show
from intent_np.testing import arguments
from intent_np.testing.triton_interpreter import interpret, unavailable
from intent_np.testing.validation import CLASSES, validate

from .buffer_kernels import CASES, VANISHING
from .test_ordered_loops import agree, reference


def workspaces(program: Any) -> list[str]:
    return [v.name for v in find(program, View) if v.mode == "workspace"]


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("name", CASES)
def test_every_level_agrees(name: str, order: str) -> None:
    made = agree(*CASES[name], order)
    if name in VANISHING:
        assert workspaces(made["lower_to_coordinates"])
        assert not workspaces(made["drop_unread"])


@pytest.mark.parametrize("name", ["turned", "swapped_in_place", "one_an_iteration", "product_kept"])
@pytest.mark.parametrize("which", CLASSES)
def test_every_class_of_calls_agrees(name: str, which: str) -> None:
    kernel, _ = CASES[name]
    extents = {"M": 16, "N": 48, "K": 32}
    given = arguments(kernel, extents, values="integers")
    found = validate(kernel, given, CLASSES[which], options=intent.CompileOptions(check=True))
    assert found, str(found)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
def test_printed_triton_agrees(name: str) -> None:
    kernel, given = CASES[name]
    expected = reference(kernel, given)
    found = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}
    arrays = {n: v for n, v in found.items() if isinstance(v, np.ndarray)}
    with Arena():
        launch = lower(kernel.capture({}), check=True)
        text = print_triton(launch.function)
        views = [p for p in kernel.parameters if p.name in arrays]
        extents = {e: n for p in views for e, n in zip(p.shape, arrays[p.name].shape, strict=True)}
        interpret(launch, text, arrays, {n: v for n, v in found.items() if n not in arrays} | extents)
        assert parse(show(launch), LAUNCH) is launch
    for n, v in arrays.items():
        np.testing.assert_allclose(v, expected[n], rtol=1e-5, err_msg=f"{n}\n{text}")


# ---- where a buffer lies


def launched(kernel: Any) -> tuple[Any, dict[str, WorkspaceArgument]]:
    launch = lower(kernel.capture({}), check=True)
    return launch, {a.name: a for a in launch.arguments if isinstance(a, WorkspaceArgument)}


def test_a_point_has_memory_of_its_own_and_an_iteration_that_of_the_one_before() -> None:
    with Arena():
        _, found = launched(CASES["two_points"][0])
        assert {n: brief(a.size) for n, a in found.items()} == {"whole": "A * B * 20", "own": "A * B * 20"}
        _, found = launched(CASES["one_an_iteration"][0])
        assert brief(found["b"].size) == "M * 64"


def test_the_points_of_a_subregion_have_places_in_the_whole_domain() -> None:
    with Arena():
        _, found = launched(CASES["from_where_memory_says"][0])
        assert brief(found["pair"].size) == "M * N * 8"


def test_only_buffers_that_are_read_are_arguments() -> None:
    with Arena():
        for kernel, _ in VANISHING.values():
            assert not launched(kernel)[1]


def test_a_buffer_is_called_as_the_author_calls_it_unless_a_parameter_is() -> None:
    @intent.kernel
    def both(x: I.In[I.f32, ("b_1",)], y: I.Out[I.f32, ("b_1",)]):
        (b_1,) = x.shape
        b = I.buffer((b_1,), I.f32)
        b[:] = x[:] * 2.0
        x_2 = I.buffer((b_1,), I.f32)
        x_2[:] = b[b_1 - 1 - I.indices(I.domain(0, b_1))] * 3.0
        y[:] = x_2[b_1 - 1 - I.indices(I.domain(0, b_1))]

    x = np.arange(5, dtype=np.float32)
    made = agree(both, {"x": x, "y": np.zeros_like(x)})
    assert workspaces(made["drop_unread"]) == ["b", "x_2"]


# ---- what is refused


@intent.kernel
def extent_from_memory(n: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]):
    for i in I.parallel(I.domain(0, n.shape[0])):
        b = I.buffer((I.maximum(I.cast(n[i], I.index), 1),), I.i32, init=0)
        for k in I.domain(1, I.maximum(I.cast(n[i], I.index), 1)):
            b[k] = b[k - 1] + 1
        y[i] = b[0]


@intent.kernel
def points_from_memory(n: I.In[I.i32, ("M",)], y: I.InOut[I.i32, ("M", 8)]):
    for i in I.parallel(I.domain(0, n.shape[0])):
        for k in I.parallel(I.domain(0, I.minimum(I.cast(n[i], I.index), 8))):
            b = I.buffer((8,), I.i32, init=1)
            for j in range(1, 8):
                b[j] = b[j] + b[j - 1]
            y[i, k] = b[7]


def test_memory_that_the_host_cannot_measure_is_refused_at_its_line() -> None:
    with pytest.raises(CompileError, match="extent") as caught:
        intent.compile(extent_from_memory, target="cpu")
    assert caught.value.code == "E708"
    assert caught.value.span is not None
    given = {"n": np.int32([3, 1, 5]), "y": np.zeros(3, np.int32)}
    intent.compile(extent_from_memory, target="reference")(*given.values())


def test_memory_that_the_host_knows_a_bound_of_has_that() -> None:
    agree(points_from_memory, {"n": np.int32([3, 1, 15]), "y": np.zeros((3, 8), np.int32)})


# ---- how a buffer lies


def strides(kernel: Any, **options: Any) -> dict[str, list[str]]:
    program = lower(kernel.capture({}), check=True, stop_after="lay_out_buffers", **options)
    return {
        v.name: [getattr(s, "name", brief(s)) for s in v.strides] for v in find(program, View) if v.mode == "workspace"
    }


def test_points_that_share_an_instance_have_their_elements_side_by_side() -> None:
    with Arena():
        assert strides(CASES["prefixes"][0]) == {"mine": ["1", "M"]}
        assert strides(CASES["prefixes"][0], disable={"lay_out_buffers"}) == {"mine": ["4", "1"]}


def test_a_point_with_an_instance_of_its_own_has_its_own_row() -> None:
    with Arena():
        assert strides(CASES["turned"][0]) == {"b": ["N", "1"]}


@pytest.mark.parametrize("name", ["prefixes", "one_an_iteration"])
def test_points_of_recurrences_are_lanes(name: str) -> None:
    with Arena():
        launch, _ = launched(CASES[name][0])
        assert max(p.value for p in launch.constexprs) >= 128
