"""`parse(show(t)) is t`: for generated terms of every language, and for every kernel of the corpus at every level."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import kernels
from intent_np.passes.pipeline import Trace, by_name, run
from intent_np.terms.blocked import BLOCKED
from intent_np.terms.core import Arena, walk
from intent_np.terms.dtypes import DTYPES, DType, f16, f32, f64, index
from intent_np.terms.gpu import GPU, Effect, For, If, Let
from intent_np.terms.grouped import GROUPED, GroupedProgram
from intent_np.terms.index import Const, Extent, Param, Value, add, apply, const
from intent_np.terms.language import Language
from intent_np.terms.launch import LAUNCH
from intent_np.terms.logical import LOGICAL, LogicalProgram
from intent_np.terms.normal import NORMAL, Axis, Coord, Program, View
from intent_np.terms.parse import ParseError, parse
from intent_np.terms.plan import PLAN
from intent_np.terms.text import brief, show
from intent_np.terms.triton import TRITON, Function
from intent_np.terms.triton_expressions import Expr
from intent_np.testing.strategies import FLOATS, INTEGERS, NAMES, terms
from tests.lowering import as_far_as_it_lowers

SORTS: tuple[tuple[Language, type[Any]], ...] = (
    (LOGICAL, Value), (LOGICAL, LogicalProgram), (NORMAL, Value), (NORMAL, Effect), (NORMAL, Program),
    (GROUPED, GroupedProgram), (BLOCKED, Value), (BLOCKED, Effect), (GPU, Value), (TRITON, Expr), (TRITON, Function),
    (LAUNCH, Value), (LAUNCH, LAUNCH.root), (PLAN, PLAN.root),
)  # fmt: skip


def same(t: Any, language: Language) -> None:
    """The text of `t` gives `t` in its own arena, and the same text again from another one."""
    text = show(t)
    assert parse(text, language) is t, text
    with Arena():
        assert show(parse(text, language)) == text


@pytest.mark.parametrize(("language", "sort"), SORTS, ids=[f"{a.name}-{b.__name__}" for a, b in SORTS])
def test_generated_terms_read_back(language: Language, sort: type[Any]) -> None:
    @settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(terms(language, sort))
    def check(t: Any) -> None:
        # statements stand in the body of a kernel, never inside of a value
        assume(language is not GPU or not any(isinstance(x, (For, If, Let)) for x in walk(t)))
        same(t, language)
        assert len(brief(t)) <= 160

    with Arena():
        check()


CLASSES: dict[str, dict[str, Any]] = {
    "generic": {},
    "one class": {"bounds": {"N": 1024, "K": 256}, "multiples": {"M": 16, "K": 64}, "unit": {"x": 1, "a": 1, "q": 3}},
}


@pytest.mark.parametrize("facts", CLASSES)
@pytest.mark.parametrize("case", kernels.cases(), ids=lambda case: case.name)
def test_kernels_read_back_at_every_level(case: Any, facts: str) -> None:
    numerics = case.options.get("numerics")
    for kernel, constexprs in case.launches:
        with Arena(), as_far_as_it_lowers():
            program = kernel.capture(constexprs, permissions=(numerics,) if numerics else ())
            same(program, LOGICAL)
            trace = Trace()
            run(program, trace=trace, options={"bind_class": CLASSES[facts]})
            previous: Any = None
            for name, stage in trace.programs.items():
                if stage is not previous:
                    same(stage, by_name(name).target)
                previous = stage


@pytest.mark.parametrize("name", NAMES, ids=json.dumps)
def test_any_name_reads_back(name: str) -> None:
    with Arena():
        n = Extent(name)
        same(n, NORMAL)
        same(Coord(Axis(const(0), n)), NORMAL)
        view = View(name, "in", f32, (n, Extent("M")), (n, const(1)))
        same(Program(name, (view, n, Param(name, f16)), (), (name, name)), NORMAL)


def test_two_things_of_one_name_are_told_apart() -> None:
    with Arena():
        short, long, number = Extent("load", 8), Extent("load", 9), Param("load", index)
        total = add(add(short, long), number)
        same(total, NORMAL)
        assert "as load" in show(total)


@pytest.mark.parametrize("d", DTYPES.values(), ids=str)
def test_constants_read_back_with_their_bits(d: DType) -> None:
    with Arena():
        for v in (True, False, *INTEGERS, *FLOATS):
            try:
                t = Const(v, d)
            except TypeError:  # no element of this type
                continue
            same(t, NORMAL)
            same(apply("ne", t, t), NORMAL)


def test_zeros_and_nans_are_many_constants() -> None:
    with Arena():
        # 0.0 first: a text that is remembered for it is not that of -0.0
        zeros = [Const(v, f32) for v in (0.0, -0.0)]
        bits = (0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1)
        nans = [Const(struct.unpack("<d", struct.pack("<Q", b))[0], f64) for b in bits]
        assert len({*zeros, *nans}) == 5
        assert [show(t).strip() for t in zeros] == ["0.0:f32", "-0.0:f32"]
        for t in (*zeros, *nans):
            same(t, NORMAL)
        found = parse("-0.0:f16", NORMAL)
        assert math.copysign(1, found.value) == -1


def test_the_shortest_decimal_of_a_number_is_written() -> None:
    with Arena():
        assert show(const(0.1, f16)).strip() == "0.1:f16"
        assert show(const(65504.0, f16)).strip() == "6.55e+04:f16"
        assert show(const(1 / 3, f32)).strip() == "0.33333334:f32"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "line 1: expected a term of normal or a name defined above, found 'x'"),
        ("M = extent\nM +", "line 3: expected a term, found the end"),
        ("M = extent\nM M", "line 2: expected the end, found 'M'"),
        ("exp(3)", "line 1: exp does not take index"),
        ("1.5:i32", "line 1: a i32 constant holds a Python int, not 1.5"),
        ("300:i8", "line 1: 300 is no element of i8"),
        ("x = param f31\nx", "line 1: expected a DType, found 'f31'"),
        ("M = extent at most -3\nM", "line 1: extent M: at most -3"),
        ("m = axis 0..1.0:f32\nm", "line 1: the bounds of an axis are index and f32"),
        ("proj(3, 0)", "line 1: projection from a value that is no tuple"),
        ("true < false", "line 1: lt does not take bool"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with Arena(), pytest.raises(ParseError) as raised:
        parse(text, NORMAL)
    assert str(raised.value).startswith(message)


def test_a_group_never_begins_a_line() -> None:
    """A name on the next line may be the first word of an optional group."""
    with Arena():
        text = "lanewise = extent\nafter = param f32\nstepped = extent multiple of 2\nlanewise + stepped\n"
        t = parse(text, BLOCKED)
        assert t is add(Extent("lanewise"), Extent("stepped", multiple=2))
