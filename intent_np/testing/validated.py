"""Every pass of a kernel's pipeline, validated on calls that nobody wrote: `CompileOptions(validate=True)`.

Calls are generated from the signature, small ones first.  Each is executed by the reference in checking mode, which
says what the call leaves unspecified, and with a running error analysis, which says how far each element may be off;
then behind every pass, compiled for the class of the call and for all calls in small blocks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from ..backends.reference.checking_poison import span_of
from ..errors import CheckError, IntentError, Span, error
from ..plans import class_options
from ..runtime.binding import bind
from ..runtime.classes import classify
from ..runtime.plan import KernelPlan, VariantClass
from ..terms.core import find
from ..terms.logical import Accumulate, Atomic, Write, inlined
from .arguments import Arguments
from .bounds import expected
from .checked import check_kernel, generated_calls
from .compare import Expected
from .shared import joined
from .validation import CLASSES, LaunchClass, Stages, Validation, stages, validate
from .views import twin

CALLS: Final = 6
POINTS: Final = 2**10
"""Product of the extents of a call: so few that all passes take seconds."""
KINDS: Final = ("normal", "integers", "special", "negative", "extreme")
FINITE: Final = ("normal", "integers", "negative")
RELAXED: Final = 2.0**-8
"""How far, relative to its value, a result may be off under a permission, beside what the operations explain."""


def wrong_pass(kernel: Any, plan: KernelPlan, constexprs: Mapping[str, Any], options: Any) -> IntentError | int:
    """E711 for the first pass that changes a result, on the smallest generated call that shows it; without one, how
    many calls were compared: 0 where the generated ones keep none of the kernel's promises.

    plan:     the kernel as its caller sees it
    options:  `CompileOptions`
    """
    made: dict[str, Stages] = {}
    compared = 0
    for text, given in _calls(kernel, constexprs, bool(options.permissions)):
        results = wanted_of(kernel, constexprs, given, bool(options.permissions))
        if isinstance(results, tuple):
            continue
        compared += 1
        for which in classes_of(plan, given):
            if which.name not in made:
                made[which.name] = stages(kernel, which, constexprs, options)
            found = validate(kernel, given, which, made=made[which.name], expected=results)
            if not found:
                return _told(found, f"{text}, {which.name}", made[which.name])
    return compared


def _calls(kernel: Any, constexprs: Mapping[str, Any], relaxed: bool) -> Iterator[tuple[str, Arguments]]:
    """Generated calls, the smallest first; of finite values where that is the caller's promise."""
    calls = list(generated_calls(kernel, constexprs, count=CALLS, kinds=FINITE if relaxed else KINDS, points=POINTS))
    return iter(sorted(calls, key=lambda call: sum(getattr(a, "size", 0) for a in call[1].values())))


def wanted_of(
    kernel: Any, constexprs: Mapping[str, Any], given: Arguments, relaxed: bool = False
) -> dict[str, Expected] | tuple[CheckError, ...]:
    """What each output of a call may hold; of a call on which the kernel has no meaning, what says so.

    relaxed:  whether a permission lets results be off by `RELAXED` as well
    """
    copies = {name: twin(a) if isinstance(a, np.ndarray) else a for name, a in given.items()}
    with contextlib.redirect_stdout(io.StringIO()):  # what a kernel prints is for its author
        checked = check_kernel(kernel, copies, constexprs)
        if not checked.confined:
            return checked.findings
        bounds = expected(kernel, given, constexprs)
    found = {}
    for name, one in bounds.items():
        bound = np.zeros_like(one.value, np.float64) + one.bound
        if relaxed:
            size = np.abs(one.value.astype(np.float64))
            bound = bound + RELAXED * np.where(np.isfinite(size), size, 0.0)
        unspecified = checked.poison[name] | checked.unwritten[name]
        found[name] = dataclasses.replace(one, bound=np.where(unspecified, np.inf, bound))
    return joined(given, found)


def classes_of(plan: KernelPlan, given: Arguments) -> Iterator[LaunchClass]:
    """The class of a call, as a variant is compiled for it; and all calls, in blocks so small that loops have tails."""
    holds: VariantClass = classify(plan, bind(plan, tuple(given.values())).facts())
    yield LaunchClass(f"for {holds.name}", lambda program: class_options(plan, holds))
    yield CLASSES["small blocks"]
    if plan.split:  # for calls that are too large to execute
        yield CLASSES["in parts"]


def _told(found: Validation, call: str, made: Stages) -> IntentError:
    from ..passes.pipeline import by_name

    place = f"{found.output}[{', '.join(map(str, found.at))}]" if found.output else "the program"
    optional = found.wrong != "capture" and by_name(found.wrong).optional
    return error(
        "E711",
        _line(made, found.output),
        name=found.wrong,
        kernel=found.kernel,
        call=call,
        expected=f"{place} = {found.expected}" if found.output else "a program that runs",
        found=f"{place} = {found.found}" if found.output else str(found.found),
        fix=f"leave it out with --disable {found.wrong}, and report it" if optional else "",
        detail=str(found),
    )


def _line(made: Stages, output: str) -> Span | None:
    """Where the author writes an output."""
    with made.space:
        writes = find(inlined(made.programs["capture"]), (Write, Accumulate, Atomic))
        return next((span_of(t) for t in writes if getattr(t.view, "name", None) == output), None)  # type: ignore[attr-defined]


__all__ = ["wanted_of", "wrong_pass"]
