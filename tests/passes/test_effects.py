"""Statements that read and write one view: what a later one reads as it was before is read before it is written."""

from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I


@intent.kernel
def exchange(x: I.InOut[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    points = I.domain(0, x.shape[0])
    old = x[points]
    x[points] = y[points]
    y[points] = old


@intent.kernel
def clear(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        old = x[i]
        x[i] = 0.0
        y[i] = old


@intent.kernel
def clear_rows(x: I.InOut[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        old = x[row, columns]
        x[row, columns] = 0.0
        y[row, columns] = old / I.reduce.sum(old, axis=0)


@intent.kernel
def twice(x: I.InOut[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = x[row, columns]
        total = I.reduce.sum(value, axis=0)
        x[row, columns] = value / total
        y[row, columns] = value + I.reduce.sum(value * total, axis=0)


@intent.kernel
def crossed(x: I.InOut[I.f32, ("M", "N")], y: I.InOut[I.f32, ("M", "K")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        left, right = x[row, :], y[row, :]
        x[row, :] = left * I.reduce.sum(right, axis=0)
        y[row, :] = right * I.reduce.sum(left, axis=0)


def rows(*shape: int) -> Any:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def run(kernel: Any, *arguments: Any) -> None:
    intent.compile(kernel, target="cpu")(*arguments)


def test_an_exchange_needs_no_third_array() -> None:
    x, y = rows(5), rows(5) + 10
    run(exchange, x, y)
    assert (x == rows(5) + 10).all()
    assert (y == rows(5)).all()


def test_a_value_read_before_a_store_is_the_old_one() -> None:
    x, y = rows(5), np.empty(5, np.float32)
    run(clear, x, y)
    assert not x.any()
    assert (y == rows(5)).all()


def test_old_rows_are_read_in_every_traversal() -> None:
    x, y = rows(3, 7), np.empty((3, 7), np.float32)
    run(clear_rows, x, y)
    assert not x.any()
    assert np.allclose(y, rows(3, 7) / rows(3, 7).sum(1, keepdims=True))


def test_rows_are_replaced_when_nobody_reads_them_again() -> None:
    x, y = rows(3, 7), np.empty((3, 7), np.float32)
    run(twice, x, y)
    total = rows(3, 7).sum(1, keepdims=True)
    assert np.allclose(x, rows(3, 7) / total)
    assert np.allclose(y, rows(3, 7) + total * total)


def test_both_sums_are_taken_before_either_row_changes() -> None:
    x, y = rows(3, 7), rows(3, 4)
    run(crossed, x, y)
    assert np.allclose(x, rows(3, 7) * rows(3, 4).sum(1, keepdims=True))
    assert np.allclose(y, rows(3, 4) * rows(3, 7).sum(1, keepdims=True))


@intent.kernel
def evens_and_odds(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("2 * M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[2 * i] = x[i]
        y[2 * i + 1] = -x[i]


@intent.kernel
def halves(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("2 * M",)]):
    (M,) = x.shape
    y[:M] = x[:]
    y[M:] = -x[:]


@intent.kernel
def one_or_the_other(flag: I.bool, x: I.In[I.f32, ("M",)], y: I.InOut[I.f32, ("M + 1",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if flag:
            y[i] = x[i]
        else:
            y[i + 1] = x[i]


@intent.kernel
def overlapping(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("M + 1",)]):
    points = I.domain(0, x.shape[0])
    for i in I.parallel(points):
        y[i + 1] = x[i]
    for i in I.parallel(points):
        y[i] = -x[i]


def test_statements_may_share_an_output_between_them() -> None:
    for kernel, expected in (
        (evens_and_odds, [1, -1, 2, -2, 3, -3]),
        (halves, [1, 2, 3, -1, -2, -3]),
    ):
        y = np.empty(6, np.float32)
        run(kernel, rows(3), y)
        assert y.tolist() == expected
    for flag, expected in ((True, [1, 2, 3, 0]), (False, [0, 1, 2, 3])):
        y = np.zeros(4, np.float32)
        run(one_or_the_other, flag, rows(3), y)
        assert y.tolist() == expected


def test_statements_that_instances_would_reorder_keep_their_order() -> None:
    y = np.empty(4, np.float32)
    run(overlapping, rows(3), y)
    assert y.tolist() == [-1, -2, -3, 3]
