"""Every kernel is right behind every pass, in every launch class; a broken pass is found and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import CompileOptions
from intent_np.passes import narrow_ranges, pipeline
from intent_np.passes.base import Pass
from intent_np.terms.blocked import Loop
from intent_np.terms.core import replace, rewrite
from intent_np.terms.index import Const, apply, is_op
from intent_np.testing import HostProgram, arguments, check, launching
from intent_np.testing.validation import CLASSES, calls, first_wrong, stages, stages_of, validate
from intent_np.testing.views import LAYOUTS, guarded, twin
from kernels import cases
from kernels.norms import layer_norm
from kernels.reductions import row_sum
from kernels.softmax import softmax
from tests.lowering import as_far_as_it_lowers

from .zoo import CASES as ZOO
from .zoo import spread_over_five

ALL = (*(case for case in cases() if not isinstance(case.kernel, HostProgram)), *ZOO)
HOSTED = [case for case in cases() if isinstance(case.kernel, HostProgram)]


def refuted(case: Any, which: Any, limit: int, most: int) -> str:
    made = stages_of(case, which)
    found = (first_wrong(case, call, made) for call in list(calls(case, which, limit))[:most])
    return next(filter(None, found), "")


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.name)
def test_a_kernel_is_right_behind_every_pass(case: Any) -> None:
    with as_far_as_it_lowers():
        assert not refuted(case, CLASSES["small blocks"], 2**13, 2)


@pytest.mark.parametrize("case", HOSTED, ids=lambda c: c.name)
def test_a_host_program_is_right_behind_every_pass(case: Any) -> None:
    """Behind the same pass of all of its kernels."""
    several = [c for c in calls(case, CLASSES["small blocks"], 2**18) if min(c.extents.values()) > 1]
    call = min(several, key=lambda c: case.bytes(c.extents))
    with as_far_as_it_lowers():
        made = {
            (kernel, *constexprs.items()): stages(
                kernel, CLASSES["small blocks"], constexprs, CompileOptions(check=True, **case.options)
            )
            for kernel, constexprs in case.launches
        }
    reached = {name for one in made.values() for name in one.programs}
    for name in ("capture", *(step.name for step in pipeline.PIPELINE if step.name in reached)):
        report = check(case, behind(case, made, name), call.extents, call.seed, call.layout, call.values)
        assert report.ok, f"behind {name}, {call}: {report}"


def behind(case: Any, made: Any, name: str) -> Any:
    """A host program whose kernels are executed behind a pass: each behind the last one so far that changed it."""
    names = ["capture", *(step.name for step in pipeline.PIPELINE)]
    before = names[: names.index(name) + 1]

    def door(kernel: Any, given: Any, constexprs: Any) -> None:
        one = made[kernel, *constexprs.items()]
        one.launch([n for n in before if n in one.programs][-1])(*given)

    def launch(*given: Any) -> None:
        with launching(door):
            case.kernel(*given, **case.constexprs)

    return launch


@pytest.mark.slow
@pytest.mark.parametrize("which", CLASSES.values(), ids=lambda c: c.name)
@pytest.mark.parametrize("case", ALL, ids=lambda c: c.name)
def test_a_kernel_is_right_behind_every_pass_in_every_class(case: Any, which: Any) -> None:
    with as_far_as_it_lowers():
        assert not refuted(case, which, 2**18, 20)


def test_all_levels_are_executed() -> None:
    made = stages(row_sum, CLASSES["small blocks"])
    levels = {type(p).__name__ for p in made.programs.values()}
    assert levels == {"LogicalProgram", "Program", "GroupedProgram", "BlockedProgram", "Kernel"}


def given() -> Any:
    return arguments(row_sum, {"M": 3, "N": 70}, values="integers")


def test_a_right_pipeline_passes() -> None:
    found = validate(row_sum, given(), CLASSES["small blocks"])
    assert found
    assert found.passed[0] == "capture"
    assert "every pass keeps the results" in str(found)


def test_a_broken_pass_is_named_with_the_element_and_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tail of each row is forgotten: the last segment of every loop is dropped."""

    def broken(program: Any) -> Any:
        program = narrow_ranges.narrow_ranges(program)
        short = lambda t: replace(t, segments=t.segments[:1]) if isinstance(t, Loop) else t  # noqa: E731
        return rewrite((program,), short)[0]

    old = pipeline.by_name("narrow_ranges")
    broken.__name__ = "narrow_ranges"
    steps = tuple(Pass(broken, p.source, p.target, p.needed) if p is old else p for p in pipeline.PIPELINE)
    monkeypatch.setattr(pipeline, "PIPELINE", steps)
    before = given()
    found = validate(row_sum, before, CLASSES["small blocks"])
    assert not found
    assert (found.wrong, found.output, found.at) == ("narrow_ranges", "y", (0,))
    assert found.expected == before["x"][0].astype(np.float64).sum() != found.found
    assert found.passed[-1] == "share_traversals"
    assert "the first wrong pass is narrow_ranges\n  y[0] is " in str(found)
    assert list(found.inputs) == ["x"]


def exchanged(monkeypatch: pytest.MonkeyPatch, name: str, broken: Any) -> None:
    """Put a wrong pass in the place of one of the pipeline."""
    old = pipeline.by_name(name)
    broken.__name__ = name
    new = Pass(broken, old.source, old.target, old.needed, old.permission)
    monkeypatch.setattr(pipeline, "PIPELINE", tuple(new if p is old else p for p in pipeline.PIPELINE))


def test_compiling_with_validation_takes_what_is_right() -> None:
    for kernel, numerics in ((row_sum, "strict"), (softmax, "relaxed")):
        y = intent.compile(kernel, "cpu", options=intent.CompileOptions(validate=True, numerics=numerics))
        assert y.remarks == []


def test_compiling_with_validation_refuses_a_wrong_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operands of each difference change places."""

    def broken(program: Any) -> Any:
        turned = lambda t: apply("sub", t.args[1], t.args[0]) if is_op(t, "sub") else t  # noqa: E731
        return rewrite((program,), turned)[0]

    exchanged(monkeypatch, "contract_fma", broken)
    options = intent.CompileOptions(validate=True)
    with pytest.raises(intent.CompileError) as caught:
        intent.compile(layer_norm, "cpu", options=options)
    problem = caught.value
    assert problem.code == "E711"
    assert "the pass 'contract_fma' changes what 'layer_norm' computes" in str(problem)
    assert problem.span is not None
    assert problem.span.text.strip().startswith("y[")
    assert problem.expected.startswith("y[0, 0] = ")
    assert problem.found.startswith("y[0, 0] = ")
    assert problem.expected != problem.found
    assert "generated arguments: M=2 N=5 " in problem.why  # no smaller call has a difference
    assert "--disable contract_fma" in problem.fix
    monkeypatch.undo()
    intent.compile(layer_norm, "cpu", options=options)


def test_a_program_that_does_not_run_is_the_fault_of_its_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(program: Any) -> Any:
        return replace(program, grid=())

    exchanged(monkeypatch, "contract_fma", broken)
    with pytest.raises(intent.CompileError, match="E711 the pass 'contract_fma'"):
        intent.compile(row_sum, "cpu", options=intent.CompileOptions(validate=True))


@intent.kernel
def promised(x: I.In[I.f32, (64,)], at: I.In[I.i32, (4,)], y: I.Out[I.f32, (4,)]):
    y[:] = x[I.assume_in_bounds(I.cast(at[:], I.index) + 1000, x, axis=0)]


def test_where_no_call_keeps_the_promises_nothing_is_said_to_be_valid() -> None:
    artifact = intent.compile(promised, "cpu", options=intent.CompileOptions(validate=True))
    assert [r.code for r in artifact.remarks] == ["P007"]


def test_a_twin_has_the_layout_of_its_array() -> None:
    for layout in LAYOUTS:
        for shape in ((3, 5), (0, 4), (7,), ()):
            view = guarded(shape, np.dtype(np.float16), layout, np.random.default_rng(3), writable=False)
            copy = twin(view)
            assert (copy.shape, copy.strides, copy.dtype) == (view.shape, view.strides, view.dtype)
            assert (copy.ctypes.data - view.ctypes.data) % 16 == 0
            assert not np.may_share_memory(copy, view)
            np.testing.assert_array_equal(copy, view)


def test_a_wrong_logical_pass_is_named() -> None:
    made = stages(row_sum)
    with made.space:
        program = made.programs["lower_to_coordinates"]
        store = program.effects[0]
        value = apply("add", store.value, Const(1.0, store.value.type))
        made.programs["lower_to_coordinates"] = replace(program, effects=(replace(store, value=value),))
    found = validate(row_sum, given(), made=made)
    assert (found.wrong, found.found) == ("lower_to_coordinates", found.expected + 1)


@pytest.mark.parametrize(("kernel", "size"), [(softmax, 16), (spread_over_five, 8)], ids=["softmax", "five axes"])
def test_blocks_are_smaller_where_a_value_varies_along_many_axes(kernel: Any, size: int) -> None:
    small = CLASSES["small blocks"]
    normal = stages(kernel).programs["lower_to_coordinates"]
    assert set(small.options(normal)["block_axes"]["sizes"].values()) == {size}
    assert validate(kernel, arguments(kernel, dict.fromkeys("ABKMN", 3), values="integers"), small)
