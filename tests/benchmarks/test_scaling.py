"""The measure of how passes grow: exponents of known times, and shapes that compile to programs of the sizes told."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest

from benchmarks.scaling import HEAD, SHAPES, Point, _compiled, exponent, measured, plot, report


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_the_exponent_of_a_power_is_that_power(power: float) -> None:
    points = [Point(n, {"one": n**power * 1e-3, "other": 0.0}) for n in (10, 20, 40, 80)]
    assert exponent(points, lambda p: p.total) == pytest.approx(power)
    assert f"{power:8.2f}" in report("shape", points)[1]


@pytest.mark.parametrize("shape", SHAPES)
def test_programs_grow_with_their_statements(shape: str) -> None:
    small, large = (measured(HEAD + SHAPES[shape](n)) for n in (40, 160))
    assert 2 < large.terms / small.terms < 5
    assert {"capture", "emit", "print"} <= set(large.seconds)


def calls(text: str) -> int:
    """The calls of Python functions in a compilation: the same on any machine, however busy."""
    count = 0

    def told(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(told)
    try:
        _compiled(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_program_is_twice_the_work(shape: str) -> None:
    _compiled(HEAD + SHAPES[shape](20))  # what is imported and declared once
    small, large = (calls(HEAD + SHAPES[shape](n)) for n in (400, 800))
    assert large < 2.2 * small


def test_the_plot_is_a_picture() -> None:
    points = [Point(n, {"one": n * 1e-3}) for n in (10, 20, 40)]
    assert ElementTree.fromstring(plot({"shape": points})).tag.endswith("svg")
