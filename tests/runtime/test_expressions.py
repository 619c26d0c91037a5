"""The host's integer expressions: one small grammar, Python's integers, no evaluation of code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_np.runtime.expressions import expression

VALUES = {"M": 7, "N": 1000, "x_s0": -3, "x.s1": 1, "flag": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("M", 7),
        ("x.s1 + x_s0", -2),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("-M + 1", -6),
        ("2 - -3", 5),
        ("x_s0 // 2", -2),
        ("x_s0 % 2", 1),
        ("cdiv(N, 128)", 8),
        ("ceil_div(N, 128) * ceil_div(M, 4)", 16),
        ("min(M, N) + max(M, N)", 1007),
        ("minimum(M, -3)", -3),
        ("select(M < 8, 1, 2)", 1),
        ("M <= 7 && N != 1000 || flag == 0", 1),
        ("not(M > 7)", 1),
        ("cast(M, i32) + 3:i32", 10),
        ("cast(cast(N, u8), index)", 232),
        ("cast(N, i8)", -24),
        ("cast(M, bool)", 1),
        ("select(true, 4, 5)", 4),
        ("abs(neg(M))", 7),
    ],
)
def test_value(text: str, value: int) -> None:
    assert expression(text)(VALUES) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "(1",
        "1)",
        "M N",
        "M ** 2",
        "__import__('os')",
        "f(1)",
        "min(1)",
        "lambda: 0",
        "M[0]",
        "1;2",
        "a=1",
        "1.5",
        "cast(M, f32)",
        "cast(M, i7)",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        expression(text)


def test_names_and_missing_values() -> None:
    found = expression("cdiv(M, 4) * N + x.s0")
    assert found.names == {"M", "N", "x.s0"}
    with pytest.raises(KeyError):
        found({"M": 1})


@pytest.mark.parametrize(
    ("text", "result", "solution"),
    [
        ("G + 1", 9, ("G", 8)),
        ("1 + G", 9, ("G", 8)),
        ("2 * G", 8, ("G", 4)),
        ("2 * G", 9, None),
        ("M - G", 3, ("G", 4)),
        ("G - M", 3, ("G", 10)),
        ("2 * (G + 1)", 8, ("G", 3)),
        ("cdiv(G, 64)", 1, None),
        ("G * H", 8, None),
        ("G + G", 8, None),
        ("M + 1", 8, None),
        ("0 * G", 0, None),
    ],
)
def test_an_extent_is_solved_for_where_that_is_unique(text: str, result: int, solution: object) -> None:
    assert expression(text).solve(result, VALUES) == solution


@given(st.integers(-99, 99), st.integers(-99, 99).filter(bool), st.integers(0, 3))
def test_division_is_pythons(a: int, b: int, spaces: int) -> None:
    gap = " " * spaces
    values = {"a": a, "b": b}
    assert expression(f"a{gap}//{gap}b")(values) == a // b
    assert expression(f"a%{gap}b")(values) == a % b
    assert expression(f"ceil_div({gap}a,b)")(values) == -(-a // b)
