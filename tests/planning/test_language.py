"""What is no plan, and why."""

import pytest

from intent_np.terms.core import Arena
from intent_np.terms.parse import parse
from intent_np.terms.plan import PLAN, Plan

HEAD = """
M = extent
N = extent
x = view in f32[M, N] strides [N, 1]
y = view out f32[M, N] strides [N, 1]
z = view out f32[M] strides [1]
m = axis 0..M
n = axis 0..N
sum = combine [f32] arg(a, 0, f32) + arg(b, 0, f32)
l = load x[m, n]
r = reduce sum over n of l from 0.0:f32
first = walked n turn 1
second = walked n turn 2
t = turn t over n
each = walked t turn 3
in_each = walked n turn 1 in each
early = behind 1
late = behind 2 in each
later = behind 4
c = carry(t, 0, f32, [m])
s = summed r of ((taken l at first)) in first
"""

ROLES = "planned ((assigned space of m by 1), (assigned loop of n by 16))"
HELD = "planned ((assigned space of m by 1), (assigned whole of n by 16))"


def plan(body: str, roles: str = ROLES) -> str:
    return f"{HEAD}{roles} {{\n  {body}\n}}"


def test_a_plan_that_is_one() -> None:
    with Arena():
        found = parse(plan("performed (store z[m] = r) of s"), PLAN)
        assert isinstance(found, Plan)
        assert PLAN.check(found) == []


def test_what_comes_before_is_at_hand_in_a_loop_and_behind_it() -> None:
    with Arena():
        found = parse(plan("performed (store z[m] = r) of (computed neg((taken r at early)) at late) at later"), PLAN)
        assert [told.split(":")[0] for told in PLAN.check(found)] == ["an operand is at another place"]
        found = parse(plan("performed (store z[m] = r) of (computed neg((taken r at early)) at late) at late"), PLAN)
        assert PLAN.check(found) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (plan("performed (store y[m, n] = l) of s at first"), "the loop is not over where its result is used"),
        (
            plan(
                "performed (store y[m, n] = l) of "
                "(computed mul((taken l at first), (taken l at second)) at first) at first"
            ),
            "an operand is at another place",
        ),
        (plan("performed (store y[m, n] = l) of (taken l)"), "whose loop is not open"),
        (plan("performed (store z[m] = r) of (held r of ((taken l)))"), "a fragment that does not hold its axis"),
        (plan("performed (store z[m] = r) of (taken c at later) at later"), "which is not open"),
        (plan("performed (store z[m] = r) of s at early"), "the loop is not over where its result is used"),
        (
            plan("performed (store z[m] = r) of (summed r of ((taken l at in_each)) in in_each) at later"),
            "the loop is not over where its result is used",
        ),
        (plan("performed (store z[m] = r) of (taken r at later) at late"), "an operand is at another place"),
        (plan("performed (store z[m] = r) of s", HELD), "a loop over an axis that is not walked"),
    ],
)
def test_what_is_no_plan_is_told(text: str, complaint: str) -> None:
    with Arena():
        assert any(complaint in told for told in PLAN.check(parse(text, PLAN)))


def test_an_axis_has_a_role_and_a_block_or_neither() -> None:
    with Arena(), pytest.raises(Exception, match="roles space, whole, loop and a block, or neither"):
        parse("M = extent\naxis 0..M as loop by 0", PLAN)
