"""Random kernels: Python source that an author could have written, and the kernel that it defines."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ...language.definition import Kernel
from . import compressed, functions, layout, pointwise, regions, structured, together  # they declare themselves
from .algebra import algebra
from .choices import Choices, seeded
from .statements import perform
from .states import states
from .wholes import wholes
from .writer import Block, Extent, Writer, indented

PRODUCTIONS = (compressed, functions, layout, pointwise, regions, structured, together)


@dataclass(frozen=True)
class Config:
    """What random kernels are made of.

    dtypes:      element types, as often as they are named
    statements:  at most so many at the level of the kernel
    algebra:     so many of a hundred kernels end with operators that meet the same operands again (`algebra.py`)
    wholes:      so many end with what takes a loop or memory where none is written (`wholes.py`)
    states:      so many end with ordered loops of several states (`states.py`)
    fuel:        how deep values are
    most:        productions of a kernel, after which only what is there already is used
    """

    dtypes: tuple[str, ...] = (
        "f32", "f32", "f32", "i32", "i32", "bool", "i64", "f16", "bf16", "f64", "index", "u8", "i8", "u32", "i16",
        "u16", "u64", "f8e4m3fn", "f8e5m2",
    )  # fmt: skip
    statements: int = 3
    algebra: int = 60
    wholes: int = 6
    states: int = 25
    fuel: int = 4
    most: int = 45


@dataclass(frozen=True)
class RandomKernel:
    """A kernel and its text.  `used` counts the productions that went into it, by name."""

    source: str
    kernel: Kernel
    used: dict[str, int] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return f"RandomKernel:\n{self.source}"


def random_kernel(seed: int, config: Config | None = None) -> RandomKernel:
    """The kernel of a seed, the same in every process."""
    return made(seeded(seed), config or Config(), f"<random kernel {seed}>")


def made(choices: Choices, config: Config, file: str = "<random kernel>") -> RandomKernel:
    """A kernel of these decisions; its errors point into `file`."""
    text, used = written(choices, config)
    return RandomKernel(text, executed(text, file), dict(used))


def written(choices: Choices, config: Config) -> tuple[str, Counter[str]]:
    """The text of a kernel, and how often each production was used."""
    w = Writer(choices, config.dtypes, config.most)
    body = Block(w)
    for _ in range(choices.integer(1, config.statements)):
        perform(body, config.fuel)
        w.readable = [v for v in w.views if v.mode == "InOut"]
        w.busy = set()
        body.names = []
    if choices.chance(config.algebra):
        algebra(body)
    if choices.chance(config.wholes):  # last, so that the kernels of other seeds stay what they were
        w.busy = set()
        wholes(body)
    if choices.chance(config.states):
        w.busy = set()
        states(body)
    return text_of(w, body), w.used


def text_of(w: Writer, body: Block) -> str:
    """The module of a kernel: enums, helpers, and the kernel with what its shapes name."""
    names = w.extent_names()
    used = "\n".join([*body.lines, *w.helpers])
    for name in ("N", "M", "K"):
        if name not in names and name in _words("\n".join(body.lines)):
            extra = w.view("In", "f32", (Extent(name),))
            names[name] = f"{extra.name}.shape[0]"
    parameters = [str(v) for v in w.views] + [f"{n}: I.{d}" for n, d in w.scalars.items()]
    parameters += [f"{n}: {text}" for n, text in w.constexprs.items()]
    lines = ["import intent_np as intent", "import intent_np.language as I", ""]
    if w.enums:
        lines += ["", "class Mode(I.Enum):", "    FIRST = 1", "    SECOND = 2", ""]
    for h in w.helpers:
        lines += ["", h, ""]
    lines += ["", "@intent.kernel", "def k("]
    lines += [f"    {p}," for p in parameters]
    lines += ["):"]
    prologue = [f"{n} = {code}" for n, code in sorted(names.items()) if n in _words(used)]
    return "\n".join([*lines, *indented(prologue), *indented(body.lines), ""])


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def executed(text: str, file: str) -> Kernel:
    """The kernel `k` that a text defines; its lines are found under the name `file`."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "random_kernel"}
    exec(compile(text, file, "exec"), names)
    kernel = names["k"]
    assert isinstance(kernel, Kernel)
    return kernel
