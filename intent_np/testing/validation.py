"""Translation validation: a kernel executed behind every pass.  Names the pass that broke it.

    found = validate(softmax, arguments(softmax, {"M": 3, "N": 70}, values="integers"))
    print(found)            # right behind every pass; or the pass, the output, the element and its two values

A launch class is what a variant of a kernel may assume; each leads the passes along other ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ..terms.normal import same_arrays
from .arguments import Arguments, launched
from .case import Case, Extents
from .check import check
from .compare import Expected, compare
from .shared import separated, twins

Options = dict[str, dict[str, Any]]
SMALL = 16
"""Elements of a block, where many of them are wanted."""
FRAGMENT = 1 << 18
"""Elements of a value, past which its blocks are smaller: nothing else is to be seen in more of them."""


@dataclass(frozen=True)
class LaunchClass:
    """What may be assumed of a call, as options of passes for a normal program, and which calls keep it."""

    name: str
    options: Callable[[Any], Options] = lambda program: {}
    divisor: int = 1
    most: int | None = None
    layouts: tuple[str, ...] = ("contiguous", "random")


def _contiguous(p: Any) -> Options:
    """Rows that are contiguous, begin at 16 bytes and, where an extent is their length, are a multiple of them long."""
    from ..terms.core import find
    from ..terms.index import Const, Extent
    from ..terms.normal import View

    def aligned(v: Any) -> int:
        row = v.shape[-1] if len(v.shape) > 1 else None
        known = row is None or isinstance(row, Extent) or isinstance(row, Const) and row.value * v.dtype.bytes % 16 == 0
        return 16 if known else v.dtype.bytes  # type: ignore[no-any-return]

    views = [v for v in p.parameters if isinstance(v, View)]
    unit = {v.name: len(v.shape) - 1 for v in views if v.shape}
    multiples = {e.name: SMALL for e in find(p, Extent)}
    return {"bind_class": {"unit": unit, "aligned": {v.name: aligned(v) for v in views}, "multiples": multiples}}


def _bounded(p: Any) -> Options:
    """Extents so small that a fragment holds a whole axis."""
    from ..terms.core import find
    from ..terms.index import Extent

    return {"bind_class": {"bounds": {e.name: 256 for e in find(p, Extent)}}}


def _in_small_blocks(p: Any) -> Options:
    """Blocks so small that everything has several, and the last one a tail."""
    from ..terms.core import arena, find
    from ..terms.index import Value
    from ..terms.normal import Axis, Store, Update
    from ..terms.ordered import evaluated

    size, lanes = SMALL, {t.lanes for t in evaluated(*p.effects) if isinstance(t, (Value, Store, Update))}
    held = {a: _whole(a, p.effects) for a in frozenset().union(*lanes)}
    while size > 2 and any(prod(max(size, held[a]) for a in every) > FRAGMENT for every in lanes):
        size //= 2
    return {"block_axes": {"sizes": dict.fromkeys({arena().names.get(a, "i") for a in find(p, Axis)}, size)}}


def _whole(axis: Any, effects: Any) -> int:
    """How many elements of an axis a fragment has at least, whatever the size of a block."""
    from ..passes.blocks import power_of_two
    from ..passes.roles import extent_bound, may_be_resident

    own = getattr(axis, "axis", axis)  # of a part
    return power_of_two(extent_bound(own) or 1) if may_be_resident(own, effects) else 1


def _in_parts(p: Any) -> Options:
    """Reductions split among instances, a few members each."""
    return _in_small_blocks(p) | {"split_reductions": {"split": True, "parts": 5, "members": 8}}


CLASSES = {
    c.name: c
    for c in (
        LaunchClass("generic"),
        LaunchClass("contiguous", _contiguous, divisor=SMALL, layouts=("contiguous",)),
        LaunchClass("bounded", _bounded, most=256),
        LaunchClass("small blocks", _in_small_blocks),
        LaunchClass("whole blocks", lambda p: _contiguous(p) | _in_small_blocks(p), SMALL, layouts=("contiguous",)),
        LaunchClass("in parts", _in_parts),
    )
}


@dataclass
class Stages:
    """The programs of a kernel that NumPy executes, by the pass behind which each stands, in one arena."""

    kernel: Any
    space: Any
    programs: dict[str, Any] = field(default_factory=dict)

    def add(self, programs: Mapping[str, Any]) -> None:
        """Take up those that differ from what is there."""
        for name, program in programs.items():
            if program not in self.programs.values():
                self.programs[name] = program

    def launch(self, name: str, **how: Any) -> Callable[..., None]:
        """A function of all launch arguments in order that executes the program behind a pass; `how` are options of
        the program machine."""
        program = self.programs[name]
        kinds = {p.name: p.kind for p in launched(self.kernel)}
        modes = {p.name: p.mode for p in launched(self.kernel) if p.kind == "view"}

        def call(*arguments: Any) -> None:
            from ..backends.program import run as execute
            from ..backends.reference.logical import run as refer
            from ..terms.gpu import Kernel
            from ..terms.logical import LogicalProgram

            given = dict(zip(kinds, arguments, strict=True))
            safe = same_arrays(program.parameters) if isinstance(program, Kernel) else ()
            views, own = separated(safe, {n: v for n, v in given.items() if n in modes}, modes)
            scalars = {n: v for n, v in given.items() if kinds[n] != "view"}
            with self.space:
                if isinstance(program, LogicalProgram):
                    refer(program, views, scalars)
                else:
                    execute(program, views, scalars, **how)
            for n in own:
                given[n][...] = views[n]

        return call


def stages(
    kernel: Any,
    which: LaunchClass = CLASSES["generic"],
    constexprs: Mapping[str, Any] | None = None,
    options: Any = None,
) -> Stages:
    """Each program that differs from the one before, from capture to the last above a provider.

    `options` are `CompileOptions`; what they say of passes goes before the options of the class.
    """
    from ..compiler import LAST_SHARED, CompileOptions
    from ..passes.pipeline import Trace, run
    from ..rules.loading import admitted
    from ..rules.rule_set import using
    from ..terms.core import Arena

    chosen = options or CompileOptions()
    made = Stages(kernel, Arena())
    with made.space, using(admitted(chosen.rules, chosen.without_rules)):
        logical = kernel.capture(dict(constexprs or {}), chosen.permissions)
        disable, front, back = set(chosen.disable), Trace(), Trace()
        given: Options = {n: dict(o) for n, o in chosen.passes.items()}
        normal = run(
            logical, options=given, disable=disable, trace=front, check=chosen.check, stop_after="forward_stores"
        )
        together: Options = {n: dict(o) for n, o in which.options(normal).items()}
        for name, more in given.items():
            together[name] = together.get(name, {}) | more
        run(
            normal, options=together, disable=disable, trace=back, check=chosen.check, after="forward_stores",
            stop_after=LAST_SHARED,
        )  # fmt: skip
    made.add({"capture": logical, **front.programs, **back.programs})
    return made


def shared_stages(compilation: Any, which: LaunchClass) -> Stages:
    """The same for a kernel on its way to a target: what its classes share is there already."""
    from ..compiler import LAST_OF_ALL, LAST_SHARED
    from ..passes.pipeline import Trace

    made, back = Stages(compilation.kernel, compilation.arena), Trace()
    with made.space:
        compilation.lowered(
            compilation.normal, options=which.options(compilation.normal), trace=back, after=LAST_OF_ALL,
            stop_after=LAST_SHARED,
        )  # fmt: skip
    made.add({"capture": compilation.logical, **compilation.front.programs, **back.programs})
    return made


# ---- against what was captured


@dataclass(frozen=True, slots=True)
class Validation:
    """What a validation found.  `passed` are the passes whose programs agree; `wrong` is the first whose does not, or
    empty.  `at` is the first element of `output` that differs, `expected` and `found` its values before any pass and
    behind this one; `inputs` are what the call was given."""

    kernel: str
    passed: tuple[str, ...]
    wrong: str = ""
    output: str = ""
    at: tuple[int, ...] = ()
    expected: Any = None
    found: Any = None
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing wrong was found."""
        return not self.wrong

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"{self.kernel}: every pass keeps the results ({', '.join(self.passed)})"
        place = f"{self.output}[{', '.join(map(str, self.at))}]"
        was = f"{place} is {self.found}, and was {self.expected} before it"
        lines = [
            f"{self.kernel}: the first wrong pass is {self.wrong}",
            f"  {was}" if self.output else f"  its program can't be executed: {self.found}",
            f"  right behind: {', '.join(self.passed)}",
        ]
        for name, value in self.inputs.items():
            lines.append(f"  {name} = {np.array2string(np.asarray(value), threshold=64, prefix=f'  {name} = ')}")
        return "\n".join(lines)


def validate(
    kernel: Any,
    arguments: Arguments,
    which: LaunchClass = CLASSES["generic"],
    *,
    constexprs: Mapping[str, Any] | None = None,
    options: Any = None,
    steps: int = 0,
    made: Stages | None = None,
    expected: Mapping[str, Expected] | None = None,
    **how: Any,
) -> Validation:
    """Execute `kernel` as captured and behind every pass, and compare the outputs.

    arguments:  every launch argument by name, outputs included; they are copied, layouts included
    options:    `CompileOptions`
    steps:      how many values of its dtype a float result may be off: 0 for inputs such as small integers, where
                reordered and fused sums are exact; more where they round.  Zeros may differ in sign, NaNs in payload
    made:       programs that stand for those of the passes
    expected:   what each output may hold, in the place of what the captured program gives and of `steps`
    how:        options of the program machine, such as `strict`

    A program that can't be executed is wrong too: its error is what is `found`, of no output.
    """
    made = made or stages(kernel, which, constexprs, options)
    outputs = [p.name for p in launched(kernel) if p.kind == "view" and p.mode != "in"]
    inputs = {m: v for m, v in arguments.items() if m not in outputs}
    first: dict[str, Any] = {}
    passed: list[str] = []
    for name in made.programs:
        given = twins(arguments)
        try:
            with np.errstate(all="ignore"):
                made.launch(name, **how)(*given.values())
        except Exception as problem:  # whatever a wrong program may raise
            text = f"{type(problem).__name__}: {problem}"
            return Validation(kernel.name, tuple(passed), name, found=text, inputs=inputs)
        first = first or {n: given[n] for n in outputs}
        for n in outputs:
            if expected is not None:
                at, before = compare(given[n], expected[n]).where_wrong, expected[n].value
            else:
                at, before = _first(_differs(first[n], given[n], steps)), first[n]
            if at is not None:
                return Validation(kernel.name, tuple(passed), name, n, at, before[at], given[n][at], inputs)
        passed.append(name)
    return Validation(kernel.name, tuple(passed))


def _first(where: Any) -> tuple[int, ...] | None:
    wrong = np.argwhere(where)
    return tuple(int(i) for i in wrong[0]) if len(wrong) else None


def _differs(a: Any, b: Any, steps: int) -> Any:
    """Where two arrays of one dtype differ by more than some values of it."""
    if a.dtype.kind in "biu":
        return np.asarray(a != b)
    wide, other = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        equal = (wide == other) | (np.isnan(wide) & np.isnan(other))
        near = (
            np.abs(np.nextafter(np.abs(a), np.array(np.inf, a.dtype)).astype(np.float64) - np.abs(wide)) if steps else 0
        )
        return ~(equal | (np.abs(wide - other) <= steps * near))


# ---- against an oracle


@dataclass(frozen=True)
class Call:
    """Extents, layout and distribution of the arguments of one call."""

    extents: Extents
    layout: str
    values: str
    seed: int

    def __str__(self) -> str:
        return f"{dict(self.extents)} {self.layout} {self.values} seed={self.seed}"


def calls(case: Case, which: LaunchClass, limit: int = 2**21) -> Iterator[Call]:
    """Calls with the small extents of at most `limit` points, each layout and distribution in turn."""
    for i, extents in enumerate(case.small):
        fitting = {n: -(-e // which.divisor) * which.divisor for n, e in extents.items()}
        if prod(fitting.values()) <= limit and (which.most is None or max(fitting.values()) <= which.most):
            yield Call(fitting, which.layouts[i % len(which.layouts)], case.values[i % len(case.values)], i)


def stages_of(case: Case, which: LaunchClass) -> Stages:
    """The programs of a case of the corpus."""
    from ..compiler import CompileOptions

    return stages(case.kernel, which, case.constexprs, CompileOptions(**{"check": True, **case.options}))


def first_wrong(case: Case, call: Call, made: Stages, **how: Any) -> str:
    """Run a case behind every pass: the first whose results are outside of the bounds of its oracle, with what is
    wrong; empty when there is none."""
    for name in made.programs:
        report = check(case, made.launch(name, **how), call.extents, call.seed, call.layout, call.values)
        if not report:
            return f"{case.name} behind {name}, {call}: {report}"
    return ""


__all__ = [
    "CLASSES", "Call", "LaunchClass", "Stages", "Validation", "calls", "first_wrong", "shared_stages", "stages",
    "stages_of", "validate",
]  # fmt: skip
