"""Which rules rewrote a kernel on its way down: by pass, with the terms before and behind, and the author's lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import IntentError, Span
from ..rules.rule_set import RuleSet, observing, using
from ..terms.core import Arena, arena, children
from .cases import Entry

if TYPE_CHECKING:
    from ..terms.core import Term

CAPTURE = "capture"


@dataclass(frozen=True)
class Firing:
    """One rule at one term, so many `times`.  `step` is the pass that was running, or `capture`; `span` the author's
    place."""

    step: str
    rule: str
    before: str
    after: str
    span: Span | None
    times: int = 1


def firings(entry: Entry, rules: RuleSet) -> Iterator[Firing]:
    """Every firing on the way of a kernel, or of the kernels of a host program, to Triton, in order."""
    for one in entry.launches:
        yield from _of_kernel(one, rules)


def _of_kernel(entry: Entry, rules: RuleSet) -> list[Firing]:
    from ..compiler import CompileOptions
    from .lowering import prepared

    waiting: dict[tuple[str, str, str, Span | None], int] = {}
    done: list[Firing] = []

    def fired(rule: str, old: Any, new: Any) -> None:
        key = rule, str(old), str(new), _span(old)
        waiting[key] = waiting.get(key, 0) + 1

    def passed(step: str) -> None:
        done.extend(Firing(step, *key, times) for key, times in waiting.items())
        waiting.clear()

    with using(rules):
        with Arena(), observing(fired):
            entry.kernel.capture(entry.constexprs, permissions=CompileOptions(**entry.options).permissions)
        passed(CAPTURE)
        try:
            compilation, options = prepared(entry)
            with compilation.arena, observing(fired):
                compilation.lowered(
                    compilation.logical, options=options, observe=lambda step, program: passed(step.name)
                )
        except IntentError as e:  # what only the reference executes has been rewritten as far as it came
            if e.code != "E708":
                raise
    return done


def _span(t: Term) -> Span | None:
    """The author's place for a term; for one that a pass has just made, that of the nearest operand with one."""
    spans, level = arena().spans, [t]
    seen = set(level)
    while level:
        for u in level:
            if u in spans:
                return spans[u][0]  # type: ignore[no-any-return]
        level = list(dict.fromkeys(c for u in level for c in children(u) if c not in seen))
        seen.update(level)
    return None
