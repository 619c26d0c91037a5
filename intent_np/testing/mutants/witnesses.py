"""The mutants that are known to be wrong, each with what shows it: a kernel and a call whose results differ.

`witnesses.json` has the text of each kernel, so that it stays what it is when the generator of random kernels changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("witnesses.json")
KEPT: Final = "kept "
"""Begins the name of a trial whose kernel is in the file."""


@dataclass(frozen=True)
class Witness:
    """What shows a mutant (of this name and change) to be wrong."""

    name: str
    change: str
    trial: str
    call: str
    oracle: str
    what: str

    @property
    def key(self) -> tuple[str, str]:
        return key(self.name, self.change)


def key(name: str, change: str) -> tuple[str, str]:
    """What a mutant is known by: its place and kind without the number among its like, and what it changes."""
    return name.rstrip(" 0123456789"), " ".join(change.split())


@cache
def _file() -> Any:
    return json.loads(FILE.read_text()) if FILE.exists() else {"mutants": [], "kernels": {}}


def witnesses() -> list[Witness]:
    """All of them, by the name of the mutant."""
    return [Witness(**w) for w in _file()["mutants"]]


def kernel_text(trial: str) -> str:
    """The text of a kept kernel, by the name of its trial."""
    return str(_file()["kernels"][trial])


def text_of(trial: str) -> str:
    """The text of the kernel of a trial, as it is made now; empty for one of the corpus."""
    from ...rules.tables import BUILTIN
    from ..generator import random_kernel
    from ..generator.algebra import of_rule

    kind, _, rest = trial.partition(" ")
    if trial.startswith(KEPT):
        return kernel_text(trial)
    if kind == "random":
        return random_kernel(int(rest)).source
    if kind != "rule":
        return ""
    name, _, number = rest.rpartition(" ")
    return of_rule(BUILTIN.rule(name), int(number))


def write(found: Iterable[tuple[Witness, str]]) -> None:
    """Keep these witnesses, with the texts of their kernels."""
    kernels: dict[str, str] = {}
    kept = []
    for w, text in sorted(found, key=lambda pair: pair[0].key):
        trial = w.trial
        if text and not trial.startswith(KEPT):
            trial = f"{KEPT}{sha256(text.encode()).hexdigest()[:4]} {trial}"
        if text:
            kernels[trial] = text
        kept.append({**asdict(w), "trial": trial})
    whole = {"mutants": kept, "kernels": dict(sorted(kernels.items()))}
    FILE.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    _file.cache_clear()
