"""A kernel part of the way down: the program behind any pass, as a term or executed by the NumPy machines.

What only the reference executes says so itself, by E708 where it would be lowered; nobody keeps a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from intent_np.corpus.cases import Entry, hosted

if TYPE_CHECKING:
    from intent_np.errors import IntentError
    from intent_np.passes.pipeline import Trace
    from intent_np.terms.core import Arena


def reference_only(problem: IntentError) -> str:
    """`E708 I.sort is ...`, for an error that says that only the reference executes a kernel; empty for any other."""
    return next((f"{one.code} {one.title}" for one in problem.errors if one.code == "E708"), "")


LEVELS: Final = ("normal", "grouped", "blocked", "gpu")
"""The levels that NumPy executes, each standing for the last pass that gives it."""


def lowered(entry: Entry, stop_after: str, trace: Trace | None = None) -> Any:
    """The program of `entry` behind the pass `stop_after`, in the arena in force; `trace` records each pass."""
    from intent_np.compiler import CompileOptions
    from intent_np.passes.loading import passes_of
    from intent_np.passes.pipeline import adding, run

    chosen = CompileOptions(**entry.options)
    program = entry.kernel.capture(entry.constexprs, permissions=chosen.permissions)
    with adding(passes_of(chosen.more_passes)):
        return run(
            program,
            options=chosen.passes,
            disable={*chosen.disable},
            check=chosen.check,
            stop_after=stop_after,
            trace=trace,
        )


def lowered_launch(entry: Entry, stop_after: str) -> Callable[..., None]:
    """A function of all arguments in order that executes the program behind `stop_after` with NumPy."""
    from intent_np.terms.core import Arena

    if entry.is_host_program:
        return hosted(entry, lambda one: lowered_launch(one, stop_after))
    with Arena() as space:
        program = lowered(entry, stop_after)
    return executed(entry, space, program)


def executed(entry: Entry, space: Arena, program: Any) -> Callable[..., None]:
    """A function of all arguments in order that executes `program` of the arena `space`, which stands for `entry`."""
    from intent_np.backends.program import run

    kinds = {parameter.name: parameter.kind for parameter in entry.kernel.parameters if parameter.kind != "constexpr"}

    def launch(*arguments: Any) -> None:
        given = dict(zip(kinds, arguments, strict=True))
        views = {name: value for name, value in given.items() if kinds[name] == "view"}
        scalars = {name: value for name, value in given.items() if kinds[name] != "view"}
        with space:
            run(program, views, scalars)

    return launch


def lower(entry: Entry, observe: Callable[[Any, Any], None] | None = None) -> tuple[Any, Any]:
    """The compilation of an entry, and its launch, in the compilation's arena.

    It is for contiguous arrays of the entry's first size, or for any where it has none.

    `observe(pass, program)` sees every step; call it, and use the terms, inside `compilation.arena`.
    """
    compilation, options = prepared(entry)
    with compilation.arena:
        return compilation, compilation.lowered(compilation.logical, options=options, observe=observe)


def prepared(entry: Entry) -> tuple[Any, dict[str, Any]]:
    """The compilation of an entry, and the options of its passes for the arrays that `lower` is for."""
    from intent_np.compiler import Compilation, CompileOptions
    from intent_np.plans import class_options
    from intent_np.runtime.examples import class_of
    from intent_np.target import SM_90
    from intent_np.testing.checked import extent_names

    compilation = Compilation(entry.kernel, SM_90, dict(entry.constexprs), CompileOptions(**entry.options))
    plan = compilation.plan
    options: dict[str, Any] = {}
    if entry.sizes or not extent_names(entry.kernel):
        holds = class_of(plan, entry.sizes[0] if entry.sizes else {})
        options = class_options(plan, holds)
    return compilation, options


def last_pass(level: str) -> str:
    """The last pass whose result is a program of `level`."""
    from intent_np.passes.pipeline import PIPELINE

    return next(step.name for step in reversed(PIPELINE) if step.target.name == level)
