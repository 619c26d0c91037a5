"""Statements of several lines: tiles, loops in order, rows between offsets, helpers that write, debug statements."""

from __future__ import annotations

from .statements import indices, perform, some_type, statement
from .values import literal, some_extent, value
from .writer import Block, Extent, Point, Type, indented, number


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
