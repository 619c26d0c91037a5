"""Checking mode for a kernel: one call, or the calls that show most of what can be wrong.

`check_kernel` executes a call with the reference and says everything that no execution may depend on; `check_calls`
does so for generated arguments and puts the findings of all calls together, each once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from intent_np.backends.reference.checking import Checked, check
from intent_np.errors import CheckError, Span, article, error
from intent_np.terms.core import Arena
from intent_np.terms.logical import LogicalProgram

from .arguments import Arguments, arguments, launched
from .captured import captured
from .host import HostProgram, compiled_once, launching
from .promises import promises_of
from .shared import SHARED, share
from .views import LAYOUTS

SIZES: Final = (0, 1, 7, 16, 2, 17, 31, 5, 33)
"""What each extent of a generated call is in turn: none, one, primes, powers of two and their neighbours."""


def check_kernel(
    kernel: Any, arguments: Mapping[str, Any], constexprs: Mapping[str, Any] | None = None, **options: Any
) -> Checked:
    """Execute one call in checking mode.

    arguments:   NumPy arrays of the views (outputs are written in place) and numbers of the scalars, by name
    constexprs:  values of the kernel's constexprs; defaults fill in

    Raises `CompileError` for a kernel, and `CallError` for arguments, that no target would take.
    """
    if options:
        with Arena():
            return _checked(kernel, kernel.capture(constexprs or {}, **options), arguments)
    space, program = captured(kernel, constexprs)
    with space:
        return _checked(kernel, program, arguments)


def check_calls(
    kernel: Any, calls: Iterable[tuple[str, Mapping[str, Any]]], constexprs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Checked:  # fmt: skip
    """The findings of several calls, each with the first call that shows it; `calls` pairs arguments with a name.

    Of a host program they are the findings of all that it launches.
    """
    found: dict[tuple[Any, ...], CheckError] = {}
    remarks: dict[tuple[Any, ...], Any] = {}
    with Arena():
        checker = _checker(kernel, constexprs or {}, options)
        for name, given in calls:
            for checked in checker(given):
                for one in checked.findings:
                    one.detail = f"in the call {name}"
                    found.setdefault((one.code, one.title, one.span, one.expected), one)
                for remark in checked.remarks:
                    remarks.setdefault((remark.code, remark.span), remark)
    ordered = sorted(found.values(), key=lambda one: _place(one.span))
    return Checked(tuple(ordered), tuple(remarks.values()))


def _checker(
    kernel: Any, constexprs: Mapping[str, Any], options: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], list[Checked]]:
    """A function of the arguments of a call that gives what is found in each kernel that the call runs."""
    if not isinstance(kernel, HostProgram):
        program = kernel.capture(constexprs, **options)
        return lambda given: [_checked(kernel, program, given)]
    results: list[Checked] = []

    def watched(one: Any, constants: Mapping[str, Any]) -> Callable[..., None]:
        checker, names = _checker(one, constants, options), [p.name for p in launched(one)]
        return lambda *given: results.extend(checker(dict(zip(names, given, strict=True))))

    door = compiled_once(watched)

    def run(given: Mapping[str, Any]) -> list[Checked]:
        results.clear()
        with launching(door):
            kernel(*(given[p.name] for p in launched(kernel)), **constexprs)
        return list(results)

    return run


def _place(span: Span | None) -> tuple[Any, ...]:
    return (span.file, span.line, span.column) if span else ("", 0, 0)


def _checked(kernel: Any, program: LogicalProgram, given: Mapping[str, Any]) -> Checked:
    kinds = {p.name: p.kind for p in kernel.parameters}
    wanted = [n for n, kind in kinds.items() if kind != "constexpr"]
    unknown = [n for n in given if n not in wanted] if isinstance(given, Mapping) else [article(type(given).__name__)]
    if unknown:
        takes = f"arguments {', '.join(wanted)} by name"
        raise error("E401", kernel=kernel.name, takes=takes, given=", ".join(unknown), signature="{'name': value, ...}")
    arrays = {n: a for n, a in given.items() if kinds.get(n) == "view"}
    scalars = {n: a for n, a in given.items() if kinds.get(n) != "view"}
    checked = check(program, arrays, scalars)
    broken = tuple(_overlapping(kernel, arrays))
    confined = checked.confined and not broken
    return Checked((*broken, *checked.findings), checked.remarks, checked.poison, checked.unwritten, confined)


def _overlapping(kernel: Any, arrays: Mapping[str, Any]) -> Iterator[CheckError]:
    """E510 for views that were promised to overlap nothing that is written, and do."""
    views = {p.name: p for p in kernel.parameters if p.kind == "view"}
    for name, p in views.items():
        for other, q in views.items():
            if p.constraints.noalias and name != other and (p.mode if q.mode == "in" else q.mode) != "in":
                if np.may_share_memory(arrays[name], arrays[other]):
                    made = error("E510", name=name, promise="noalias", expected="memory of its own",
                                 found=f"memory of '{other}'")  # fmt: skip
                    assert isinstance(made, CheckError)
                    yield made


# ---- calls that nobody wrote


@dataclass(frozen=True)
class Recipe:
    """The call of a kernel in words: what `made` makes its arguments from, the same in every process."""

    extents: Mapping[str, int]
    layout: str
    values: str
    seed: int

    def __str__(self) -> str:
        return " ".join([*(f"{n}={v}" for n, v in self.extents.items()), self.layout, self.values, f"seed={self.seed}"])


def generated_calls(
    kernel: Any,
    constexprs: Mapping[str, Any] | None = None,
    extents: Mapping[str, int] | None = None,
    count: int = 9,
    kinds: Sequence[str] = ("normal", "special", "integers", "negative", "extreme"),
    points: int = 2**40,
) -> Iterator[tuple[str, Arguments]]:
    """The calls of `recipes`, each with its name."""
    for recipe in recipes(kernel, constexprs, extents, count, kinds, points):
        yield str(recipe), made(kernel, recipe, constexprs)


def recipes(
    kernel: Any,
    constexprs: Mapping[str, Any] | None = None,
    extents: Mapping[str, int] | None = None,
    count: int = 9,
    kinds: Sequence[str] = ("normal", "special", "integers", "negative", "extreme"),
    points: int = 2**40,
    first: int = 0,
    layouts: Sequence[str] = LAYOUTS,
) -> Iterator[Recipe]:
    """Calls of a kernel about which nothing is known but its signature.

    Extents take the values of `SIZES` in turn, each shifted by another amount; layouts and distributions alternate.
    Where the product of the extents would be above `points`, some are small.  Extents of which no arguments keep what
    the kernel is promised (`promises.py`) are left out.  `first` is the number of the first call.
    """
    chosen = constants_of(kernel, constexprs or {})
    promises = promises_of(kernel, chosen)
    names = [n for n in extent_names(kernel) if n not in chosen]
    for k in range(first, first + count):
        # empty and single extents come all at once: next to others they are a matter of broadcasting
        sizes = {
            n: SIZES[k % len(SIZES)] if k % len(SIZES) < 2 else SIZES[2 + (k + 3 * i) % (len(SIZES) - 2)]
            for i, n in enumerate(names)
        }
        for n in (*names[k % max(len(names), 1) :], *names[: k % max(len(names), 1)]):
            if prod(sizes.values()) > points:
                sizes[n] = min(sizes[n], 2 + k % 2)
        sizes |= {n: v for n, v in (extents or {}).items() if n in names}
        sizes = promises.sizes(sizes)
        if promises.possible(sizes):
            yield Recipe(sizes, layouts[k % len(layouts)], kinds[k % len(kinds)], k)


def made(kernel: Any, recipe: Recipe, constexprs: Mapping[str, Any] | None = None) -> Arguments:
    """The arguments of a recipe, which keep what the kernel is promised.  Arrays that hold coordinates hold small ones,
    which exist along every axis; other integers are salted with 0 and extremes."""
    chosen = constants_of(kernel, constexprs or {})
    promises = promises_of(kernel, chosen)
    layout = "contiguous" if recipe.layout == SHARED else recipe.layout
    drawn = arguments(kernel, {**chosen, **recipe.extents}, recipe.seed, layout, recipe.values)
    rng = np.random.default_rng(recipe.seed)
    given = promises.kept(drawn, recipe.extents, rng)
    for view in (a for n, a in given.items() if n not in promises.places and isinstance(a, np.ndarray)):
        _salt(view, rng)
    return share(kernel, given, promises.places, rng) if recipe.layout == SHARED else given


def _salt(view: np.ndarray[Any, Any], rng: np.random.Generator) -> None:
    """Put numbers that integer arithmetic trips over among those of an integer array."""
    if view.dtype.kind in "iu":
        limits = np.iinfo(view.dtype)
        salt = np.array([0, 1, limits.min, limits.max, limits.max - 1 if limits.min == 0 else -1], view.dtype)
        view[...] = np.where(rng.random(view.shape) < 0.3, rng.choice(salt, view.shape), view)


def constants_of(kernel: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every constexpr with its value; E109 to E111 where a kernel can't be compiled with those given."""
    if hasattr(kernel, "bind"):
        return dict(kernel.bind(given))
    return {p.name: p.default for p in kernel.constexprs} | dict(given)  # of a host program


def extent_names(kernel: Any) -> list[str]:
    """The names that the shapes of a kernel use, in order of appearance."""
    shapes = " ".join(str(e) for p in launched(kernel) if p.kind == "view" for e in p.shape)
    known = {"cdiv", "min", "max"}
    return [n for n in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", shapes)) if n not in known]
