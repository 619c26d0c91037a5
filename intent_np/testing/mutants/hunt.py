"""Mutants against a suite: which are noticed, by what, and which survive."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ..apart import apart
from .reasons import reason
from .rules import mutated
from .source import Mutant
from .suite import ORACLES, Trial, own_interpreter, reaches

SECONDS: Final = 90.0
TRIED: Final = 24
"""So many trials that reach a mutant are run by each oracle, quick ones first."""


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: `killed` by a witness, `survived`, `not reached` by any trial, or `equivalent`, which a
    proof or a reason says."""

    name: str
    kind: str
    change: str
    status: str
    witness: str = ""
    how: str = ""
    seconds: float = 0.0


def hunt(
    mutants: Sequence[Mutant],
    trials: Sequence[Trial],
    jobs: int = 2,
    progress: Callable[[Fate], None] = lambda fate: None,
) -> list[Fate]:
    """The fate of every mutant, in the order given."""
    _share.update(mutants=mutants, trials=trials)
    found: dict[int, Fate] = {}
    with multiprocessing.get_context("fork").Pool(jobs, own_interpreter) as pool:
        for i, fate in pool.imap_unordered(_fate, range(len(mutants))):
            found[i] = fate
            progress(fate)
    return [found[i] for i in range(len(mutants))]


_share: dict[str, Any] = {}
"""What forks of this process see without a copy."""


def _fate(i: int) -> tuple[int, Fate]:
    import time

    mutant: Mutant = _share["mutants"][i]
    began = time.perf_counter()
    status, witness, how = _judged(mutant, _share["trials"])
    return i, Fate(mutant.name, mutant.kind, mutant.change, status, witness, how, round(time.perf_counter() - began, 2))


def _judged(mutant: Mutant, trials: Sequence[Trial]) -> tuple[str, str, str]:
    told = reason(mutant.name)
    if told:
        return "equivalent", "", told
    is_rule = mutant.name.startswith("rule ")
    chosen = [(t, o) for o in ORACLES for t in _reaching(mutant, trials, o)]

    def search() -> tuple[str, str] | None:
        with mutant.applied():
            for trial, oracle in chosen:
                if wrong := trial.wrong(oracle):
                    return f"{trial.name}, {oracle}", wrong
        return None

    ended = apart(search, SECONDS)
    if ended.status != "ok":
        return "killed", f"one of {len(chosen)} trials", f"{ended.status}: {ended.text.strip().splitlines()[-1][:160]}"
    if ended.value is not None:
        return "killed", *ended.value
    if is_rule:
        return _verdict(mutant)
    return ("survived" if chosen else "not reached"), "", f"{len(chosen)} trials reach it"


def _reaching(mutant: Mutant, trials: Iterable[Trial], oracle: str) -> list[Trial]:
    if mutant.name.startswith("rule "):
        name = mutant.name.removeprefix("rule ").partition(":")[0]
        # a rule that lacks a guard fires where the rule itself does not
        near = [t for t in trials if reaches(t, oracle, lambda r: r == name)]
        rest = [t for t in trials if t not in near and oracle in t.reached] if oracle == "machine" else []
        quick = sorted(near, key=lambda t: t.seconds[oracle])[: TRIED // 2]
        return [*quick, *sorted(rest, key=lambda t: t.seconds[oracle])[:TRIED]]
    file, first, last = mutant.place
    near = [
        t
        for t in trials
        if reaches(t, oracle, lambda p: isinstance(p, tuple) and p[0] == file and first <= p[1] <= last)
    ]
    if oracle == "triton":  # what the machine executes is tried there
        near = [t for t in near if not _by_machine(t, file, first, last)] or near[: TRIED // 4]
    return sorted(near, key=lambda t: t.seconds[oracle])[:TRIED]


def _by_machine(trial: Trial, file: str, first: int, last: int) -> bool:
    return reaches(trial, "machine", lambda p: isinstance(p, tuple) and p[0] == file and first <= p[1] <= last)


def _verdict(mutant: Mutant) -> tuple[str, str, str]:
    """What the proofs and trials of rules say of a mutant that no kernel has shown to be wrong."""
    from ..rules.verdict import judge

    rule = mutated(mutant)

    def judged() -> Any:
        from ...rules.rule_set import active

        with mutant.applied():
            (verdict,) = judge(active(), [rule.name])
        return verdict.status, verdict.detail

    ended = apart(judged, SECONDS)
    if ended.status != "ok":
        return "killed", "rules check", f"{ended.status}: {ended.text.strip().splitlines()[-1][:160]}"
    status, detail = ended.value
    if status == "refuted":
        return "killed", "rules check", detail[:200]
    proof = status.startswith("proved") or status == "exhaustive"
    return ("equivalent" if proof else "survived"), "", f"{status}: it is a rule as well"


def summary(fates: Sequence[Fate]) -> dict[str, Any]:
    """Counts by kind, the rate of those that are no equivalents, and the survivors."""
    counted = [f for f in fates if f.status != "equivalent"]
    killed = [f for f in counted if f.status == "killed"]
    kinds: dict[str, Counter[str]] = {}
    for f in fates:
        kinds.setdefault(f.kind.partition(" in guard")[0].rstrip(" 0123456789"), Counter())[f.status] += 1
    return {
        "mutants": len(fates),
        "counted": len(counted),
        "killed": len(killed),
        "rate": round(len(killed) / max(len(counted), 1), 4),
        "kinds": {k: dict(c) for k, c in sorted(kinds.items())},
        "by": dict(Counter(map(_noticed, killed)).most_common()),
        "survivors": [asdict(f) for f in counted if f.status != "killed"],
        "equivalent": [asdict(f) for f in fates if f.status == "equivalent"],
        "fates": [asdict(f) for f in fates],
    }  # fmt: skip


def _noticed(fate: Fate) -> str:
    """What kind of thing has noticed a mutant."""
    if fate.witness == "rules check" or fate.how.startswith("timeout"):
        return fate.witness if fate.witness == "rules check" else "timeout"
    trial, _, oracle = fate.witness.rpartition(", ")
    return f"{'a random kernel' if trial.startswith('random') else 'the corpus'}, {oracle}"


__all__ = ["Fate", "hunt", "summary"]
