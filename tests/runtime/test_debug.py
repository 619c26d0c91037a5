"""`CompileOptions(debug=True)`: debug statements are performed by every target, and say what the reference says."""

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.compiler import Compilation, CompileOptions
from intent_np.runtime.debug import Reporting, reports, tell
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.testing.triton_interpreter import interpret, unavailable

DEBUG = CompileOptions(debug=True, check=True)


@intent.fn
def root(v):
    I.debug_assert(v >= 0, "roots are of positive numbers")
    return I.sqrt(v)


@intent.kernel
def rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        total = I.reduce.sum(x[row, :])
        if total > 5:
            I.debug_print("row {} has {}", row, total, (total > 7, 2))
        I.debug_assert(x[row, :] >= 0, "numbers of things")
        y[row] = root(total)


@intent.kernel
def steps(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        v, n = x[i], 0
        while v != 1:
            v = I.select(v % 2 == 0, v // 2, 3 * v + 1)
            n += 1
            for k in range(1, 4, 2):
                if n % 4 == k:
                    I.debug_print("{} at {}, {}", v, i, k)
            I.debug_assert(v < 50, "it stays small")
        y[i] = I.cast(n, I.i32)


@intent.kernel
def in_order(x: I.InOut[I.i64, ("N",)], debug_notes: I.i64):
    for k in range(I.cast(debug_notes, I.index)):
        for i in I.parallel(I.domain(0, x.shape[0])):
            x[i] = x[i] * 2 + I.cast(k, I.i64)
        I.debug_print("{}: {}", k, x[:], I.reduce.sum(x[:]))


@intent.kernel
def all_types(
    a: I.In[I.f16, ("N",)],
    b: I.In[I.bf16, ("M", 2)],
    c: I.In[I.u64, ("K",)],
    d: I.In[I.f8e5m2, (2,)],
    s: I.f64,
    y: I.Out[I.f32, ("N",)],
):
    I.debug_print("a = {}", a[:])
    I.debug_print("b = {}, and {}", b[:, :], I.transpose(b[:, :]))
    I.debug_print("{} of {}", c[:] > 2, c[:], s, d[0])
    y[:] = I.cast(a[:], I.f32) + 1.0
    I.debug_assert(I.reduce.all(y[:] < 1000.0), "y is small")
    I.debug_print("y = {}", y[:])


CALLS: dict[str, tuple[Any, Callable[[], tuple[Any, ...]]]] = {
    "rows": (rows, lambda: (np.arange(12, dtype=np.float32).reshape(4, 3), np.zeros(4, np.float32))),
    "steps": (steps, lambda: (np.array([1, 12, 3], np.int32), np.zeros(3, np.int32))),
    "in order": (in_order, lambda: (np.arange(5), 3)),
    "all types": (
        all_types,
        lambda: (
            np.arange(5, dtype=np.float16),
            np.arange(6).reshape(3, 2).astype(ml_dtypes.bfloat16),
            np.array([1, 2, 2**63 + 5], np.uint64),
            np.array([0.5, 1], ml_dtypes.float8_e5m2),
            0.1,
            np.zeros(5, np.float32),
        ),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_program_machine_prints_what_the_reference_prints(name: str, capsys: Any) -> None:
    kernel, arguments = CALLS[name]
    expected, found = arguments(), arguments()
    intent.compile(kernel, "reference")(*expected)
    printed = capsys.readouterr().out
    artifact = intent.compile(kernel, "cpu", options=DEBUG)
    artifact(*found)
    assert artifact.remarks == []
    # the reference goes from statement to statement with all points at once
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(printed.splitlines()) != []
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", CALLS)
def test_printed_triton_says_the_same(name: str, capsys: Any) -> None:
    kernel, arguments = CALLS[name]
    intent.compile(kernel, "reference")(*arguments())
    printed = capsys.readouterr().out
    made = Compilation(kernel, SM_90, {}, DEBUG)
    launch, _ = made.launch(generic_class(made.plan))
    taken, notes = reports(made.plan)
    names = [p.name for p in made.plan.parameters]
    given = dict(zip(names, (*arguments(), taken, notes), strict=True))
    arrays = {n: a for n, a in given.items() if isinstance(a, np.ndarray)}
    interpret(launch, print_triton(launch.function), arrays, {n: a for n, a in given.items() if n not in arrays})
    tell(made.debug, taken, notes)
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(printed.splitlines())


def test_points_come_in_order_whatever_the_loops(capsys: Any) -> None:
    artifact = intent.compile(steps, "cpu", options=DEBUG)
    artifact.run(np.array([8, 1, 10], np.int32))
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["4 at 0, 1", "1 at 0, 3", "5 at 2, 1", "8 at 2, 3", "2 at 2, 1"]


def test_an_assertion_names_its_line_and_the_first_of_its_points(capsys: Any) -> None:
    artifact = intent.compile(rows, "cpu", options=DEBUG)
    x = np.ones((5, 3), np.float32)
    x[3] = x[2, 1] = -1
    with pytest.raises(intent.CheckError) as caught:
        artifact.run(x)
    positive, root_of = sorted(caught.value.errors, key=lambda one: one.title, reverse=True)
    assert (positive.code, root_of.code) == ("E520", "E520")
    assert "roots are of positive numbers" in positive.title
    assert positive.found == "at row = 3"
    assert "v >= 0" in positive.span.text
    assert "numbers of things" in root_of.title
    assert root_of.found == "at row = 2, and at 1 more point"
    with pytest.raises(intent.CheckError) as caught:
        intent.compile(steps, "cpu", options=DEBUG).run(np.array([1, 33], np.int32))
    assert caught.value.found.startswith("at i = 1, iteration = 0, and at ")


def test_what_is_not_kept_is_counted(capsys: Any) -> None:
    options = CompileOptions(debug=True, passes={"report_debug": {"capacity": 14}})
    artifact = intent.compile(rows, "cpu", options=options)
    x = np.full((6, 3), 3, np.float32)
    artifact.run(x)
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines == ["row 0 has 9.0 True 2", "row 1 has 9.0 True 2"]
    assert re.fullmatch(r"\[36 numbers of line \d+ to print, of which 14 are kept at most\]", last)
    with pytest.raises(intent.CheckError, match="at 5 more points"):  # however many are kept
        artifact.run(-x)


def test_without_the_option_nothing_is_reported() -> None:
    plain = intent.compile(rows, "cpu")
    assert not isinstance(plain, Reporting)
    assert {r.code for r in plain.remarks} == {"P010"}
    assert "debug" not in plain.ir("gpu")


def test_a_kernel_that_says_nothing_is_compiled_as_ever() -> None:
    @intent.kernel
    def silent(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        y[:] = x[:]

    assert intent.compile(silent, "cpu", options=DEBUG).ir("gpu") == intent.compile(silent, "cpu").ir("gpu")


def test_a_saved_artifact_reports(tmp_path: Any, capsys: Any) -> None:
    intent.compile(rows, "cpu", options=DEBUG).save(tmp_path / "rows")
    loaded = intent.load(tmp_path / "rows")
    with pytest.raises(intent.CheckError, match="numbers of things") as caught:
        loaded.run(np.full((2, 3), -1, np.float32))
    assert "I.debug_assert(x[row, :]" in caught.value.errors[-1].span.text
    device = intent.compile(rows, "sm_90", options=DEBUG)
    device.save(tmp_path / "device")
    assert [p.name for p in intent.load(tmp_path / "device").kernel.parameters] == ["x", "y"]


def test_wrong_arguments_are_those_of_the_author() -> None:
    artifact = intent.compile(rows, "cpu", options=DEBUG)
    with pytest.raises(intent.CallError) as caught:
        artifact(np.zeros((2, 2), np.float32))
    assert caught.value.code == "E401"
    assert "debug" not in str(caught.value)


def test_classes_and_examples_know_nothing_of_it() -> None:
    x, y = np.zeros((4, 16), np.float32), np.zeros(4, np.float32)
    made = intent.compile(rows, "sm_90", options=DEBUG, examples=[(x, y)])
    assert len(made.variants) == 2
    (own,) = (one.plan.holds for one in intent.compile(rows, "sm_90", examples=[(x, y)]).variants[1:])
    assert [one.plan.holds.bucket for one in intent.compile(rows, "sm_90", options=DEBUG, classes=[own]).variants[1:]]


def test_refusing_serial_groups_is_about_the_kernel_alone() -> None:
    options = CompileOptions(debug=True, serial="error")
    intent.compile(all_types, "cpu", options=options)


def test_passes_are_validated_with_it() -> None:
    intent.compile(rows, "cpu", options=CompileOptions(debug=True, validate=True))
