"""The reducer: small, the same in every run, and never another failure than the one that it began with."""

# ruff: noqa: UP037
from __future__ import annotations

import math
import os
import time

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.passes import pipeline
from intent_np.terms.core import Arena
from intent_np.terms.text import show
from intent_np.testing import arguments
from intent_np.testing.apart import apart
from intent_np.testing.reduction import kernel_of, reduced, reduced_behind_pass, standalone
from intent_np.testing.validation import CLASSES, validate
from kernels.attention import attention

from . import stand_in

SCALE = 0.5


@intent.fn
def scaled(value, factor):
    doubled = value * factor
    return doubled + SCALE


@intent.kernel
def busy(
    x: I.In[I.f16, ("M", "N", 3)], w: I.In[I.f16, ("M", "N", 3)], used: I.Out[I.f32, ("M", "N", 3)],
    unused: I.Out[I.f32, ("M",)], BLOCK: I.Constexpr[int],
):  # fmt: skip
    M, N = x.shape[0], x.shape[1]
    for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
        a = I.cast(x[i, j, :], I.f32)
        if BLOCK > 2:
            b = scaled(I.exp(a), 3.0)
        else:
            b = a
        c = I.cast(w[i, j, :], I.f32) + 1.0
        used[i, j, :] = I.maximum(b, c) * 2.0
    for i in I.parallel(I.domain(0, M)):
        unused[i] = I.reduce.sum(I.cast(x[i, :, 0], I.f32), axis=0)


def has(word: str):
    def fails(text: str) -> bool:
        with Arena():
            return word in show(kernel_of(text).capture())

    return fails


def test_all_that_does_not_matter_is_gone() -> None:
    text, space = standalone(busy, {"BLOCK": 4})
    assert space == {}
    assert "SCALE = 0.5" in text
    found = reduced(text, has("exp("))
    assert found.text == (
        "import intent_np as intent\nimport intent_np.language as I\n\n\n@intent.kernel\n"
        "def busy(used: I.Out[I.f32, ()]):\n    used[()] = I.exp(0.0)\n"
    ) or len(found.text.splitlines()) <= 8, found.text  # fmt: skip
    assert has("exp(")(found.text)
    assert "def scaled" not in found.text
    assert "unused" not in found.text
    assert reduced(text, has("exp(")) == found


def test_attempts_are_bounded_and_what_raises_is_no_failure() -> None:
    text, _ = standalone(attention, {"B": 4} if attention.constexprs else {})
    asked = 0

    def fails(candidate: str) -> bool:
        nonlocal asked
        asked += 1
        if asked % 2:
            raise ValueError(candidate)
        return "@intent.kernel" in candidate

    found = reduced(text, fails, attempts=17)
    assert asked == found.tried == 17
    assert found.kept > 0


def test_only_functions_are_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands beside them is executed: `os.kill(os.getpid(), 0)` with another number would be no joke."""
    text = (
        "import os\nos.kill(os.getpid(), 0)\nimport intent_np as intent\n\n\n@intent.kernel\ndef k():\n    x = 1 + 2\n"
    )
    seen = []
    reduced(text, lambda candidate: bool(seen.append(candidate)))
    beside = {t.partition("@intent")[0].strip() for t in seen}
    whole = set(text.partition("@intent")[0].strip().splitlines())
    assert all(set(b.split("\n")) - {""} <= whole for b in beside)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PIPELINE", pipeline.PIPELINE)
    stand_in.broken(0)


@intent.kernel
def centered(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], largest: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = x[row, columns]
        mean = I.reduce.sum(value, axis=0) / I.cast(N, I.f32)
        y[row, columns] = I.select(value > mean, value - mean, scaled(mean - value, 1.0))
        largest[row] = I.reduce.max(value, axis=0)


def test_a_wrong_pass_is_shown_by_the_smallest_program(forgetful: None) -> None:
    given = arguments(centered, {"M": 3, "N": 70}, values="integers")
    wrong = validate(centered, given, CLASSES["small blocks"])
    assert wrong.wrong == "narrow_ranges"
    small, found = reduced_behind_pass(centered, given, CLASSES["small blocks"], wrong)
    assert found.wrong == "narrow_ranges"
    assert found.output
    assert len(small.text.splitlines()) <= 8, small.text
    assert len(kernel_of(small.text).parameters) == 2, small.text


# ---- child processes


def test_a_child_gives_its_value_or_how_it_ended() -> None:
    assert apart(lambda: {"x": math.pi}, 5.0).value == {"x": math.pi}
    raised = apart(lambda: 1 // 0, 5.0)
    assert (raised.status, "ZeroDivisionError" in raised.text) == ("raised", True)
    crashed = apart(lambda: os.kill(os.getpid(), 9), 5.0)
    assert (crashed.status, crashed.text) == ("crashed", "the process died with signal 9")


def test_a_child_that_hangs_is_ended() -> None:
    def stubborn() -> None:
        while True:
            try:
                time.sleep(60)
            except Exception:
                continue

    start = time.monotonic()
    assert apart(stubborn, 0.3).status == "timeout"
    assert time.monotonic() - start < 5
