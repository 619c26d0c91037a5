"""The triton language refuses what Triton would promote, broadcast or misread."""

from __future__ import annotations

import pytest

from intent_np.terms.core import Arena, replace
from intent_np.terms.dtypes import bool_, f16, f32, i8, i32, i64
from intent_np.terms.index import Extent, Physical, const
from intent_np.terms.operators import OPERATORS
from intent_np.terms.triton import (
    TRITON,
    UNIT,
    Arange,
    Assign,
    Block,
    BroadcastTo,
    Dot,
    Expand,
    Function,
    LoadAt,
    Name,
    Number,
    Parameter,
    Permute,
    Pointwise,
    ReduceCall,
    Size,
)

ADD, LESS, SELECT = (OPERATORS[n] for n in ("add", "lt", "select"))


@pytest.fixture(autouse=True)
def arena() -> object:
    with Arena() as space:
        yield space


def sizes() -> tuple[Physical, Physical]:
    return Physical("BM", 32), Physical("BN", 64)


def test_shapes_broadcast_by_position() -> None:
    m, n = sizes()
    row, column = Expand(Arange(n), (0,)), Expand(Arange(m), (1,))
    assert row.type == Block(i32, (UNIT, n))
    assert Pointwise(ADD, (row, column)).type == Block(i32, (m, n))
    assert Permute(Name("x", f32, (m, n)), (1, 0)).type == Block(f32, (n, m))
    with pytest.raises(TypeError, match=r"do not broadcast: \[BM\], \[BN\]"):
        Pointwise(ADD, (Arange(m), Arange(n)))
    with pytest.raises(TypeError, match="different ranks"):
        Pointwise(ADD, (Arange(m), column))
    with pytest.raises(TypeError, match=r"do not broadcast: \[BM\], \[BN\]"):
        BroadcastTo(Arange(m), (n,))


def test_only_i32_and_i64_mix() -> None:
    m, _ = sizes()
    assert Pointwise(ADD, (Arange(m), Name("k", i64))).type == Block(i64, (m,))
    with pytest.raises(TypeError, match="operands of i32, i8"):
        Pointwise(ADD, (Arange(m), Name("k", i8)))
    with pytest.raises(TypeError, match="does not fit i32"):
        Pointwise(ADD, (Arange(m), Number(2**31, i32)))
    chosen = Pointwise(SELECT, (Pointwise(LESS, (Arange(m), Size(m))), Number(1.0, f16), Name("x", f16)))
    assert chosen.type == Block(f16, (m,))


def test_dots_and_reductions_fit() -> None:
    m, n = sizes()
    left, right = Name("a", f16, (m, n)), Name("b", f16, (n, m))
    assert Dot(left, right, f32).type == Block(f32, (m, m))
    with pytest.raises(TypeError, match=r"dot of \[BM, BN\] with \[BM, BN\]"):
        Dot(left, left, f32)
    with pytest.raises(TypeError, match="the accumulator of a dot"):
        Dot(left, right, f32, Name("acc", f16, (m, m)))
    assert ReduceCall("sum", 1, (left,)).type == Block(f16, (m,))
    with pytest.raises(TypeError, match=r"\[BM, BN\] has no axis 2"):
        ReduceCall("sum", 2, (left,))
    with pytest.raises(TypeError, match="takes a helper"):
        ReduceCall("reduce", 1, (left,))


def test_masked_loads_say_what_masked_lanes_hold() -> None:
    m, _ = sizes()
    pointer = Parameter("N", Extent("N"), i32)
    with pytest.raises(TypeError, match="an access needs a pointer"):
        LoadAt(pointer)
    with pytest.raises(TypeError, match="its value"):
        Assign(Name("x", f32), Arange(m))


def test_names_are_bound_before_use_and_mean_one_thing() -> None:
    m, _ = sizes()
    x, y = Name("x", i32, (m,)), Name("y", i32, (m,))
    good = Function("f", (), (m,), const(1), (Assign(x, Arange(m)), Assign(y, x)))
    assert TRITON.check(good) == []
    assert TRITON.check(replace(good, body=(Assign(y, x),))) == ["x is used before it is bound"]
    twice = (Assign(x, Arange(m)), Assign(Name("x", bool_), Number(True, bool_)))
    assert TRITON.check(replace(good, body=twice)) == ["x names two things"]
    n = Parameter("N", Extent("N"), i32)
    assert TRITON.check(replace(good, body=(Assign(Name("z", i32), n),))) == ["N is no parameter of f"]
