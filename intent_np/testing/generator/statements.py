"""Statements: what a kernel does with values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .functions import condition
from .monoids import BASES, lawful, written
from .structured import places
from .values import literal, some_extent, some_shape, tuple_of, value
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
        operands = f", combine_operands=({value(block, Type(kind.dtype), 1, True)},)"
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


@statement("chunks", 4)
def chunks(block: Block, fuel: int) -> bool:
    """Tiles of an axis, the last of them short."""
    c, w = block.choices, block.writer
    n = c.choice((4, 8, 3))
    d = c.choice([d for d in w.dtypes if d != "bool"])
    x = w.source(d, (Extent("N"),))
    y = w.view(block.output, d, (Extent("N"),))
    p, tile = w.fresh("p"), w.fresh("tile")
    w.busy.add(y.name)
    block.write(f"for {p} in I.parallel(I.domain(0, (N + {n - 1}) // {n})):")
    block.write(f"    {tile} = I.domain(0, N)[{p} * {n}:I.minimum({p} * {n} + {n}, N)]")
    if c.chance(50):
        block.write(f"    {y.name}[{tile}] = {x.name}[{tile}] + {literal(block, d)}")
    else:
        block.write(f"    {y.name}[{tile}] = {x.name}[{tile}] - I.reduce.max({x.name}[{tile}], axis=0)")
    return True


@statement("ordered effects", 8, parallel=True)
def ordered(block: Block, fuel: int) -> bool:
    """An ordered loop that writes, and reads what it wrote."""
    c, w = block.choices, block.writer
    lead, subscripts = indices(block.every_point())
    if len(lead) > 2:
        return False
    d = c.choice([d for d in w.dtypes if d != "bool"])
    e = c.choice((Extent("N"), Extent("M"), number(4)))
    i = w.fresh("i")
    view = w.view("InOut", d, (*lead, e))
    w.busy.add(view.name)
    inner = Block(w, block)
    inner.points.append(Point(i, e))
    target = f"{view.name}[{', '.join([*subscripts, i])}]"
    v = value(inner, Type(d), min(fuel, 2))
    if c.chance(50):
        before = f"{view.name}[{', '.join([*subscripts, f'{i} - 1'])}]"
        text = f"{target} = {v} + ({before} if {i} > 0 else {literal(block, d)})"
    else:
        text = f"{target} = I.maximum({target}, {v})"
    inner.write(text)
    block.write(f"for {i} in I.domain(0, {e}):")
    block.lines += indented(inner.lines)
    return True


@statement("assertion", 3, parallel=True)
def assertion(block: Block, fuel: int) -> bool:
    """What holds anyway, said to whoever looks."""
    v = value(block, Type("i32"), 1, True)
    text = f'I.debug_assert(({v} & 3) < 4, "of two bits")'
    block.write(text if block.choices.chance(70) else f'I.debug_assert(({v} | 1) != 0, "odd")')
    perform(block, fuel)
    return True


@statement("print", 2, parallel=True)
def printed(block: Block, fuel: int) -> bool:
    """Something to read for whoever debugs with the reference; it changes nothing."""
    v = value(block, Type(block.choices.choice(block.writer.dtypes)), 1)
    block.write(f'I.debug_print("{{}} here", {v})')
    perform(block, fuel)
    return True


@statement("outputs of one group", 3)
def grouped_outputs(block: Block, fuel: int) -> bool:
    """Two outputs of which each element is written at one point, so that a call may give one array for both."""
    c, w = block.choices, block.writer
    want = some_type(block, tuple(some_extent(block) for _ in range(c.integer(1, 2))))
    assert want.shape is not None
    first, second = value(block, want, fuel - 1), value(block, want, fuel - 1)
    group = w.fresh("group")
    entries = ", ".join([":"] * want.rank)
    for result in (first, second):
        view = w.view(block.output, want.dtype, want.shape)
        view.promise = f'alias="{group}"'
        w.busy.add(view.name)
        block.write(f"{view.name}[{entries}] = {result}")
    return True


@statement("ragged rows", 5)
def ragged(block: Block, fuel: int) -> bool:
    """Rows between offsets that an earlier statement wrote, in order and inside."""
    c, w = block.choices, block.writer
    d = c.choice([d for d in w.dtypes if d in ("f32", "i32", "i64", "f16")] or ["i32"])
    offsets = w.view(block.output, "i32", (Extent("N", 1, 1),))
    members, out = w.source(d, (Extent("M"),)), w.view(block.output, d, (Extent("N"),))
    w.busy |= {offsets.name, out.name}
    rows, p = w.fresh("rows"), w.fresh("p")
    block.write(f"{offsets.name}[:] = I.cast(I.minimum(I.indices(I.domain(0, N + 1)) * {c.integer(1, 3)}, M), I.i32)")
    block.write(f"{rows} = I.ragged(I.domain(0, N), I.domain(0, M), {offsets.name})")
    block.write(f"for {p} in I.parallel(I.domain(0, N)):")
    members_of = f"{members.name}[{rows}[{p}]]"
    block.write(f"    {out.name}[{p}] = I.reduce.{c.choice(('max', 'min'))}({members_of}, axis=0)")
    return True


@statement("slots", 4)
def slots(block: Block, fuel: int) -> bool:
    """Points that take places of their own from a counter: in any order, so that only their sum is told."""
    c, w = block.choices, block.writer
    counter = w.view("InOut", "i32", (number(1),))
    w.busy.add(counter.name)
    p = w.fresh("p")
    e = c.choice((Extent("N"), Extent("M"), number(5)))
    test = value(block, Type("bool"), 1, True)
    block.write(f"for {p} in I.parallel(I.domain(0, {e})):")
    block.write(f"    if {test}:")
    block.write(f"        I.atomic.add({counter.name}, index=(0,), value={c.integer(1, 3)})")
    return True


@statement("helper that writes", 5)
def writing(block: Block, fuel: int) -> bool:
    """A helper that is given a view and stores into it."""
    c, w = block.choices, block.writer
    e = some_extent(block)
    want = some_type(block, (e,))
    result = value(block, want, fuel)
    view = w.view(block.output, want.dtype, (e,))
    w.busy.add(view.name)
    name = w.fresh("writes")
    body = c.choice(
        ("target[:] = value", "target[:] = I.flip(value, 0)", "target[I.domain(0, target.shape[0])] = value")
    )
    w.helpers.append(f"@intent.fn\ndef {name}(target, value):\n    {body}")
    block.write(f"{name}({view.name}, {result})")
    return True


__all__ = ["STATEMENTS", "perform", "statement"]
