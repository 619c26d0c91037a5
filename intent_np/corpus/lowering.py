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


def reference_only(problem: IntentError) -> str:
    """`E708 I.sort is ...`, for an error that says that only the reference executes a kernel; empty for any other."""
    return next((f"{one.code} {one.title}" for one in problem.errors if one.code == "E708"), "")


LEVELS: Final = ("normal", "grouped", "blocked", "gpu")
"""The levels that NumPy executes, each standing for the last pass that gives it."""


def lowered(entry: Entry, stop_after: str, trace: Trace | None = None) -> Any:
    """The program of `entry` behind the pass `stop_after`, in the arena in force; `trace` records each pass."""
    from intent_np.compiler import CompileOptions
    from intent_np.passes.pipeline import run

    chosen = CompileOptions(**entry.options)
    program = entry.kernel.capture(entry.constexprs, permissions=chosen.permissions)
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
    from intent_np.backends.program import run
    from intent_np.terms.core import Arena

    if entry.is_host_program:
        return hosted(entry, lambda one: lowered_launch(one, stop_after))
    space = Arena()
    with space:
        program = lowered(entry, stop_after)
    kinds = {parameter.name: parameter.kind for parameter in entry.kernel.parameters if parameter.kind != "constexpr"}

    def launch(*arguments: Any) -> None:
        given = dict(zip(kinds, arguments, strict=True))
        views = {name: value for name, value in given.items() if kinds[name] == "view"}
        scalars = {name: value for name, value in given.items() if kinds[name] != "view"}
        with space:
            run(program, views, scalars)

    return launch


def last_pass(level: str) -> str:
    """The last pass whose result is a program of `level`."""
    from intent_np.passes.pipeline import PIPELINE

    return next(step.name for step in reversed(PIPELINE) if step.target.name == level)
