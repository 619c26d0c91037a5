"""Ordered loops on the way down: every level means what the author wrote, and what none can do is said at its line."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.program.machine import run as execute
from intent_np.errors import CompileError
from intent_np.passes.pipeline import language_of
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena
from intent_np.terms.parse import parse
from intent_np.terms.text import show

from .loop_kernels import CASES

LAST = "order_fragments"


def reference(kernel: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    given = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
    intent.compile(kernel, target="reference")(*given.values())
    return given


def behind_each_pass(kernel: Any, **options: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    lower(kernel.capture({}), check=True, stop_after=LAST, observe=lambda p, t: made.update({p.name: t}), **options)
    return {n: t for n, t in made.items() if language_of(t).name != "logical"}


def agree(kernel: Any, arguments: dict[str, Any], order: str = "forward", **options: Any) -> dict[str, Any]:
    """Execute a kernel behind each pass; the programs."""
    expected = reference(kernel, arguments)
    with Arena():
        made = behind_each_pass(kernel, **options)
        before = None
        for name, program in made.items():
            if program is before:
                continue
            before = program
            found = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
            views = {n: v for n, v in found.items() if isinstance(v, np.ndarray)}
            scalars = {n: v for n, v in found.items() if not isinstance(v, np.ndarray)}
            execute(program, views, scalars, strict=True, order=order)
            for n, v in views.items():
                np.testing.assert_allclose(v, expected[n], rtol=1e-5, atol=1e-5, err_msg=f"{n} behind {name}")
        return made


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("name", CASES)
def test_every_level_agrees(name: str, order: str) -> None:
    agree(*CASES[name], order)


@pytest.mark.parametrize("name", CASES)
def test_small_blocks_agree(name: str) -> None:
    sizes = {"block_axes": {"sizes": dict.fromkeys(("n", "b", "d", "p", "lanes", "i"), 16)}}
    agree(*CASES[name], options=sizes)


@pytest.mark.parametrize("name", CASES)
def test_text_of_every_level_is_the_program(name: str) -> None:
    with Arena():
        for program in dict.fromkeys(behind_each_pass(CASES[name][0]).values()):
            assert parse(show(program), language_of(program)) is program


def worksets(name: str) -> list[tuple[int, bool]]:
    with Arena():
        program = lower(CASES[name][0].capture({}), stop_after="form_groups")
        return [(len(g.workset), g.serial) for g in program.groups]


def test_lanes_and_points_are_instances_where_no_iteration_needs_others() -> None:
    assert worksets("passed_on") == [(2, False)]
    assert worksets("horner") == [(1, False)]
    assert worksets("cholesky") == [(1, False)]
    assert worksets("running_total") == [(0, False)]
    assert worksets("mixed") == [(0, False)]
    assert worksets("long_state") == [(0, True)]
    assert worksets("long_matrix") == [(2, False)]
    assert worksets("tallied") == [(1, False)]
    assert worksets("over_lanes") == [(1, False)]
    assert worksets("spreading") == [(0, True)]


def test_states_are_carried_by_name() -> None:
    with Arena():
        text = show(lower(CASES["horner"][0].capture({}), stop_after=LAST))
    assert "for k = 0 to K step 1 iter_args(r_1):" in text
    assert "r_1 = fma(r_1, v, c_value)" in text


def test_a_condition_is_asked_before_each_iteration() -> None:
    with Arena():
        text = show(lower(CASES["first_at_least"][0].capture({}), stop_after=LAST))
    assert "while goes iter_args(lo, hi, goes):" in text


@intent.fn
def least(a, b):
    return I.minimum(a, b)


@intent.kernel
def long_stencil(x: I.InOut[I.f32, ("N + 2",)], T: I.index):
    N = x.shape[0] - 2
    for _ in range(T):
        x[1 : N + 1] = x[0:N] + x[2 : N + 2]


@intent.kernel
def long_spreading(at: I.In[I.i32, ("E",)], label: I.InOut[I.i32, ("V",)], T: I.index):
    for _ in range(T):
        places = I.assume_in_bounds(I.cast(at[:], I.index), label)
        I.scatter_reduce(label, (places,), I.gather(label, places) - 1, combine=least)


@intent.kernel
def rows_of_any_length(x: I.InOut[I.f32, ("M", "N + 1")], n: I.In[I.i32, ("M",)], T: I.index):
    M, N = x.shape[0], x.shape[1] - 1
    for r in I.parallel(I.domain(0, M)):
        size = I.clamp(I.cast(n[r], I.index), 0, N)
        for _ in range(T):
            x[r, 1 : size + 1] = x[r, 0:size] + 1.0


def test_blocks_that_would_read_what_earlier_ones_changed_are_refused() -> None:
    with pytest.raises(CompileError, match="an earlier loop has replaced") as refused:
        intent.compile(rows_of_any_length, target="cpu")
    assert refused.value.code == "E707"


@intent.kernel
def never_continued(x: I.In[I.f32, (4,)], y: I.Out[I.f32, (4,)]):
    one = I.cast(1, I.i64)
    for p in I.parallel(I.domain(0, 4)):
        a, w = x[p], 0
        while w < 3:
            w += 1
            a = a + 1.0
        if (one + 1) % 3 == 0:
            for i in range(4):
                a = a * 2.0 + x[i]
        y[p] = a


def test_what_is_never_performed_does_not_take_along_a_loop_that_it_reads() -> None:
    agree(never_continued, {"x": np.arange(4, dtype=np.float32), "y": np.zeros(4, np.float32)})
