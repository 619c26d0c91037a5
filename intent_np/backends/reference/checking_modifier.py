"""Atomic and combining accesses in checking mode: the poison that they take along and find, and whom they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...numerics import Array
from ...terms.logical import Accumulate, Atomic, Buffer, Old, Succeeded, element
from ...terms.normal import Arg
from ..arrays.access import gather, scatter
from .checking_laws import check_meeting, check_update
from .checking_poison import union
from .checking_shadow import Shadow
from .memory import Access, Modifier, operands
from .scope import Scope

if TYPE_CHECKING:
    from .checking_values import CheckedTensors


class CheckedModifier(Modifier):
    """Performs what changes memory, and follows it in the shadow."""

    def __init__(self, tensors: CheckedTensors, shadow: Shadow, seed: int | None) -> None:
        super().__init__(tensors, seed)
        self.checked, self.shadow = tensors, shadow

    def perform(self, access: Access, scope: Scope) -> None:
        e, poison = access.statement, self.checked.poison
        shape = np.broadcast_shapes(access.shape, scope.sizes + access.shape[scope.depth :])
        if 0 in shape:
            super().perform(access, scope)
            return
        rank = len(shape) - scope.depth
        mask = union([self.checked.aligned_mask(v, rank, scope) for v in operands(e)])
        overwrites = isinstance(e, Atomic) and e.operation in ("store", "exchange")
        reads = isinstance(e, Accumulate) or e.operation != "store"
        if isinstance(e, Accumulate):
            self._lawful(e, access, shape)
        held = poison.of(access.target)
        inside = [np.clip(i, 0, n - 1) for i, n in zip(access.where, access.target.shape, strict=True)]
        found = None
        if reads and held is not None:
            there = held if held.shape == access.target.shape else np.broadcast_to(held, access.target.shape)
            found = gather(there, inside) if inside else there.reshape((1,) * len(shape))
        super().perform(access, scope)
        if not overwrites:
            arisen = self.checked.arisen_inside(len(shape))
            mask = union([mask, found if found is not None and found.any() else None, arisen])
        if isinstance(e.view, Buffer):
            if held is not None and (mask is not None or overwrites):
                scatter(
                    held, access.where, np.zeros((1,) * len(shape), np.int64) if mask is None else mask, access.valid
                )
        self.shadow.combined(e, access.target, access.where, access.valid, mask, overwrites, scope, shape)
        if isinstance(e, Atomic) and found is not None:
            for result in (Old(e), Succeeded(e)) if e.operation == "compare_exchange" else (Old(e),):
                poison.mark(scope.known[result], found)

    def _lawful(self, e: Accumulate, access: Access, shape: tuple[int, ...]) -> None:
        """The laws of the combine, on what the lanes bring and on what they find."""
        live = np.ones(shape, np.bool_) if access.valid is None else np.broadcast_to(access.valid, shape)
        if not live.any():
            return
        given, *used = (np.broadcast_to(v, shape)[live] for v in access.values)
        where = tuple(np.broadcast_to(i, shape)[live] for i in access.where)
        met = access.target[where] if where else access.target.reshape(1)
        members = np.concatenate((given, met))[:, None]
        operands = {Arg("c", k, element(o.type)): x for k, (o, x) in enumerate(zip(e.operands, used, strict=True))}
        first = {name: x[:1] for name, x in operands.items()}
        check_update(self.checked, e, (members,), first, self.checked.findings)
        if used:
            self._in_either_order(e, access, where, given, operands)

    def _in_either_order(
        self, e: Accumulate, access: Access, where: tuple[Array, ...], given: Array, operands: dict[Arg, Array]
    ) -> None:
        """That of lanes with different operands, side by side among those that meet, either may come first."""
        target = access.target[None]
        at = np.ravel_multi_index((np.zeros(given.shape, np.int64), *where), target.shape)
        order = np.argsort(at, kind="stable")
        one, two = order[:-1], order[1:]
        meet = at[one] == at[two]
        meet &= np.logical_or.reduce([x[one] != x[two] for x in operands.values()])
        lanes = tuple((given[i[meet]], {name: x[i[meet]] for name, x in operands.items()}) for i in (one, two))
        check_meeting(self.checked, e, target.reshape(-1)[at[one[meet]]], lanes, self.checked.findings)
