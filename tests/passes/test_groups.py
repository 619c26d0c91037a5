"""Execution groups: which statements share instances, which run beside each other, and which only one can perform."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.errors import CompileError
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena


@intent.kernel
def unrelated(x: I.In[I.f32, ("M",)], w: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("K",)]):
    y[:] = x[:] * 2.0
    z[:] = I.reduce.sum(w[:, :], axis=1)


@intent.kernel
def with_total(
    x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], rows: I.Out[I.f32, ("M",)], t: I.Out[I.f32, ()]
):
    v = x[:, :]
    y[:, :] = v + 1.0
    rows[:] = I.reduce.sum(v, axis=1)
    t[()] = I.reduce.sum(v)


@intent.kernel
def neighbours(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N + 1",)], z: I.Out[I.f32, ("N",)]):
    N = x.shape[0]
    y[:N] = x[:]
    y[N:] = 0.0
    z[:] = y[1:] - y[:N]


@intent.kernel
def row_neighbours(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N + 1")], z: I.Out[I.f32, ("M", "N")]):
    N = x.shape[1]
    y[:, :N] = x[:, :]
    y[:, N:] = 0.0
    z[:, :] = y[:, 1:] - y[:, :N]


@intent.kernel
def overwritten(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("M + 1",)]):
    y[1:] = x[:]
    y[: x.shape[0]] = -x[:]


@intent.kernel
def conditional(flag: I.bool, x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    if flag:
        x[:] = 1.0
    y[:] = x[:] * 2.0


@intent.kernel
def turned(x: I.InOut[I.f32, ("N", "N")]):
    x[:, :] = I.transpose(x[:, :])


@intent.kernel
def read_between(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N - 1",)]):
    N = x.shape[0]
    y[:] = x[:]
    shifted = y[1:]
    y[:] = 0.0
    z[:] = shifted


@intent.kernel
def cleared_again(y: I.Out[I.f32, (8,)], z: I.Out[I.f32, (8,)]):
    y[:] = 1.0
    y[2:4] = 2.0
    z[:] = y[:]
    y[:] = 1.0


def grouped(kernel: Any) -> str:
    """The groups of a kernel, as text: their worksets."""
    with Arena():
        program = lower(kernel.capture({}), stop_after="form_groups")
        return "; ".join(f"{len(g.workset)}{' serial' if g.serial else ''}: {len(g.effects)}" for g in program.groups)


def run(kernel: Any, *arguments: Any, **options: Any) -> Any:
    artifact = intent.compile(kernel, target="cpu", options=intent.CompileOptions(check=True, **options))
    artifact(*arguments)
    return artifact


def values(*shape: int) -> Any:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize(("m", "k", "n"), [(5, 3, 7), (0, 3, 7), (5, 0, 7), (5, 3, 0), (3000, 2, 40)])
def test_unrelated_statements_have_instances_of_their_own(m: int, k: int, n: int) -> None:
    assert grouped(unrelated) == "1: 1; 1: 1"
    y, z = np.empty(m, np.float32), np.empty(k, np.float32)
    artifact = run(unrelated, values(m), values(k, n), y, z)
    assert (y == values(m) * 2).all()
    assert np.allclose(z, values(k, n).sum(1))
    assert "group program in 0.." in artifact.ir("gpu")


def test_statements_that_read_the_same_share_instances_where_their_axes_allow_it() -> None:
    assert grouped(with_total) == "1: 2; 0: 1"
    x = values(5, 9)
    y, rows, total = np.empty_like(x), np.empty(5, np.float32), np.empty((), np.float32)
    run(with_total, x, y, rows, total)
    assert (y == x + 1).all()
    assert np.allclose(rows, x.sum(1))
    assert np.allclose(total, x.sum())


def test_what_points_of_another_statement_wrote_is_read_by_a_single_instance() -> None:
    assert grouped(neighbours) == "0 serial: 4"
    x = values(9) ** 2
    y, z = np.empty(10, np.float32), np.empty(9, np.float32)
    artifact = run(neighbours, x, y, z)
    full = np.append(x, np.float32(0))
    assert (y == full).all()
    assert (z == full[1:] - full[:-1]).all()
    assert [r.code for r in artifact.remarks] == ["P001"]
    assert "split the kernel" in artifact.remarks[0].text
    assert "sync" in artifact.ir("gpu")


@intent.kernel
def rolled(x: I.In[I.f32, ("N",)], n: I.index, y: I.Out[I.f32, ("N",)]):
    value = x[:]
    for _ in range(n):
        value = I.roll(value, 1, axis=0)
    y[:] = value


@intent.kernel
def rolled_in_place(x: I.InOut[I.f32, ("N",)], n: I.index, y: I.Out[I.f32, ("N",)]):
    for _ in range(n):
        x[:] = I.roll(x[:], 1, axis=0)
    y[:] = x[:]


@pytest.mark.parametrize(
    ("kernel", "name", "advice"), [(rolled, "value", "I.parallel"), (rolled_in_place, "x", "split")]
)
def test_a_remark_on_memory_of_the_kernels_own_asks_for_no_second_kernel(kernel, name, advice) -> None:
    (remark,) = intent.compile(kernel, target="cpu").remarks
    assert remark.code == "P001"
    assert advice in remark.text
    with pytest.raises(intent.CompileError, match=f"E707 '{name}' is read") as refused:
        intent.compile(kernel, target="cpu", options=intent.CompileOptions(serial="error"))
    assert advice in refused.value.fix


def test_a_dependence_along_a_row_leaves_the_rows_apart() -> None:
    assert grouped(row_neighbours) == "1: 4"
    x = values(4, 9) ** 2
    y, z = np.empty((4, 10), np.float32), np.empty((4, 9), np.float32)
    artifact = run(row_neighbours, x, y, z)
    full = np.concatenate([x, np.zeros((4, 1), np.float32)], 1)
    assert (y == full).all()
    assert (z == full[:, 1:] - full[:, :-1]).all()
    assert not artifact.remarks


def test_the_later_of_two_statements_has_the_last_word() -> None:
    assert grouped(overwritten) == "0 serial: 3"
    y = np.empty(6, np.float32)
    run(overwritten, values(5), y)
    assert y.tolist() == [-1, -2, -3, -4, -5, 5]


@pytest.mark.parametrize("flag", [False, True])
def test_a_store_under_a_condition_is_read_back_where_it_happened(flag: bool) -> None:
    x, y = values(5), np.empty(5, np.float32)
    run(conditional, flag, x, y)
    expected = np.ones(5, np.float32) if flag else values(5)
    assert (x == expected).all()
    assert (y == expected * 2).all()


def test_a_square_is_turned_in_place_by_way_of_a_copy() -> None:
    x = values(8, 8)
    artifact = run(turned, x)
    assert (x == values(8, 8).T).all()
    assert [r.code for r in artifact.remarks] == ["P009"]


def test_a_value_read_between_two_stores_is_that_of_the_first() -> None:
    y, z = np.empty(6, np.float32), np.empty(5, np.float32)
    run(read_between, values(6), y, z)
    assert not y.any()
    assert (z == values(6)[1:]).all()


def test_a_statement_that_stands_twice_is_performed_twice() -> None:
    y, z = np.empty(8, np.float32), np.empty(8, np.float32)
    run(cleared_again, y, z)
    assert (y == 1).all()
    assert z.tolist() == [1, 1, 2, 2, 1, 1, 1, 1]


@intent.kernel
def other_axes(m: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = m.shape
    for t in I.domain(0, 3):
        y[:, :] = m[:, :] * I.cast(t, I.f32)
        for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):
            y[i, j] = y[i, j] + 1


@intent.kernel
def same_axes(m: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for t in I.domain(0, 3):
        y[:, :] = m[:, :] * I.cast(t, I.f32)
        y[:, :] = y[:, :] + 1


def test_a_loop_whose_statements_have_no_axis_in_common_is_one_instance_and_says_so() -> None:
    m, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((2, 3), np.float32)
    lone = intent.compile(other_axes, target="cpu")
    lone(m, y)
    np.testing.assert_array_equal(y, m * 2 + 1)
    (remark,) = lone.remarks
    assert remark.code == "P001"
    assert "have no axis in common" in remark.text
    assert remark.span is not None
    assert "for t in" in remark.span.text
    with pytest.raises(CompileError) as refused:
        intent.compile(other_axes, target="cpu", options=intent.CompileOptions(serial="error"))
    assert refused.value.code == "E707"
    assert intent.compile(same_axes, target="cpu").remarks == []


def test_serial_execution_can_be_forbidden() -> None:
    for kernel in (neighbours, overwritten):
        with pytest.raises(CompileError) as caught:
            intent.compile(kernel, target="cpu", options=intent.CompileOptions(serial="error"))
        assert caught.value.code == "E707"
        assert caught.value.span is not None
    intent.compile(row_neighbours, target="cpu", options=intent.CompileOptions(serial="error"))
