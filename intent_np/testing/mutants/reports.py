"""What debug statements say in a launch of a program, against what the reference says."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import CheckError
from ...terms.normal import View
from ..arguments import Arguments, launched
from ..shared import twins


def statements(logical: Any, options: Any) -> tuple[Any, ...]:
    """What the host has to know of the debug statements of a program."""
    from ...passes.pipeline import run
    from ...plans import debug_statements

    before = run(logical, options=options, stop_after="inline_calls")
    return debug_statements(before, run(before, options=options, after="inline_calls", stop_after="report_debug"))


def unsaid(kernel: Any, space: Any, program: Any, about: Sequence[Any], given: Arguments) -> str:
    """The first line that only one of the two prints."""
    from ...backends.program import run as execute
    from ...compiler import compile
    from ...runtime.debug import tell

    mine, theirs = twins(given), twins(given)
    kinds = {p.name: p.kind for p in launched(kernel)}
    reports = [v for v in program.parameters if isinstance(v, View) and v.mode == "report"]
    with space:
        notes = {v.name: np.zeros([int(e.value) for e in v.shape], np.int64) for v in reports}  # type: ignore[attr-defined]
        views = {n: v for n, v in mine.items() if kinds[n] == "view"} | notes
        execute(program, views, {n: v for n, v in mine.items() if kinds[n] != "view"})
    found = _lines(lambda: tell(about, *notes.values()))
    expected = _lines(lambda: compile(kernel, "reference")(*(theirs[p.name] for p in launched(kernel))))
    only = sorted(set(found).symmetric_difference(expected)) if found != expected else []
    return f"debug statements say {only[0] if only else found[:1]!r}"[:200] if found != expected else ""


def _lines(speak: Any) -> list[str]:
    """What is printed, in the order of the alphabet: the reference does a statement for all points at once."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
        try:
            speak()
        except CheckError as failed:
            print(failed.title)
    return sorted(out.getvalue().splitlines())
