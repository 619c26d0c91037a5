"""Random programs mean the same as printed Triton, whatever the blocks and the width of an index."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from intent_np.backends.triton.printer import print_triton
from intent_np.errors import CompileError
from intent_np.passes.pipeline import run as passes
from intent_np.rules.magnitude import large_indices
from intent_np.terms.core import Arena
from intent_np.terms.dtypes import i32
from intent_np.terms.index import Cast, Extent, add, apply, const, is_const, lt, select
from intent_np.terms.normal import Axis, Coord, Program, Store
from intent_np.testing.triton_interpreter import interpret, unavailable

from .machine_programs import reduction, view
from .test_machine_levels import EXTENTS, NAMES, SHAPES, agree, arguments, choices, element, over, programs, result

BITS = st.sampled_from([32, 64])


def every_pass(options: dict[str, Any]) -> dict[str, Any]:
    """These options of passes, and every pass."""
    return {"options": options, "disable": set()}


def check_triton(program: Program, extents: dict[str, int], options: dict[str, Any], bits: int) -> None:
    """The printed text in the interpreter computes what the program does."""
    if reason := unavailable():
        pytest.skip(reason)
    given_ = arguments(program, extents)
    expected = result(program, given_, extents)
    given_options = options["options"] | {"lower_to_triton": {"index_bits": bits}}
    launch = passes(program, check=True, options=given_options, disable=options["disable"])
    arrays = {n: a.copy(order="K") if n in "yz" else a for n, a in given_.items()}
    text = print_triton(launch.function)
    interpret(launch, text, arrays, extents)
    agree(expected, {n: arrays[n] for n in "yz"}, text)


@given(st.data(), EXTENTS, choices(), BITS, st.booleans())
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_printed_triton_is_the_program(
    data: st.DataObject, extents: dict[str, int], options: dict[str, Any], bits: int, ragged: bool
) -> None:
    with Arena():
        program = data.draw(programs(ragged=ragged))
        if any(t is not None and is_const(t) for t in large_indices(program.effects)):
            reject()  # the interpreter takes a Python number for a narrow one
        try:
            check_triton(program, extents, options, bits)
        except CompileError as refusal:
            if refusal.code not in ("E707", "E708"):
                raise
            reject()


def test_a_name_that_stood_for_another_is_not_assigned_to_it() -> None:
    with Arena():
        m, n, m1 = over("M"), over("N"), over("M", 1)
        at = Coord(m1)
        inside = apply("and", lt(at, Extent("K")), lt(at, Extent("N")))
        trace = reduction("sum", m1, element("NK", at, at, valid=inside))
        first = add(trace, reduction("sum", n, apply("maximum", trace, element("M", Coord(m)))))
        chosen = select(lt(const(0), Coord(m)), Cast(Coord(m), i32), Cast(Coord(n), i32))
        value = add(first, reduction("sum", m1, apply("maximum", first, reduction("sum", n, chosen))))
        outputs = [view(name, "inout", i32, Extent("M")) for name in "yz"]
        inputs = [view(f"in_{s}", "in", i32, *(Extent(e) for e in s)) for s in SHAPES]
        store = Store(outputs[0], (Coord(m),), value, lt(Coord(m), Extent("M")))
        program = Program("found", (*inputs, *outputs, *(Extent(e) for e in NAMES)), (store,))
        sizes = dict.fromkeys(("m", "m1", "n", "n1"), 1)
        options = every_pass({"block_axes": {"sizes": sizes, "lanewise": False}})
        for bits in (32, 64):
            check_triton(program, {"M": 2, "N": 0, "K": 0}, options, bits)


def test_the_condition_of_a_selection_is_no_index() -> None:
    with Arena():
        m = over("M")
        wide = select(lt(Coord(m), Extent("N")), Coord(m), const(2**31))
        outputs = [view(name, "inout", i32, Extent("M")) for name in "yz"]
        inputs = [view(f"in_{s}", "in", i32, *(Extent(e) for e in s)) for s in SHAPES]
        value = select(lt(wide, const(7)), Cast(Coord(m), i32), element("M", Coord(m)))
        program = Program(
            "found", (*inputs, *outputs, *(Extent(e) for e in NAMES)), (Store(outputs[0], (Coord(m),), value),)
        )
        for bits in (32, 64):
            passes(program, check=True, options={"lower_to_triton": {"index_bits": bits}})


def test_a_bound_may_be_the_point_of_an_instance() -> None:
    with Arena():
        m, n, k = over("M"), over("N"), over("K")
        row = reduction("sum", k, element("NK", Coord(n), Coord(k)))
        tail = reduction("sum", Axis(Coord(n), Extent("M")), apply("maximum", row, element("MN", Coord(m), Coord(n))))
        outputs = [view(name, "inout", i32, Extent("M"), Extent("N")) for name in "yz"]
        inputs = [view(f"in_{s}", "in", i32, *(Extent(e) for e in s)) for s in SHAPES]
        store = Store(outputs[0], (Coord(m), Coord(n)), add(row, tail))
        program = Program("found", (*inputs, *outputs, *(Extent(e) for e in NAMES)), (store,))
        check_triton(program, {"M": 3, "N": 5, "K": 7}, every_pass({"block_axes": {"sizes": {"m": 2, "k": 2}}}), 64)
