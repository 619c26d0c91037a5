"""A kernel's text while it is being written: its parameters, its helpers, and what each block knows.

Everything has a type when it is written, an extent that the signature names, and an index that is inside by
construction, so that what comes out is a program and not a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...terms.dtypes import DTYPES, DType
from .choices import Choices


@dataclass(frozen=True)
class Extent:
    """`times * name + plus`; a number where there is no name."""

    name: str = ""
    times: int = 1
    plus: int = 0

    def __str__(self) -> str:
        if not self.name:
            return str(self.plus)
        head = self.name if self.times == 1 else f"{self.times} * {self.name}"
        return f"{head} + {self.plus}" if self.plus else head

    @property
    def least(self) -> int:
        """What it is at least, whatever the call."""
        return self.plus

    def more(self, n: int) -> Extent:
        return Extent(self.name, self.times, self.plus + n)

    def multiple(self, n: int) -> Extent:
        return Extent(self.name, self.times * n if self.name else 1, self.plus * n)


def number(n: int) -> Extent:
    """A static extent."""
    return Extent("", 1, n)


Shape = tuple[Extent, ...]


@dataclass(frozen=True)
class Type:
    """A dtype and a shape; None is a scalar, which is no tensor of rank 0."""

    dtype: str
    shape: Shape | None = None

    @property
    def element(self) -> DType:
        return DTYPES[self.dtype]

    @property
    def rank(self) -> int:
        return len(self.shape or ())

    def of(self, dtype: str) -> Type:
        return Type(dtype, self.shape)


@dataclass(frozen=True)
class Named:
    """A name in scope.  `exact` says that its value is the same on every machine, whatever it is."""

    name: str
    type: Type
    exact: bool


@dataclass(frozen=True)
class Point:
    """An index scalar that is inside of an axis of this extent."""

    code: str
    extent: Extent


@dataclass
class ViewParameter:
    """A view of the signature."""

    name: str
    mode: str  # In, Out or InOut
    dtype: str
    shape: Shape
    promise: str = ""  # of I.constraints

    def __str__(self) -> str:
        entries = [str(e) if not e.name or e == Extent(e.name) else f'"{e}"' for e in self.shape]
        entries = [f'"{e}"' if e.isidentifier() else e for e in entries]
        shape = f"({', '.join(entries)}{',' if len(entries) == 1 else ''})"
        promise = f", I.constraints({self.promise})" if self.promise else ""
        return f"{self.name}: I.{self.mode}[I.{self.dtype}, {shape}{promise}]"


@dataclass
class Writer:
    """What the whole kernel shares."""

    choices: Choices
    dtypes: tuple[str, ...]
    most: int = 60  # productions, so that programs stay readable
    views: list[ViewParameter] = field(default_factory=list)
    scalars: dict[str, str] = field(default_factory=dict)
    constexprs: dict[str, str] = field(default_factory=dict)
    enums: list[str] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    readable: list[ViewParameter] = field(default_factory=list)  # outputs that earlier statements have filled
    busy: set[str] = field(default_factory=set)  # outputs that the statement in hand writes
    used: Counter[str] = field(default_factory=Counter)
    count: Counter[str] = field(default_factory=Counter)

    def fresh(self, letter: str) -> str:
        self.count[letter] += 1
        return f"{letter}{self.count[letter]}"

    @property
    def spent(self) -> int:
        return sum(self.used.values())

    def view(self, mode: str, dtype: str, shape: Shape) -> ViewParameter:
        """A new view."""
        made = ViewParameter(self.fresh({"In": "x", "Out": "y", "InOut": "z"}[mode]), mode, dtype, shape)
        self.views.append(made)
        return made

    def source(self, dtype: str, shape: Shape) -> ViewParameter:
        """A view to read: often one that there is."""
        alike = [v for v in (*self.views, *self.readable) if (v.dtype, v.shape) == (dtype, shape)]
        alike = [v for v in alike if v.mode == "In" or v in self.readable and v.name not in self.busy]
        if alike and self.choices.chance(60 if len(self.views) < 8 else 100):
            return self.choices.choice(alike)
        return self.view("In", dtype, shape)

    def scalar(self, dtype: str) -> str:
        """A scalar parameter."""
        alike = [n for n, d in self.scalars.items() if d == dtype]
        if alike:
            return self.choices.choice(alike)
        name = self.fresh("s")
        self.scalars[name] = dtype
        return name

    def extent_names(self) -> dict[str, str]:
        """How the text of the kernel comes by each extent that has a name."""
        found: dict[str, str] = {}
        for v in self.views:
            for i, e in enumerate(v.shape):
                if e.name and e == Extent(e.name):
                    found.setdefault(e.name, f"{v.name}.shape[{i}]")
        for v in self.views:
            for i, e in enumerate(v.shape):
                if e.name and e.name not in found:
                    at = f"{v.name}.shape[{i}]"
                    at = f"({at} - {e.plus})" if e.plus and e.times > 1 else f"{at} - {e.plus}" if e.plus else at
                    found[e.name] = f"{at} // {e.times}" if e.times > 1 else at
        return found


class Block:
    """Statements that follow one another, and the names that they may use."""

    def __init__(self, writer: Writer, parent: Block | None = None, closed: bool = False) -> None:
        self.writer, self.choices, self.parent = writer, writer.choices, parent
        self.lines: list[str] = []
        self.names: list[Named] = []
        self.points: list[Point] = []
        self.closed: bool = closed or bool(parent and parent.closed)  # a function of values: no views
        self.known: tuple[str, ...] | None = parent.known if parent else None  # names of extents; None: any
        self.parallel: bool = bool(parent and parent.parallel)
        self.guarded: bool = bool(parent and parent.guarded)  # behind a condition, which may turn out to be known

    @property
    def output(self) -> str:
        """How a view that a statement here writes whole is declared: as kept where that may not happen."""
        return "InOut" if self.guarded else "Out"

    def every_name(self) -> list[Named]:
        return [*(self.parent.every_name() if self.parent else ()), *self.names]

    def every_point(self) -> list[Point]:
        return [*(self.parent.every_point() if self.parent else ()), *self.points]

    def write(self, line: str) -> None:
        self.lines.append(line)

    def bind(self, code: str, kind: Type, exact: bool, letter: str = "t") -> str:
        """A name for a value."""
        name = self.writer.fresh(letter)
        self.write(f"{name} = {code}")
        self.names.append(Named(name, kind, exact))
        return name

    @contextmanager
    def inner(self, head: str) -> Iterator[Block]:
        """A block below a line that ends in a colon."""
        made = Block(self.writer, self)
        yield made
        self.write(head)
        self.lines += indented(made.lines or ["pass"])


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
