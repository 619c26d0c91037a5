"""Ordered loops of several states, which go round, exchange values, become one, and stay what they were.

They come behind everything else of a kernel, so that seeds stay what they are.  `states_alone(seed)` is a kernel of
little else, for a campaign: `intent-np fuzz --generator intent_np.testing.generator.states:states_alone`.
"""

from __future__ import annotations

from typing import Final

from .choices import seeded
from .moves import MOVES, Turn, moved, test
from .values import some_extent, value
from .writer import Block, Extent, Named, Point, Shape, Type, Writer, indented, number

HEADS: Final = ("domain", "range", "step", "while", "condition", "enumerate", "members")
STATES: Final = (*(f"states: {name}" for name in MOVES), *(f"states by {head}" for head in HEADS))
"""What coverage counts."""


def states(block: Block) -> None:
    """One or two loops over the same states, at the level of the kernel or at points, and what they end with."""
    c, w = block.choices, block.writer
    w.most = max(w.most, w.spent + 16)
    lead: tuple[Point, ...] = ()
    home = block
    if c.chance(40):
        home = Block(w, block)
        home.parallel = True
        lead = tuple(Point(w.fresh("p"), some_extent(block)) for _ in range(c.weighted(((1, 4), (2, 1)))))
        home.points = list(lead)
    held = begun(home)
    for _ in range(c.weighted(((1, 4), (2, 1)))):
        loop(home, held, lead)
    for s in held:
        shape = (*(p.extent for p in lead), *(s.type.shape or ()))
        view = w.view(home.output, s.type.dtype, shape)
        w.busy.add(view.name)
        entries = [*(p.code for p in lead), *[":"] * s.type.rank]
        home.write(f"{view.name}[{', '.join(entries) or '()'}] = {s.name}")
    if lead:
        block.write(f"for {', '.join(p.code for p in lead)} in I.parallel({domains(lead)}):")
        block.lines += indented(home.lines)


def domains(lead: tuple[Point, ...]) -> str:
    each = [f"I.domain(0, {p.extent})" for p in lead]
    return each[0] if len(each) == 1 else f"({', '.join(each)})"


def begun(block: Block) -> tuple[Named, ...]:
    """States before the loop: three to five of one dtype, scalars or with axes, and perhaps one of another."""
    c, w = block.choices, block.writer
    dtype = c.weighted(
        (("i32", 10), ("f32", 5), ("i64", 2), ("u32", 2), ("index", 2), ("f64", 1), ("u8", 1), ("i16", 1))
    )
    exact = not Type(dtype).element.is_float or c.chance(50)
    axes = tuple(some_extent(block) for _ in range(c.weighted(((1, 4), (2, 1)))))
    ranks = c.choice(("scalars", "scalars", "tensors", "both", "both"))
    kinds: list[Type] = []
    for i in range(c.integer(3, 5)):
        tensor = ranks == "tensors" or ranks == "both" and i % 2 == 0
        kinds.append(Type(dtype, axes if tensor else None))
    more = c.weighted((("", 5), ("bool", 3), ("i32", 1), ("index", 1)))
    if more and more != dtype:
        kinds.append(Type(more, axes if ranks == "tensors" and c.chance(50) else None))
    made = []
    for kind in kinds:
        precise = exact or not kind.element.is_float
        made.append(Named(w.fresh("v"), kind, precise))
        block.write(f"{made[-1].name} = {value(block, kind, 1, precise)}")
    block.names += made
    return tuple(made)


def loop(block: Block, held: tuple[Named, ...], lead: tuple[Point, ...]) -> None:
    """A loop over states."""
    c, w = block.choices, block.writer
    kind = c.weighted(list(zip(HEADS, (6, 3, 2, 3, 3, 2, 6), strict=True)))
    if kind == "members" and len(lead) != 1:
        kind = "domain"
    w.used[f"states by {kind}"] += 1
    i = w.fresh("i")
    extent = c.choice((number(3), number(1), Extent("N"), Extent("M"), Extent("K")))
    inner = Block(w, block)
    at: Point | None = Point(i, extent)
    head = f"for {i} in I.domain(0, {extent}):"
    if kind in ("while", "condition"):
        at = None
        block.write(f"{i} = I.cast(0, I.i32)")
        inner.write(f"{i} += 1")
        inner.names.append(Named(i, Type("i32"), True))
        more = f" and {test(Turn(held, lead), block)}" if kind == "condition" else ""
        head = f"while {i} < {c.integer(2, 6)}{more}:"
    elif kind == "range":
        head = f"for {i} in range({extent}):"
    elif kind == "step":
        at = Point(i, extent.multiple(2))
        head = f"for {i} in range(0, {extent.multiple(2)}, 2):"
    elif kind == "enumerate":
        o = w.fresh("o")
        inner.points.append(Point(o, extent))
        head = f"for {o}, {i} in enumerate(I.domain(0, {extent})):"
    elif kind == "members":
        at = Point(i, Extent("M"))
        head = f"for {i} in {rows(block, lead[0])}:"
    if at is not None:
        inner.points.append(at)
    turn = Turn(held, lead, at=at)
    for _ in range(c.integer(2, 6)):
        moved(turn, inner)
    block.write(head)
    block.lines += indented(inner.lines)


def rows(block: Block, p: Point) -> str:
    """The members of a point, between offsets that an earlier statement wrote."""
    c, w = block.choices, block.writer
    outer = block.parent
    assert outer is not None
    n: Shape = (p.extent.more(1),)
    offsets, r = w.view(outer.output, "i32", n), w.fresh("rows")
    w.busy.add(offsets.name)
    step = c.integer(1, 3)
    outer.write(f"{offsets.name}[:] = I.cast(I.minimum(I.indices(I.domain(0, {n[0]})) * {step}, M), I.i32)")
    outer.write(f"{r} = I.ragged(I.domain(0, {p.extent}), I.domain(0, M), {offsets.name})")
    return f"{r}[{p.code}]"


def states_alone(seed: int) -> str:
    """The text of a kernel of one such loop, the same in every process."""
    from .kernels import Config, text_of

    w = Writer(seeded(seed), Config().dtypes)
    block = Block(w)
    states(block)
    return text_of(w, block)
