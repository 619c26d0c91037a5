"""Definitions: parameters, constexprs, where the text comes from, names and places, the table of operations."""

import inspect
import linecache
import textwrap

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.errors import CompileError, LanguageUseError
from intent_np.terms.core import Arena, arena, children, find, walk
from intent_np.terms.index import Const, Extent, Stride
from intent_np.terms.logical import Read, Write
from intent_np.terms.normal import View
from intent_np.terms.text import show


class Mode(I.Enum):
    A = 1
    B = 2


@intent.kernel
def everything(
    x: I.In[I.f16, ("M", "2 * N", 3), I.constraints(strides=(None, "row", 1), noalias=True, finite=True)],
    w: I.InOut[I.bf16, ("K", "cdiv(N, K)"), I.constraints(strides=("row", None), alias="group")],
    scale: I.f32,
    y: I.Out[I.bool, ()],
    K: I.Constexpr[int],
    MODE: I.Constexpr[Mode] = Mode.A,
    *,
    EPS: I.Constexpr[float] = 1e-5,
):
    """About it."""
    y[()] = scale > EPS


def test_parameters_as_declared():
    x, w, scale, y, k, mode, eps = everything.parameters
    assert (x.name, x.kind, x.mode, x.dtype, x.shape) == ("x", "view", "in", I.f16, ("M", "2 * N", 3))
    assert (x.constraints.strides, x.constraints.noalias, x.constraints.finite) == ((None, "row", 1), True, True)
    assert (w.mode, w.constraints.alias) == ("inout", "group")
    assert (scale.name, scale.kind, scale.dtype) == ("scale", "scalar", I.f32)
    assert (y.mode, y.shape) == ("out", ())
    assert (k.name, k.kind, k.type) == ("K", "constexpr", int)
    assert (mode.default, eps.default) == (Mode.A, 1e-5)
    assert everything.constexprs == (k, mode, eps)
    assert (everything.name, everything.__doc__) == ("everything", "About it.")


def test_views_of_a_captured_kernel():
    program = everything.capture({"K": 4}, permissions=("b", "a"))
    x, w, _, _ = program.parameters
    assert isinstance(x, View)
    assert x.finite
    assert [type(e) for e in x.strides] == [Stride, Stride, Const]
    assert w.strides[0] is x.strides[1]  # strides of one name are one
    assert w.shape[0] is Const(4, I.index)
    assert show(w.shape[1]).endswith("ceil_div(N, 4)\n")
    assert x.shape[0] is Extent("M")
    assert program.permissions == ("a", "b")


def test_equal_terms_of_one_arena_are_one():
    assert everything.capture({"K": 4}) is everything.capture({"K": 4})
    assert everything.capture({"K": 4}) is not everything.capture({"K": 5})
    with Arena():
        other = everything.capture({"K": 4})
    assert show(other) == show(everything.capture({"K": 4}))


def test_annotations_may_be_text():
    source = """\
    from __future__ import annotations
    import intent_np as intent
    import intent_np.language as I

    @intent.kernel
    def copy(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        y[:] = x[:]
    """
    text = textwrap.dedent(source)
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(keepends=True), "<cell 1>")
    space = {}
    exec(compile(text, "<cell 1>", "exec"), space)
    program = space["copy"].capture()
    (write,) = program.body
    (span,) = arena().spans[write]
    assert (span.file, span.line, span.column, span.text) == ("<cell 1>", 7, 5, "    y[:] = x[:]")


def test_a_function_without_text():
    space = {"intent": intent, "I": I}
    exec("@intent.kernel\ndef f(x: I.f32):\n    pass", space)
    with pytest.raises(LanguageUseError, match="E003"):
        space["f"].parameters


@intent.fn
def helper(v):
    return v * 2


@intent.kernel
def named(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = helper(x[row, columns])
        total = I.reduce.sum(value)
        y[row] = total


def test_names_and_places_come_from_the_source():
    program = named.capture()
    names = set(arena().names.values())
    assert {"M", "N", "columns", "row", "value", "total", "helper"} <= names
    first = inspect.getsourcelines(named.function)[1]
    (read,) = find(program, Read)
    (write,) = find(program, Write)
    assert [s.line for s in arena().spans[read]] == [first + 5]
    assert [(s.line, s.text.strip()) for s in arena().spans[write]] == [(first + 7, "y[row] = total")]
    (span,) = arena().spans[read]
    assert span.text[span.column - 1 : span.end_column - 1] == "x[row, columns]"
    for t in walk(program):
        if children(t) and t not in program.parameters and t is not program:
            assert arena().spans.get(t), t


def test_capture_leaves_the_softmax_of_the_readme(golden):
    @intent.kernel
    def softmax(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
        M, N = x.shape
        columns = I.domain(0, N)
        for row in I.parallel(I.domain(0, M)):
            value = I.cast(x[row, columns], I.f32)
            weight = I.exp(value - I.reduce.max(value, axis=0))
            y[row, columns] = I.cast(weight / I.reduce.sum(weight, axis=0), I.f16)

    golden("softmax.txt", show(softmax.capture()))


# ---- the table of operations


def test_every_operation_is_documented_and_public():
    top = {name for name in I.OPERATIONS if "." not in name}
    assert top <= set(I.__all__)
    for name, operation in I.OPERATIONS.items():
        assert operation.__doc__, name
        assert operation.usage.startswith(f"I.{name}(")
    for name in I.__all__:
        assert getattr(I, name) is not None


def test_operations_refuse_to_run():
    for use in (lambda: I.exp(1.0), lambda: I.reduce.sum(1), lambda: I.reduce(1), lambda: I.domain(0, 3)):
        with pytest.raises(LanguageUseError, match=r"E001 I\.\w+(\.\w+)? was used outside a kernel"):
            use()
    for use in (lambda: helper(1), lambda: named(1)):
        with pytest.raises(LanguageUseError, match="E004"):
            use()


def test_a_missing_name_suggests_others():
    with pytest.raises(LanguageUseError, match="did you mean 'matmul'"):
        I.matmull
    with pytest.raises(LanguageUseError, match=r"E002 the language has no I\.reduce\.mean"):
        I.reduce.mean
    assert not hasattr(I, "nothing")
    with pytest.raises(ImportError):
        exec("from intent_np.language import nothing")


def test_usage_reads_like_a_call():
    assert I.OPERATIONS["reduce.sum"].usage == "I.reduce.sum(value, axis=None, keepdims=False, acc_dtype=None)"
    assert repr(I.clamp) == "<operation I.clamp(value, low, high)>"


def test_wrong_constexprs():
    for constants, code in (
        ({}, "E110"),
        ({"K": 1, "L": 2}, "E109"),
        ({"K": True}, "E111"),
        ({"K": 2, "MODE": 1}, "E111"),
    ):
        with pytest.raises(CompileError) as found:
            everything.capture(constants)
        assert found.value.code == code
    with pytest.raises(CompileError, match="did you mean 'MODE'"):
        everything.capture({"K": 1, "MODES": Mode.B})


def test_int_is_a_float_constexpr():
    assert everything.bind({"K": np.int64(3).item(), "EPS": 1})["EPS"] == 1.0
