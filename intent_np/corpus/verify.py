"""Running a case on several machines and comparing each result with the oracle.

A machine is a target that executes here (`reference`, the NumPy meaning of the logical program; `cpu`, the program
machine; this machine's GPU), or a level of the pipeline that NumPy executes.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from intent_np.corpus.cases import Entry, hosted
from intent_np.corpus.lowering import LEVELS, last_pass, lowered_launch, reference_only
from intent_np.errors import IntentError


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one kernel on one machine.

    `status` is `ok`, `failed` (a result outside its bound, or an error of ours), `defect` (any other exception),
    `reference only` (the machine can't execute a construct yet, and says so) or `no oracle` (nothing was run, since
    there is nothing to compare with).  `cases` counts the calls compared; `max_error` is the largest absolute error and
    `max_ratio` the largest error in units of its bound.  `text` names what went wrong first.
    """

    machine: str
    status: str
    cases: int = 0
    max_error: float = 0.0
    max_ratio: float = 0.0
    seconds: float = 0.0
    text: str = ""

    def as_json(self) -> dict[str, Any]:
        """The verdict as JSON values."""
        # Infinity is no JSON number; an error without a size is told by the text.
        return {key: str(value) if value == float("inf") else value for key, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one call, as `intent_np.testing.arguments` makes them."""

    extents: Mapping[str, int]
    layout: str
    values: str
    seed: int

    def __str__(self) -> str:
        sizes = " ".join(f"{name}={size}" for name, size in self.extents.items())
        return f"{sizes} {self.layout} {self.values} seed={self.seed}"


def calls(case: Any, thorough: bool = False) -> Iterator[Call]:
    """All small extents, each with the next layout and the next distribution of values, until all of these had a turn;
    with `thorough`, each with all."""
    from intent_np.testing import LAYOUTS

    layouts, kinds = tuple(LAYOUTS), case.values
    if thorough:
        for index, extents in enumerate(case.small):
            yield from (Call(extents, layout, kind, index) for layout in layouts for kind in kinds)
        return
    for index in range(max(len(case.small), len(kinds))):
        # Both lists start with the plain one; different steps pair each layout with each kind over the sizes.
        extents = case.small[index % len(case.small)]
        yield Call(extents, layouts[index % len(layouts)], kinds[index % len(kinds)], index)


def verify(entry: Entry, machine: str, thorough: bool = False) -> Verdict:
    """Run the entry's calls on `machine`; stop at the first wrong one."""
    if entry.case is None:
        return Verdict(machine, "no oracle", text="the kernel is in no list CASES: there is nothing to compare it with")
    return verify_calls(entry, machine, calls(entry.case, thorough))


def verify_calls(entry: Entry, machine: str, chosen: Iterable[Call]) -> Verdict:
    """Run these calls of an entry that has a case on `machine`; stop at the first wrong one."""
    started = time.perf_counter()
    count, error, ratio = 0, 0.0, 0.0
    status, text = "ok", ""
    try:
        from intent_np.testing import check

        launch = launcher(entry, machine)
        for call in chosen:
            report = check(entry.case, launch, call.extents, call.seed, call.layout, call.values)
            count, error, ratio = count + 1, max(error, report.max_error), max(ratio, report.max_ratio)
            if not report.ok:
                status, text = "failed", f"{call}: {report}"
                break
    except IntentError as problem:
        construct = reference_only(problem)
        status, text = ("reference only", construct) if construct else ("failed", problem.render())
    except Exception:
        status, text = "defect", traceback.format_exc()
    return Verdict(machine, status, count, error, ratio, time.perf_counter() - started, text)


def launcher(entry: Entry, machine: str) -> Any:
    """The entry ready to be called on `machine` with all arguments in order; it writes the outputs in place."""
    if machine in LEVELS:
        return lowered_launch(entry, last_pass(machine))
    if entry.is_host_program:
        return hosted(entry, lambda one: compiled(one, machine))
    return compiled(entry, machine)


def compiled(entry: Entry, target: str, examples: Iterable[Mapping[str, int]] = ()) -> Any:
    """The entry's artifact for `target`: the generic variant, and those for contiguous arrays of the example sizes."""
    import intent_np

    options = intent_np.CompileOptions(**entry.options)
    constexprs = dict(entry.constexprs)
    return intent_np.compile(entry.kernel, target, constexprs=constexprs, options=options, examples=examples)
