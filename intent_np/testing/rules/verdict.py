"""What is known of a rule: `judge` proves it, or tries it, and says which; verdicts are kept by the text of the rule.

proved-int   index arithmetic, over the integers, and nothing wraps that did not
proved-bv    integers modulo 2^w, at every width
proved-fp    IEEE arithmetic, at every float type (those of 8 bits by all their values)
proved-any   for values of any type: as elements of an unknown sort, or type by type
exhaustive   for all values of 8 bits
tested       on values that find mistakes, by every type; rules over terms on random programs
refuted      with a counterexample
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...rules.pattern import Rule
from ...rules.rule_set import RuleSet
from .instances import kinds, typed
from .kernel_text import kernel_text
from .order import ends

PROVED = ("proved-int", "proved-bv", "proved-fp", "proved-any")
STATUSES = (*PROVED, "exhaustive", "tested", "refuted")


@dataclass(frozen=True)
class Verdict:
    """The status of a rule, in seconds of work; `detail` says what was found, `program` shows it when executed."""

    rule: str
    table: str
    status: str
    seconds: float = 0.0
    detail: str = ""
    program: str = ""

    @property
    def ok(self) -> bool:
        """Whether the rule may be used."""
        return self.status != "refuted"


def judge(rules: RuleSet, names: Iterable[str] | None = None) -> list[Verdict]:
    """The verdict on each rule of a set (or on those of these names), in order."""
    wanted = [r for r in rules.rules if names is None or r.name in set(names)]
    structured = [r for r in wanted if rules.table(r).language is not None]
    tried = _tried(rules, structured)
    out = []
    for r in wanted:
        begin = time.perf_counter()
        found = tried[r.name] if r.name in tried else judge_scalar(r)
        seconds = found.seconds or time.perf_counter() - begin
        out.append(replace(found, table=rules.table(r).name, seconds=seconds))
    return out


def judge_scalar(r: Rule) -> Verdict:
    """Proved where it can be, and tried in any case: the trial is of the matcher that is generated from it."""
    from .conversions import judged
    from .examine import examine
    from .prove import proofs

    if typed(r):
        return judged(r)
    fired, wrong = examine(r)
    if wrong is not None:
        program = kernel_text(r, wrong.dtype, wrong.values) if wrong.values else ""
        return refuted(r, wrong.text, program)
    if not fired:
        return refuted(r, "it never fires: no left side has a type, or no values satisfy its guards")
    undecided, status, detail = [], _proof_of(r), ""
    asked = proofs(r)
    if not asked:
        status, detail = "tested", f"computed by a function; fired {fired} times"
    for found in asked:
        if found.outcome == "refuted":
            values = found.model or {}
            readable = all(isinstance(v, (int, float)) for v in values.values())
            dtype = "index" if found.theory == "integers" else found.theory
            what = "the right side wraps" if found.wraps else "the sides differ"
            program = kernel_text(r, dtype, values) if readable and dtype != "any" else ""
            return refuted(r, f"{what} for {found.theory} at {values}", program)
        if found.outcome == "undecided":
            undecided.append(found.theory)
    if undecided:
        status, detail, wrong_at = _without_proof(r, undecided)
        if wrong_at is not None:
            return refuted(r, f"the sides differ at {wrong_at}", kernel_text(r, "index", wrong_at))
    narrow = _narrow(r)
    if narrow is not None:
        return narrow
    if not ends(r):
        return refuted(r, f"rewriting may not end: {r.right} is not below {r.left} in the order of terms")
    return Verdict(r.name, "", status, detail=detail)


def _proof_of(r: Rule) -> str:
    """The status that a proof in every theory gives."""
    found = kinds(r)
    if "x" in found:
        return "proved-int"
    if "f" in found:
        return "proved-fp"
    return "proved-bv" if "i" in found else "proved-any"


def _without_proof(r: Rule, undecided: list[str]) -> tuple[str, str, Mapping[str, Any] | None]:
    """The status without a proof, what was done in its place, and values at which the rule is wrong."""
    from .exhaustive import index_counterexample

    detail = f"z3 does not decide it for {', '.join(undecided)}"
    if undecided != ["integers"]:
        return "tested", detail, None
    try:
        return "exhaustive", "all values of 8 bits", index_counterexample(r)
    except OverflowError:
        return "tested", detail, None


def _narrow(r: Rule) -> Verdict | None:
    """A refutation among all values of the types of 8 bits; index rules have none."""
    from .exhaustive import narrow_counterexample, narrow_types

    for d in narrow_types(r):
        try:
            values = narrow_counterexample(r, d)
        except OverflowError:
            continue
        if values is not None:
            return refuted(r, f"the sides differ for {d} at {values}", kernel_text(r, d.name, values))
    return None


def refuted(r: Rule, detail: str, program: str = "") -> Verdict:
    """A verdict with a counterexample."""
    return Verdict(r.name, "", "refuted", detail=detail, program=program)


def _tried(rules: RuleSet, wanted: list[Rule]) -> dict[str, Verdict]:
    """Rules over terms, on random programs."""
    if not wanted:
        return {}
    from .structured import try_all

    begin = time.perf_counter()
    fired, broken = try_all(rules, [r.name for r in wanted])
    seconds = (time.perf_counter() - begin) / len(wanted)
    out = {}
    for r in wanted:
        if r.name in broken:
            found = broken[r.name]
            out[r.name] = Verdict(r.name, "", "refuted", seconds, found.text, found.program)
        elif not fired[r.name]:
            out[r.name] = Verdict(r.name, "", "refuted", seconds, "it never fired on a random program")
        else:
            out[r.name] = Verdict(r.name, "", "tested", seconds, f"fired {fired[r.name]} times")
    return out


__all__ = ["PROVED", "STATUSES", "Verdict", "judge", "judge_scalar"]
