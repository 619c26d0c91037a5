"""The mutants that are known to be wrong, each with what shows it: a kernel and a call whose results differ.

`witnesses.json` has the text of each kernel, so that it stays what it is when the generator of random kernels changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
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


def write(found: Iterable[Witness]) -> None:
    """Keep these witnesses, and the kernels that they need."""
    from ...rules.tables import BUILTIN
    from ..generator import random_kernel
    from ..generator.algebra import of_rule

    kernels: dict[str, str] = {}
    kept = []
    for w in sorted(found, key=lambda w: (w.name, w.change)):
        kind, _, rest = w.trial.partition(" ")
        trial = w.trial
        if kind in ("random", "rule"):
            trial = KEPT + w.trial
            if kind == "random":
                kernels[trial] = random_kernel(int(rest)).source
            else:
                name, _, number = rest.rpartition(" ")
                kernels[trial] = of_rule(BUILTIN.rule(name), int(number))
        elif w.trial.startswith(KEPT):
            kernels[trial] = kernel_text(trial)
        kept.append(asdict(Witness(w.name, w.change, trial, w.call, w.oracle, w.what)))
    whole = {"mutants": kept, "kernels": dict(sorted(kernels.items()))}
    FILE.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    _file.cache_clear()
