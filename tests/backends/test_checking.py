"""Checking mode: accesses outside, points that meet, promises, and the calls of artifacts."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.errors import CheckError
from intent_np.testing import arguments, check_calls, check_kernel, generated_calls
from kernels.softmax import softmax

from .checked import checked_text, codes


@intent.kernel
def product(a: I.In[I.i32, ("M", "K")], b: I.In[I.i32, ("K", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[:, :] = I.matmul(a[:, :], 6 // b[:, :], acc_dtype=I.i32)


@intent.fn
def later(summary, state):
    return state + summary


def test_an_access_outside_is_found_at_its_first_point_and_the_run_goes_on():
    y = np.zeros(3, np.int64)
    checked = checked_text("  parallel i:\n    write y[i] = read x[i + (read x[i])]", [0, 1, 1], y)
    assert codes(checked) == ["E502"]
    assert "index 3 on axis 0, at i = 2" in checked.findings[0].found
    np.testing.assert_array_equal(y[:2], [0, 1])


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("parallel i:\n write y[(read x[i])] = 1", "element [2]: the point i = 0 writes it too, at i = 2"),
        ("parallel i:\n write y[i] = read y[(read x[i])]", "element [2]: another point reads it, at i = 2"),
        ("parallel j:\n write y[(along n)] = read x[j]", "element [0]: the point j = 0 writes it too, at j = 1"),
    ],
)
def test_points_that_meet_are_found(body: str, found: str):
    body = "\n".join(f"  {line}" for line in body.split("\n"))
    checked = checked_text(body, [2, 1, 2])
    assert "E505" in codes(checked)
    assert found in checked.findings[0].found


def test_points_of_one_statement_after_the_other_do_not_meet():
    body = "  parallel i:\n    write y[i] = read x[i]\n  parallel i:\n    write y[(read x[i])] = 1"
    assert codes(checked_text(body, [2, 1, 0])) == []
    nested = "  parallel i:\n    parallel j:\n      write y[i] = 1"
    assert codes(checked_text(nested, [2, 1, 0])) == ["E505"]
    later = "  parallel j:\n    write y[j] = 1\n    write y[j] = 2"
    assert codes(checked_text(later, [2, 1, 0])) == []


def test_views_that_share_memory_share_their_shadow():
    memory = np.arange(6, dtype=np.int64)
    checked = checked_text("  parallel i:\n    write y[i] = read x[i]", memory[:4], memory[2:])
    assert codes(checked) == ["E505"]
    apart = checked_text("  parallel i:\n    write y[i] = read x[i]", memory[::2], memory[1::2])
    assert codes(apart) == []


@intent.kernel
def counted(
    x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], y: I.InOut[I.i32, (4,)], z: I.Out[I.i32, ("N",)],
):  # fmt: skip
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        place = I.assume_in_bounds(at[i], y, axis=0)
        z[i] = I.atomic.add(y, index=place, value=12 // x[i])


def test_atomic_accesses_meet_and_carry_poison():
    given = {"x": np.int32([1, 2, 3]), "at": np.array([1, 1, 2]), "y": np.zeros(4, np.int32)}
    outputs = {"z": np.zeros(3, np.int32)}
    assert codes(check_kernel(counted, given | outputs)) == []
    np.testing.assert_array_equal(given["y"], [0, 18, 4, 0])
    given["x"][0] = 0
    checked = check_kernel(counted, given | outputs)
    assert codes(checked) == ["E507"]
    np.testing.assert_array_equal(checked.poison["y"], [0, 1, 0, 0])


def test_a_promise_of_bounds_is_tried_where_it_is_made():
    given = {"x": np.int32([1, 2, 3]), "at": np.array([1, 4, 2]), "y": np.zeros(4, np.int32)}
    checked = check_kernel(counted, given | {"z": np.zeros(3, np.int32)})
    assert sorted(codes(checked)) == ["E502", "E510"]
    assert "index 4, at i = 1" in str(checked)


@intent.kernel
def scattered(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], y: I.InOut[I.i32, ("M",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        place = I.assume_unique(I.assume_in_bounds(at[i], y, axis=0))
        y[place] = x[i]


def test_a_promise_of_difference_is_tried_and_what_meets_is_a_race():
    given = {"x": np.int32([1, 2, 3]), "at": np.array([3, 0, 1]), "y": np.zeros(4, np.int32)}
    assert codes(check_kernel(scattered, given)) == []
    given["at"][2] = 3
    checked = check_kernel(scattered, given)
    assert sorted(codes(checked)) == ["E505", "E510"]
    assert "[3] a second time, at i = 2" in str(checked)


def test_an_artifact_for_the_reference_checks_its_calls():
    artifact = intent.compile(product, target="reference", options=intent.CompileOptions(check=True))
    with pytest.raises(CheckError, match="E507"):
        artifact(np.ones((2, 2), np.int32), np.zeros((2, 3), np.int32), np.zeros((2, 3), np.int32))
    artifact(np.ones((2, 2), np.int32), np.ones((2, 3), np.int32), y := np.zeros((2, 3), np.int32))
    assert (y == 12).all()


def test_generated_calls_check_a_kernel_that_nothing_is_known_of():
    checked = check_calls(product, generated_calls(product))
    assert codes(checked) == ["E507"]
    assert checked.findings[0].detail.startswith("in the call ")


@pytest.mark.parametrize("layout", ["contiguous", "negative", "random"])
def test_nothing_is_found_in_a_kernel_that_is_right(layout: str):
    given = arguments(softmax, {"M": 5, "N": 17}, layout=layout)
    checked = check_kernel(softmax, given)
    assert checked.ok, str(checked)
    assert not checked.remarks
    np.testing.assert_allclose(given["y"].astype(np.float64).sum(1), 1, atol=1e-2)


@intent.kernel
def shared_buffer(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], y: I.Out[I.i32, ("N",)]):
    (N,) = x.shape
    b = I.buffer((4,), I.i32, init=0)
    for i in I.parallel(I.domain(0, N)):
        b[I.assume_unique(I.assume_in_bounds(at[i], b, axis=0))] = x[i]
    for i in I.parallel(I.domain(0, N)):
        y[i] = b[I.assume_in_bounds(at[i], b, axis=0)]


def test_points_that_meet_in_a_buffer_are_found():
    given = {"x": np.int32([5, 6, 7]), "at": np.array([2, 0, 1]), "y": np.zeros(3, np.int32)}
    checked = check_kernel(shared_buffer, given)
    assert codes(checked) == [], str(checked)
    assert given["y"].tolist() == [5, 6, 7]
    given["at"][2] = 2
    checked = check_kernel(shared_buffer, given)
    (race,) = [f for f in checked.findings if f.code == "E505"]
    assert "'b'" in race.title
    assert "element [2]: the point i = 0 writes it too, at i = 2" in race.found
