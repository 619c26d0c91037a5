"""The kill rate, and the search for witnesses, in a folder that makes either resumable.

    python -m benchmarks.mutants --out mutants --jobs 15 --minutes 8            # what kills the known mutants
    python -m benchmarks.mutants --out mutants --jobs 15 --search               # which candidates are wrong

What each trial reaches is found once for all mutants.  A line of the journal is what became of one mutant in one part
of the suite: a witness, 2,000 random kernels, the corpus, the trials and proofs of a rule.
"""

from __future__ import annotations

import multiprocessing
import pickle
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from ...rules.tables import BUILTIN
from ..apart import apart
from ..campaign.journal import Journal
from . import mutants
from .hunt import DIFFERS, Hunted, Seen, hunt, reaching
from .passes import pass_mutants
from .rates import summary
from .reach import Reach, reach
from .rules import mutated, rule_mutants
from .source import Mutant
from .suite import Trial, corpus
from .witnesses import Witness, key, text_of, witnesses, write
from .written import WRITTEN

COUNT: Final = 2000
"""Random kernels of a measurement, from number 0 on; those of a search are behind them."""
SEARCHED: Final = 300
KERNELS: Final = 4
"""Kernels of each rule over scalars, for the search."""
OF_A_RULE: Final = 3
"""Mutants of a rule at most."""
OF_A_MODULE: Final = 3
"""Mutants of a module of passes, of so many candidates at most (of a module without any, of all):"""
CANDIDATES: Final = 14
EXPLORING: Final = 60.0
SEARCHING: Final = 12.0
TRIED: Final = 40
QUICK: Final = 15.0
HUNTING: Final = 40.0
"""Seconds of the exploration of a trial, of the search for a witness (in so many trials), and of a hunt, which most
mutants end within the first of them."""


class Campaign:
    """Mutants and trials of a folder."""

    def __init__(
        self, folder: Path, jobs: int = 2, minutes: float = 60.0, progress: Callable[[str], None] = lambda line: None
    ) -> None:
        self.folder, self.jobs, self.progress = folder, jobs, progress
        self.end = time.monotonic() + 60 * minutes
        folder.mkdir(parents=True, exist_ok=True)
        self.kept = folder / "calls"
        self._of_these_sources()
        self.kept.mkdir(exist_ok=True)
        self.journal = Journal(folder / "journal.jsonl")

    def _of_these_sources(self) -> None:
        """Forget what trials reach, and what they give, in other sources."""
        file, now = self.folder / "sources", fingerprint()
        if file.exists() and file.read_text() != now:
            shutil.rmtree(self.kept, ignore_errors=True)
            (self.folder / "reach.pickle").unlink(missing_ok=True)
        file.write_text(now)

    # ---- what trials reach

    def explored(self, names: Iterable[str]) -> dict[str, Reach]:
        """What these trials reach, without those that the compiler refuses."""
        file = self.folder / "reach.pickle"
        known: dict[str, Reach | None] = pickle.loads(file.read_bytes()) if file.exists() else {}
        names = list(names)
        missing = [n for n in names if n not in known]
        began = time.monotonic()
        _share["end"] = self.end
        _warm()
        with multiprocessing.get_context("fork").Pool(self.jobs) as pool:
            for name, found in pool.imap_unordered(_explored, missing, 4):
                if found != LATE:
                    known[name] = found
        if missing:
            file.write_bytes(pickle.dumps(known))
            self.progress(f"{len(missing)} trials explored in {time.monotonic() - began:.0f} s")
        return {n: r for n in names if (r := known.get(n)) is not None}

    # ---- what becomes of mutants

    def done(self, part: str) -> dict[tuple[str, str], dict[str, Any]]:
        """What the journal has of a part, by the keys of mutants."""
        lines = (line for line in self.journal.lines if line.get("part") == part)
        return {key(line["name"], line["change"]): line for line in lines}

    def hunted(
        self,
        part: str,
        chosen: Iterable[Mutant],
        trials: Sequence[Reach],
        seconds: float,
        wanted: str = "",
        again: bool = False,
    ) -> Iterator[tuple[Mutant, dict[str, Any]]]:
        """Hold mutants against trials; those that the journal has are not held again.  `chosen` may wait for what has
        been found, so few are taken at once.  The journal takes what is not done in time as survived, unless those are
        held `again` for longer."""
        done = self.done(part)
        _warm()
        _share.update(trials=trials, kept=self.kept, part=part)
        pool = multiprocessing.get_context("fork").Pool(self.jobs, _ready)
        running: list[tuple[Mutant, Any]] = []
        source = iter(chosen)
        try:
            while True:
                while len(running) < self.jobs and time.monotonic() < self.end:
                    mutant = next(source, None)
                    if mutant is None:
                        break
                    if (line := done.get(key(mutant.name, mutant.change))) is not None:
                        yield mutant, line
                        continue
                    left = min(seconds, max(self.end - time.monotonic(), 1.0))
                    running.append((mutant, pool.apply_async(_hunted, (_number(mutant), left, wanted))))
                ended = [r for r in running if r[1].ready()]
                for mutant, result in ended:
                    running.remove((mutant, result))
                    line = {
                        "part": part,
                        "name": mutant.name,
                        "kind": mutant.kind,
                        "change": mutant.change,
                        **_told(result.get()),
                    }
                    if wanted and line["how"] == wanted:
                        line["text"] = text_of(line["trial"])
                    if line["complete"] or line["seconds"] >= 0.9 * seconds and not again:
                        self.journal.add(line)
                    self.progress(
                        f"{part}: {line['how'] or 'survived'}: {mutant.name}  {line['trial']}  {line['what'][:80]}"
                    )
                    yield mutant, line
                if not running and (time.monotonic() >= self.end or not ended):
                    return
                if not ended:
                    time.sleep(0.02)
        finally:
            pool.terminate()

    # ---- a search

    def search(self) -> dict[str, Any]:
        """Look for witnesses where there are too few, and write them down beside those that are known."""
        wrong: dict[str, list[Mutant]] = {}
        for m in mutants():
            wrong.setdefault(_owner(m), []).append(m)
        present = {key(m.name, m.change) for each in wrong.values() for m in each}
        found = [(w, text_of(w.trial)) for w in witnesses() if w.key in present]
        candidates = _candidates(frozenset(wrong))
        several = {o: [m for m in each if key(m.name, m.change) not in present] for o, each in candidates.items()}
        lacking = {o for o, each in several.items() if any(_needed(o, m, wrong.get(o, [])) for m in each)}
        scalar = [r.name for t in BUILTIN.tables if t.language is None for r in t.rules if f"rule {r.name}" in lacking]
        names = [
            *(f"written {n}" for n in WRITTEN),
            *corpus(),
            *(f"rule {r} {i}" for r in scalar for i in range(KERNELS)),
        ]
        names += [f"random {i}" for i in range(COUNT, COUNT + SEARCHED)]
        trials = list(self.explored(names).values())
        _numbered([m for each in several.values() for m in each])
        for mutant, line in self.hunted("witness", _in_rounds(several, wrong), trials, SEARCHING, DIFFERS):
            if line["how"] == DIFFERS:
                wrong.setdefault(_owner(mutant), []).append(mutant)
                seen = (str(line[n]) for n in ("trial", "call", "oracle", "what"))
                found.append((Witness(mutant.name, mutant.change, *seen), str(line["text"])))
        chosen = {key(m.name, m.change) for each in wrong.values() for m in _best(each)}
        write((w, text) for w, text in found if w.key in chosen)
        without = [o for o in several if o not in wrong]
        return {
            "candidates": sum(map(len, several.values())),
            "witnessed": len(found),
            "kept": len(chosen),
            "without": without,
        }

    # ---- a measurement

    def measure(self, count: int = COUNT, some: int | None = None) -> dict[str, Any]:
        """What becomes of the known mutants in random kernels alone; in the corpus, written kernels and the trials of
        rules, of those that survive there."""
        chosen = mutants()
        if some is not None and some < len(chosen):
            chosen = [chosen[i * len(chosen) // some] for i in range(some)]
        trials = list(self.explored(f"random {i}" for i in range(count)).values())
        _numbered(chosen)
        random = {m.name: line for m, line in self.hunted("random", chosen, trials, QUICK, again=True)}
        slow = [m for m in chosen if m.name in random and not (random[m.name]["how"] or random[m.name]["complete"])]
        random |= {m.name: line for m, line in self.hunted("random", slow, trials, HUNTING)}
        left = [m for m in chosen if m.name in random and not random[m.name]["how"]]
        others = list(self.explored([*corpus(), *(f"written {n}" for n in WRITTEN)]).values()) if left else []
        rest = {m.name: line for m, line in self.hunted("suite", left, others, HUNTING)}
        return summary(chosen, random, rest, len(trials), count)


# ---- in forks

_share: dict[str, Any] = {}


def _numbered(chosen: Sequence[Mutant]) -> None:
    """Mutants are no data, so forks are given their numbers."""
    _share["mutants"] = list(chosen)
    _share["numbers"] = {id(m): i for i, m in enumerate(chosen)}


def _number(mutant: Mutant) -> int:
    return int(_share["numbers"][id(mutant)])


@cache
def _warm() -> None:
    """Load what every trial needs, once for all forks."""
    trial = Trial("rule max-nested 0")
    reach(trial)
    made = trial.compiled(check=True)
    for call in trial.calls():
        trial.machine(made, call)


LATE: Final = "no time was left"


def _explored(name: str) -> tuple[str, Any]:
    if time.monotonic() > _share["end"]:
        return name, LATE
    ended = apart(lambda: reach(Trial(name)), EXPLORING)
    return name, ended.value if ended.status == "ok" else None


def _ready() -> None:
    """A worker has an interpreter of its own."""
    from ..triton_interpreter import begin_anew

    begin_anew()


def _hunted(number: int, seconds: float, wanted: str) -> tuple[Hunted, float]:
    from ..triton_interpreter import has_ended

    if has_ended():
        _ready()
    mutant: Mutant = _share["mutants"][number]
    began = time.monotonic()
    near = reaching(mutant, _share["trials"])
    found = hunt(mutant, near[:TRIED] if wanted else near, seconds, _share["kept"], wanted)
    if found.seen is None and _share["part"] == "suite" and mutant.name.startswith("rule "):
        found = _by_rules(mutant, found)
    return found, time.monotonic() - began


def _by_rules(mutant: Mutant, found: Hunted) -> Hunted:
    """What the trials and proofs of rules say of a mutant that no kernel has shown to be wrong."""
    from ..rules.verdict import judge

    rule = mutated(mutant)

    def judged() -> Any:
        from ...rules.rule_set import active

        with mutant.applied():
            (verdict,) = judge(active(), [rule.name])
        return verdict.status, verdict.detail

    ended = apart(judged, HUNTING)
    if ended.status == "ok" and ended.value[0] != "refuted":
        return found
    what = ended.value[1] if ended.status == "ok" else ended.text.strip().splitlines()[-1]
    return Hunted(Seen(DIFFERS, "trials of rules", what=what[:200]), found.tried, found.reaching, found.changed)


def _told(result: tuple[Hunted, float]) -> dict[str, Any]:
    found, seconds = result
    seen = asdict(found.seen or Seen("", ""))
    counts = {"tried": found.tried, "reaching": found.reaching, "changed": found.changed, "complete": found.complete}
    return {**seen, **counts, "seconds": round(seconds, 2)}


def fingerprint() -> str:
    """The digest of the package's sources."""
    digest = sha256()
    for file in sorted(Path(__file__).parents[2].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


# ---- candidates


def _owner(mutant: Mutant) -> str:
    """The rule or the module of passes that a mutant is of."""
    place = mutant.name.partition(":")[0]
    return place if place.startswith("rule ") else place.partition(".")[0]


@cache
def _candidates(wrong: frozenset[str]) -> dict[str, list[Mutant]]:
    """What may be wrong, by rule and module; of modules of which nothing is known to be `wrong`, all of it."""
    found: dict[str, list[Mutant]] = {}
    some = [m for m in pass_mutants(CANDIDATES) if _owner(m) in wrong]
    for m in [*rule_mutants(None), *some, *pass_mutants(None, lambda name, _: name.partition(".")[0] not in wrong)]:
        found.setdefault(_owner(m), []).append(m)
    return found


def _in_rounds(several: dict[str, list[Mutant]], wrong: dict[str, list[Mutant]]) -> Iterator[Mutant]:
    """Candidates of all in turn, as long as there are too few of one."""
    for i in range(max(map(len, several.values()))):
        for owner, each in several.items():
            if i < len(each) and _needed(owner, each[i], wrong.get(owner, [])):
                yield each[i]


def _needed(owner: str, mutant: Mutant, wrong: Sequence[Mutant]) -> bool:
    if not owner.startswith("rule "):
        return len(wrong) < OF_A_MODULE
    guard = _guard(mutant)
    return len(wrong) < OF_A_RULE if guard is None else all(_guard(w) != guard for w in wrong)


def _guard(mutant: Mutant) -> str | None:
    """The guard of a rule that is changed."""
    return mutant.kind.partition("guard ")[2].partition(" ")[0] or None


def _best(each: Sequence[Mutant]) -> list[Mutant]:
    """One of each guard, then others: of a rule no more than so many."""
    if not each[0].name.startswith("rule "):
        return list(each)
    guards = {g: m for m in each[::-1] if (g := _guard(m))}
    others = [m for m in each if m not in guards.values()]
    return [*guards.values(), *others][:OF_A_RULE]
