"""What checking mode found: each thing once, at the first point that shows it, in the order of source lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import CheckError, IntentError, Remark, Span, error, group
from ...numerics import Array
from ...terms.core import arena
from ...terms.logical import LoopVar
from .checking_poison import Poison, span_of
from .scope import Scope, lift


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of one checked call.

    `findings` are errors in the order of source lines.  `remarks` tell what is legal and unspecified: elements of an
    output that no statement wrote.  `poison` and `unwritten` are a bool array for each output, true where its element
    came out of something invalid, or where nothing wrote it: there a refinement may hold any value.  `confined`: all
    other elements are as they must be, since what was found reached no condition and no address, and broke no rule.
    """

    findings: tuple[CheckError, ...] = ()
    remarks: tuple[Remark, ...] = ()
    poison: dict[str, Array] = field(default_factory=dict)
    unwritten: dict[str, Array] = field(default_factory=dict)
    confined: bool = True

    @property
    def ok(self) -> bool:
        return not self.findings

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        shown = [f.render() for f in self.findings] + [r.render() for r in self.remarks]
        return "\n\n".join(shown) or "no findings"

    def raise_if_any(self) -> None:
        """Raise the findings, if there are any: one `CheckError`, or one that has them all as its `errors`."""
        if self.findings:
            raise group(self.findings)


class Findings:
    """Collects findings while a program runs.  `place` is the term in hand that the author wrote last."""

    def __init__(self) -> None:
        self.poison = Poison()
        self.place: Any = None
        self._found: dict[Hashable, IntentError] = {}
        self._stored: set[Hashable] = set()  # those that reach elements of outputs and nothing else
        self._tried: Counter[Any] = Counter()

    def add(
        self, code: str, at: Any, scope: Scope | None, lane: int = 0, shape: tuple[int, ...] = (), key: Hashable = (),
        stored: Any = False, **fields: Any,
    ) -> None:  # fmt: skip
        """A finding at a term or a span, in the flat `lane` of an array of `shape` in `scope`; the first of its kind
        stays.  `stored` says that it shows in an element of an output alone."""
        span = at if isinstance(at, Span) else span_of(at)
        identity = (code, span, fields.get("name"), key)
        if not stored:
            self._stored.discard(identity)
        if identity in self._found:
            return
        if stored:
            self._stored.add(identity)
        if scope is not None and (where := point(scope, lane, shape)):
            fields["found"] = f"{fields.get('found', '')}, at {where}".removeprefix(", ")
        self._found[identity] = error(code, span, **fields)

    def take(self, found: IntentError) -> None:
        """A finding that was raised."""
        self._found.setdefault((found.code, found.span, found.title, ()), found)

    def add_others(self, others: Findings, where: str) -> None:
        """What was found in another execution alone, and in which."""
        for identity, found in others._found.items():
            if identity not in self._found:
                found.detail = where
                self._found[identity] = found
                if identity in others._stored:
                    self._stored.add(identity)
            if identity not in others._stored:
                self._stored.discard(identity)

    @property
    def confined(self) -> bool:
        """Whether everything that was found shows in elements of outputs alone."""
        return self._stored >= self._found.keys()

    def tried(self, term: Any) -> int:
        """How often the laws of a term have been tried, this time included."""
        self._tried[term] += 1
        return self._tried[term]

    def reached(self, mask: Array, s: Scope, what: str, name: str = "", elements: Any = None) -> None:
        """Report the poison of `mask`, of an array in scope `s`, that reaches `what`; the first lane of each origin.

        `elements` tells which element of the output `name` a lane is stored in."""
        shape = mask.shape
        if s.active is not None:
            live = lift(s.active, s.depth, max(s.depth, mask.ndim))
            mask = np.where(live, mask, 0)
            shape = mask.shape
        flat = mask.reshape(-1)
        for k in self.poison.first_of_each(flat):
            origin, found = self.poison.origin(int(flat[k]))
            where = f"{what} {name}{list(elements(k, shape))}" if elements else what
            here = span_of(self.place)
            related = [(f"it reaches {where}", here)] if here is not None else []
            found = f"{found}; it reaches {where}" if not related else found
            self.add(origin.code, origin.span or here, s, k, shape, origin.name, elements is not None, name=origin.name,
                     found=found, related=related)  # fmt: skip

    def sorted(self) -> tuple[CheckError, ...]:
        """Everything found, in the order of source lines."""
        found = self._found.values()
        if not found:
            return ()
        return tuple(e for e in group(found).errors if isinstance(e, CheckError))


def point(scope: Scope, lane: int, shape: tuple[int, ...]) -> str:
    """The members of the loops around a lane: `row = 3, k = 0`."""
    index = np.unravel_index(lane, shape) if shape else ()
    names = arena().names
    shown: dict[str, int] = {}
    outward: Scope | None = scope
    while outward is not None:
        for t, x in reversed(outward.known.items()):
            if isinstance(t, LoopVar) and isinstance(x, np.ndarray):
                at = tuple(int(i) if n > 1 else 0 for i, n in zip(index, x.shape, strict=False))
                shown.setdefault(names.get(t, "point"), int(x[at] if len(at) == x.ndim else x.reshape(-1)[0]))
        outward = outward.parent
    return ", ".join(f"{name} = {value}" for name, value in reversed(shown.items()))
