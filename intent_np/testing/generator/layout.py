"""Productions of shape operations: the same elements elsewhere."""

from __future__ import annotations

from .values import literal, named_value, production, tuple_of, value
from .writer import Block, Extent, Type, number


@production("transpose", 3)
def transpose(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if want.shape is None or want.rank < 2:
        return None
    order = block.choices.shuffled(range(want.rank))  # axis i of the result is axis order[i] of the value
    shape = [want.shape[order.index(a)] for a in range(want.rank)]
    inner = value(block, Type(want.dtype, tuple(shape)), fuel - 1, exact)
    if order == list(range(want.rank))[::-1] and block.choices.chance(50):
        return f"I.transpose({inner})"
    return f"I.transpose({inner}, {tuple_of([str(a) for a in order])})"


@production("reshape", 8)
def reshape(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """From as many elements in another order of the extents, in one axis more, or with axes split."""
    if want.shape is None or want.rank == 0:
        return None
    c = block.choices
    shape = list(want.shape)
    kind = c.integer(0, 3)
    if kind == 0 and len(shape) > 1:
        shape = c.shuffled(shape)
    elif kind == 1:
        shape.insert(c.integer(0, len(shape)), number(1))
    elif kind == 2 and any(not e.name and e.plus in (4, 8, 16) for e in shape):
        at = next(i for i, e in enumerate(shape) if not e.name and e.plus in (4, 8, 16))
        n = shape[at].plus
        shape[at : at + 1] = [number(n // 2), number(2)]
    elif kind == 3 and any(e.name and not e.plus and e.times == 1 for e in shape) and len(shape) < 3:
        at = next(i for i, e in enumerate(shape) if e.name and not e.plus and e.times == 1)
        if len(shape) > at + 1 and not shape[at + 1].name and shape[at + 1].plus:
            n = shape[at + 1].plus
            shape[at : at + 2] = [shape[at].multiple(n)]
        else:
            return None
    else:
        return None
    if len(shape) > 4 or tuple(shape) == want.shape:
        return None
    inner = value(block, Type(want.dtype, tuple(shape)), fuel - 1, exact)
    entries = [str(e) for e in want.shape]
    if c.chance(30) and kind in (0, 1):  # the same extents otherwise, so that any one follows from the others
        entries[c.integer(0, len(entries) - 1)] = "-1"
        block.writer.used["inferred extent"] += 1
    return f"I.reshape({inner}, {tuple_of(entries)})"


@production("flip", 3)
def flip(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if not want.rank:
        return None
    c = block.choices
    inner = value(block, want, fuel - 1, exact)
    return f"I.flip({inner}, {c.integer(0, want.rank - 1)})" if c.chance(80) else f"I.flip({inner})"


@production("roll", 3)
def roll(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if not want.rank:
        return None
    c = block.choices
    inner = value(block, want, fuel - 1, exact)
    return f"I.roll({inner}, {c.choice((1, -1, 3))}, {c.integer(0, want.rank - 1)})"


@production("pad", 10)
def pad(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """From a tensor with fewer members along an axis."""
    c = block.choices
    long = [i for i, e in enumerate(want.shape or ()) if e.plus > (0 if e.name else 1)]
    if not long:
        return None
    axis = c.choice(long)
    assert want.shape is not None
    e = want.shape[axis]
    amount = c.integer(1, e.plus if e.name else e.plus - 1)
    before = c.integer(0, amount)
    small = e.more(-amount)
    shape = (*want.shape[:axis], small, *want.shape[axis + 1 :])
    inner = value(block, Type(want.dtype, shape), fuel - 1, exact)
    widths = tuple_of([f"({before}, {amount - before})" if a == axis else "(0, 0)" for a in range(want.rank)])
    if small.least > 0 and c.chance(60):
        mode = c.choice(("edge", "reflect", "symmetric", "wrap"))
        block.writer.used[f"pad {mode}"] += 1
        return f'I.pad({inner}, {widths}, mode="{mode}")'
    return f"I.pad({inner}, {widths}, constant_values={literal(block, want.dtype)})"


@production("concat", 4)
def concat(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    long = [i for i, e in enumerate(want.shape or ()) if e.plus > 0 and (e.name or e.plus > 1)]
    if not long:
        return None
    axis = block.choices.choice(long)
    assert want.shape is not None
    e = want.shape[axis]
    part = block.choices.integer(1, e.plus if e.name else e.plus - 1)
    sizes = block.choices.shuffled([e.more(-part), number(part)])
    parts = [
        value(block, Type(want.dtype, (*want.shape[:axis], s, *want.shape[axis + 1 :])), fuel - 1, exact) for s in sizes
    ]
    return f"I.concat({tuple_of(parts)}, axis={axis})"


@production("join", 5)
def join(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if not want.rank or want.shape is None:
        return None
    if want.shape[-1] == number(2) and want.rank > 1:
        half = Type(want.dtype, want.shape[:-1])
        return f"I.join({value(block, half, fuel - 1, exact)}, {value(block, half, fuel - 1, exact)})"
    sides = [value(block, want, fuel - 1, exact) for _ in range(2)]
    return f"I.join({sides[0]}, {sides[1]})[..., {block.choices.integer(0, 1)}]"


@production("split", 3)
def split(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """One part of several, halves or at given places."""
    if not want.rank:
        return None
    c = block.choices
    axis = c.integer(0, want.rank - 1)
    assert want.shape is not None
    e = want.shape[axis]

    def whole(of: Extent) -> Type:
        assert want.shape is not None
        return Type(want.dtype, (*want.shape[:axis], of, *want.shape[axis + 1 :]))

    exact = exact or not want.element.is_float
    if c.chance(50) and not (e.name and e.plus):
        inner = value(block, whole(e.multiple(2)), fuel - 1, exact)
        parts = f"I.split({inner}, 2, axis={axis})"
        return bound_part(block, parts, 2, c.integer(0, 1))
    k = c.integer(1, 2)
    inner = value(block, whole(e.more(k)), fuel - 1, exact)
    first = c.chance(50)
    return bound_part(block, f"I.split({inner}, ({e if first else k},), axis={axis})", 2, 0 if first else 1)


def bound_part(block: Block, code: str, count: int, which: int) -> str:
    """A component of a tuple, by name."""
    names = [block.writer.fresh("t") if i == which else "_" for i in range(count)]
    block.write(f"{', '.join(names)} = {code}")
    return names[which]


@production("slice of a value", 4)
def part(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """Positions of a value: a slice, an index, a new axis."""
    if want.shape is None:
        return None
    c = block.choices
    shape, entries = [], []
    for e in want.shape:
        if e == number(1) and c.chance(60):
            entries.append("None")
            continue
        kind = c.integer(0, 3)
        if kind == 0:
            shape.append(e)
            entries.append(":")
        elif kind == 1:
            shape.append(e.more(1))
            entries.append(c.choice(("1:", ":-1")))
        elif kind == 2 and not (e.name and e.plus):
            shape.append(e.multiple(2))
            entries.append(c.choice(("::2", "1::2") if e.least else ("::2",)))
        else:
            shape.append(e)
            entries.append(":")
    if c.chance(40) and len(shape) < 3:
        n = c.choice((2, 3))
        at = c.integer(0, len(entries))
        shape.insert(sum(x != "None" for x in entries[:at]), number(n))
        entries.insert(at, c.choice(("0", "1", "-1")))
    if not shape:
        return None
    return f"{named_value(block, Type(want.dtype, tuple(shape)), fuel - 1, exact)}[{', '.join(entries)}]"
