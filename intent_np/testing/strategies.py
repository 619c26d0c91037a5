"""Hypothesis strategies for terms, derived from their declarations.

    @given(terms(NORMAL))
    def test_mine(value): ...

A pool of terms grows: a class of the language is picked, each of its fields is filled from the pool (or, if it holds no
terms, with something awkward), and what the constructor accepts joins the pool.  So a strategy knows no term by name,
and a new declaration is generated without another line here.

Hypothesis draws a seed and a number of steps.  A term shrinks by fewer steps of the same seed.
"""

from __future__ import annotations

import math
import struct
import types
import typing
from random import Random
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from ..rules.pattern import Rule
from ..rules.tables import BUILTIN
from ..terms.core import Field, Literal, Term, children
from ..terms.dtypes import DTYPES, DType
from ..terms.index import Value
from ..terms.language import Language
from ..terms.operators import OPERATORS, Op
from .arguments import Arguments
from .checked import SIZES, Recipe, constants_of, extent_names
from .checked import made as made_of
from .generator.choices import Choices
from .generator.kernels import Config, RandomKernel, made
from .views import LAYOUTS

NAMES = (
    "x", "M", "N", "acc", "load", "select", "view", "axis", "valid", "after", "fill", "as", "true", "inf", "nan",
    "none",
    "variable", "nan_7ff8000000000001", "naïve", "été", "a.b", "a..b", ".5", "3", "two words", "", 'quo"te',
    "back\\slash",
    "new\nline", "\u2028", "\ud800",
)  # fmt: skip
"""Names that a printer has to quote, to rename, or to tell apart."""

WORDS = (
    "in",
    "out",
    "inout",
    "workspace",
    "wrap",
    "saturate",
    "bits",
    "a",
    "b",
    "sum",
    "max",
    "min",
    "reduce",
    "load",
    "store",
    "exchange",
    "add",
    "and",
    "xor",
    "compare_exchange",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
)
"""Attributes that mean something to some term."""

INTEGERS = (
    0, 1, -1, 2, 3, 7, 8, 16, -8, 127, 128, -128, 255, 256, 2**15, -(2**15), 65535, 2**31 - 1, -(2**31), 2**32 - 1,
    2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1,
)  # fmt: skip

FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 3.0, -2.75, 0.1, 1 / 3, math.pi, math.inf, -math.inf, math.nan, -math.nan,
    448.0, 57344.0, 65504.0, 2.0**-9, 2.0**-16, 2.0**-24, 2.0**-126, 2.0**-133, 2.0**-149, 5e-324, 2.0**127,
    float.fromhex("0x1.fffffep127"), float.fromhex("0x1.fep127"), 1.7976931348623157e308,
)  # fmt: skip
"""Zeros, ones, and where each format begins and ends."""

TRIES = 12  # fillings of one class, before another one is picked
NEAR = 12  # a term is built of the latest so many


def literal(random: Random) -> bool | int | float:
    """A number as terms hold it."""
    kind = random.randrange(5)
    if kind == 0:
        return random.random() < 0.5
    if kind == 1:
        return random.choice((random.randint(-9, 9), random.choice(INTEGERS)))
    if kind == 2:
        return float(struct.unpack("<d", random.randbytes(8))[0])
    return random.choice(FLOATS)


def attribute(annotation: Any, random: Random) -> Any:
    """A value of a field that holds no term, by its annotation."""
    args = [a for a in typing.get_args(annotation) if a is not ...]
    if typing.get_origin(annotation) is types.UnionType:
        return attribute(random.choice(args), random)
    if typing.get_origin(annotation) is tuple:
        items = args if len(args) > 1 else args * random.randint(0, 3)
        return tuple(attribute(a, random) for a in items)
    match annotation:
        case types.NoneType:
            return None
        case _ if annotation is Literal:
            return literal(random)
        case _ if annotation is bool:
            return random.random() < 0.5
        case _ if annotation is int:
            return random.choice((0, 0, 1, 1, 2, 3, 4, 8, -1, 2**20))
        case _ if annotation is str:
            return random.choice(random.choice((NAMES, WORDS)))
        case _ if annotation is DType:
            return random.choice(list(DTYPES.values()))
        case _ if annotation is Op:
            return random.choice(list(OPERATORS.values()))
    raise TypeError(f"nothing known about attributes of {annotation}")


class _Pool:
    """Terms to build from, in the order in which they were made."""

    def __init__(self, random: Random, language: Language) -> None:
        self.random, self.classes = random, language.terms
        self.terms: dict[Term, None] = {}
        self.count = dict.fromkeys(language.terms, 0)

    def rare(self, classes: list[type[Term]]) -> type[Term]:
        """One of these, of which there are few."""
        return min(self.random.choices(classes, k=3), key=self.count.__getitem__)

    def of(self, sort: Any) -> list[Term]:
        """The latest terms of a sort."""
        return [t for t in self.terms if isinstance(t, sort)][-NEAR:]

    def ready(self) -> list[type[Term]]:
        """The classes whose required fields the pool can fill."""
        return [c for c in self.classes if all(f.kind != "term" or self.of(f.sort) for f in c.fields)]

    def grow(self, cls: type[Any]) -> None:
        """Try to build one `cls`; what does not type-check is forgotten."""
        for _ in range(TRIES):
            alike: set[Any] = set()
            try:
                t = cls(*(self.field(f, alike) for f in cls.fields))
            except (TypeError, OverflowError):
                continue
            self.terms.pop(t, None)
            self.terms[t] = None
            self.count[cls] += 1
            return

    def field(self, f: Field, alike: set[Any]) -> Any:
        if f.kind == "attribute":
            if not f.required and self.random.random() < 0.5:
                return f.default
            v = attribute(f.sort, self.random)
            alike.update(x for x in (v if isinstance(v, tuple) else (v,)) if isinstance(x, DType))
            return v
        found = self.of(f.sort)
        if f.kind == "term":
            return self.pick(found, alike)
        if f.kind == "maybe":
            return self.pick(found, alike) if found and self.random.random() < 0.5 else None
        return tuple(self.pick(found, alike) for _ in range(self.random.randint(0, 3) if found else 0))

    def pick(self, found: list[Term], alike: set[Any]) -> Term:
        """One of these; usually of a type that was picked for the same term before, since types have to agree."""
        same = [t for t in found if t.type in alike]
        t = self.random.choice(same if same and self.random.random() < 0.8 else found)
        alike.add(t.type)
        return t


@st.composite
def terms(draw: st.DrawFn, language: Language, sort: type[Any] = Value, steps: int = 150) -> Any:
    """A term of `language` that is a `sort`, in the arena in force."""
    random = Random(draw(st.integers(0, 2**32 - 1)))
    pool = _Pool(random, language)
    leaves = [c for c in language.terms if all(f.kind == "attribute" for f in c.fields)]
    for i in range(draw(st.integers(1, steps))):
        inner = [c for c in pool.ready() if c not in leaves]
        pool.grow(pool.rare(inner if inner and i > 8 and random.random() < 0.8 else leaves))
    for _ in range(steps):
        if found := pool.of(sort):
            return max(found, key=_levels)
        ready = pool.ready()
        pool.grow(pool.rare(ready))
        pool.grow(pool.rare([c for c in ready if issubclass(c, sort)] or ready))
    reject()  # what was drawn does not go together


def _levels(t: Term) -> int:
    """Levels of a term, as far as they tell the interesting from the trivial."""
    found, level = 0, {t}
    while level and found < 8:
        found, level = found + 1, {c for u in level for c in children(u)}
    return found


@st.composite
def kernels(draw: st.DrawFn, config: Config | None = None) -> RandomKernel:
    """Kernels over all constructs of the language, as source that is read, with the kernel it defines.

        @given(kernels())
        def test_mine(random):
            random.kernel.capture({})        # random.source is what an author would have written

    They shrink to fewer and simpler statements."""
    return made(Choices(lambda low, high: draw(st.integers(low, high))), config or Config())


@st.composite
def arguments(draw: st.DrawFn, kernel: Any, constexprs: Any = None, finite: bool = False) -> Arguments:
    """Arguments of a kernel that keep what its signature and its promises ask for, where arguments can.

    Extents are 0, 1, primes, powers of two and their neighbours; layouts are contiguous, offset, strided, transposed,
    negative, repeating and mixed; values are small integers (so that sums are exact), normal, negative, with signed
    zeros and subnormals, and, unless all are to be `finite`, extreme.  A call shrinks to small extents, contiguous
    memory and small integers.

        @given(st.data(), kernels())
        def test_mine(data, random):
            given = data.draw(arguments(random.kernel))
    """
    chosen = constants_of(kernel, constexprs or {})
    extents = {n: draw(st.sampled_from(sorted(SIZES))) for n in extent_names(kernel) if n not in chosen}
    kinds = ("integers", "normal", "negative", "special", *(() if finite else ("extreme",)))
    recipe = Recipe(extents, draw(st.sampled_from(LAYOUTS)), draw(st.sampled_from(kinds)), draw(st.integers(0, 2**16)))
    return made_of(kernel, recipe, constexprs)


def rules(subject: str = "") -> st.SearchStrategy[Rule]:
    """The rules of the compiler, or those of one subject (`index`, `arithmetic`, …), in the order of their tables.

    @given(rules("index"))
    def test_mine(rule): ...        # rule.left, rule.right, rule.when
    """
    return st.sampled_from([r for t in BUILTIN.tables for r in t.rules if subject in ("", r.subject)])


__all__ = ["FLOATS", "INTEGERS", "NAMES", "arguments", "kernels", "rules", "terms"]
