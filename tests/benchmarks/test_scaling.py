"""The measure of how passes grow: exponents of known times, and shapes that compile to programs of the sizes told."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.scaling import HEAD, SHAPES, Point, exponent, measured, plot, report


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


def test_many_stores_are_no_matter_of_pairs() -> None:
    """Twice the stores cost less than thrice the time, in every pass that takes some."""
    small, large = (measured(HEAD + SHAPES["stores"](n)) for n in (640, 1280))
    assert all(s < 3.5 * small.seconds[name] or s < 0.5 for name, s in large.seconds.items())


def test_the_plot_is_a_picture() -> None:
    points = [Point(n, {"one": n * 1e-3}) for n in (10, 20, 40)]
    assert ElementTree.fromstring(plot({"shape": points})).tag.endswith("svg")
