"""What the workers of a campaign do: examine a seed, or reduce what one has found.

A worker loads everything once; each seed, and each candidate of a reduction, runs in a fork of it.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from ...language import Kernel
from ..apart import Ended, apart
from ..checked import Recipe, recipes
from ..oracles import Failure, Outcome, examine, failure_of
from ..reduction import kernel_of
from ..shared import SHARED
from ..views import LAYOUTS
from .settings import Settings

LANGUAGE = "import intent_np as intent\nimport intent_np.language as I\n"


@dataclass(frozen=True)
class Seed:
    """Examine the kernel of a seed."""

    settings: Settings
    seed: int


@dataclass(frozen=True)
class Reduce:
    """Reduce the failure of a seed, until a time of `time.monotonic`, which all processes of a machine share."""

    settings: Settings
    seed: int
    failure: Failure
    until: float | None = None


def work(job: Seed | Reduce) -> dict[str, Any]:
    """The line of the journal that a job gives."""
    ready(job.settings)
    if isinstance(job, Seed):
        return {"seed": job.seed, **as_json(examined(job))}
    from .minimal import reduced_failure

    return reduced_failure(job)


_ready: set[str] = set()


def ready(settings: Settings) -> None:
    """Load what the examination needs before it is forked: once in a process."""
    new = {*settings.oracles, settings.generator} - _ready
    if not new:
        return
    _ready.update(new)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    settings.source(0)
    examine(kernel_of(FIRST), recipes(kernel_of(FIRST), count=1), [o for o in settings.oracles if o != "device"])


FIRST = (
    LANGUAGE
    + """

@intent.kernel
def first(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:]
"""
)


def text_of(source: str) -> str:
    """A kernel's text with the imports that it needs."""
    return source if "import intent_np" in source else f"{LANGUAGE}\n\n{source.strip()}\n"


SMALL: Final = 12
"""Product of the extents of calls behind which a kernel is examined where larger ones take too long."""
PATIENCE: Final = 4
"""Times the limit for those: extents that the kernel itself fixes stay as they are."""
EXECUTING: Final = ("reference", "machine")


def examined(job: Seed) -> Outcome:
    """The outcome of a seed, whatever it does to its process.  Where executing its calls takes too long it is that of
    smaller ones, and says so: a campaign is about what is computed."""
    outcome = _examined(job)
    if outcome.failure is None or outcome.failure.code != "timeout":
        return outcome
    stage = max(outcome.seconds, key=lambda n: outcome.seconds[n], default=outcome.failure.stage)
    if stage not in EXECUTING or job.settings.points <= SMALL:
        return outcome
    smaller = replace(job.settings, points=SMALL, seconds=PATIENCE * job.settings.seconds)
    again = _examined(replace(job, settings=smaller))
    return replace(again, slow=stage)


def _examined(job: Seed) -> Outcome:
    s = job.settings

    def whole(watch: Callable[[str], None]) -> Outcome:
        try:
            watch("generator")
            kernel = kernel_of(text_of(s.source(job.seed)))
        except Exception as problem:
            return Outcome("finding", failure_of("generator", problem))
        return examination(kernel, job, watch)

    return watched(whole, s.seconds)


def examination(kernel: Kernel, job: Seed, watch: Callable[[str], None]) -> Outcome:
    """What the oracles say of a kernel on the calls of its seed; `watch` is told each stage."""
    s = job.settings
    try:
        chosen = list(
            recipes(kernel, count=s.calls, points=s.points, first=job.seed, kinds=kinds(s), layouts=(*LAYOUTS, SHARED))
        )
    except Exception as problem:
        return Outcome("finding", failure_of("capture", problem))
    return examine(kernel, chosen, s.oracles, options=s.options, each_pass=s.each_pass, watch=watch)


def kinds(settings: Settings) -> tuple[str, ...]:
    """Distributions of values; a permission is given for finite ones."""
    finite = ("normal", "integers", "negative")
    return finite if settings.numerics != "strict" else ("normal", "special", "integers", "negative", "extreme")


def watched(function: Callable[[Callable[[str], None]], Outcome], seconds: float) -> Outcome:
    """The outcome of a function called in a child; where that ends early, at the stage it was in."""
    stage = mmap.mmap(-1, 64)  # shared with the child

    def watch(name: str) -> None:
        stage[:] = name.encode().ljust(64)

    ended: Ended = apart(lambda: function(watch), seconds)
    if ended.status == "ok":
        return ended.value  # type: ignore[no-any-return]
    place = stage[:].rstrip(b" \0").decode()
    message = ended.text if ended.status == "raised" else ended.text.partition("\n")[0]
    return Outcome("finding", Failure(place, ended.status, "", "", message))


# ---- as lines of a journal


def as_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as a record of the journal."""
    found: dict[str, Any] = {"status": outcome.status, "calls": outcome.calls}
    if outcome.slow:
        found["slow"] = outcome.slow
    if outcome.constructs:
        found["constructs"] = list(outcome.constructs)
    found["seconds"] = {n: round(t, 4) for n, t in outcome.seconds.items()}
    if outcome.failure is not None:
        found["failure"] = failure_as_json(outcome.failure)
    return found


def failure_as_json(failure: Failure) -> dict[str, Any]:
    """A failure with the key that groups it."""
    return {**asdict(failure), "key": failure.key}


def failure_from(record: dict[str, Any]) -> Failure:
    """The failure that `failure_as_json` made a record of."""
    given = {n: v for n, v in record.items() if n != "key"}
    recipe = given.pop("recipe")
    return Failure(**given, recipe=None if recipe is None else Recipe(**recipe))
