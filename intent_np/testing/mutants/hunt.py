"""One mutant against trials: what the first of them that notices it has seen.

A trial is compiled by the mutant; where the text is what it always is, nothing is executed.  Else its calls are, by the
program machine where that has another program, and by Triton's interpreter.  What notices a mutant is held against
the compiler as it is, so that no fault of a trial counts.
"""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from ...errors import CheckError, IntentError
from ..apart import TimeLimit, apart
from ..triton_interpreter import OUTSIDE
from .reach import Reach
from .source import Mutant
from .suite import Call, Compiled, Trial

DIFFERS: Final = "differs"
"""A result is another one, or an access is outside of its array: the program is a program, and wrong."""
REFUSED: Final = "refused"
"""An error of the language about a kernel that has none."""
ILL_FORMED: Final = "ill-formed"
"""A program that is none of its language."""
CRASHES: Final = "crashes"
HANGS: Final = "hangs"
TRIAL: Final = 20
"""Seconds after which a trial hangs."""
MEMORY: Final = 6 * 2**30
WEAKER: Final = 4
"""After so many trials that see something else than what is wanted, the search is given up."""


@dataclass(frozen=True)
class Seen:
    """What a trial shows of a mutant: how (`DIFFERS`, …), by which call and oracle, and in words."""

    how: str
    trial: str
    call: str = ""
    oracle: str = ""
    what: str = ""


@dataclass(frozen=True)
class Hunted:
    """The outcome: what was seen, if anything; so many of the trials that reach the mutant were tried, and in so many
    of those another program came out."""

    seen: Seen | None
    tried: int = 0
    reaching: int = 0
    changed: int = 0

    @property
    def complete(self) -> bool:
        return self.seen is not None or self.tried == self.reaching


def reaching(mutant: Mutant, trials: Sequence[Reach]) -> list[Reach]:
    """The trials in which the mutant may make a difference: those of its rule, written ones and quick ones first."""
    name = ""
    if mutant.name.startswith("rule "):
        name = mutant.name.removeprefix("rule ").partition(":")[0]
        near = [t for t in trials if name in (t.occurs if "guard" in mutant.kind else t.fired)]
    else:
        near = [t for t in trials if t.runs(*mutant.place)]
    first = (f"rule {name} ", "written ") if name else ("written ",)
    return sorted(near, key=lambda t: (not t.name.startswith(first), _chance(mutant, t)))


def _chance(mutant: Mutant, t: Reach) -> float:
    """Quick trials go first, but not always the same."""
    drawn = sha256(f"{mutant.name} {mutant.change} {t.name}".encode()).digest()[0]
    return t.seconds * (drawn + 16)


def hunt(mutant: Mutant, near: Sequence[Reach], seconds: float, kept: Path | None = None, wanted: str = "") -> Hunted:
    """Hold a mutant against trials until one notices it (as `wanted`, if that is said), or time is over."""
    tried = changed = 0
    weaker: Seen | None = None
    began = time.monotonic()
    while tried < len(near) and (left := seconds - (time.monotonic() - began)) > 0:
        some = near[tried:]
        ended = apart(lambda some=some, left=left: _until_seen(mutant, some, left, kept, wanted), left + 2 * TRIAL)  # type: ignore[misc]
        if ended.status != "ok":  # a crash of the process: of which trial, nobody says
            seen: Seen | None = Seen(
                CRASHES, some[0].name, what=f"{ended.status}: {ended.text.strip().splitlines()[-1]}"[:200]
            )
            count = 1
        else:
            seen, count, differing = ended.value
            changed += differing
        tried += count
        if seen is not None:
            weaker = seen
            if wanted and seen.how != wanted:
                break
            if is_right(seen, kept):
                return Hunted(seen, tried, len(near), changed)
    found = weaker if wanted else None
    return Hunted(found, tried, len(near), changed)


def _until_seen(mutant: Mutant, near: Sequence[Reach], seconds: float, kept: Path | None, wanted: str) -> Any:
    """In a process of its own: the first that is seen, after how many trials, of which so many give other programs."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    began, changed, weaker, others = time.monotonic(), 0, None, 0
    for i, one in enumerate(near):
        trial = Trial(one.name)
        try:
            signal.setitimer(signal.ITIMER_REAL, TRIAL)
            seen, differs = look(mutant, trial, one.digests, kept)
        except TimeLimit:
            seen, differs = Seen(HANGS, one.name, what=f"not done after {TRIAL} s"), False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        changed += differs
        if seen is not None:
            if not wanted or seen.how == wanted:
                return seen, i + 1, changed
            weaker, others = seen, others + 1
        if time.monotonic() - began > seconds or others == WEAKER:
            return weaker, i + 1, changed
    return weaker, len(near), changed


def look(
    mutant: Mutant, trial: Trial, digests: tuple[str, str] | None = None, kept: Path | None = None
) -> tuple[Seen | None, bool]:
    """What a trial shows of a mutant, and whether its program is another one; `digests` are those of the right one."""
    digests = digests or trial.compiled().digests
    try:
        with mutant.applied():
            made = trial.compiled()
            if made.digests == digests:
                return None, False
            made = trial.compiled(check=True)
    except Exception as problem:
        return Seen(_kind(problem), trial.name, what=_words(problem)), True
    # the machine, which is quicker, knows no strides
    for oracle in ("machine", "triton") if made.digests[0] != digests[0] else ("triton",):
        for call in trial.calls(kept):
            if (seen := executed(trial, made, call, oracle)) is not None:
                return seen, True
    return None, True


def executed(trial: Trial, made: Compiled, call: Call, oracle: str) -> Seen | None:
    """What is wrong with a program on a call."""
    try:
        wrong = (trial.machine if oracle == "machine" else trial.triton)(made, call)
    except Exception as problem:
        if OUTSIDE in str(problem):
            return Seen(DIFFERS, trial.name, call[0], oracle, OUTSIDE)
        return Seen(CRASHES, trial.name, call[0], oracle, _words(problem))
    if not wrong or wrong.startswith("the program is CallError"):  # no call of its launch class
        return None
    fails = wrong.startswith("the program is ") and not wrong.startswith("the program is CheckError")
    return Seen(CRASHES if fails else DIFFERS, trial.name, call[0], oracle, wrong)


def is_right(seen: Seen, kept: Path | None = None) -> bool:
    """Whether the compiler as it is does that trial without a fault."""

    def fault() -> bool:
        trial = Trial(seen.trial)
        made = trial.compiled(check=True)
        oracle = seen.oracle or "machine"
        return any(executed(trial, made, call, oracle) for call in trial.calls(kept) if seen.call in ("", call[0]))

    ended = apart(fault, 3 * TRIAL)
    return ended.status == "ok" and not ended.value


def _kind(problem: Exception) -> str:
    if getattr(problem, "code", "") == "E702":
        return ILL_FORMED
    return DIFFERS if isinstance(problem, CheckError) else REFUSED if isinstance(problem, IntentError) else CRASHES


def _words(problem: Exception) -> str:
    text = f"{getattr(problem, 'code', type(problem).__name__)} {getattr(problem, 'title', problem)}"
    return " ".join(text.split())[:200]
