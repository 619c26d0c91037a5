"""The corpus, as Markdown: every kernel with what it says, what it is made of and how far down it comes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from intent_np.corpus.cases import Entry, entries
from intent_np.corpus.lowering import lowered
from intent_np.corpus.verify import calls, verify_calls
from intent_np.errors import IntentError

ORACLES: Final = {"reference": "reference", "cpu": "program machine"}
"""The machines that this page runs, by the names that it gives them."""


def corpus_table(corpus: str) -> str:
    """A table for each family of `corpus`."""
    return "\n".join(
        line
        for family, found in groupby(entries([corpus]), key=lambda entry: entry.module)
        for line in (
            f"### {family}", "", "| kernel | mathematics | constructs | down to | agrees on |", "|---|---|---|---|---|",
            *(f"| {' | '.join(_row(entry))} |" for entry in found), "",
        )
    )  # fmt: skip


def _row(entry: Entry) -> Iterator[str]:
    launches = entry.launches
    yield f"`{entry.name}`" + (f" ({len(launches)} kernels)" if entry.is_host_program else "")
    yield " ".join((entry.kernel.__doc__ or "").strip().partition("\n\n")[0].split()).replace("|", "\\|")
    yield ", ".join(f"`{c}`" for c in dict.fromkeys(c for one in launches for c in constructs(one)))
    yield min((reached(one) for one in launches), key=_LEVELS.index)
    yield ", ".join(title for machine, title in ORACLES.items() if _agrees(entry, machine)) or "nothing"


_LEVELS: Final = ("logical", "normal", "grouped", "blocked", "gpu", "triton", "launch")


def reached(entry: Entry) -> str:
    """The last language that a kernel reaches before a construct stops it: `launch` is the end of the way."""
    from intent_np.passes.pipeline import PIPELINE, Trace
    from intent_np.terms.core import Arena

    trace, languages = Trace(), {step.name: step.target.name for step in PIPELINE}
    with Arena():
        try:
            lowered(entry, PIPELINE[-1].name, trace)
        except IntentError as problem:
            if all(one.code != "E708" for one in problem.errors):
                raise
        return languages[[*trace.programs][-1]]


def constructs(entry: Entry) -> list[str]:
    """What of the language a kernel uses, beyond arithmetic and subscripts, by the names that authors write."""
    from intent_np.terms.core import Arena, walk

    with Arena():
        program = entry.kernel.capture(entry.constexprs)
        return sorted({name for t in walk(program) if (name := _construct(t))})


_SPELLED: Final = {
    "TensorContract": "I.contract", "Parallel": "I.parallel", "Indices": "I.indices", "Between": "subregion",
    "Ordered": "loop", "Branch": "if", "Transpose": "I.transpose", "Reshape": "I.reshape", "AtEach": "tensor indices",
    "InBounds": "I.assume_in_bounds", "Unique": "I.assume_unique", "Call": "I.fn",
}  # fmt: skip


def _construct(t: Any) -> str:
    return str(getattr(t, "spelled", _SPELLED.get(type(t).__name__, "")))


def _agrees(entry: Entry, machine: str) -> bool:
    """Whether the smallest call of a case in which no extent is empty comes out right on a machine.

    One call keeps this page quick; the tests make the others.
    """
    some = [call for call in calls(entry.case) if min(call.extents.values(), default=1) > 0]
    several = [call for call in some if min(call.extents.values(), default=2) > 1] or some
    chosen = min(several, key=lambda call: entry.case.bytes(call.extents))
    return verify_calls(entry, machine, [chosen]).status == "ok"
