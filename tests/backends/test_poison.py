"""Poison in checking mode: where it comes from, what it passes through, and where it is an error."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import check_kernel

from .checked import checked_text, codes


@intent.fn
def quotient(a, b):
    return a // b


@intent.kernel
def averages(x: I.In[I.i32, ("N", 4)], d: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    N, _ = x.shape
    k = I.domain(0, 4)
    for i in I.parallel(I.domain(0, N)):
        y[i] = I.reduce.sum(quotient(x[i, k], d[i]), axis=0)
        total = I.cast(0, I.i32)
        for c in I.domain(0, 3):
            total = total + quotient(x[i, 0], d[i] - I.cast(c, I.i32))
        z[i] = total


def test_poison_passes_helpers_reductions_and_carries():
    given = {"x": np.ones((5, 4), np.int32), "d": np.int32([7, 0, 1, 2, 3])}
    checked = check_kernel(averages, given | {"y": np.zeros(5, np.int32), "z": np.zeros(5, np.int32)})
    np.testing.assert_array_equal(checked.poison["y"], [0, 1, 0, 0, 0])
    np.testing.assert_array_equal(checked.poison["z"], [0, 1, 1, 1, 0])
    assert codes(checked) == [
        "E507",
    ]
    assert "1 // 0" in checked.findings[0].found
    assert "i = 1" in checked.findings[0].found


@intent.kernel
def decided(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)], w: I.Out[I.i32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        y[i] = 1
        if 1 // x[i] > 0:
            y[i] = 2
        z[i] = I.select(x[i] != 0, 8 // x[i], -1)
        w[i] = 5 // x[i] if x[i] != 0 else 0


def test_poison_is_an_error_in_a_condition_and_none_behind_a_select():
    x = np.int32([4, 0, 1])
    y, z, w = (np.zeros(3, np.int32) for _ in range(3))
    checked = check_kernel(decided, {"x": x, "y": y, "z": z, "w": w})
    assert codes(checked) == ["E507"]
    assert checked.findings[0].span.text.strip() == "if 1 // x[i] > 0:"
    assert "it reaches a condition" in checked.findings[0].render()
    np.testing.assert_array_equal(z, [2, -1, 8])
    np.testing.assert_array_equal(w, [1, 0, 5])
    assert not checked.poison["z"].any()
    assert not checked.poison["w"].any()


@intent.kernel
def product(a: I.In[I.i32, ("M", "K")], b: I.In[I.i32, ("K", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[:, :] = I.matmul(a[:, :], 6 // b[:, :], acc_dtype=I.i32)


def test_a_contraction_is_poisoned_where_a_product_is():
    b = np.int32([[1, 2, 3], [1, 0, 1]])
    checked = check_kernel(product, {"a": np.ones((2, 2), np.int32), "b": b, "y": np.zeros((2, 3), np.int32)})
    np.testing.assert_array_equal(checked.poison["y"], [[0, 1, 0], [0, 1, 0]])
    assert codes(checked) == ["E507"]
    assert "6 // 0" in checked.findings[0].found


def test_poison_is_found_in_addresses():
    checked = checked_text("  parallel i:\n    write y[i] = read x[0 // (read x[i])]", [1, 0, 3])
    assert codes(checked) == ["E507"]
    assert "an address" in str(checked)


def test_poison_in_other_lanes_is_none_of_a_statement_s_business():
    body = "  parallel i:\n    branch 0 < (read x[i]):\n      write y[(0 // (read x[i]))] = 1\n    else:"
    assert codes(checked_text(body, [1, 0, 0])) == []
    assert codes(checked_text(body.replace("0 < (read x[i])", "i < 1"), [0, 1, 1])) == ["E507"]


def test_poison_is_found_in_the_bounds_of_domains():
    more = "q = domain 0..(0 // (read x[0]))\nl = member of q\n"
    body = "  parallel l:\n    write y[l] = 1"
    assert codes(checked_text(body, [1, 0, 0], more=more)) == []
    checked = checked_text(body, [0, 1, 1], more=more)
    assert codes(checked) == ["E507"]
    assert "it reaches the bounds of a domain" in str(checked)


def test_what_stands_under_a_condition_that_does_not_hold_is_no_finding():
    body = "  write y[0] = 7\n  branch 5 < N:\n    write y[0] = read y[5]\n  else:"
    assert codes(checked_text(body, [1, 2, 3])) == []


@intent.kernel
def decided_by_poison(x: I.In[I.i32, ("N",)], n: I.i32, y: I.Out[I.f32, ("N",)], z: I.Out[I.i32, ("N",)]):
    (N,) = x.shape
    y[:] = I.cast(I.select(6 // x[:] > 1, 6 // x[:], 2), I.f32)
    for i in I.parallel(I.domain(0, N)):
        z[i] = 5 // n + x[i]


def test_a_condition_poisons_what_it_chooses_and_a_scalar_every_point():
    given = {"x": np.int32([1, 0, 4]), "n": 0, "y": np.zeros(3, np.float32), "z": np.zeros(3, np.int32)}
    checked = check_kernel(decided_by_poison, given)
    np.testing.assert_array_equal(checked.poison["y"], [0, 1, 0])
    np.testing.assert_array_equal(checked.poison["z"], [1, 1, 1])
    assert codes(checked) == ["E507", "E507"]


@intent.kernel
def halvings(x: I.In[I.i32, ("N",)], d: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        value = x[i]
        while value > 1:
            value = value // d[i]
        y[i] = value


def test_lanes_that_have_left_a_loop_keep_what_they_left_with():
    given = {"x": np.int32([1, 9, 8]), "d": np.int32([0, 3, 2]), "y": np.zeros(3, np.int32)}
    assert codes(check_kernel(halvings, given)) == []
    np.testing.assert_array_equal(given["y"], [1, 1, 1])
    given = {"x": np.int32([1, 9, 8, 7]), "d": np.int32([0, 3, 2, 0]), "y": np.zeros(4, np.int32)}
    checked = check_kernel(halvings, given)
    assert codes(checked) == ["E507"]
    np.testing.assert_array_equal(checked.poison["y"], [0, 0, 0, 1])


@intent.kernel
def running(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    y[:] = I.cumsum(12 // x[:], axis=0)
    z[:] = I.sort(12 // x[:], axis=0)


def test_a_scan_is_poisoned_from_the_first_poisoned_member_on():
    given = {"x": np.int32([1, 2, 0, 3]), "y": np.zeros(4, np.int32), "z": np.zeros(4, np.int32)}
    checked = check_kernel(running, given)
    np.testing.assert_array_equal(checked.poison["y"], [0, 0, 1, 1])
    np.testing.assert_array_equal(checked.poison["z"], [1, 1, 1, 1])


def test_a_failing_assertion_is_a_finding_and_the_run_goes_on():
    body = "  parallel i:\n    assert 0 < (read x[i]) else positive\n    write y[i] = read x[i]"
    y = np.zeros(4, np.int64)
    checked = checked_text(body, [1, 2, -3, -4], y)
    assert codes(checked) == ["E520"]
    assert "at i = 2" in checked.findings[0].found
    np.testing.assert_array_equal(y, [1, 2, -3, -4])


@intent.kernel
def buffered(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        b = I.buffer((4,), I.i32)
        for j in I.domain(0, 4):
            if x[i] > I.cast(j, I.i32):
                b[j] = 10
        y[i] = b[0] + b[1]


def test_an_element_of_a_buffer_that_nobody_wrote_is_poison():
    checked = check_kernel(buffered, {"x": np.int32([4, 2, 1]), "y": np.zeros(3, np.int32)})
    assert codes(checked) == ["E504"]
    np.testing.assert_array_equal(checked.poison["y"], [0, 0, 1])
