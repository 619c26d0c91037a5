"""What a corpus is like without a rule: every kernel lowered with and without it, and what that changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from ..errors import IntentError
from ..rules.rule_set import RuleSet, using
from ..terms.core import walk
from ..terms.dtypes import index
from ..terms.index import Apply, Extent
from ..terms.normal import View
from .cases import Entry
from .counts import WARP, counts, registers


@dataclass(frozen=True)
class Size:
    """A lowered kernel in numbers: distinct terms of its gpu program, and of those the operations on values, the
    operations on indices and the loads; what all instances load and store in bytes and do in flops at the kernel's
    first size; an estimate of registers a thread; and its source."""

    terms: int
    operations: int
    index_operations: int
    loads: int
    bytes: int
    flops: int
    registers: int
    source: str


@dataclass(frozen=True)
class Ablated:
    """A kernel with and without the rule; None where it can't be lowered so."""

    kernel: str
    before: Size | None
    after: Size | None

    @property
    def lines(self) -> int:
        """Lines of the source that differ."""
        if self.before is None or self.after is None:
            return 0
        found = unified_diff(self.before.source.splitlines(), self.after.source.splitlines(), n=0, lineterm="")
        return sum(line[:1] in "+-" for line in found if line[:3] not in ("---", "+++"))


def ablated(entries: Iterable[Entry], rules: RuleSet, name: str) -> list[Ablated]:
    """What leaving out the rule `name` changes, kernel by kernel; those that no one lowers are left out."""
    less = rules.without(name)
    found = [Ablated(one.title, size(one, rules), size(one, less)) for e in entries for one in e.launches]
    return [a for a in found if a.before is not None or a.after is not None]


def size(entry: Entry, rules: RuleSet) -> Size | None:
    """A kernel on its way to Triton for its first size on sm_90; None where it has no form below `logical`."""
    from ..backends.triton.printer import print_triton
    from .lowering import lower

    programs: dict[str, Any] = {}
    with using(rules):
        try:
            compilation, launch = lower(entry, lambda step, program: programs.__setitem__(step.target.name, program))
        except IntentError as e:
            if e.code != "E708":
                raise
            return None
        with compilation.arena:
            terms = list(walk(programs["gpu"]))
            applied = [t for t in terms if isinstance(t, Apply)]
            of_indices = sum(t.args[-1].type is index for t in applied)
            loads = sum(type(t).__name__ == "Load" for t in terms)
            text = print_triton(launch.function)
            done = counts(programs["gpu"], _extents(entry, compilation.logical))
            held = registers(programs["gpu"], WARP * launch.function.num_warps)
            amounts = int(done.bytes), int(done.flops), held
            return Size(len(terms), len(applied) - of_indices, of_indices, loads, *amounts, text)


def _extents(entry: Entry, logical: Any) -> Mapping[str, int]:
    """The extents of the first size, or those of the arguments in a launch by a host program."""
    first: Any = next(iter(entry.sizes), {})
    if isinstance(first, Mapping):
        return first  # type: ignore[no-any-return]
    given = dict(zip((p.name for p in entry.kernel.parameters if p.kind != "constexpr"), first, strict=True))
    views = [v for v in logical.parameters if isinstance(v, View) and v.name in given]
    pairs = [pair for v in views for pair in zip(v.shape, given[v.name].shape, strict=True)]
    return {e.name: n for e, n in pairs if isinstance(e, Extent)}
