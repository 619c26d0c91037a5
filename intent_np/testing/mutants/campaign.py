"""The kill rate: mutants that a witness has shown to be wrong, against random kernels and the kernels of a corpus.

    python -m benchmarks.mutants kernels            # or intent-np fuzz --mutants --corpus kernels

`witnessed.txt` beside this file lists the mutants, each with what shows it; `--search` writes it anew, with random
kernels other than those that are measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from . import candidates, flat, mutants
from .hunt import Fate, hunt, summary
from .suite import corpus_trials, explored, random_trials

WITNESSED: Final = Path(__file__).with_name("witnessed.txt")
SEARCH_FROM: Final = 1000
"""The first random kernel of a search; those of a measurement begin at 0."""


def measure(
    corpus: Sequence[str] = (),
    count: int = 100,
    jobs: int = 2,
    some: int | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """What becomes of the mutants (or of `some`, spread over all) in `count` random kernels and a corpus, proofs of
    rules included; the rate of each part of the suite by itself, and of all."""
    chosen = mutants()
    if some is not None and some < len(chosen):
        chosen = [chosen[i * len(chosen) // some] for i in range(some)]
    parts = {"random kernels": list(random_trials(count, _options())), "corpus": list(corpus_trials(_cases(corpus)))}
    known = explored([t for part in parts.values() for t in part], jobs)
    progress(f"{len(known)} trials, {len(chosen)} mutants")
    found: dict[str, list[Fate]] = {}
    for name, part in parts.items():
        trials = [t for t in known if t in part]
        found[name] = hunt(chosen, trials, jobs, lambda f: progress(f"{f.status}: {f.name}  {f.witness}"))
    fates = [
        next((f for f in several if f.status == "killed"), several[0]) for several in zip(*found.values(), strict=True)
    ]
    made = summary(fates)
    made["parts"] = {name: summary(those)["rate"] for name, those in found.items()}
    return made


def search(
    corpus: Sequence[str] = (),
    count: int = 100,
    jobs: int = 2,
    of_each: int = 8,
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Look for a witness of each candidate, and write down those that have one."""
    trials = explored([*corpus_trials(_cases(corpus)), *random_trials(count, _options(), SEARCH_FROM)], jobs)
    chosen = candidates(of_each)
    fates = hunt(chosen, trials, jobs, lambda f: progress(f"{f.status}: {f.name}  {f.witness}"))
    write(fates)
    return summary(fates)


def write(fates: Sequence[Fate]) -> None:
    """The list of the mutants with a witness: name, change, witness, what was seen."""
    lines = [" | ".join(flat(x) for x in (f.name, f.change, f.witness, f.how)) for f in fates if f.status == "killed"]
    WITNESSED.write_text("\n".join(sorted(lines)) + "\n")


def told(made: dict[str, Any]) -> str:
    """The summary for a person."""
    lines = [f"{made['killed']} of {made['counted']} mutants killed: {100 * made['rate']:.1f} %"]
    lines += [f"  by {name} alone: {100 * rate:.1f} %" for name, rate in made.get("parts", {}).items()]
    width = max(map(len, made["kinds"]), default=0)
    lines += [f"  {kind:<{width}}  {', '.join(f'{n} {s}' for s, n in c.items())}" for kind, c in made["kinds"].items()]
    lines += [f"survived: {f['name']}  {f['change']}  ({f['how']})" for f in made["survivors"]]
    return "\n".join(lines)


def _options() -> Any:
    from ...compiler import CompileOptions

    return CompileOptions(check=True)


def _cases(corpus: Sequence[str]) -> list[Any]:
    from ...corpus.cases import entries

    return [e.case for e in (entries(list(corpus)) if corpus else []) if e.case is not None]


def as_json(made: dict[str, Any]) -> str:
    """The summary for a program, every fate included."""
    return json.dumps(made, indent=1)
