"""Statements: what a kernel does with values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .functions import condition
from .monoids import BASES, lawful, written
from .structured import places
from .values import some_extent, some_shape, tuple_of, value
from .writer import Block, Extent, Point, Shape, Type, ViewParameter, indented, number

Doer = Callable[[Block, int], bool]


@dataclass(frozen=True)
class Statement:
    """One way to do something; `parallel` may stand in a parallel loop."""

    name: str
    make: Doer
    weight: int
    parallel: bool


STATEMENTS: dict[str, Statement] = {}


def statement(name: str, weight: int, *, parallel: bool = False) -> Callable[[Doer], Doer]:
    """Declare a statement; it gives False where it does not fit."""

    def declare(make: Doer) -> Doer:
        STATEMENTS[name] = Statement(name, make, weight, parallel)
        return make

    return declare


def perform(block: Block, fuel: int) -> None:
    """Write one statement."""
    w = block.writer
    fitting = [s for s in STATEMENTS.values() if s.parallel or not block.parallel]
    while True:
        chosen = block.choices.weighted([(s, 1 + 8 * s.weight // (1 + w.used[s.name])) for s in fitting])
        if chosen.make(block, fuel):
            w.used[chosen.name] += 1
            return


def some_type(block: Block, shape: Shape | None) -> Type:
    """A type of a stored value."""
    return Type(block.choices.choice(block.writer.dtypes), shape)


def indices(points: list[Point]) -> tuple[Shape, list[str]]:
    return tuple(p.extent for p in points), [p.code for p in points]


@statement("store", 30, parallel=True)
def store(block: Block, fuel: int) -> bool:
    """A new output, of which each point in hand writes its own part."""
    c, w = block.choices, block.writer
    lead, subscripts = indices(block.every_point())
    if len(lead) > 3:
        return False
    shape = some_shape(block, 2 if not lead else 1, 1 if not lead and c.chance(90) else 0)
    want = some_type(block, shape or None)
    result = value(block, want, fuel)
    mode = "InOut" if c.chance(20) else block.output
    view = w.view(mode, want.dtype, (*lead, *shape))
    w.busy.add(view.name)
    entries = [*subscripts, *[":"] * len(shape)]
    target = f"{view.name}[{', '.join(entries) if entries else '()'}]"
    if mode == "InOut" and want.dtype != "bool" and c.chance(80):
        w.used["in place"] += 1
        block.write(f"{target} = I.maximum({target}, {result})" if c.chance(50) else f"{target} = {target} + {result}")
    else:
        block.write(f"{target} = {result}")
    return True


@statement("store of a part", 6)
def store_part(block: Block, fuel: int) -> bool:
    """Some elements of an output that has others."""
    c, w = block.choices, block.writer
    e = some_extent(block)
    want = some_type(block, (e,))
    result = value(block, want, fuel)
    kind = c.choice(("offset", "step", "flipped", "column"))
    w.used[f"store by {kind}"] += 1
    if kind == "offset":
        view = w.view("InOut", want.dtype, (e.more(2),))
        target = f"{view.name}[1:{e.more(1)}]"
    elif kind == "step":
        view = w.view("InOut", want.dtype, (e.multiple(2),))
        target = f"{view.name}[::2]"
    elif kind == "flipped":
        view = w.view(block.output, want.dtype, (e,))
        target = f"{view.name}[{e} - 1 - I.indices(I.domain(0, {e}))]"
    else:
        view = w.view("InOut", want.dtype, (e, number(3)))
        target = f"{view.name}[:, {c.choice(('0', '-1'))}]"
    w.busy.add(view.name)
    block.write(f"{target} = {result}")
    return True


@statement("parallel loop", 40)
def parallel(block: Block, fuel: int) -> bool:
    """Points of one or two domains, and statements of each."""
    c, w = block.choices, block.writer
    count = c.weighted(((1, 5), (2, 3)))
    points, domains = [], []
    inner = Block(w, block)
    inner.parallel = True
    for _ in range(count):
        p = w.fresh("p")
        e = some_extent(block)
        kind = c.weighted((("whole", 8), ("offset", 2), ("step", 1), ("subregion", 1)))
        if kind == "offset":
            points.append(Point(p, e.more(1)))
            domains.append(f"I.domain(1, {e.more(1)})")
        elif kind == "step":
            points.append(Point(p, e.multiple(2)))
            domains.append(f"I.domain(0, {e.multiple(2)}, 2)")
        elif kind == "subregion":
            points.append(Point(p, e.more(2)))
            domains.append(f"I.domain(0, {e.more(2)})[1:{e.more(1)}]")
        else:
            points.append(Point(p, e))
            domains.append(f"I.domain(0, {e})")
        if kind != "whole":
            w.used[f"points by {kind}"] += 1
    inner.points = points
    for _ in range(c.integer(1, 2)):
        perform(inner, fuel)
    names = ", ".join(p.code for p in points)
    text = domains[0] if count == 1 else f"({', '.join(domains)})"
    if count == 2 and c.chance(30):
        w.used["nested parallel loops"] += 1
        block.write(f"for {points[0].code} in I.parallel({domains[0]}):")
        block.write(f"    for {points[1].code} in I.parallel({domains[1]}):")
        block.lines += indented(indented(inner.lines))
        return True
    block.write(f"for {names} in I.parallel({text}):")
    block.lines += indented(inner.lines)
    return True


@statement("guarded statement", 8, parallel=True)
def guarded(block: Block, fuel: int) -> bool:
    """A statement that happens where a condition holds."""
    if fuel < 1:
        return False
    test = condition(block, fuel)
    inner = Block(block.writer, block)
    inner.guarded = True
    if block.parallel and block.choices.chance(30):
        block.guarded = True
        block.writer.used["point ends early"] += 1
        block.write(f"if {test}:")
        block.write("    continue")
        perform(block, fuel - 1)
        return True
    perform(inner, fuel - 1)
    block.write(f"if {test}:")
    block.lines += indented(inner.lines)
    return True


def lanes(block: Block) -> Shape | None:
    """The lanes of an update: one at a point, or a vector."""
    if block.parallel and block.choices.chance(60):
        return None
    return (some_extent(block),)


def updated(block: Block, dtypes: tuple[str, ...], single: bool = False) -> tuple[ViewParameter, Type]:
    """A view that points and lanes meet in, of one element if it is `single`."""
    d = block.choices.choice([d for d in dtypes if d in block.writer.dtypes] or ["i32"])
    extents = () if single else (block.choices.choice((number(8), number(5), Extent("N", 1, 1))),)
    view = block.writer.view("InOut", d, extents)
    block.writer.busy.add(view.name)
    return view, Type(d)


UPDATED = ("i32", "f32", "u32", "i64", "u64", "f64", "f16", "bf16")


@statement("atomic", 8, parallel=True)
def atomic(block: Block, fuel: int) -> bool:
    c, w = block.choices, block.writer
    shape = lanes(block)
    view, kind = updated(block, UPDATED, single=shape is None and c.chance(20))
    operations = ["add", "max", "min"] + ([] if kind.element.is_float else ["and_", "or_", "xor"])
    operation = c.choice(operations)
    index = places(block, shape, view.shape[0], fuel) if view.shape else "()"
    amount = value(block, Type(kind.dtype, shape), fuel - 1, not kind.element.is_float)
    valid = f", valid={value(block, Type('bool', shape), 1, True)}" if c.chance(30) else ""
    order = c.choice(("", "", ', order="acq_rel"', ', order="release"'))
    w.used[f"atomic {operation.strip('_')}"] += 1
    block.write(f"I.atomic.{operation}({view.name}, index={index}, value={amount}{valid}{order})")
    return True


@statement("exchange", 6, parallel=True)
def exchange(block: Block, fuel: int) -> bool:
    """Atomic accesses of which each point has an element of its own, so that what they find is known."""
    c, w = block.choices, block.writer
    lead, subscripts = indices(block.every_point())
    if not lead or len(lead) > 2:
        return False
    d = c.choice([d for d in ("i32", "u32", "i64", "f32") if d in w.dtypes] or ["i32"])
    view = w.view("InOut", d, lead)
    w.busy.add(view.name)
    index = tuple_of(subscripts)
    operation = c.choice(("load", "store", "exchange", "compare_exchange"))
    w.used[f"atomic {operation}"] += 1
    v = value(block, Type(d), 1, True)
    if operation == "store":
        block.write(f"I.atomic.store({view.name}, index={index}, value={v})")
        return True
    got = w.fresh("t")
    if operation == "load":
        block.write(f"{got} = I.atomic.load({view.name}, index={index})")
    elif operation == "exchange":
        block.write(f"{got} = I.atomic.exchange({view.name}, index={index}, value={v})")
    else:
        other = value(block, Type(d), 1, True)
        block.write(f"{got} = I.atomic.compare_exchange({view.name}, index={index}, expected={v}, desired={other})")
        got = f"{got}.old_value"
    out = w.view(block.output, d, lead)
    w.busy.add(out.name)
    block.write(f"{out.name}[{', '.join(subscripts)}] = {got}")
    return True


@statement("scatter reduce", 8, parallel=True)
def scatter_reduce(block: Block, fuel: int) -> bool:
    """Lanes that meet, under a combine that does not care about their order."""
    c, w = block.choices, block.writer
    view, kind = updated(block, UPDATED)
    shape = lanes(block)
    index = places(block, shape, view.shape[0], fuel)
    operands = ""
    if c.chance(60):
        combine = c.choice(("I.maximum", "I.minimum"))
    elif c.chance(30):
        w.used["combine with an operand"] += 1
        combine = w.fresh("combine")
        w.helpers.append(f"@intent.fn\ndef {combine}(a, b, m):\n    return I.minimum(I.maximum(a, b), m)")
        # another limit at each point would tell which of them came first
        operands = f", combine_operands=({w.scalar(kind.dtype)},)"
    else:
        m, _ = lawful(block, kind.dtype, lambda m: m.grouping == "scalar" and not m.operand and m.name in BASES)
        combine = written(block, m)
        w.used[f"monoid {m.name}"] += 1
    v = value(block, Type(kind.dtype, shape), fuel - 1, not kind.element.is_float)
    valid = f", valid={value(block, Type('bool', shape), 1, True)}" if c.chance(30) else ""
    block.write(f"I.scatter_reduce({view.name}, index={index}, value={v}, combine={combine}{operands}{valid})")
    return True


@statement("scatter", 6)
def scatter(block: Block, fuel: int) -> bool:
    """Places that are different by arithmetic: provably, or by a promise that holds."""
    c, w = block.choices, block.writer
    kind = c.choice(("strided", "permuted", "masked"))
    w.used[f"scatter {kind}"] += 1
    if kind == "permuted":
        n, factor = c.choice(((16, 5), (7, 3), (12, 5)))
        e = number(n)
        want = some_type(block, (e,))
        view = w.view(block.output, want.dtype, (e,))
        at = f"I.assume_unique((I.indices(I.domain(0, {n})) * {factor} + {c.integer(0, 4)}) % {n})"
        v = value(block, want, fuel)
        block.write(f"{view.name}[{at}] = {v}")
    else:
        e = some_extent(block)
        k = c.integer(2, 3)
        want = some_type(block, (e,))
        view = w.view("InOut", want.dtype, (e.multiple(k),))
        at = f"I.indices(I.domain(0, {e})) * {k} + {c.integer(0, k - 1)}"
        v = value(block, want, fuel)
        valid = f", valid={value(block, want.of('bool'), 1, True)}" if kind == "masked" else ""
        block.write(f"I.scatter_unique({view.name}, index={at}, value={v}{valid})")
    w.busy.add(view.name)
    return True


__all__ = ["STATEMENTS", "perform", "statement"]
