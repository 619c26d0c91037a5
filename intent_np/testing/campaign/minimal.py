"""A failure made small: the kernel's text, then the call, then the values of its arrays."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..apart import apart
from ..arguments import Arguments
from ..checked import Recipe, extent_names, made
from ..oracles import Failure, Outcome, examine, failure_of
from ..reduction import fitted, kernel_of, reduced
from .jobs import Reduce, failure_as_json, text_of, watched
from .settings import Settings

ORACLE: Final = {"compile": "machine", "machine": "machine", "text": "text", "triton compile": "triton"}
"""The oracle that a stage belongs to, where that is not of the same name."""
LEAST_SECONDS: Final = 10.0
PRINTED: Final = 64
"""So many elements of an array are worth printing."""
SEARCHED: Final = 60


def reduced_failure(job: Reduce) -> dict[str, Any]:
    """The line of the journal for a reduced failure: its text, call and arrays, and what it is now."""
    s, failure = job.settings, job.failure
    try:
        text = text_of(s.source(job.seed))
        whole = Minimal(s, failure, text, job.until)
    except Exception as problem:
        return {"reduced": failure.key, "seed": job.seed, "text": "", "failure": failure_as_json(failure),
                "why": str(failure_of("reduction", problem).message)}  # fmt: skip
    if not whole.fails(text):
        return {"reduced": failure.key, "seed": job.seed, "text": text, "failure": failure_as_json(failure),
                "why": "it does not fail again"}  # fmt: skip
    smaller = reduced(text, whole.fails, s.attempts)
    whole.shrink_call(smaller.text)
    last = reduced(smaller.text, whole.fails, s.attempts // 4)
    whole.shrink_call(last.text)
    arrays = whole.shrink_arrays(last.text)
    now = replace(whole.outcome(last.text, causes=True).failure or failure, recipe=whole.recipe)
    return {
        "reduced": failure.key, "seed": job.seed, "text": last.text, "tried": smaller.tried + last.tried,
        "kept": smaller.kept + last.kept, "arrays": arrays, "failure": failure_as_json(now),
    }  # fmt: skip


class Minimal:
    """One failure, with the call that is smallest so far.  Arrays keep the values of the first call."""

    def __init__(self, settings: Settings, failure: Failure, text: str, until: float | None = None) -> None:
        self.settings, self.failure, self.until = settings, failure, until
        self.recipe = failure.recipe
        self.values: Arguments = {}
        self.seconds = settings.seconds
        if failure.code == "timeout":
            self.seconds = min(settings.seconds, max(LEAST_SECONDS, settings.seconds / 6))
        if self.recipe is not None:
            self.values = apart(lambda: plain(made(kernel_of(text), failure.recipe)), 60.0).value or {}  # type: ignore[arg-type]

    def outcome(self, text: str, causes: bool = False) -> Outcome:
        """How a candidate fares in the stage that failed."""
        failure, s = self.failure, self.settings
        oracle = ORACLE.get(failure.stage, failure.stage)
        oracles = [o for o in (oracle,) if o in s.oracles]

        def whole(watch: Callable[[str], None]) -> Outcome:
            watch("generator")
            kernel = kernel_of(text)
            called = [self.fitting(kernel)] if self.recipe is not None else []
            return examine(
                kernel, called, oracles, options=s.options, each_pass=s.each_pass, only=failure.holds,
                arguments=self.arguments, causes=causes, watch=watch,
            )  # fmt: skip

        return watched(whole, self.seconds)

    def fails(self, text: str) -> bool:
        """Whether a candidate fails in the same way: in the rule that is to blame it need not agree.  None is tried
        once the time is over."""
        if self.until is not None and time.monotonic() > self.until:
            return False
        found = self.outcome(text).failure
        return found is not None and replace(found, rule="").key == replace(self.failure, rule="").key

    def fitting(self, kernel: Any) -> Recipe:
        """The call for a kernel that may have other extents."""
        assert self.recipe is not None
        return replace(self.recipe, extents={n: self.recipe.extents.get(n, 2) for n in extent_names(kernel)})

    def arguments(self, kernel: Any, recipe: Recipe) -> Arguments:
        """The arguments of a call, with the values that parameters of these names had, as far as they fit."""
        given = made(kernel, recipe)
        for name, new in given.items():
            old = self.values.get(name)
            if (
                isinstance(new, np.ndarray)
                and isinstance(old, np.ndarray)
                and new.flags.writeable
                and new.size
                and old.size
            ):
                new[...] = fitted(old, new.shape, new.dtype)
            elif old is not None and not isinstance(new, np.ndarray) and not isinstance(old, np.ndarray):
                given[name] = type(new)(old)
        return given

    # ---- the call

    def shrink_call(self, text: str) -> None:
        """Smaller extents, plain memory and plain values, as long as it fails."""
        if self.recipe is None:
            return
        self.recipe = self.fitting(kernel_of(text))
        again = True
        while again:
            again = False
            for candidate in smaller_calls(self.recipe):
                before, self.recipe = self.recipe, candidate
                if again := self.fails(text):
                    break
                self.recipe = before

    def shrink_arrays(self, text: str) -> dict[str, Any]:
        """Values of inputs that are small enough to print, simplified: zeros and ones, or element by element."""
        if self.recipe is None or self.recipe.layout != "contiguous":
            return {}
        kernel = kernel_of(text)
        self.values = apart(lambda: plain(self.arguments(kernel, self.recipe)), 60.0).value or {}  # type: ignore[arg-type]
        modes = {p.name: getattr(p, "mode", "in") for p in kernel.parameters}
        inputs = [n for n, v in self.values.items() if modes[n] != "out"]
        if any(np.size(self.values[n]) > PRINTED for n in inputs):
            return {}
        left = SEARCHED
        for name in inputs:
            for candidate in simpler(self.values[name]):
                left -= 1
                if self.with_value(text, name, candidate):
                    break
            value = self.values[name]
            for i in range(np.size(value) if isinstance(value, np.ndarray) else 0):
                if left > 0 and self.values[name].reshape(-1)[i] != 0:
                    candidate = self.values[name].copy()
                    candidate.reshape(-1)[i] = 0
                    left -= 1
                    self.with_value(text, name, candidate)
        return {n: printable(self.values[n]) for n in inputs}

    def with_value(self, text: str, name: str, value: Any) -> bool:
        """Whether it still fails with this value of an argument, which is kept then."""
        before, self.values[name] = self.values[name], value
        if not self.fails(text):
            self.values[name] = before
            return False
        return True


def plain(given: Arguments) -> Arguments:
    """Arguments that survive pickling."""
    return {n: np.array(v) if isinstance(v, np.ndarray) else v for n, v in given.items()}


def smaller_calls(recipe: Recipe) -> Iterator[Recipe]:
    """Calls that are simpler in one way."""
    if recipe.layout != "contiguous":
        yield replace(recipe, layout="contiguous")
    for n, size in recipe.extents.items():
        for new in dict.fromkeys((0, 1, 2, 3, 4, size // 2, size - 1)):
            if 0 <= new < size:
                yield replace(recipe, extents={**recipe.extents, n: new})


def simpler(value: Any) -> Iterator[Any]:
    """Simpler values of an argument, the simplest first."""
    if not isinstance(value, np.ndarray):
        yield from (type(value)(v) for v in (0, 1) if value != v)
        return
    if value.size == 0:
        return
    yield np.zeros_like(value)
    yield np.ones_like(value)
    if value.dtype.kind not in "b":
        with np.errstate(all="ignore"):
            yield np.arange(value.size).reshape(value.shape).astype(value.dtype)
            if value.dtype.kind not in "iu":
                yield np.rint(value.astype(np.float64)).astype(value.dtype)


def printable(value: Any) -> Any:
    """An argument as JSON: its dtype, shape and elements, in full."""
    if not isinstance(value, np.ndarray):
        return value
    elements = value.astype(np.float64) if value.dtype.kind not in "biu" else value
    return {
        "dtype": str(value.dtype),
        "shape": list(value.shape),
        "elements": [repr(e) for e in elements.reshape(-1).tolist()],
    }
