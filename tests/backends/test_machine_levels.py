"""Random programs mean the same at every level, however they are blocked, cut, narrowed and ordered.

Elements are i32, whose sums and products wrap: every regrouping is exact, so that results are compared bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from intent_np.backends.program import run
from intent_np.errors import CompileError
from intent_np.passes.pipeline import PIPELINE
from intent_np.passes.pipeline import run as passes
from intent_np.terms.core import Arena, named
from intent_np.terms.dtypes import i32, index
from intent_np.terms.gpu import Kernel
from intent_np.terms.index import Cast, Const, Extent, Value, add, apply, const, lt, mul, select, sub
from intent_np.terms.normal import (
    NORMAL,
    Arg,
    Axis,
    Combine,
    Contract,
    Coord,
    Load,
    Part,
    Program,
    Proj,
    Reduce,
    Region,
    Scan,
    Store,
    Update,
    builtin,
    identity,
)
from intent_np.terms.updates import Found

from .machine_programs import reduction, view

NAMES = "MNK"
SHAPES = ("MN", "NK", "M", "N", "K", "KM")
EXTENTS = st.fixed_dictionaries({n: st.sampled_from([0, 1, 2, 3, 7, 8, 9, 13]) for n in NAMES})
ORDERS = st.sampled_from(["forward", "reverse", "random"])


def over(name: str, use: int = 0) -> Axis:
    """An axis over an extent, which passes take a block size for by this name."""
    return named(Axis(const(0), Extent(name), use), f"{name.lower()}{use or ''}")


@dataclass
class Maker:
    """Draws values over the axes in scope.  Each name of `NAMES` is an extent, with two axes over it."""

    draw: st.DrawFn
    ragged: bool = False  # with axes whose bounds are coordinates of others
    updates: bool = False  # with effects that combine
    own: tuple[Value, ...] = ()  # the elements that the stores write, as they were at some moment before

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def coordinate(self, name: str, scope: list[Any]) -> tuple[Value, Value | None]:
        """An index into 0..name, and the predicate under which it is inside (None: always)."""
        extent = Extent(name)
        here = [a for a in scope if (d := getattr(a, "axis", a)).hi is extent and d.lo is const(0)]
        kind = self.pick("same", "same", "same", "mirrored", "shifted", "other") if here else "other"
        if kind == "other":
            at = Coord(self.pick(*scope)) if scope else const(self.draw(st.integers(0, 3)))
            return at, lt(at, extent)
        at = Coord(self.pick(*here))
        if kind == "mirrored":
            return sub(sub(extent, const(1)), at), None
        if kind == "shifted":
            at = add(at, const(self.draw(st.integers(1, 3))))
            return at, lt(at, extent)
        return at, None

    def load(self, scope: list[Any]) -> Value:
        shape = self.pick(*SHAPES)
        places = [self.coordinate(n, scope) for n in shape]
        guards = [g for _, g in places if g is not None]
        valid = apply("and", *guards) if guards else None
        source = view(f"in_{shape}", "in", i32, *(Extent(n) for n in shape))
        return Load(source, tuple(at for at, _ in places), valid, self.draw(st.integers(-2, 2)) if guards else 0)

    def predicate(self, scope: list[Any]) -> Value:
        sides = [Coord(a) for a in scope] + [Extent(self.pick(*NAMES)), const(self.draw(st.integers(0, 9)))]
        p = apply(self.pick("lt", "le"), self.pick(*sides), self.pick(*sides))
        return apply("not", p) if self.pick(False, False, True) else p

    def value(self, depth: int, scope: list[Any]) -> Value:
        kinds = ["load", "load", "const"] + ["coordinate"] * bool(scope) + ["own"] * bool(self.own)
        if depth:
            kinds = [
                "load",
                "apply",
                "apply",
                "select",
                "reduce",
                "reduce",
                "arguments",
                "contract",
                "shared",
                "region",
            ]
            kinds += ["scan"] * any(isinstance(a, Axis) for a in scope)
        match self.pick(*kinds):
            case "const":
                return Const(self.draw(st.integers(-3, 3)), i32)
            case "own":
                return self.pick(*self.own)
            case "coordinate":
                return Cast(Coord(self.pick(*scope)), i32)
            case "apply":
                name = self.pick("add", "sub", "mul", "maximum", "minimum")
                return apply(name, self.value(depth - 1, scope), self.value(depth - 1, scope))
            case "shared":  # one value in two places, one of them inside of a reduction
                v, bound = self.value(depth - 1, scope), self.fresh(scope)
                inner = apply("maximum", v, self.value(depth - 1, [*scope, bound]))
                return add(v, reduction("sum", bound, inner))
            case "select":
                return select(self.predicate(scope), self.value(depth - 1, scope), self.value(depth - 1, scope))
            case "reduce":
                bound = self.fresh(scope)
                name = self.pick("sum", "max", "min", "prod")
                return reduction(name, bound, self.value(depth - 1, [*scope, bound]))
            case "arguments":
                bound = self.fresh(scope)
                return self.extreme("greatest", bound, self.value(depth - 1, [*scope, bound]))
            case "region":
                return self.first(depth, scope)
            case "scan":
                return self.prefix(depth, scope)
            case "contract":
                bound = self.fresh(scope)
                sides = [self.value(depth - 1, [*scope, bound]) for _ in "lr"]
                return Contract(bound, *sides, i32)
        return self.load(scope)

    def free(self, scope: list[Any]) -> list[Any]:
        """Axes that are not in scope, nor have a part there: two coordinates of one domain are on two axes."""
        return [a for n in NAMES for u in (0, 1) if (a := over(n, u)) not in scope and Part(a) not in scope]

    def fresh(self, scope: list[Any]) -> Axis:
        """An axis to bind: often one that some other binder, or the store, has as well."""
        free = self.free(scope)
        if self.ragged and scope:
            free.append(Axis(const(0), add(Coord(self.pick(*scope)), const(1))))
            free.append(Axis(Coord(self.pick(*scope)), Extent(self.pick(*NAMES))))
        # what reduces over the part in hand is no function of a member, so a region may not sum it
        bound = [a for a in scope if not isinstance(a, Part)]
        return self.pick(*(free or bound), *(bound if self.pick(False, True) else ()))

    def extreme(self, which: str, bound: Any, v: Value) -> Value:
        """The greatest of some values, or where it is; or the first of them."""
        (av, ai), (bv, bi) = ((Arg(s, 0, i32), Arg(s, 1, index)) for s in "ab")
        left = apply("le", ai, bi)
        if which == "greatest":
            left = apply("or", lt(bv, av), apply("and", apply("eq", av, bv), left))
        combine = Combine((i32, index), (select(left, av, bv), select(left, ai, bi)))
        pair = Reduce(bound, combine, (v, Coord(bound)), (Const(i32.range[0], i32), const(2**40)))
        return Proj(pair, 0) if which == "first" or self.pick(False, True) else Cast(Proj(pair, 1), i32)

    def first(self, depth: int, scope: list[Any]) -> Value:
        """A region that is not commutative: how many members there are, the first one, and the sum."""
        bound = self.pick(*self.free(scope))
        part = Part(bound)
        v = self.value(depth - 1, [*scope, part])
        values = reduction("sum", part, Const(1, i32)), self.extreme("first", part, v), reduction("sum", part, v)
        (an, af, at), (bn, bf, bt) = ([Arg(s, i, i32) for i in range(3)] for s in "ab")
        none = lt(an, Const(1, i32))
        combine = Combine((i32, i32, i32), (add(an, bn), select(none, bf, af), add(at, bt)))
        identities = tuple(Const(i, i32) for i in (0, i32.range[0], 0))
        return Proj(Region(bound, combine, values, identities), self.draw(st.integers(0, 2)))

    def prefix(self, depth: int, scope: list[Any]) -> Value:
        """A running sum or maximum, or functions x -> p * x + q one behind the other, along an axis in scope."""
        along = self.pick(*(a for a in scope if isinstance(a, Axis)))
        p, reverse = self.value(depth - 1, scope), self.pick(False, True)
        name = self.pick("sum", "max", "functions")
        if name != "functions":
            return Scan(along, builtin(name, i32), (p,), (identity(name, i32),), reverse)
        q = self.value(depth - 1, scope)
        (ap, aq), (bp, bq) = ([Arg(s, i, i32) for i in range(2)] for s in "ab")
        combine = Combine((i32, i32), (mul(ap, bp), add(mul(aq, bp), bq)))
        return Proj(Scan(along, combine, (p, q), (Const(1, i32), Const(0, i32)), reverse), self.pick(0, 1))

    def update(self, target: Any, free: list[Any], value: Value, valid: Value | None, again: int) -> Update:
        """Values combined into elements where lanes may meet; where each has its own, what it finds may be used."""
        kind = self.pick("own", "shifted", "one")
        at = tuple(Coord(a) for a in free)
        if kind == "shifted":  # the last element takes what would be behind it
            last = sub(free[0].hi, const(1))
            at = (apply("minimum", add(at[0], const(self.draw(st.integers(0, 2)))), last), *at[1:])
        elif kind == "one":
            at = (const(0), *at[1:])
        operation = self.pick("add", "max", "exchange") if kind == "own" else self.pick("sum", "max")
        combine = builtin(operation, i32) if kind != "own" else None
        name = "combine" if combine else operation
        made = Update(target, at, name, (value,), tuple(free), combine, "relaxed", valid, (), again)
        if kind == "own" and self.pick(False, True):
            self.own = (*self.own, Found(made))
        return made

    def program(self) -> Program:
        free = [over("M"), *([over("N")] if self.pick(False, True) else [])]
        extents, at = tuple(a.hi for a in free), tuple(Coord(a) for a in free)
        outputs = [view(n, "inout", i32, *extents) for n in "yz"]
        if self.pick(False, True):
            self.own = tuple(Load(v, at) for v in outputs)
        effects: list[Store | Update] = []
        for depth in self.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)):
            target = outputs[len(effects) % 2]
            valid = self.predicate(free) if self.pick(False, False, True) else None
            if self.updates and self.pick(False, True):
                effects.append(self.update(target, free, self.value(depth, free), valid, len(effects)))
                if self.own:
                    self.own = (*self.own, Load(target, at, after=effects[-1]))
                continue
            effects.append(Store(target, at, self.value(depth, free), valid, len(effects)))
            if valid is None and self.own:
                self.own = (*self.own, Load(target, at, after=effects[-1]))
        inputs = [view(f"in_{s}", "in", i32, *(Extent(n) for n in s)) for s in SHAPES]
        return Program("random", (*inputs, *outputs, *(Extent(n) for n in NAMES)), tuple(effects))


@st.composite
def programs(draw: st.DrawFn, ragged: bool = False, updates: bool = False) -> Program:
    """A well-formed normal program with up to three effects, which may read what they and those before them write."""
    program = Maker(draw, ragged, updates).program()
    assert not NORMAL.check(program)
    return program


def arguments(program: Program, extents: dict[str, int]) -> dict[str, Any]:
    """Random inputs, and outputs with recognizable contents, in memory of several layouts."""
    generator = np.random.default_rng(7)
    arrays: dict[str, Any] = {}
    for i, v in enumerate(p for p in program.parameters if hasattr(p, "shape")):
        shape = tuple(extents[e.name] for e in v.shape)  # type: ignore[attr-defined]
        array = generator.integers(-4, 5, shape).astype(np.int32) if v.mode == "in" else np.full(shape, 7, np.int32)
        arrays[v.name] = array if i % 2 else np.ascontiguousarray(array.T).T  # type: ignore[attr-defined]
    return arrays


def result(program: Any, given: dict[str, Any], extents: dict[str, int], **how: Any) -> dict[str, Any]:
    """The outputs of one run, strictly checked."""
    arrays = {n: a.copy(order="K") if n in "yz" else a for n, a in given.items()}
    run(program, arrays, extents, strict=True, **how)
    return {n: arrays[n] for n in "yz"}


def agree(expected: dict[str, Any], found: dict[str, Any], where: str) -> None:
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=where)


@given(st.data(), EXTENTS, ORDERS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_a_normal_program_is_its_grouped_program(data: st.DataObject, extents: dict[str, int], order: str) -> None:
    with Arena():
        program = data.draw(programs(ragged=True))
        given_ = arguments(program, extents)
        expected = result(program, given_, extents)
        agree(expected, result(program, given_, extents, order=order, budget=64), "normal, in pieces")
        grouped = passes(program, stop_after="form_groups")
        for budget in (64, 1 << 24):
            agree(expected, result(grouped, given_, extents, order=order, budget=budget), f"grouped, {budget}")


@st.composite
def choices(draw: st.DrawFn) -> dict[str, Any]:
    """Options: block sizes, which extents have a known bound (so that an axis may be resident), passes left out."""
    bounds = {n: 16 for n in NAMES if draw(st.booleans())}
    axes = [f"{n.lower()}{u}" for n in NAMES if n not in bounds for u in ("", "1")]  # a fragment may hold a bounded one
    sizes = {a: draw(st.sampled_from([1, 2, 4, 8])) for a in axes}
    optional = sorted(p.name for p in PIPELINE if p.source.name == "blocked" and p.optional)
    disable = set(draw(st.lists(st.sampled_from(optional), max_size=2, unique=True)))
    options: dict[str, Any] = {
        "narrow_ranges": {
            "skip": draw(st.booleans()),
            "peel": draw(st.booleans()),
            "branched": draw(st.sampled_from((0, 40))),
        },
        "share_traversals": {"merge": draw(st.booleans())},
        "block_axes": {"sizes": sizes, "lanewise": draw(st.booleans())},
        "bind_class": {"bounds": bounds},
    }
    return {"options": options, "disable": disable}


def check_passes(program: Program, extents: dict[str, int], chosen: dict[str, Any], order: str = "forward") -> None:
    """The program behind every pass computes what the program does."""
    given_ = arguments(program, extents)
    expected = result(program, given_, extents)
    stages: list[tuple[str, Any]] = []
    try:
        passes(program, stop_after="emit", check=True, observe=lambda p, t: stages.append((p.name, t)), **chosen)
    except CompileError as refusal:
        if refusal.code not in ("E707", "E708"):  # an order that one launch can't keep, scans in two directions
            raise
        reject()
    assert isinstance(stages[-1][1], Kernel)
    previous: Any = program
    for name, stage in stages:
        if stage is not previous:
            agree(expected, result(stage, given_, extents, order=order, budget=1 << 12), name)
        previous = stage


@given(st.data(), EXTENTS, choices(), ORDERS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_every_pass_keeps_the_result(
    data: st.DataObject, extents: dict[str, int], chosen: dict[str, Any], order: str
) -> None:
    with Arena():
        check_passes(data.draw(programs()), extents, chosen, order)


@given(st.data(), EXTENTS, choices(), ORDERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_updates_meet_in_any_order(
    data: st.DataObject, extents: dict[str, int], options: dict[str, Any], order: str
) -> None:
    with Arena():
        program = data.draw(programs(updates=True))
        given_ = arguments(program, extents)
        expected = result(program, given_, extents)
        agree(expected, result(program, given_, extents, order=order, budget=64), "normal, in pieces")
        check_passes(program, extents, options, order)


# ---- what random programs have found


def element(name: str, *at: Value, valid: Value | None = None, fill: int = 0) -> Load:
    return Load(view(f"in_{name}", "in", i32, *(Extent(n) for n in name)), at, valid, fill)


def check_store(value: Value, free: tuple[Axis, ...], extents: dict[str, int], **options: dict[str, Any]) -> None:
    y, z = (view(n, "inout", i32, *(a.hi for a in free)) for n in "yz")
    inputs = [view(f"in_{s}", "in", i32, *(Extent(n) for n in s)) for s in SHAPES]
    store = Store(y, tuple(Coord(a) for a in free), value)
    check_passes(
        Program("found", (*inputs, y, z, *(Extent(n) for n in NAMES)), (store,)), extents, {"options": options}
    )


M, N, K, M1, N1 = over("M"), over("N"), over("K"), over("M", 1), over("N", 1)


def test_a_mask_stays_where_only_an_inner_reduction_over_its_axis_is_neutral() -> None:
    ones = reduction("sum", K, Const(1, i32))
    value = Contract(K, element("M", Coord(M), valid=lt(Coord(M), Extent("N")), fill=1), ones, i32)
    check_store(value, (M,), {"M": 2, "N": 1, "K": 3}, bind_class={"bounds": {"K": 16}})


def test_a_hoisted_value_takes_no_name_of_a_loop_that_comes_behind_it() -> None:
    columns = reduction("sum", M1, element("MN", Coord(M), Coord(N)))
    row = reduction("sum", K, element("M", Coord(M)))
    value = add(columns, reduction("sum", N1, apply("maximum", columns, row)))
    sizes = {"sizes": {"m": 1, "m1": 1, "n": 1, "n1": 1}, "lanewise": False}
    check_store(value, (M, N), {"M": 3, "N": 5, "K": 2}, block_axes=sizes, bind_class={"bounds": {"K": 16}})


def test_a_contraction_has_its_axis_where_no_operand_varies_along_it() -> None:
    value = Contract(M1, Cast(Coord(M), i32), element("N", Coord(N)), i32)
    check_store(value, (M, N), {"M": 5, "N": 3, "K": 0}, block_axes={"sizes": {"m": 1, "m1": 2, "n": 1}})


def test_a_loop_in_a_loop_in_a_traversal_stays_where_it_is() -> None:
    value = reduction("max", N, reduction("sum", K, element("NK", Coord(N), Coord(K))))
    check_store(value, (M,), {"M": 3, "N": 5, "K": 7}, block_axes={"sizes": {"n": 2, "k": 2}, "lanewise": False})
