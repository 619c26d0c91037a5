"""Checking mode: what poison reaches, which points meet, and that nothing is found where nothing is wrong."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.reference.checking import check
from intent_np.errors import CheckError
from intent_np.terms.core import Arena
from intent_np.terms.logical import LOGICAL
from intent_np.terms.parse import parse
from intent_np.testing import arguments, check_calls, check_kernel, generated_calls
from kernels.softmax import softmax


def codes(checked: Any) -> list[str]:
    return [one.code for one in checked.findings]


HEAD = """\
N = extent
x_s0 = stride x 0
x = view in index[N] strides [x_s0]
y_s0 = stride y 0
y = view inout index[N] strides [y_s0]
n = domain 0..N
two = domain 0..2
i = member of n
j = member of two
k = member of two depth 1
"""


def checked_text(body: str, x: Any, y: Any = None, more: str = "") -> Any:
    """The findings of statements on two vectors of N elements."""
    x = np.asarray(x, np.int64)
    y = np.zeros(len(x), np.int64) if y is None else y
    with Arena():
        program = parse(f"{HEAD}{more}logical @k(x, y) {{\n{body}\n}}\n", LOGICAL)
        return check(program, {"x": x, "y": y})


# ---- where poison goes


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


# ---- combines


@intent.fn
def modular(a, b, modulus):
    return (a + b) % modulus


@intent.fn
def first_of(a, b):
    return I.select(a == 0, b, a)


@intent.kernel
def combining(
    x: I.In[I.i32, ("N",)], modulus: I.i32, y: I.Out[I.i32, ()], z: I.Out[I.i32, ()], w: I.Out[I.i32, ("N",)]
):
    y[()] = I.reduce(x[:], axis=0, identity=0, combine=modular, combine_operands=(modulus,))
    z[()] = I.reduce(x[:], axis=0, identity=0, combine=first_of)
    w[:] = I.scan(x[:], axis=0, identity=0, combine=first_of, inclusive=True)


def combined(modulus: int) -> Any:
    outputs = {"y": np.zeros((), np.int32), "z": np.zeros((), np.int32), "w": np.zeros(4, np.int32)}
    return check_kernel(combining, {"x": np.int32([1, 2, 0, 3]), "modulus": modulus} | outputs)


def test_a_reduction_commutes_and_a_scan_need_not():
    (broken,) = combined(1000).findings
    assert (broken.code, broken.expected) == ("E503", "combine(a, b) == combine(b, a)")
    assert broken.span.text.strip().startswith("z[()]")


def test_poison_that_arises_in_a_combine_reaches_its_result():
    checked = combined(0)
    assert "E507" in codes(checked)
    assert checked.poison["y"]
    assert not checked.poison["z"]


@intent.fn
def moments(a, b):
    n = a[0] + b[0]
    apart = b[1] - a[1]
    share = I.select(n > 0.0, b[0] / n, 0.0)
    return n, a[1] + apart * share, a[2] + b[2] + apart * apart * a[0] * share


@intent.kernel
def variance(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    (N,) = x.shape
    one = I.full((N,), 1.0, I.f32)
    _, _, total = I.reduce((one, x[:], x[:] * 0.0), axis=0, identity=(0.0, 0.0, 0.0), combine=moments)
    y[()] = total


def test_rounding_is_not_taken_for_a_broken_law():
    x = np.float32(1e4) + np.random.default_rng(0).standard_normal(100).astype(np.float32)
    assert codes(check_kernel(variance, {"x": x, "y": np.zeros((), np.float32)})) == []


# ---- loops and scans


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


# ---- laws of regions


@intent.fn
def scores(x):
    top = I.reduce.max(x, axis=0)
    return top, I.reduce.sum(I.exp(x - top), axis=0)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def together(a, b):
    top = I.maximum(a[0], b[0])
    return top, a[1] * I.exp(a[0] - top) + b[1] * I.exp(b[0] - top)


@intent.fn
def forgetful(a, b):
    return I.maximum(a[0], b[0]), a[1] + b[1]


@intent.kernel
def normalizer(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()], WELL: I.Constexpr[bool] = True):
    top, total = I.region_fold(
        x[:], 0, summarize=scores, combine=together if WELL else forgetful, identity=(-1.0e30, 0.0)
    )
    y[()] = top + I.log(total)


def test_a_fold_is_tried_at_several_cuts():
    given = {"x": np.float32([0, 3, 1, 2, -1]), "y": np.zeros((), np.float32)}
    assert codes(check_kernel(normalizer, given)) == []
    checked = check_kernel(normalizer, given, {"WELL": False})
    assert set(codes(checked)) == {"E503"}
    assert "summarize(A ++ B) == combine(summarize(A), summarize(B))" in {f.expected for f in checked.findings}
    assert "component 1" in checked.findings[0].found


@intent.fn
def run_total(x):
    return I.reduce.sum(x, axis=0)


@intent.fn
def later(summary, state):
    return state + summary


@intent.fn
def earlier(summary, state):
    return state


@intent.fn
def shown(x, state):
    return I.cumsum(x, axis=0) + state


@intent.kernel
def totals(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)], last: I.Out[I.i64, ()], WELL: I.Constexpr[bool] = True):
    y[:], last[()] = I.region_scan(
        source=x[:], axis=0, summarize=run_total, combine=plus, identity=0, initial_state=5,
        apply=later if WELL else earlier, emit=shown,
    )  # fmt: skip


def test_states_and_outputs_of_a_region_scan_are_tried():
    given = {"x": np.arange(1, 6), "y": np.zeros(5, np.int64), "last": np.zeros((), np.int64)}
    assert codes(check_kernel(totals, given)) == []
    checked = check_kernel(totals, given, {"WELL": False})
    assert "emit(A ++ B, state)" in str(checked)


@intent.kernel
def quotients(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)], last: I.Out[I.i64, ()]):
    y[:], last[()] = I.region_scan(
        source=12 // x[:], axis=0, summarize=run_total, combine=plus, identity=0, initial_state=5, apply=later,
        emit=shown,
    )  # fmt: skip


def test_poison_goes_through_slices():
    given = {"x": np.array([1, 2, 0, 3, 4]), "y": np.zeros(5, np.int64), "last": np.zeros((), np.int64)}
    checked = check_kernel(quotients, given)
    assert codes(checked) == ["E507"]
    np.testing.assert_array_equal(checked.poison["y"], [0, 0, 1, 1, 1])
    assert checked.poison["last"]


# ---- accesses


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


# ---- atomic accesses and promises


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


# ---- the doors


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


# ---- memory that points share


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
    assert "'buffer'" in race.title
    assert "element [2]: the point i = 0 writes it too, at i = 2" in race.found


@intent.kernel
def gathered_up(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], y: I.InOut[I.i32, (4,)], k: I.i32):
    for i in I.parallel(I.domain(0, x.shape[0])):
        p = I.assume_in_bounds(at[i], y, axis=0)
        I.scatter_reduce(y, index=p, value=x[i], combine=I.maximum)
    for i in I.parallel(I.domain(0, x.shape[0])):
        p = I.assume_in_bounds(at[i], y, axis=0)
        I.scatter_reduce(y, index=p, value=x[i], combine=modular, combine_operands=(k,))


@intent.kernel
def last_wins(x: I.In[I.i32, ("N",)], at: I.In[I.index, ("N",)], y: I.InOut[I.i32, (4,)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=I.assume_in_bounds(at[i], y, axis=0), value=x[i], combine=first_of)


def test_what_is_combined_into_elements_obeys_its_laws():
    given = {"x": np.int32([5, 6, 7, 1]), "at": np.array([2, 0, 2, 1]), "y": np.zeros(4, np.int32)}
    assert codes(check_kernel(gathered_up, given | {"k": 100})) == []
    (broken,) = check_kernel(last_wins, given).findings
    assert (broken.code, broken.expected) == ("E503", "combine(a, b) == combine(b, a)")


@intent.kernel
def numbered(x: I.In[I.i32, ("N",)], c: I.InOut[I.i32, (1,)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        n = I.atomic.add(c, index=0, value=1)
        I.debug_assert(n != 0 or x[i] > 0, "the first is positive")
        y[i] = n


def test_what_only_another_order_of_points_shows_is_found():
    given = {"x": np.int32([1] + [-1] * 40), "c": np.zeros(1, np.int32), "y": np.zeros(41, np.int32)}
    checked = check_kernel(numbered, given)
    assert codes(checked) == ["E520"]
    assert "in another order of the points" in checked.findings[0].render()
    assert (given["c"][0], given["y"].tolist()) == (41, [*range(41)])  # the order of the call is the plain one
