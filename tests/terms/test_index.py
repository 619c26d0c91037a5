"""Launch expressions are the programs of a language of their own."""

from collections.abc import Iterator

import pytest

from intent_np.terms.core import Arena
from intent_np.terms.dtypes import f32, index
from intent_np.terms.index import INDEX, Extent, Physical, apply, const
from intent_np.terms.normal import NORMAL, Axis, Coord, Load, View
from intent_np.terms.parse import parse
from intent_np.terms.text import show


@pytest.fixture(autouse=True)
def arena() -> Iterator[None]:
    with Arena():
        yield


def test_a_grid_is_a_program() -> None:
    grid = apply("ceil_div", Extent("M"), Physical("BM", 64))
    assert INDEX.check(grid) == []
    assert parse(show(grid), INDEX) is grid


def test_what_varies_or_reads_memory_is_none() -> None:
    row = Coord(Axis(const(0), Extent("M")))
    x = View("x", "in", f32, (Extent("M"),), (const(1),))
    lens = View("lens", "in", index, (), ())
    assert [p.split(":")[0] for p in INDEX.check(row)] == ["index has no Axis", "index has no Coord"]
    assert "index has no Load" in INDEX.check(Load(lens, ()))[-1]
    assert any("index has no View" in problem for problem in INDEX.check(Load(x, (row,))))


def test_a_root_that_is_no_sort_is_exact() -> None:
    assert NORMAL.check(const(1))[0] == "normal: a program is a Program, not a Const"
