"""The corpus, as Markdown: every kernel with what it says, what it is made of and how far down it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

from intent_np.corpus.cases import Entry, entries, hosted
from intent_np.corpus.lowering import executed, lowered
from intent_np.corpus.verify import calls, launcher
from intent_np.errors import IntentError
from intent_np.testing import check


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
    made: dict[tuple[str, str], Way] = {}

    def lowered(one: Entry) -> Way:
        key = one.name, str(one.constexprs)
        if key not in made:
            made[key] = way(one)
        return made[key]

    def launch(one: Entry) -> Any:
        return lowered(one).launch

    several = "s" if len(launches) > 1 else ""
    yield f"`{entry.name}`" + (f" ({len(launches)} kernel{several})" if entry.is_host_program else "")
    yield " ".join((entry.kernel.__doc__ or "").strip().partition("\n\n")[0].split()).replace("|", "\\|")
    yield ", ".join(f"`{c}`" for c in dict.fromkeys(c for one in launches for c in constructs(one)))
    yield min((lowered(one).level for one in launches), key=_LEVELS.index)
    machines = {"reference": launcher(entry, "reference")}
    if all(launch(one) for one in launches):
        machines["program machine"] = hosted(entry, launch) if entry.is_host_program else launch(entry)
    yield ", ".join(title for title, machine in machines.items() if _agrees(entry, machine)) or "nothing"


_LEVELS: Final = ("logical", "normal", "grouped", "blocked", "gpu", "triton", "launch")


class Way(NamedTuple):
    """How far down a kernel comes: its last language before a construct stops it (`launch` is the end), and a function
    of all arguments that executes its last program above a provider, if it comes so far."""

    level: str
    launch: Callable[..., None] | None


def way(entry: Entry) -> Way:
    """Lower a kernel, once."""
    from intent_np.compiler import LAST_SHARED
    from intent_np.passes.pipeline import PIPELINE, Trace
    from intent_np.terms.core import Arena

    trace, languages = Trace(), {step.name: step.target.name for step in PIPELINE}
    with Arena() as space:
        try:
            lowered(entry, PIPELINE[-1].name, trace)
        except IntentError as problem:
            if all(one.code != "E708" for one in problem.errors):
                raise
    last = trace.programs.get(LAST_SHARED)
    return Way(languages[[*trace.programs][-1]], None if last is None else executed(entry, space, last))


def reached(entry: Entry) -> str:
    """The last language that a kernel reaches before a construct stops it: `launch` is the end of the way."""
    return way(entry).level


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


def _agrees(entry: Entry, launch: Any) -> bool:
    """Whether the smallest call of a case in which no extent is empty comes out right.

    One call keeps this page quick; the tests make the others.
    """
    some = [call for call in calls(entry.case) if min(call.extents.values(), default=1) > 0]
    several = [call for call in some if min(call.extents.values(), default=2) > 1] or some
    chosen = min(several, key=lambda call: entry.case.bytes(call.extents))
    return bool(check(entry.case, launch, chosen.extents, chosen.seed, chosen.layout, chosen.values))
