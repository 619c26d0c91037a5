"""Random sequences of statements over few arrays: every level keeps the order that the author wrote."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intent_np as intent
import intent_np.language as I
from intent_np.backends.program.machine import run as execute
from intent_np.errors import CompileError
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena
from tests.sources import executed

N = 7
LEVELS = ("forward_stores", "form_groups", "block_axes", "share_traversals", "apply_combines", "order_fragments")
PARTS = (":", "1:", f":{N - 1}", "2:4", "3:4")


@st.composite
def operands(draw: Any, rows: bool, length: int) -> str:
    """A read of one of the arrays, as long as the part that is written."""
    view = draw(st.sampled_from("abc"))
    row = draw(st.sampled_from(["r, ", "r, ", "0, "])) if rows else ""
    if draw(st.integers(0, 5)) == 0:
        return f"I.reduce.sum({view}[{row}:], axis=0)"
    start = draw(st.integers(0, N - length))
    return f"{view}[{row}{start}:{start + length}]"


@st.composite
def statements(draw: Any, rows: bool) -> list[str]:
    lines = []
    for k in range(draw(st.integers(2, 6))):
        length = draw(st.sampled_from([N, N - 1, 3, 1]))
        start = draw(st.integers(0, N - length))
        value = " + ".join(draw(st.lists(operands(rows, length), min_size=1, max_size=2)))
        if draw(st.booleans()):  # read here, used by a later statement perhaps
            lines.append(f"t{k} = {value}")
            value = f"t{k} * 2.0"
        view = draw(st.sampled_from("abc"))
        write = f"{view}[{'r, ' if rows else ''}{start}:{start + length}] = {value} + {k}.0"
        match draw(st.integers(0, 5)):
            case 0:
                lines += ["if flag:", f"    {write}"]
            case 1 if lines and not lines[-1].startswith((" ", "t")):  # one of two
                lines[-1:] = ["if flag:", f"    {lines[-1]}", "else:", f"    {write}"]
            case _:
                lines.append(write)
    return lines


@st.composite
def programs(draw: Any) -> tuple[str, bool]:
    rows = draw(st.booleans())
    shape = f'("M", {N})' if rows else f"({N},)"
    parameters = ", ".join(f"{v}: I.InOut[I.f32, {shape}]" for v in "abc")
    body = draw(statements(rows))
    indent = "    "
    head = [f"def program({parameters}, flag: I.bool):"]
    if rows:
        head.append("    for r in I.parallel(I.domain(0, a.shape[0])):")
        indent = "        "
        body = [line.replace("0, ", "r, ") for line in body]
    return "\n".join([*head, *(indent + line for line in body)]) + "\n", rows


def kernel_of(text: str) -> Any:
    return intent.kernel(executed(text)["program"])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs(), st.booleans(), st.sampled_from(["forward", "reverse"]))
def test_every_level_keeps_the_order_of_statements(program: tuple[str, bool], flag: bool, order: str) -> None:
    text, rows = program
    shape = (3, N) if rows else (N,)
    start = {v: np.random.default_rng(i).integers(-4, 5, shape).astype(np.float32) for i, v in enumerate("abc")}
    kernel = kernel_of(text)
    expected = {v: x.copy() for v, x in start.items()}
    intent.compile(kernel, target="reference")(*expected.values(), flag)
    with Arena():
        trace: dict[str, Any] = {}
        try:
            lower(kernel.capture({}), check=True, observe=lambda p, t: trace.update({p.name: t}), stop_after=LEVELS[-1])
        except CompileError as refusal:
            if refusal.code != "E707":  # what an earlier loop has replaced
                raise
            return
        for level in LEVELS:
            found = {v: x.copy() for v, x in start.items()}
            execute(trace[level], found, {"flag": flag}, order=order, strict=True)
            for v in "abc":
                np.testing.assert_array_equal(found[v], expected[v], err_msg=f"{v} behind {level}\n{text}")


@intent.kernel
def alternating(m: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], from_there: I.index):
    M, N = m.shape
    y[:, :] = m[:, :] * 0
    for t in I.domain(0, 5):
        if t >= from_there:
            for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
                y[i, j] = y[i, j] * 2 + m[i, j]
        else:
            y[:, :] = y[:, :] + 1


@pytest.mark.parametrize("from_there", [0, 2, 9])
def test_one_of_two_sides_reads_what_was_there_though_the_other_stands_in_front(from_there: int) -> None:
    """The loop of the first side has replaced nothing where the second one is performed."""
    m = np.arange(10, dtype=np.float32).reshape(2, 5)
    want = np.zeros_like(m)
    for t in range(5):
        want = want * 2 + m if t >= from_there else want + 1
    for target in ("reference", "cpu"):
        y = np.zeros_like(m)
        intent.compile(alternating, target=target)(m, y, from_there)
        np.testing.assert_array_equal(y, want)
