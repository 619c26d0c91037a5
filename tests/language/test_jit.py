"""`@intent.jit`: a kernel that is called like a function."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I


class Mode(I.Enum):
    UP = "up"
    DOWN = "down"


@intent.jit(target="reference")
def scaled(
    x: I.In[I.f32, ("N",)], shift: I.f32, y: I.Out[I.f32, ("N",)], FACTOR: I.Constexpr[int] = 2,
    MODE: I.Constexpr[Mode] = Mode.UP,
):  # fmt: skip
    y[:] = x[:] * FACTOR + shift if MODE == Mode.UP else x[:] - shift


def test_it_compiles_once_for_each_choice_of_constexprs():
    scaled.artifacts.clear()
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    scaled(x, 1.0, y)
    np.testing.assert_array_equal(y, x * 2 + 1)
    scaled(x, y=y, shift=3.0, FACTOR=5)
    np.testing.assert_array_equal(y, x * 5 + 3)
    scaled(x[:2], 0.0, y[:2], 5)
    np.testing.assert_array_equal(y[:2], x[:2] * 5)
    np.testing.assert_array_equal(scaled.run(x, 1.0, MODE=Mode.DOWN), x - 1)
    again = scaled.prepare(x, 2.0, y, MODE=Mode.DOWN)
    x[:] = 7
    again()
    assert y.tolist() == [5] * 4
    assert len(scaled.artifacts) == 3
    assert scaled.artifact(FACTOR=5) is scaled.artifact(FACTOR=5, MODE=Mode.UP)


@intent.jit
def doubled(x: I.InOut[I.f32, ("N",)]):
    x[:] = x[:] * 2


def test_it_is_a_kernel_and_runs_on_this_machine():
    x = np.ones(3, np.float32)
    doubled(x)
    intent.compile(doubled, target="reference")(x)
    assert x.tolist() == [4, 4, 4]
    assert "jit" in repr(doubled)


FACTOR_AROUND = 2.0


@intent.jit(target="reference")
def by_the_factor_around(x: I.InOut[I.f32, ("N",)]):
    x[:] = x[:] * FACTOR_AROUND


def test_a_name_from_around_that_has_changed_is_compiled_anew(monkeypatch):
    x = np.ones(3, np.float32)
    by_the_factor_around(x)
    first = by_the_factor_around.artifact()
    assert by_the_factor_around.artifact() is first
    monkeypatch.setitem(globals(), "FACTOR_AROUND", 5.0)
    by_the_factor_around(x)
    assert x.tolist() == [10, 10, 10]
    assert by_the_factor_around.artifact() is not first


@pytest.mark.parametrize(
    ("args", "named", "found"),
    [
        ((), {}, "no 'x', 'shift', 'y'"),
        ((1, 2, 3), {"y": 3}, "'y' twice"),
        ((1, 2, 3), {"Q": 3}, "'Q', which is no parameter"),
        ((1, 2, 3, 4, Mode.UP, 6), {}, "scaled(x, shift, y, FACTOR, MODE)"),
    ],
)
def test_arguments_that_do_not_fit(args, named, found):
    with pytest.raises(intent.CallError) as wrong:
        scaled(*args, **named)
    assert wrong.value.code == "E401"
    assert found in str(wrong.value)


def test_constexprs_are_of_their_type():
    with pytest.raises(intent.CompileError) as wrong:
        scaled(np.zeros(1, np.float32), 1.0, np.zeros(1, np.float32), FACTOR=True)
    assert wrong.value.code == "E111"
