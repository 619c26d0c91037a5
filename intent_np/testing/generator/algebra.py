"""Outputs in which operators meet the same few operands again and again: `max(min(a, b), b)`, `(i % 4) % 2`.

Values that are drawn independently hardly ever cancel, absorb or imply one another, and then no rule of algebra has
anything to do.  Here an operand is a leaf of two, a constant that is special to its type, or a part that is there
already; coordinates come from domains with known ends, and constants lie about those ends, so that bounds decide
comparisons, remainders and quotients, or just fail to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...rules.pattern import Rule
from ...terms.dtypes import DTYPES, DType
from ...terms.operators import Op
from .choices import seeded
from .patterns import DIVIDING, ROUNDING, fitting, instance, is_of
from .pointwise import EXACT, WRITTEN
from .values import some_shape, tuple_of
from .writer import Block, Extent, Type, Writer, number

EXTENDED = ("f16", "bf16", "f32", "f64", "f8e5m2")
"""Formats with infinities."""


@dataclass
class Parts:
    """Text of values of one type that may meet: leaves, and what was made of them; the same of predicates."""

    block: Block
    dtype: str
    leaves: list[str]
    predicates: list[str]
    constants: list[str]
    made: list[str] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    positive: list[str] = field(default_factory=list)

    @property
    def element(self) -> DType:
        return DTYPES[self.dtype]

    def divisor(self) -> str:
        """What an integer may be divided by: a constant that is not 0, or a value of at least 1."""
        c = self.block.choices
        if c.chance(50):
            return c.choice([k for k in self.constants if self.divides(k)])
        return c.choice([*self.positive, f"I.maximum({self.leaf()}, 1)"])

    def number(self, depth: int, exact: bool) -> str:
        """A value; `exact` where something is decided on it."""
        c = self.block.choices
        if depth <= 0:
            return self.leaf()
        kind = c.weighted((("operator", 14), ("select", 3), ("cast", 2 if self.dtype != "index" else 0), ("leaf", 2)))
        if kind == "leaf":
            return self.leaf()
        if kind == "cast":
            return self.converted(depth)
        if kind == "select":
            p, a, b = self.predicate(depth - 1), self.operand(depth - 1, exact), self.operand(depth - 1, exact)
            return self.kept(f"I.select({p}, {self.typed(a)}, {self.typed(b)})", exact)
        op = c.choice([op for op in WRITTEN if self.fits(op, "same", exact)])
        return self.kept(self.applied(op, depth, exact), exact)

    def predicate(self, depth: int) -> str:
        """A predicate, of a comparison or of others."""
        c = self.block.choices
        if depth <= 0 or c.chance(15):
            return c.choice([*self.predicates, *self.decided[-2:]])
        if c.chance(45):
            op = c.choice([op for op in WRITTEN if op.accepts(DTYPES["bool"]) and op.name in ("and", "or", "not")])
            parts = [
                c.choice([*self.predicates, *self.decided]) if c.chance(40) else self.predicate(depth - 1)
                for _ in range(1 if op.name == "not" else 2)
            ]
            made = WRITTEN[op].format(*parts)
        else:
            op = c.choice([op for op in WRITTEN if self.fits(op, "bool", True)])
            made = self.applied(op, depth, True)
        self.decided.append(made)
        return made

    def fits(self, op: Op, result: str, exact: bool) -> bool:
        if op.result != result or not op.accepts(DTYPES[self.dtype]) or op.name in ("select", "and", "or", "not"):
            return False
        if DTYPES[self.dtype].is_float and result == "same":
            return op.name in EXACT or not exact and op.name in ROUNDING
        return not op.name.endswith("_approx")

    def applied(self, op: Op, depth: int, exact: bool) -> str:
        c = self.block.choices
        args = [self.operand(depth - 1, exact) for _ in range(op.arity)]
        if all(a in self.constants for a in args):  # Python would compute them
            args[c.integer(0, op.arity - 1)] = c.choice(self.leaves)
        if op.name in DIVIDING and not self.divides(args[1]):
            args[1] = self.divisor()
            if args[0] in self.constants:
                args[0] = c.choice(self.leaves)
        if op.name in ("shl", "shr"):
            args = [
                self.leaf() if args[0] in self.constants else args[0],
                c.choice(("0", "1", "2", f"({self.typed(args[1])} & 7)")),
            ]
        return WRITTEN[op].format(*args)

    def divides(self, text: str) -> bool:
        """Whether a value is known not to be 0."""
        return text in self.constants and text not in ("0", "(-1)") or text in self.positive

    def operand(self, depth: int, exact: bool) -> str:
        c = self.block.choices
        kind = c.weighted((("new", 8), ("leaf", 5), ("constant", 4), ("again", 5)))
        if kind == "constant":
            return c.choice(self.constants)
        if kind == "again" and self.made:
            return c.choice(self.made)
        return self.number(depth if kind == "new" else 0, exact)

    def leaf(self) -> str:
        return self.block.choices.choice(self.leaves)

    def typed(self, text: str) -> str:
        """A constant as a value of the type."""
        return f"I.cast({text}, I.{self.dtype})" if text in self.constants else text

    def kept(self, text: str, exact: bool) -> str:
        """Text that may be used again; what rounds is used once."""
        if exact or not DTYPES[self.dtype].is_float:
            self.made.append(text)
        return text

    def converted(self, depth: int) -> str:
        """A value or predicate in another type and back; out of a float by saturation."""
        c, own = self.block.choices, DTYPES[self.dtype]
        if c.chance(30):
            return self.kept(f"I.cast({self.predicate(depth - 1)}, I.{self.dtype})", True)
        inner = self.typed(self.operand(depth - 1, True))
        for d in c.shuffled([d for d in dict.fromkeys(self.block.writer.dtypes) if d not in ("bool", self.dtype)])[:2]:
            if DTYPES[d].is_float != own.is_float:
                continue
            if not own.is_float and DTYPES[d].bits == own.bits and c.chance(50):
                return self.kept(f"I.bitcast(I.bitcast({inner}, I.{d}), I.{self.dtype})", True)
            cast = "saturate_cast" if c.chance(30) or "f8e4m3fn" in (d, self.dtype) else "cast"
            return self.kept(f"I.{cast}(I.{cast}({inner}, I.{d}), I.{self.dtype})", True)
        return inner


def coordinates(block: Block, rules: Sequence[Rule] = ()) -> None:
    """Index arithmetic and predicates over the coordinates of two domains."""
    c, w = block.choices, block.writer
    names: list[str] = []
    positive: list[str] = []
    shape: list[Extent] = []
    limits = [0, 1]
    for place in ("[:, None]", "[None, :]"):
        low, size, step = c.choice((0, 0, 0, 1, 2, 4, -2, -3)), c.choice((1, 2, 3, 4, 5, 8)), c.choice((1, 1, 1, 2, 4))
        if not names or c.chance(75):
            code, extent = f"I.domain({low}, {low + size * step}{f', {step}' if step > 1 else ''})", number(size)
            limits += [low, low + (size - 1) * step]
        else:
            code, extent = "I.domain(0, N)", Extent("N")
        names.append(block.bind(f"I.indices({code})", Type("index", (extent,)), True) + place)
        if low > 0 and not extent.name:
            positive.append(names[-1])
        shape.append(extent)
    near = sorted({n + d for n in limits for d in (-1, 0, 1)} | {2, 4, 8, -2})
    constants = [str(n) if n >= 0 else f"({n})" for n in near]
    if Extent("N") in shape:
        names.append("N")
        positive.append("N")
    test = w.source("bool", tuple(shape)).name
    parts = Parts(block, "index", names, [f"{test}[:, :]"], constants, positive=positive)
    write(block, parts, tuple(shape), rules)


def values(block: Block, rules: Sequence[Rule] = ()) -> None:
    """Operators of one type over two values."""
    c, w = block.choices, block.writer
    dtype = c.choice(
        [d for d in dict.fromkeys(w.dtypes) if d not in ("bool", "index") and set(rules) <= set(fitting(d))]
    )
    shape = some_shape(block, 2, 1)
    colons = ", ".join(":" for _ in shape)
    leaves = [f"{w.view('In', dtype, shape).name}[{colons}]" for _ in range(2)]
    test = [f"{w.source('bool', shape).name}[{colons}]", f"{w.view('In', 'bool', shape).name}[{colons}]"]
    element = DTYPES[dtype]
    if element.is_float:
        constants = ["0.0", "1.0", "(-1.0)", "(-0.0)", "2.0", "0.5"]
        constants += ['float("inf")', '(-float("inf"))'] if dtype in EXTENDED else []
    else:
        constants = ["0", "1", "2", "3", "4", "8", *(["(-1)", "(-2)"] if element.is_signed else [])]
    write(block, Parts(block, dtype, leaves, test, constants), shape, rules)


def of_rule(r: Rule, seed: int) -> str:
    """The text of a kernel in which the left side of a rule over scalars occurs, the same in every process."""
    from .kernels import Config, text_of

    w = Writer(seeded(seed), Config().dtypes)
    block = Block(w)
    of_any = any(r in fitting(d) for d in ("i32", "f32"))
    if r in fitting("index") and (seed % 2 == 1 or not of_any):
        coordinates(block, [r])
    else:
        values(block, [r])
    return text_of(w, block)


def write(block: Block, parts: Parts, shape: tuple[Extent, ...], rules: Sequence[Rule]) -> None:
    """Outputs for some values and predicates over the same parts; of left sides of these rules alone, if some are
    given."""
    c, only = block.choices, bool(rules)
    rules = list(rules) or fitting(parts.dtype)
    own = [r for r in rules if is_of(r, parts.dtype)] or rules
    for _ in range(c.integer(4, 8)):
        kind = "pattern" if only else c.weighted((("pattern", 6), ("number", 2), ("predicate", 2)))
        if kind == "pattern":
            text, dtype = instance(parts, own if c.chance(50) else rules, c)
            if dtype == "bool":
                parts.decided.append(text)
            elif dtype == parts.dtype and not parts.element.is_float:
                parts.made.append(text)
        elif kind == "number":
            dtype, text = parts.dtype, parts.number(3, False)
        else:
            dtype, text = "bool", parts.predicate(3)
        view = block.writer.view(block.output, dtype, shape)
        block.writer.busy.add(view.name)
        block.write(f"{view.name}[{', '.join(':' for _ in shape)}] = {text}")


# ---- of places


def places(block: Block) -> None:
    """Transposes, reshapes and subscripts of one another, and of values that are the same everywhere."""
    c, w = block.choices, block.writer
    kind = c.weighted((("read", 5), ("filled", 2), ("coordinates", 3), ("kept", 3)))
    dtype = "index" if kind == "coordinates" else c.choice([d for d in dict.fromkeys(w.dtypes) if d != "bool"])
    shape = [c.choice((1, 2, 3, 4)) for _ in range(c.integer(1, 3))]
    colons = ", ".join(":" for _ in shape)
    text = f"{w.source(dtype, tuple(map(number, shape))).name}[{colons}]"
    if kind == "filled":
        text = f"I.full({tuple_of([str(n) for n in shape])}, {c.choice(('0', '1', '3'))}, I.{dtype})"
    elif kind == "coordinates":
        shape, low = shape[:1], c.choice((0, 2))
        text = f"I.indices(I.domain({low}, {low + shape[0]}))"
    elif kind == "kept":
        axis = c.integer(0, len(shape) - 1)
        text = f"I.reduce.max({text}, axis={axis}, keepdims=True)"
        shape[axis] = 1
    for _ in range(c.integer(2, 4)):
        text, shape = moved(block, text, shape, dtype)
    view = w.view(block.output, dtype, tuple(map(number, shape)))
    w.busy.add(view.name)
    block.write(f"{view.name}[{', '.join(':' for _ in shape) or '()'}] = {text}")


def moved(block: Block, text: str, shape: list[int], dtype: str) -> tuple[str, list[int]]:
    """The same elements elsewhere, some of them, or each with another."""
    c = block.choices
    name = block.bind(text, Type(dtype, tuple(map(number, shape))), True)
    kind = c.choice(("transpose", "reshape", "take", "axis", "same dtype", "pointwise"))
    if kind == "transpose" and len(shape) > 1:
        order = list(range(len(shape))) if c.chance(25) else c.shuffled(range(len(shape)))
        return f"I.transpose({name}, {tuple_of([str(a) for a in order])})", [shape[a] for a in order]
    if kind == "reshape" and shape:
        new = list(shape)
        if c.chance(40):
            new = c.shuffled(new)
        elif c.chance(50):
            new = [n for n in new if n != 1] or [1]
        elif len(new) < 4:
            new.insert(c.integer(0, len(new)), 1)
        return f"I.reshape({name}, {tuple_of([str(n) for n in new])})", new
    if kind == "take" and shape:
        entries, new = [], []
        for n in shape:
            k = c.weighted((("whole", 5), ("part", 3), ("one", 2), ("step", 1)))
            if k == "part" and n > 1:
                entries.append(c.choice((f"1:{n}", f"0:{n - 1}")))
                new.append(n - 1)
            elif k == "one" and len(new) + 1 < len(shape):
                entries.append(c.choice(("0", str(n - 1), "-1")))
            elif k == "step" and n > 1:
                entries.append("::2")
                new.append((n + 1) // 2)
            else:
                entries.append(":")
                new.append(n)
        return f"{name}[{', '.join(entries)}]", new
    if kind == "axis" and len(shape) < 4:
        at = c.integer(0, len(shape))
        entries = [*[":"] * at, "None", *[":"] * (len(shape) - at)]
        return f"{name}[{', '.join(entries)}]", [*shape[:at], 1, *shape[at:]]
    if kind == "pointwise":
        fill = f"I.full({tuple_of([str(n) if c.chance(60) else '1' for n in shape])}, 1, I.{dtype})"
        return f"I.maximum({name}, {fill})", shape
    return f"I.cast({name}, I.{dtype})", shape


ALGEBRA: Final[dict[str, Callable[[Block], None]]] = {
    "algebra of values": values,
    "algebra of coordinates": coordinates,
    "algebra of places": places,
}
"""What a kernel may have behind its statements, in whose place it would leave less of everything else."""


def algebra(block: Block) -> None:
    """One of them."""
    name = block.choices.weighted(list(zip(ALGEBRA, (4, 5, 3), strict=True)))
    block.writer.used[name] += 1
    ALGEBRA[name](block)
