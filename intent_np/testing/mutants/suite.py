"""What is run against mutants: kernels with calls, and which functions and rules each of them reaches."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from ..apart import apart
from ..arguments import Arguments, arguments
from ..checked import made, recipes
from ..compare import Expected, compare
from ..generator import random_kernel
from ..host import HostProgram
from ..validated import wanted_of
from ..validation import CLASSES, calls, stages, validate
from ..views import twin

Place = tuple[str, int]
"""A function: its file and first line."""
ORACLES: Final = ("machine", "triton")
SECONDS: Final = 60.0


@dataclass(eq=False)
class Trial:
    """A kernel with calls whose results are known; `reached` are functions and rules, by oracle, and `seconds` what a
    run of it takes."""

    name: str
    kernel: Any
    constexprs: Mapping[str, Any]
    options: Any
    calls: Sequence[tuple[Arguments, Mapping[str, Expected]]]
    reached: dict[str, set[Any]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def wrong(self, oracle: str) -> str:
        """What is wrong with the results by an oracle, an error or a difference; empty if nothing is."""
        try:
            return (self._machine if oracle == "machine" else self._triton)()
        except Exception as problem:
            first = str(getattr(problem, "title", problem)).partition("\n")[0]
            return f"{getattr(problem, 'code', type(problem).__name__)} {first}"[:200]

    def _machine(self) -> str:
        made_ = stages(self.kernel, CLASSES["small blocks"], self.constexprs, self.options)
        last = replace(made_, programs=dict(list(made_.programs.items())[-1:]))
        for given, wanted in self.calls:
            found = validate(self.kernel, given, made=last, expected=wanted, strict=True)
            if not found:
                place = f"{found.output}{list(found.at)}" if found.output else "the program"
                return f"{place} is {found.found}, not {found.expected}"[:200]
        return ""

    def _triton(self) -> str:
        from ...backends.triton.printer import print_triton
        from ...passes.pipeline import run
        from ...rules.rule_set import active, using
        from ...terms.core import Arena
        from ..triton_interpreter import interpret

        with Arena(), using(active()):
            logical = self.kernel.capture(dict(self.constexprs), self.options.permissions)
            launch = run(logical, options=CLASSES["small blocks"].options(_normal(logical)), check=True)
            source = print_triton(launch.function)
            for given, wanted in self.calls:
                copies = {n: twin(v) if isinstance(v, np.ndarray) else v for n, v in given.items()}
                views = {n: v for n, v in copies.items() if isinstance(v, np.ndarray)}
                interpret(launch, source, views, {n: v for n, v in copies.items() if n not in views})
                for name, one in wanted.items():
                    if not (found := compare(copies[name], one)):
                        return f"{name}: {found.message}"[:200]
        return ""


def _normal(logical: Any) -> Any:
    from ...passes.pipeline import run

    return run(logical, stop_after="lower_to_coordinates")


def random_trials(count: int, options: Any, first: int = 0, points: int = 2**9) -> Iterator[Trial]:
    """Random kernels, with the calls on which they have a meaning."""
    for seed in range(first, first + count):
        try:
            kernel = random_kernel(seed).kernel
            chosen = []
            for recipe in recipes(kernel, count=3, points=points, first=seed):
                given = made(kernel, recipe)
                wanted = wanted_of(kernel, {}, given, bool(options.permissions))
                if isinstance(wanted, dict):
                    chosen.append((given, wanted))
        except Exception:
            continue  # a finding of a campaign, and no oracle
        if chosen:
            yield Trial(f"random kernel {seed}", kernel, {}, options, chosen)


def corpus_trials(cases: Iterable[Any]) -> Iterator[Trial]:
    """Kernels of a corpus, with small calls and their own oracles."""
    from ...compiler import CompileOptions

    for case in cases:
        if isinstance(case.kernel, HostProgram):
            continue
        options = CompileOptions(**{"check": True, **case.options})
        chosen = []
        for call in list(calls(case, CLASSES["small blocks"], 2**13))[:2]:
            given = arguments(case, call.extents, call.seed, call.layout, call.values)
            chosen.append((given, case.expected(given)))
        yield Trial(case.name, case.kernel, case.constexprs, options, chosen)


def explored(trials: Iterable[Trial], jobs: int = 2) -> list[Trial]:
    """The trials that are right, with what each of them reaches.  Those that the compiler refuses reach nothing."""
    _share["trials"] = every = list(trials)
    with multiprocessing.get_context("fork").Pool(jobs, own_interpreter) as pool:
        for i, oracle, places, seconds in pool.imap_unordered(
            _explored, [(i, o) for i in range(len(every)) for o in ORACLES]
        ):
            if places is not None:
                every[i].reached[oracle], every[i].seconds[oracle] = places, seconds
    return [t for t in every if t.reached]


_share: dict[str, Any] = {}
"""What forks of this process see without a copy."""


def own_interpreter() -> None:
    """A worker has an interpreter of its own."""
    from .. import triton_interpreter

    triton_interpreter._running.clear()
    triton_interpreter._process()


def _explored(job: tuple[int, str]) -> tuple[int, str, set[Any] | None, float]:
    i, oracle = job
    trial: Trial = _share["trials"][i]

    def run() -> tuple[str, set[Any], float]:
        began = time.perf_counter()
        with reaching() as places:
            wrong = trial.wrong(oracle)
        return wrong, places, time.perf_counter() - began

    ended = apart(run, SECONDS)
    if ended.status != "ok" or ended.value[0]:
        return i, oracle, None, 0.0
    return i, oracle, ended.value[1], ended.value[2]


@contextmanager
def reaching() -> Iterator[set[Any]]:
    """Collects the functions of passes that are called inside, and the names of the rules that fire."""
    from ...rules.rule_set import observing

    found: set[Any] = set()

    def called(frame: Any, event: str, _: Any) -> None:
        if event == "call" and "intent_np/passes/" in frame.f_code.co_filename:
            found.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        with observing(lambda rule, old, new: found.add(rule)):
            yield found
    finally:
        sys.setprofile(before)


def reaches(trial: Trial, oracle: str, wanted: Callable[[Any], bool]) -> bool:
    """Whether a trial reaches a function or a rule of that kind by an oracle."""
    return any(map(wanted, trial.reached.get(oracle, ())))
