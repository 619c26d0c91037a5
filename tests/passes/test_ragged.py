"""Domains whose bounds depend on the point in hand: each instance has its own."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.passes.pipeline import run
from intent_np.terms.core import Arena, arena, find
from intent_np.terms.grouped import Group
from intent_np.terms.text import show
from kernels.ragged import grouped_matmul

from .printed import printed


@intent.kernel
def triangle(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row] = I.reduce.sum(x[row, I.domain(0, row + 1)], axis=0)


@intent.kernel
def lower_softmax(x: I.In[I.f32, ("N", "N")], y: I.InOut[I.f32, ("N", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        columns = I.domain(0, row + 1)
        weight = I.exp(x[row, columns] - I.reduce.max(x[row, columns], axis=0))
        y[row, columns] = weight / I.reduce.sum(weight, axis=0)


@intent.kernel
def segments(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("G + 1",)], y: I.Out[I.f32, ("G",)]):
    (N,) = x.shape
    for g in I.parallel(I.domain(0, y.shape[0])):
        begin = I.clamp(I.cast(offsets[g], I.index), 0, N)
        end = I.clamp(I.cast(offsets[g + 1], I.index), begin, N)
        y[g] = I.reduce.sum(x[I.domain(begin, end)], axis=0)


def square(n: int) -> Any:
    return np.random.default_rng(n).integers(0, 9, (n, n)).astype(np.float32)


@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize("n", [1, 7, 130])
def test_rows_of_a_triangle(target: str, n: int) -> None:
    x, y = square(n), np.empty(n, np.float32)
    intent.compile(triangle, target=target)(x, y)
    assert (y == np.tril(x).sum(1)).all()


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_elements_outside_of_a_ragged_store_stay(target: str) -> None:
    x, y = square(5), np.full((5, 5), 7, np.float32)
    intent.compile(lower_softmax, target=target)(x, y)
    assert np.allclose(np.tril(y).sum(1), 1)
    assert (y[np.triu_indices(5, 1)] == 7).all()


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_segments_between_offsets_in_memory(target: str) -> None:
    x, y = square(6).ravel(), np.empty(4, np.float32)
    offsets = np.array([0, 3, 3, 20, 99], np.int32)
    intent.compile(segments, target=target)(x, offsets, y)
    assert y.tolist() == [x[:3].sum(), 0, x[3:20].sum(), x[20:].sum()]


@intent.kernel
def normalized(x: I.In[I.f32, ("N", "M")], offsets: I.In[I.i32, ("G + 1",)], y: I.InOut[I.f32, ("N", "M")]):
    outer = I.domain(0, offsets.shape[0] - 1)
    rows = I.ragged(outer, I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(outer):
        y[rows[g], :] = x[rows[g], :] - I.reduce.max(x[rows[g], :], axis=0)


@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize("m", [1, 3, 130])
def test_instances_own_groups_of_rows(target: str, m: int) -> None:
    x, y = np.random.default_rng(m).integers(0, 9, (20, m)).astype(np.float32), np.full((20, m), 7, np.float32)
    offsets = np.array([1, 1, 4, 4, 19], np.int32)
    intent.compile(normalized, target=target, options=intent.CompileOptions(check=True))(x, offsets, y)
    wanted = np.full((20, m), 7, np.float32)
    for begin, end in ((1, 4), (4, 19)):
        wanted[begin:end] = x[begin:end] - x[begin:end].max(0)
    assert (y == wanted).all()


def test_a_group_of_rows_is_an_instance() -> None:
    with Arena():
        program = run(normalized.capture(), stop_after="form_groups")
        (group,) = find(program, Group)
        names = arena().names
        assert {names[a] for a in group.workset} == {"outer", "m"}


@intent.kernel
def parts(x: I.In[I.f32, ("N", "M")], w: I.In[I.f32, ("M", "K")], y: I.Out[I.f32, ("S", "K")]):
    N, _ = x.shape
    S, _ = y.shape
    length = I.ceil_div(N, S)
    rows = I.domain(0, N)
    for s in I.parallel(I.domain(0, S)):
        begin = I.minimum(s * length, N)
        mine = rows[begin : I.minimum(begin + length, N)]
        y[s, :] = I.reduce.max(I.matmul(x[mine, :], w[:, :], acc_dtype=I.f32), axis=0)


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_a_product_of_rows_that_a_point_bounds_is_its_own(target: str) -> None:
    """The product itself names no part; its rows begin at one."""
    x, w = square(23)[:, :5].copy(), square(5)
    y = np.empty((4, 5), np.float32)
    intent.compile(parts, target=target)(x, w, y)
    assert (y == [(x[b : b + 6] @ w).max(0) for b in range(0, 23, 6)]).all()


def test_a_product_of_rows_of_a_group_has_tiles() -> None:
    """The group is an instance's point, and no free axis of the product that could be blocked."""
    with Arena():
        program = run(grouped_matmul.capture(), stop_after="legalize_dot")
        assert "contract x_value, w_value, acc" in show(program)


@pytest.mark.parametrize("spare", [1, 2, 7])
def test_members_of_a_group_are_spread_over_instances(spare: int) -> None:
    """Whatever the number of parts, each row is computed once, empty and long groups among them."""
    rng = np.random.default_rng(spare)
    x, w = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((300, 5), (4, 5, 7)))
    offsets = np.array([0, 0, 290, 290, 300], np.int32)
    y = np.full((300, 7), np.nan, np.float32)
    passes = {"spread_members": {"spare": spare, "rows": 16}}
    options = intent.CompileOptions(check=True, passes=passes)
    intent.compile(group_products, target="cpu", options=options)(x, w, offsets, y)
    assert (y == np.concatenate([x[:290] @ w[1], x[290:] @ w[3]])).all()
    with Arena():
        (group,) = find(run(group_products.capture(), stop_after="spread_members", options=passes), Group)
        assert [arena().names[a] for a in group.workset] == ["groups", "part", "n"]


@intent.kernel
def group_products(
    x: I.In[I.f32, ("T", "K")],
    w: I.In[I.f32, ("G", "K", "N")],
    offsets: I.In[I.i32, ("G + 1",)],
    y: I.Out[I.f32, ("T", "N")],
):
    groups = I.domain(0, w.shape[0])
    rows = I.ragged(groups, I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(groups):
        y[rows[g], :] = I.matmul(x[rows[g], :], w[g, :, :], acc_dtype=I.f32)


def test_members_that_a_sum_needs_stay_together() -> None:
    """The largest of a group's rows is found once: its rows are not spread."""
    with Arena():
        (group,) = find(run(normalized.capture(), stop_after="spread_members"), Group)
        assert {arena().names[a] for a in group.workset} == {"outer", "m"}


def test_a_loop_around_loops_is_not_written_twice() -> None:
    """Only the innermost loop has segments of its own for its boundary blocks."""
    with Arena():
        text = show(run(group_products.capture(), stop_after="emit"))
        assert text.count("contract x_value, w_value") == 2


def test_a_loop_behind_a_loop_has_whole_blocks() -> None:
    """What an earlier loop over the same axis found is no loop inside of the later one."""
    with Arena():
        text = show(run(scaled_rows.capture(), stop_after="emit"))
        assert text.count("whole blocks of n") == 2


@intent.kernel
def scaled_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        y[row] = I.reduce.sum(value / I.reduce.max(value, axis=0), axis=0)


def test_bounds_in_front_of_two_loops_are_called_what_they_bound() -> None:
    text = printed(grouped_matmul).source
    (around,) = (line for line in text.splitlines() if line.startswith("    for "))
    assert "range(i_begin, i_end, BI)" in around
    assert text.index("    k_rest = K // BK * BK\n") < text.index(around)
