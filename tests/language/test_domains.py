"""Domains keep their coordinates; ragged relations; extents that are required to be equal."""

import itertools

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.reference import checking, logical
from intent_np.terms.core import find
from intent_np.terms.logical import Between
from tests.sources import executed

RNG = np.random.default_rng(31)


@intent.kernel
def stepped(x: I.In[I.f32, ("N",)], b: I.index, e: I.index, y: I.InOut[I.f32, ("N",)], n: I.Out[I.index, (3,)]):
    axis = I.domain(1, x.shape[0], 3)
    begin = I.minimum(I.maximum(b, 1), x.shape[0])
    end = I.minimum(I.maximum(e, begin), x.shape[0])
    if 1 <= x.shape[0]:
        part = axis[begin:end]
        y[part] = x[part] * 10.0 + I.cast(I.indices(part), I.f32)
        total, last, count = 0, 0, 0
        for k, i in enumerate(axis[begin:end:2]):
            total += i
            last = k
        for _ in part:
            count += 1
        n[0] = total
        n[1] = last
        n[2] = I.cast(count, I.index)


@pytest.mark.parametrize("bounds", [(0, 20), (1, 1), (2, 5), (2, 3), (4, 19), (5, 20), (19, 20), (20, 20)])
def test_a_subregion_of_a_stepped_domain_keeps_its_coordinates(run, bounds):
    x, y, n = RNG.integers(0, 9, 20).astype(np.float32), np.zeros(20, np.float32), np.zeros(3, np.int64)
    run(stepped, x=x, b=bounds[0], e=bounds[1], y=y, n=n)
    members = [i for i in range(1, 20, 3) if bounds[0] <= i < bounds[1]]
    expected = np.zeros(20, np.float32)
    expected[members] = x[members] * 10 + members
    np.testing.assert_array_equal(y, expected)
    assert n.tolist() == [sum(members[::2]), max(len(members[::2]) - 1, 0), len(members)]


@intent.kernel
def spmv(
    values: I.In[I.f32, ("Z",)], columns: I.In[I.i32, ("Z",)], offsets: I.In[I.i32, ("M + 1",)],
    y: I.Out[I.f32, ("M",)], first: I.Out[I.index, ("M",)], starts: I.Out[I.f32, ("M",)],
):  # fmt: skip
    rows = I.domain(0, y.shape[0])
    entries = I.ragged(rows, I.domain(0, values.shape[0]), offsets, indices=columns)
    for row in I.parallel(rows):
        region = entries[row]
        y[row] = I.reduce.sum(values[region] * I.cast(I.members(region), I.f32))
        first[row] = -1
        early: I.f32 = 0.0
        for k, z in enumerate(region):
            if k == 2:
                break
            first[row] = I.cast(columns[z], I.index)
            early += values[z]
        starts[row] = early


@pytest.mark.parametrize("counts", [[], [3], [0, 2, 0, 5, 1]])
def test_rows_of_a_ragged_relation(run, counts):
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    z, m = int(offsets[-1]), len(counts)
    values, columns = RNG.integers(1, 9, z).astype(np.float32), RNG.integers(0, 50, z).astype(np.int32)
    y, first, starts = np.zeros(m, np.float32), np.zeros(m, np.int64), np.zeros(m, np.float32)
    program = run(spmv, values=values, columns=columns, offsets=offsets, y=y, first=first, starts=starts)
    for i in range(m):
        v, c = values[offsets[i] : offsets[i + 1]], columns[offsets[i] : offsets[i + 1]]
        assert y[i] == (v * c).sum()
        assert first[i] == (c[:2][-1] if len(c) else -1)
        assert starts[i] == v[:2].sum()
    assert len(list(find(program, Between))) == 2  # the promises, for a checking mode to test


@pytest.mark.parametrize(
    ("offsets", "found"), [([0, 3, 2, 5], "the offset 2"), ([0, 3, 4, 9], "the offset 9"), ([-1, 3, 4, 5], "offset -1")]
)
def test_offsets_that_break_the_promise_are_reported(offsets, found):
    values, columns = np.ones(5, np.float32), np.zeros(5, np.int32)
    arrays = {"values": values, "columns": columns, "offsets": np.array(offsets, np.int32)}
    arrays |= {"y": np.zeros(3, np.float32), "first": np.zeros(3, np.int64), "starts": np.zeros(3, np.float32)}
    program = spmv.capture()
    with pytest.raises(intent.CheckError) as wrong:
        logical.run(program, arrays, {})
    report = checking.check(program, arrays, {})
    for error in (wrong.value, *report.findings[:1]):
        assert error.code == "E510", str(error)
        assert "'offsets' is not in order and inside" in str(error)
        assert found in str(error)
    assert not report.ok


@intent.kernel
def groups(
    x: I.In[I.f32, ("N", "K")], offsets: I.In[I.i64, ("G + 1",)], y: I.Out[I.f32, ("N", "K")],
    z: I.Out[I.f32, ("N", "K")], w: I.InOut[I.f32, ("N", "K")],
):  # fmt: skip
    outer = I.domain(0, offsets.shape[0] - 1)
    group = I.ragged(outer, I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(outer):
        factor = I.cast(g, I.f32) + I.reduce.max(I.cast(I.members(group[g]), I.f32))
        y[group[g], :] = x[group[g], :] * factor
        z[I.indices(group[g]), :] = x[group[g], :] * factor
        for row in group[g]:
            w[row, :] = w[row, :] + x[row, :] * factor


@pytest.mark.parametrize("offsets", [[0, 0], [0, 7], [0, 2, 2, 3, 7], [2, 2, 6]])
def test_groups_of_rows_are_apart(run, offsets):
    x = RNG.integers(0, 9, (7, 3)).astype(np.float32)
    y, z, w = (np.ones((7, 3), np.float32) for _ in range(3))
    run(groups, x=x, offsets=np.array(offsets), y=y, z=z, w=w)
    expected = np.ones((7, 3), np.float32)
    for g, (begin, end) in enumerate(itertools.pairwise(offsets)):
        expected[begin:end] = x[begin:end] * (g + end - 1)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(z, expected)
    inside = slice(offsets[0], offsets[-1])
    np.testing.assert_array_equal(w[inside], 1 + expected[inside])


@intent.kernel
def halves(x: I.In[I.f32, ("N",)], offsets: I.In[I.i64, ("G + 1",)], y: I.Out[I.f32, ("N",)]):
    outer = I.domain(0, offsets.shape[0] - 1)
    group = I.ragged(outer, I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(outer):
        y[group[g // 2]] = x[group[g // 2]]


@intent.kernel
def twice(x: I.In[I.f32, ("N",)], offsets: I.In[I.i64, ("G + 1",)], y: I.Out[I.f32, ("N",)]):
    outer = I.domain(0, offsets.shape[0] - 1)
    group = I.ragged(outer, I.domain(0, x.shape[0]), offsets)
    for g, _ in I.parallel((outer, I.domain(0, 2))):
        y[group[g]] = x[group[g]]


def test_points_that_share_a_group_are_not(wrong):
    assert wrong(halves).code == "E304"
    assert wrong(twice).code == "E303"


@intent.kernel
def pairs(x: I.In[I.f32, ("M",)], y: I.In[I.f32, ("N",)], w: I.In[I.f32, ("2 * K",)], z: I.Out[I.f32, ("M",)]):
    I.require_equal(x.shape[0], y.shape[0])
    I.require_equal(w.shape[0], y.shape[0] + 1)
    z[:] = x[:] + y[:] * w[: x.shape[0]]


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_required_extents_are_equal_in_the_kernel_and_checked_by_the_host(target):
    artifact = intent.compile(pairs, target=target)
    x, y, w, z = (np.arange(n, dtype=np.float32) for n in (5, 5, 6, 5))
    artifact(x, y, w, z)
    np.testing.assert_array_equal(z, x + x * x)
    np.testing.assert_array_equal(artifact.run(x, y, w), x + x * x)
    for wrong in ((x, y[:4], w, z), (x, y, w[:4], z)):
        with pytest.raises(intent.CallError) as found:
            artifact(*wrong)
        assert found.value.code == "E404", str(found.value)


@intent.kernel
def inspected(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        total = I.reduce.sum(x[row, :])
        I.debug_assert(x[row, :] >= 0, "numbers of things")
        if total > 5:
            I.debug_print("row {} has {}", row, total, (total > 7, 2))
        y[row] = total


def test_a_target_that_does_not_look_inside_says_so():
    found = intent.compile(inspected, target="cpu").remarks
    assert [(r.code, r.text.split()[0]) for r in found] == [("P010", "I.debug_assert"), ("P010", "I.debug_print")]
    assert ["debug_assert" in found[0].span.text, "debug_print" in found[1].span.text] == [True, True]
    assert intent.compile(inspected, target="reference").remarks == []


def test_a_kernel_is_inspected(run, capsys):
    x, y = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.zeros(3, np.float32)
    intent.compile(inspected, target="reference")(x, y)
    assert capsys.readouterr().out == "row 1 has 7.0 False 2\nrow 2 has 11.0 True 2\n"
    x[1, 1] = -1
    with pytest.raises(intent.CheckError, match="numbers of things") as found:
        intent.compile(inspected, target="reference")(x, y)
    assert found.value.code == "E520"
    assert "debug_assert" in found.value.span.text
    intent.compile(inspected, target="cpu")(x, y)  # a machine leaves it out
    np.testing.assert_array_equal(y, x.sum(1))


@intent.kernel
def limited(x: I.In[I.f32, ("N",)], begin: I.index, end: I.index, y: I.Out[I.f32, (2,)]):
    axis = I.domain(0, x.shape[0])
    low = I.clamp(begin, 0, I.end(axis))
    high = I.clamp(end, low, I.end(axis))
    y[0] = I.reduce.sum(x[axis[low:high]])
    y[1] = 0.0
    if 0 <= begin <= end <= I.end(axis):
        y[1] = I.reduce.sum(x[axis[begin:end]])


@pytest.mark.parametrize(("begin", "end"), [(1, 4), (-3, 2), (4, 1), (2, 99), (0, 6)])
def test_the_advice_about_bounds_in_order_is_good(run, begin, end):
    x, y = np.arange(6, dtype=np.float32), np.zeros(2, np.float32)
    run(limited, x=x, begin=begin, end=end, y=y)
    low = min(max(begin, 0), 6)
    assert y[0] == x[low : max(low, min(end, 6))].sum()
    assert y[1] == (x[begin:end].sum() if 0 <= begin <= end <= 6 else 0)


@intent.kernel
def blocks(x: I.In[I.f32, ("8 * B",)], y: I.Out[I.f32, ("8 * B",)], step: I.index, n: I.Out[I.i64, ()]):
    for begin in I.parallel(I.domain(0, x.shape[0], 8)):
        y[begin : begin + 8] = x[begin : begin + 8] * 2
    count = 0
    for _ in range(0, x.shape[0], I.maximum(step, 1)):
        count += 1
    n[()] = count


def test_members_of_a_domain_are_a_step_apart_and_whole_steps_lead_to_its_end(run):
    x, y, n = RNG.random(24, np.float32), np.zeros(24, np.float32), np.zeros((), np.int64)
    run(blocks, x=x, y=y, step=5, n=n, B=3)
    assert (y == 2 * x).all()
    assert n == 5


@pytest.mark.parametrize("wrong", ["begin : begin + 9", "begin + 1 : begin + 9", "begin : begin + 8, None"])
def test_blocks_that_are_wider_than_the_step_or_end_behind_it_are_refused(wrong):
    extents = '("8 * B",)' if "9" in wrong else '("8 * B + 1",)'
    text = f"""
@intent.kernel
def k(y: I.Out[I.f32, {extents}]):
    for begin in I.parallel(I.domain(0, y.shape[0], 8)):
        y[{wrong}] = 1.0
"""
    with pytest.raises(intent.CompileError) as found:
        executed(text)["k"].capture()
    assert found.value.code == "E309"
