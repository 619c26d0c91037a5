"""What an iteration does with the states of its loop: each move writes lines that assign some of them, or use them.

    @move("rotation", weight=6)
    def rotation(turn, block): ...    # writes into `block`; False where it does not fit

States that are made of one another's old values, or become one value, or stay what they were, are what nothing else of
the generator makes: a value that is drawn hardly ever is a state, and never the state itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .functions import condition
from .regions import RUNNING
from .values import literal, tuple_of, value
from .writer import Block, Extent, Named, Point, Shape, Type, indented, number

Move = Callable[["Turn", Block], bool]


@dataclass(frozen=True)
class Turn:
    """The iteration in hand: its states, how deep it stands in loops, and coordinates of points outside of the loop."""

    states: tuple[Named, ...]
    lead: tuple[Point, ...]
    depth: int = 0
    left: bool = True  # whether a `break` or `continue` is one of this loop
    at: Point | None = None

    def alike(self, block: Block, least: int) -> list[Named]:
        """States of one type, in some order; none where there are fewer."""
        kinds = list(dict.fromkeys(s.type for s in self.states))
        groups = [g for k in kinds if len(g := [s for s in self.states if s.type == k]) >= least]
        return block.choices.shuffled(block.choices.choice(groups)) if groups else []

    def of(self, block: Block, rank: int) -> list[Named]:
        """Numbers among the states with so many axes, in some order."""
        return block.choices.shuffled([s for s in self.states if s.type.rank == rank and s.type.dtype != "bool"])


@dataclass(frozen=True)
class Entry:
    """A move, and how often it is made."""

    name: str
    make: Move
    weight: int = field(default=4)


MOVES: dict[str, Entry] = {}


def move(name: str, weight: int = 4) -> Callable[[Move], Move]:
    """Declare a move."""

    def declare(make: Move) -> Move:
        MOVES[name] = Entry(name, make, weight)
        return make

    return declare


def moved(turn: Turn, block: Block) -> None:
    """Write one move; what this kernel has little of goes first."""
    used = block.writer.used
    for _ in range(12):
        chosen = block.choices.weighted(
            [(m, 1 + 8 * m.weight // (1 + used[f"states: {m.name}"])) for m in MOVES.values()]
        )
        if chosen.make(turn, block):
            used[f"states: {chosen.name}"] += 1
            return


# ---- parts of moves


def operand(turn: Turn, block: Block, kind: Type, exact: bool) -> str:
    """A value of a type: often a state, else anything."""
    same = [s.name for s in turn.states if s.type == kind and (s.exact or not exact)]
    wider = [s.name for s in turn.states if s.type == Type(kind.dtype) and (s.exact or not exact)]
    if same and block.choices.chance(60):
        return block.choices.choice(same)
    if kind.rank and wider and block.choices.chance(30):
        return block.choices.choice(wider)
    return value(block, kind, 1, exact)


def test(turn: Turn, block: Block) -> str:
    """A condition, of the states if it may be: what rounds decides nothing."""
    c = block.choices
    scalars = [s for s in turn.states if s.exact and s.type.rank == 0]
    tensors = [s for s in turn.states if s.exact and s.type.rank and s.type.dtype != "bool"]
    kind = c.weighted((("two", 5), ("one", 4), ("any", 3), ("place", 2), ("drawn", 2)))
    if kind == "place" and turn.at is not None:
        return f"{turn.at.code} % 2 == {c.choice('01')}"
    if kind == "any" and tensors:
        s = c.choice(tensors)
        compared = f"{s.name} {c.choice(('>', '=='))} {c.choice(('0', '1', '3'))}"
        return f"I.reduce.{c.choice(('any', 'all'))}({compared})"
    if kind == "two" and len(scalars) > 1:
        first = c.choice(scalars)
        rest = [s for s in scalars if s.type == first.type and s != first]
        if rest and first.type.dtype != "bool":
            return f"{first.name} {c.choice(('>', '<=', '=='))} {c.choice(rest).name}"
    if kind in ("two", "one") and scalars:
        s = c.choice(scalars)
        if s.type.dtype == "bool":
            return s.name
        if s.type.element.is_float:
            return f"{s.name} > {literal(block, s.type.dtype)}"
        return c.choice((f"{s.name} % 2 == 0", f"{s.name} > 2", f"{s.name} % 3 != 1"))
    return condition(block, 1)


def place(turn: Turn, block: Block, extent: Extent) -> str:
    """A coordinate inside of an extent above 0, of a state where one is whole."""
    whole = [s for s in turn.states if s.type.rank == 0 and s.type.element.is_integer and s.type.dtype != "bool"]
    if whole and block.choices.chance(80):
        return f"(I.cast({block.choices.choice(whole).name}, I.index) % ({extent}))"
    return f"(I.cast({value(block, Type('i32'), 1, True)}, I.index) % ({extent}))"


def stepped(turn: Turn, block: Block, s: Named) -> str:
    """What comes after a state: made of itself, other states, and anything."""
    c, d = block.choices, s.type.element
    other = operand(turn, block, s.type, s.exact)
    if s.type.dtype == "bool":
        return c.choice((f"{s.name} != {other}", f"({s.name} and {other})", f"not {s.name}", f"({s.name} or {other})"))
    if d.is_float and s.exact:
        forms = [f"I.maximum({s.name}, {other})", f"I.minimum({other}, {s.name})", f"-{s.name}"]
    else:
        forms = [f"{s.name} + {other}", f"{s.name} - {other}", f"I.maximum({s.name}, {other})"]
        forms += [f"{s.name} * {literal(block, s.type.dtype)} + {other}", f"{other} * {s.name}"]
        if not d.is_float:
            forms += [f"({s.name} + {other}) % 7", f"{s.name} ^ {other}"] * 2
    return c.choice(forms)


def branch(turn: Turn, block: Block, most: int = 2) -> list[str]:
    """Lines of some moves that stand one deeper."""
    inner = Block(block.writer, block)
    inner.guarded = True
    for _ in range(block.choices.integer(1, most)):
        moved(replace(turn, depth=turn.depth + 1), inner)
    return indented(inner.lines or ["pass"])


def output(turn: Turn, block: Block, dtype: str, shape: Shape) -> tuple[str, str]:
    """A view of which each point outside has a part, and the subscripts of this point's."""
    view = block.writer.view("InOut", dtype, (*(p.extent for p in turn.lead), *shape))
    block.writer.busy.add(view.name)
    return view.name, "".join(f"{p.code}, " for p in turn.lead)


def colons(kind: Type) -> str:
    return ", ".join([":"] * kind.rank)


def _sums(s: Named) -> bool:
    """Whether sums of a state's members may be among its values."""
    return not (s.type.element.is_float and s.exact)


# ---- states among themselves


@move("rotation", 10)
def rotation(turn: Turn, block: Block) -> bool:
    """Three or more go round; one may be moved on the way."""
    if not (group := turn.alike(block, 3)):
        return False
    names = [s.name for s in group]
    after = [*names[1:], names[0]]
    if block.choices.chance(40):
        after[-1] = stepped(turn, block, group[0])
    block.write(f"{', '.join(names)} = {', '.join(after)}")
    return True


@move("exchange", 6)
def exchange(turn: Turn, block: Block) -> bool:
    if not (group := turn.alike(block, 2)):
        return False
    a, b = (s.name for s in group[:2])
    kind = block.choices.choice(("at once", "aside", "record", "helper"))
    if kind == "aside":
        t = block.writer.fresh("t")
        block.lines += [f"{t} = {a}", f"{a} = {b}", f"{b} = {t}"]
    elif kind == "record":
        r = block.writer.fresh("r")
        block.lines += [f"{r} = I.record(first={a}, second={b})", f"{a}, {b} = {r}.second, {r}.first"]
    elif kind == "helper":
        name = block.writer.fresh("turned")
        block.writer.helpers.append(f"@intent.fn\ndef {name}(a, b):\n    return b, a")
        block.write(f"{a}, {b} = {name}({a}, {b})")
    else:
        block.write(f"{a}, {b} = {b}, {a}")
    return True


@move("of old values", 8)
def together(turn: Turn, block: Block) -> bool:
    """Two or three, each made of what the others were."""
    if not (group := turn.alike(block, 2)):
        return False
    group = group[: block.choices.integer(2, 3)]
    after = [stepped(turn, block, s) for s in group]
    block.write(f"{', '.join(s.name for s in group)} = {', '.join(after)}")
    return True


@move("step", 8)
def step(turn: Turn, block: Block) -> bool:
    s = block.choices.choice(turn.states)
    block.write(f"{s.name} = {stepped(turn, block, s)}")
    return True


@move("one value", 5)
def one(turn: Turn, block: Block) -> bool:
    """States that become what another one is."""
    if not (group := turn.alike(block, 2)):
        return False
    if len(group) > 2 and block.choices.chance(40):
        block.write(f"{group[1].name}, {group[2].name} = {group[0].name}, {group[0].name}")
    else:
        block.write(f"{group[1].name} = {group[0].name}")
    return True


@move("as it was", 4)
def kept(turn: Turn, block: Block) -> bool:
    """A state that is given its own value, as anybody finds out who looks."""
    s, c = block.choices.choice(turn.states), block.choices
    forms = [s.name, f"I.select({test(turn, block)}, {s.name}, {s.name})"]
    if not s.type.element.is_float and s.type.dtype != "bool":
        forms += [f"{s.name} + 0", f"{s.name} * 1", f"I.maximum({s.name}, {s.name})"]
    block.write(f"{s.name} = {c.choice(forms)}")
    return True


@move("choice", 6)
def choice(turn: Turn, block: Block) -> bool:
    """A selection among states."""
    if not (group := turn.alike(block, 2)):
        return False
    a, b = (s.name for s in group[:2])
    block.write(f"{a} = {b} if {test(turn, block)} else {block.choices.choice((a, stepped(turn, block, group[0])))}")
    return True


@move("members of two", 4)
def members(turn: Turn, block: Block) -> bool:
    """Members of two tensors, chosen by what a third has."""
    group = [s for s in turn.alike(block, 2) if s.type.rank and s.exact and s.type.dtype != "bool"]
    if len(group) < 2:
        return False
    a, b, d = (s.name for s in (group[0], group[1], group[-1]))
    block.write(f"{a}, {b} = I.select({d} > {b}, {a}, {b}), I.select({d} > {b}, {b}, {a})")
    return True


# ---- control


@move("condition", 8)
def conditional(turn: Turn, block: Block) -> bool:
    if turn.depth > 2:
        return False
    block.write(f"if {test(turn, block)}:")
    block.lines += branch(turn, block)
    if block.choices.chance(40):
        block.write("else:")
        block.lines += branch(turn, block)
    return True


@move("loop inside", 6)
def nested(turn: Turn, block: Block) -> bool:
    """A loop of an iteration's own that moves the same states."""
    if turn.depth > 1:
        return False
    c, w = block.choices, block.writer
    j = w.fresh("j")
    kind = c.choice(("few", "extent", "while"))
    extent = c.choice((Extent("K"), Extent("M"))) if kind == "extent" else number(c.integer(1, 3))
    inner = replace(turn, depth=turn.depth + 1, left=True, at=None if kind == "while" else Point(j, extent))
    body = Block(w, block)
    if kind == "while":
        block.write(f"{j} = I.cast(0, I.i32)")
        body.write(f"{j} += 1")
    else:
        body.points.append(Point(j, extent))
    for _ in range(c.integer(1, 3)):
        moved(inner, body)
    head = {"while": f"while {j} < {extent} and {test(turn, block)}:"}.get(kind, f"for {j} in range({extent}):")
    block.write(head)
    block.lines += indented(body.lines or ["pass"])
    return True


@move("way out", 3)
def left(turn: Turn, block: Block) -> bool:
    if not turn.left or turn.depth > 1:
        return False
    block.write(f"if {test(turn, block)}:")
    block.write(f"    {block.choices.choice(('break', 'continue'))}")
    return True


# ---- effects


@move("store", 7)
def store(turn: Turn, block: Block) -> bool:
    """A state as it is now: at a place of this iteration, or over what an earlier one left."""
    c, s = block.choices, block.choices.choice(turn.states)
    own = turn.at is not None and c.chance(70) and len(turn.lead) + s.type.rank < 3
    shape = (*((turn.at.extent,) if own and turn.at else ()), *(s.type.shape or ()))
    name, lead = output(turn, block, s.type.dtype, shape)
    entries = f"{turn.at.code}, " if own and turn.at else ""
    target = f"{name}[{lead}{entries}{colons(s.type)}]".replace(", ]", "]").replace("[]", "[()]")
    if s.type.dtype == "bool" or s.type.element.is_float and s.exact:
        block.write(f"{target} = {s.name}")
    else:
        block.write(
            f"{target} = {c.choice((s.name, f'{target} + {s.name}', f'{s.name} + {literal(block, s.type.dtype)}'))}"
        )
    return True


@move("memory", 6)
def memory(turn: Turn, block: Block) -> bool:
    """What an iteration left at places that states decide, found by another one."""
    if not (found := [s for s in turn.of(block, 0) if s.exact]):
        return False
    s, c = found[0], block.choices
    name, lead = output(turn, block, s.type.dtype, (number(c.choice((3, 8))),))
    extent = block.writer.views[-1].shape[-1]
    there, here = (f"{name}[{lead}{place(turn, block, extent)}]" for _ in range(2))
    lines = [f"{there} = {stepped(turn, block, s)}", f"{s.name} = {here}"]
    block.lines += lines if c.chance(50) else lines[::-1]
    return True


@move("buffer", 3)
def buffer(turn: Turn, block: Block) -> bool:
    """Memory of one iteration's own."""
    if not (tensors := [s for s in turn.states if s.type.rank == 1]) or block.writer.count["aside"] > 1:
        return False
    s, c = block.choices.choice(tensors), block.choices
    assert s.type.shape is not None
    b = block.writer.fresh("aside")
    block.write(f"{b} = I.buffer({tuple_of([str(e) for e in s.type.shape])}, I.{s.type.dtype}, init={s.name})")
    if s.type.shape[0].least:
        block.write(f"{b}[{place(turn, block, s.type.shape[0])}] = {operand(turn, block, Type(s.type.dtype), s.exact)}")
    block.write(f"{s.name} = {c.choice((f'I.flip({b}[:], 0)', f'{b}[:]'))}")
    return True


@move("update", 5)
def update(turn: Turn, block: Block) -> bool:
    """An access that is asked what it found, and what is decided on that."""
    whole = [s for s in turn.of(block, 0) if s.type.dtype in ("i32", "i64", "u32")]
    if not whole:
        return False
    c, s = block.choices, whole[0]
    name, lead = output(turn, block, s.type.dtype, (number(c.choice((1, 5))),))
    extent = block.writer.views[-1].shape[-1]
    t = block.writer.fresh("t")
    at = f"({lead}{place(turn, block, extent)},)"
    kind = c.choice(("add", "max", "exchange", "compare_exchange"))
    amount = operand(turn, block, s.type, True)
    if kind == "compare_exchange":
        block.write(f"{t} = I.atomic.{kind}({name}, index={at}, expected={s.name}, desired={amount}).old_value")
    else:
        block.write(f"{t} = I.atomic.{kind}({name}, index={at}, value={amount})")
    if c.chance(50) and turn.depth < 2:
        block.write(f"if {t} % 2 == 0:")
        block.lines += branch(turn, block, 1)
    else:
        block.write(f"{s.name} = {c.choice((t, f'{s.name} + {t}'))}")
    return True


@move("lanes that meet", 6)
def meeting(turn: Turn, block: Block) -> bool:
    """Lanes of a tensor that meet at places of another one."""
    tensors = [s for s in turn.of(block, 1) if s.exact and s.type.element.is_integer and s.type.element.bits >= 16]
    if not tensors:
        return False
    first, last = tensors[0], tensors[-1]
    if first.type != last.type or first.type.dtype == "index":
        return False
    name, lead = output(turn, block, last.type.dtype, (number(5),))
    lead = "".join(f"{p.code}, " for p in turn.lead)
    at = f"({lead}I.cast({first.name}, I.index) % 5,)"
    combine = block.choices.choice(("I.maximum", "I.minimum"))
    block.write(f"I.scatter_reduce({name}, index={at}, value={last.name}, combine={combine})")
    return True


@move("points inside", 3)
def points(turn: Turn, block: Block) -> bool:
    """Points of an iteration, which all see its states."""
    if block.parallel or turn.depth > 1:
        return False
    c, w = block.choices, block.writer
    s = c.choice(turn.states)
    p = Point(w.fresh("p"), c.choice((Extent("M"), number(3))))
    own = turn.at is not None and c.chance(50)
    inner = Block(w, block)
    inner.parallel = True
    inner.points = [p]
    more = operand(turn, inner, Type(s.type.dtype), s.exact)
    view, _ = output(turn, block, s.type.dtype, (p.extent, *((turn.at.extent,) if own and turn.at else ())))
    target = f"{view}[{p.code}{f', {turn.at.code}' if own and turn.at else ''}]"
    read = s.name if s.type.rank == 0 else f"I.reduce.{'any' if s.type.dtype == 'bool' else 'max'}({s.name})"
    if s.type.dtype == "bool":
        inner.write(f"{target} = {read} != {more}")
    else:
        inner.write(f"{target} = I.maximum({read}, {more})")
    block.write(f"for {p.code} in I.parallel(I.domain(0, {p.extent})):")
    block.lines += indented(inner.lines)
    return True


# ---- structured operations over states


@move("reduction", 6)
def reduction(turn: Turn, block: Block) -> bool:
    """What a tensor amounts to, in a scalar or in the tensor."""
    if not (tensors := [s for s in turn.states if s.type.rank and s.type.dtype != "bool"]):
        return False
    c, s = block.choices, block.choices.choice(tensors)
    scalars = [t for t in turn.states if t.type == Type(s.type.dtype) and (s.exact or not t.exact)]
    wide = s.type.element.bits >= 32 or s.type.dtype == "index"
    sums = wide and not (s.type.element.is_float and s.exact)
    kind = c.choice(("max", "min", "sum")) if sums else c.choice(("max", "min"))
    if scalars and c.chance(60):
        block.write(f"{c.choice(scalars).name} = I.reduce.{kind}({s.name})")
    elif sums:
        axis = c.integer(0, s.type.rank - 1)
        block.write(f"{s.name} = {s.name} - I.reduce.{kind}({s.name}, axis={axis}, keepdims=True)")
    else:
        axis = c.integer(0, s.type.rank - 1)
        block.write(f"{s.name} = I.minimum(-{s.name}, I.reduce.{kind}({s.name}, axis={axis}, keepdims=True))"
                    if s.type.element.is_float else
                    f"{s.name} = {s.name} ^ I.reduce.{kind}({s.name}, axis={axis}, keepdims=True)")  # fmt: skip
    return True


@move("order of members", 5)
def ordered(turn: Turn, block: Block) -> bool:
    """A tensor whose members move along an axis, or are summed along it."""
    if not (tensors := [s for s in turn.states if s.type.rank and s.type.dtype != "bool"]):
        return False
    c, s = block.choices, block.choices.choice(tensors)
    axis = c.integer(0, s.type.rank - 1)
    kind = c.weighted((("flip", 3), ("roll", 2), ("max", 3), ("sum", 3), ("sort", 1), ("other", 3)))
    others = [t for t in turn.states if t.type == s.type and t.exact == s.exact]
    other = c.choice(others).name if kind == "other" else s.name
    if kind == "sum" and (s.type.element.is_float and s.exact or s.type.element.bits < 32 and s.type.dtype != "index"):
        kind = "max"
    if kind == "sort" and not s.exact:
        kind = "flip"
    options = c.choice(("", ", reverse=True", ", inclusive=False"))
    text = {
        "flip": f"I.flip({s.name}, {axis})", "roll": f"I.roll({s.name}, {c.choice((1, -1))}, {axis})",
        "max": f"I.cummax({s.name}, axis={axis}{options})",
        "sum": f"I.cumsum({s.name}, axis={axis}{options}, acc_dtype=I.{s.type.dtype})",
        "sort": f"I.sort({s.name}, axis={axis})",
        "other": f"I.maximum({s.name}, I.flip({other}, {axis}))",
    }[kind]  # fmt: skip
    block.write(f"{s.name} = {text}")
    return True


@move("product", 4)
def product(turn: Turn, block: Block) -> bool:
    """A contraction with a state as an operand."""
    tensors = [
        s for s in turn.states if s.type.rank and s.type.element.bits >= 32 and s.type.dtype != "index" and _sums(s)
    ]
    if not tensors:
        return False
    c, s = block.choices, block.choices.choice(tensors)
    assert s.type.shape is not None
    e, acc = s.type.shape[-1], f"acc_dtype=I.{s.type.dtype}"
    scalars = [t for t in turn.states if t.type == Type(s.type.dtype) and (s.exact or not t.exact)]
    vectors = [t for t in turn.states if t.type == s.type]
    if s.type.rank == 1 and scalars and c.chance(40):
        block.write(f"{c.choice(scalars).name} = I.dot({s.name}, {c.choice(vectors).name}, {acc})")
        return True
    matrix = value(block, Type(s.type.dtype, (e, e)), 1, s.exact)
    function = c.choice(("vecmat", "matvec")) if s.type.rank == 1 else "matmul"
    sides = (matrix, s.name) if function == "matvec" else (s.name, matrix)
    block.write(f"{s.name} = I.{function}({', '.join(sides)}, {acc})")
    return True


@move("region fold", 4)
def region_fold(turn: Turn, block: Block) -> bool:
    """A region of memory or of a state, told a state."""
    scalars = [s for s in turn.of(block, 0) if s.type.element.bits >= 32 and s.type.dtype != "index"]
    if not scalars:
        return False
    c, s = block.choices, scalars[0]
    sources = [t for t in turn.states if t.type.dtype == s.type.dtype and t.type.rank == 1]
    source = c.choice(sources).name if sources and c.chance(50) else value(
        block, Type(s.type.dtype, (c.choice((Extent("N"), Extent("M"), number(5))),)), 1, s.exact)  # fmt: skip
    kind = "max" if s.type.element.is_float else c.choice(("max", "sum"))
    low = {"max": 'float("-inf")' if s.type.element.is_float else str(s.type.element.range[0])}.get(kind, "0")
    inner = (
        "I.minimum(values, told)"
        if s.type.element.is_float
        else c.choice(("values ^ told", "values * told", "I.minimum(values, told)"))
    )
    whole = f"I.reduce.{kind}({inner}, axis=0{f', acc_dtype=I.{s.type.dtype}' if kind == 'sum' else ''})"
    plus = "I.maximum(a, b)" if kind == "max" else "a + b"
    name = block.writer.fresh("region")
    block.writer.helpers += [
        f"@intent.fn\ndef summarize_{name}(values, told):\n    return {whole}",
        f"@intent.fn\ndef combine_{name}(a, b):\n    return {plus}",
    ]
    told = operand(turn, block, s.type, s.exact)
    block.write(f"{s.name} = I.region_fold({source}, axis=0, summarize=summarize_{name}, combine=combine_{name}, "
                f"identity={low}, operands=({told},))")  # fmt: skip
    return True


@move("region scan", 4)
def region_scan(turn: Turn, block: Block) -> bool:
    """A region scan that begins with a state, and leaves one."""
    tensors = [s for s in turn.of(block, 1) if s.type.element.bits >= 32 and s.type.dtype != "index" and _sums(s)]
    if not tensors:
        return False
    c, s = block.choices, tensors[0]
    scalars = [t.name for t in turn.states if t.type == Type(s.type.dtype) and (s.exact or not t.exact)]
    kind = c.choice(sorted(RUNNING))
    summary, combine, emitted = RUNNING[kind]
    d = s.type.element
    zero = ("0.0" if d.is_float else "0") if kind == "sum" else 'float("-inf")' if d.is_float else str(d.range[0])
    name = block.writer.fresh("region")
    x = c.choice(("", ", inclusive=False"))
    functions = {
        f"summarize_{name}(values)": summary.format(d=d.name), f"combine_{name}(a, b)": combine.format(a="a", b="b"),
        f"apply_{name}(summary, state)": combine.format(a="state", b="summary"),
        f"emit_{name}(values, state)": emitted.format(d=d.name, x=x),
    }  # fmt: skip
    block.writer.helpers += [f"@intent.fn\ndef {head}:\n    return {body}" for head, body in functions.items()]
    begin = operand(turn, block, Type(s.type.dtype), s.exact)
    last = c.choice(scalars) if scalars else "_"
    block.write(f"{s.name}, {last} = I.region_scan({s.name}, axis=0, summarize=summarize_{name}, "
                f"combine=combine_{name}, identity={zero}, initial_state={begin}, apply=apply_{name}, "
                f"emit=emit_{name})")  # fmt: skip
    return True


@move("place of a state", 5)
def computed(turn: Turn, block: Block) -> bool:
    """An element of memory, or elements, at places that states decide."""
    c, s = block.choices, block.choices.choice(turn.states)
    if s.type.rank > 1:
        return False
    source = block.writer.source(s.type.dtype, (c.choice((number(8), Extent("N", 1, 1))),))
    extent = source.shape[0]
    if s.type.rank == 0:
        block.write(f"{s.name} = {source.name}[{place(turn, block, extent)}]")
        return True
    whole = [t for t in turn.states if t.type.shape == s.type.shape and t.type.element.is_integer and t.exact]
    if not whole:
        return False
    at = f"I.cast({c.choice(whole).name}, I.index) % ({extent})"
    block.write(f"{s.name} = {source.name}[{at}]")
    return True
