"""What combining and atomic accesses may leave, in any order of the lanes that meet at an element.

A sum of floats has a rounding for each lane, relative to the magnitudes of all; subnormal sums of f32 may flush, since
atomic additions in memory do.  A maximum or a minimum is as sure as the least sure of its lanes.  Of other combines of
floats, and of the last of several exchanges, nothing is known; nor of what an access found where several lanes meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_np.backends.reference.memory import Access, Modifier
from intent_np.backends.reference.scope import Scope
from intent_np.terms.dtypes import f32
from intent_np.terms.logical import Accumulate, Atomic, Old, Succeeded
from intent_np.terms.normal import builtin_name

from . import approx
from .approx import Approx
from .formats import Array, widen

FLUSHED = 2.0**-126
ORDERED = ("store", "exchange", "compare_exchange")
"""Operations of which the last one shows."""


class BoundedModifier(Modifier):
    """Performs accesses, and keeps what the elements may hold."""

    def perform(self, access: Access, scope: Scope) -> None:
        e, tensors = access.statement, self.tensors
        held: Any = tensors.held.get(id(access.target))  # type: ignore[attr-defined]
        before = np.abs(widen(access.target).astype(np.float64))
        super().perform(access, scope)
        shape = np.broadcast_shapes(access.shape, scope.sizes + access.shape[scope.depth :])
        if held is None or 0 in shape or isinstance(e, Atomic) and e.operation == "load":
            return
        live = np.flatnonzero(np.broadcast_to(True if access.valid is None else access.valid, shape))
        at = tuple(np.broadcast_to(i, shape).reshape(-1)[live] for i in access.where or (0,))
        brought = self._brought(access, scope)
        lanes = [np.broadcast_to(x, shape).reshape(-1)[live] for x in (brought.value, brought.error)]
        memory: Approx = held[1]
        count, size, carried, most = (np.zeros(access.target.shape) for _ in range(4))
        for into, x in ((count, 1.0), (size, np.abs(lanes[0]) + lanes[1]), (carried, lanes[1])):
            np.add.at(np.atleast_1d(into), at, x)
        np.maximum.at(np.atleast_1d(most), at, lanes[1])
        memory.value[...] = widen(access.target)
        memory.error[...] = self._error(e, memory, before, count, size, carried, most, brought)
        if isinstance(e, Atomic):
            met = np.zeros(shape)
            met.reshape(-1)[live] = np.where(np.atleast_1d(count)[at] > 1, np.inf, 0.0)
            for outcome in (Old(e), *((Succeeded(e),) if e.operation == "compare_exchange" else ())):
                found = tensors.value(outcome, scope)
                tensors.hold(found, Approx(np.asarray(widen(found), np.float64), met, memory.format))  # type: ignore[attr-defined]

    def _brought(self, access: Access, scope: Scope) -> Approx:
        """What the lanes bring, in the shape of the access."""
        e = access.statement
        source = e.value if isinstance(e, Accumulate) else e.operands[-1]
        own, shape = self.tensors.value(source, scope), access.values[-1 if isinstance(e, Atomic) else 0].shape
        made: Approx = self.tensors.of(own, e.view.dtype)  # type: ignore[attr-defined]
        value, error = (np.broadcast_to(x, own.shape).reshape(shape) for x in (made.value, made.error))
        return Approx(value, error, made.format)

    def _error(
        self, e: Any, memory: Approx, before: Array, count: Array, size: Array, carried: Array, most: Array,
        brought: Approx,
    ) -> Array:  # fmt: skip
        """How far elements may be from what they are in one order: of the lanes that meet at each, their number, and
        the sum of their magnitudes, of their errors, and the largest of their errors."""
        old, touched, unsure = memory.error, count > 0, np.any(brought.error)
        kind = builtin_name(e.combine) if isinstance(e, Accumulate) else e.operation
        if not e.view.dtype.is_float and kind not in ORDERED:
            return np.where(touched & (carried > 0), np.inf, old)
        if kind in ("sum", "add"):
            whole = approx.is_integral(brought) and bool((before == np.rint(before)).all())
            with np.errstate(all="ignore"):
                sums = approx.accumulated(memory.value, old + carried, before + size, count, memory.format, whole)
            flushed = FLUSHED * (count + 1) if e.view.dtype is f32 and not whole else 0.0
            return np.where(touched, sums.error + flushed, old)
        if kind in ("max", "min"):
            return np.maximum(old, most)
        if kind in ORDERED and not unsure:
            return np.where(count > 1, np.inf, np.where(touched, 0.0, old))
        return np.where(touched, np.inf, old)
