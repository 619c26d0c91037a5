"""Values of a wanted type: the table of productions, and the choice among them.

    @production("reduce", weight=8)
    def reduction(block, want, fuel, exact): ...    # Python text of a value of type `want`, or None

A production is asked for a type and gives an expression; what it needs it asks for in turn, with less fuel.  `exact`
asks for a value that every machine computes alike, so that decisions may hang on it: a decision on a rounded number may
go either way, and whatever hangs on it could not be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .writer import Block, Extent, Shape, Type, number

Maker = Callable[[Block, Type, int, bool], "str | None"]


@dataclass(frozen=True)
class Production:
    """One way to write a value: how often, and where it is of use."""

    name: str
    make: Maker
    weight: int
    leaf: bool
    rounds: bool
    closed: bool
    structured: bool
    lasting: int = 1  # how many uses make it half as frequent


VALUES: dict[str, Production] = {}
"""Every production of values, by name, the simplest first."""


def production(
    name: str, weight: int = 4, *, leaf: bool = False, rounds: bool = False, closed: bool = True,
    structured: bool = False, lasting: int = 1,
) -> Callable[[Maker], Maker]:  # fmt: skip
    """Declare a production.

    leaf:        it needs nothing
    rounds:      its floats may differ from machine to machine
    closed:      it may stand in a function of values
    structured:  it counts as a structured operation
    lasting:     how many uses make it half as frequent
    """

    def declare(make: Maker) -> Maker:
        VALUES[name] = Production(name, make, weight, leaf, rounds, closed, structured, lasting)
        return make

    return declare


def value(block: Block, want: Type, fuel: int, exact: bool = False) -> str:
    """An expression of type `want`, in parentheses where it needs them."""
    w = block.writer
    spent = w.spent >= w.most or fuel <= 0
    open_ = [
        p for p in VALUES.values()
        if (p.leaf or not spent)
        and not (p.rounds and exact and want.element.is_float)
        and (p.closed or not block.closed)
    ]  # fmt: skip
    for _ in range(6):
        # what this program has little of goes first
        chosen = block.choices.weighted(
            [(p, 1 + 8 * p.weight * p.lasting // (p.lasting + w.used[p.name])) for p in open_]
        )
        made = chosen.make(block, want, fuel, exact)
        if made is not None:
            w.used[chosen.name] += 1
            return made
    w.used["constant"] += 1
    return constant(block, want)


def named_value(block: Block, want: Type, fuel: int, exact: bool = False) -> str:
    """The same, as a name: what a subscript or `.shape` follows."""
    code = value(block, want, fuel, exact)
    if code.isidentifier():
        return code
    return block.bind(code, want, exact or not want.element.is_float)


# ---- extents


def known_extents(block: Block) -> list[Extent]:
    """What shapes may be made of here: names, and numbers."""
    names = ("N", "M", "K") if block.known is None else block.known
    return [*(Extent(n) for n in names), *(Extent(n, 1, 1) for n in names[:1])]


def some_extent(block: Block) -> Extent:
    """An extent to add to a shape."""
    c = block.choices
    named = known_extents(block)
    if named and c.chance(75):
        return c.choice(named)
    return number(c.choice((2, 3, 1, 4, 5, 8, 16)))


def some_shape(block: Block, most: int = 2, least: int = 0) -> Shape:
    """Extents of a new tensor."""
    return tuple(some_extent(block) for _ in range(block.choices.integer(least, most)))


def tuple_of(parts: list[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def shape_text(shape: Shape) -> str:
    return tuple_of([str(e) for e in shape])


# ---- leaves

FLOATS = ("0.5", "1.5", "-1.0", "2.0", "0.3", "3.0", "-0.7")
"""Some of which each format rounds in its own way."""

INTEGERS = ("1", "2", "3", "5", "7", "0")


def literal(block: Block, dtype: str) -> str:
    """A number that the dtype has."""
    c = block.choices
    kind = Type(dtype).element
    if dtype == "bool":
        return c.choice(("True", "False"))
    if kind.is_float:
        return c.choice(FLOATS)
    text = c.choice(INTEGERS)
    return f"(-{text})" if kind.is_signed and text != "0" and c.chance(20) else text


def constant(block: Block, want: Type) -> str:
    """A value that is known."""
    text = literal(block, want.dtype)
    if want.shape is None:
        return f"I.cast({text}, I.{want.dtype})"
    return f"I.full({shape_text(want.shape)}, {text}, I.{want.dtype})"


@production("constant", 1, leaf=True)
def constant_(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if want.shape is not None and block.choices.chance(20):
        return f"I.zeros({shape_text(want.shape)}, I.{want.dtype})"
    return constant(block, want)


@production("name", 24, leaf=True)
def name_(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    alike = [n.name for n in block.every_name() if n.type == want and (n.exact or not exact)]
    return block.choices.choice(alike[::-1]) if alike else None


@production("scalar parameter", 4, leaf=True, closed=False)
def parameter(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if want.shape is not None or want.dtype.startswith("f8"):
        return None
    return block.writer.scalar(want.dtype)


@production("point", 6, leaf=True)
def point(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    points = block.every_point()
    if want.shape is not None or not points or want.element.kind not in ("index", "int"):
        return None
    code = block.choices.choice(points).code
    return code if want.dtype == "index" else f"I.cast({code}, I.{want.dtype})"


@production("coordinates", 4, leaf=True)
def coordinates(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    if want.rank != 1 or want.shape is None or not want.element.is_integer or want.dtype in ("i8", "u8"):
        return None
    (extent,) = want.shape
    step = block.choices.choice((1, 1, 2, 3))
    domain = f"I.domain(0, {extent})" if step == 1 else f"I.domain(0, {extent.multiple(step)}, {step})"
    code = f"I.indices({domain})"
    return code if want.dtype == "index" else f"I.cast({code}, I.{want.dtype})"


@production("read", 40, leaf=True, closed=False)
def read(block: Block, want: Type, fuel: int, exact: bool) -> str | None:
    """A view, indexed by the points in hand and by slices or domains."""
    c = block.choices
    subscripts: list[str] = []
    shape: list[Extent] = []
    points = block.every_point()
    for _ in range(c.weighted(((0, 4), (1, 4), (2, 1)))):
        if points and c.chance(80):
            p = c.choice(points[::-1])
            shape.append(p.extent)
            subscripts.append(p.code)
        elif c.chance(15):
            shape.append(number(3))
            subscripts.append(c.choice(("0", "1", "-1")))
    axes = list(range(want.rank))
    if want.rank > 1 and c.chance(20):
        axes = c.shuffled(axes)
    for a in axes:
        e = (want.shape or ())[a]
        own, text = along(block, e)
        shape.append(own)
        subscripts.append(text)
    if len(shape) > 4:
        return None
    view = block.writer.source(want.dtype, tuple(shape))
    code = f"{view.name}[{', '.join(subscripts) if subscripts else '()'}]"
    if axes != sorted(axes):  # axis a of the result is where a stands among those that were read
        code = f"I.transpose({code}, {tuple_of([str(axes.index(a)) for a in range(want.rank)])})"
        block.writer.used["transposed read"] += 1
    return code


def along(block: Block, e: Extent) -> tuple[Extent, str]:
    """An axis of a view, and a subscript that takes `e` members of it."""
    c, used = block.choices, block.writer.used
    kind = c.weighted((("whole", 12), ("domain", 4), ("offset", 3), ("step", 2), ("end", 2), ("subregion", 2)))
    if kind != "whole":
        used[f"axis by {kind}"] += 1
    if kind == "domain":
        return e, f"I.domain(0, {e})"
    if kind == "offset":
        k = c.integer(1, 3)
        return e.more(k), f"{k}:{e.more(k)}"
    if kind == "step":
        k = c.integer(2, 3)
        return e.multiple(k), c.choice((f"::{k}", f"I.domain(0, {e.multiple(k)}, {k})"))
    if kind == "end":
        k = c.integer(1, 2)
        return e.more(k), f":-{k}"
    if kind == "subregion":
        return e.more(2), f"I.domain(0, {e.more(2)})[1:{e.more(1)}]"
    return e, ":"
