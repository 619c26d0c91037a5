"""The variants of one artifact: found, compiled where that is allowed, and chosen."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from intent_np.errors import IntentError, error
from intent_np.runtime.classes import CallFacts, best, classify, covers, has_room
from intent_np.runtime.plan import KernelPlan, VariantClass, VariantPlan, generic_class

_log = logging.getLogger("intent_np")


@dataclass(frozen=True)
class Variant:
    """One compiled variant.

    source:  the generated Triton module
    texts:   its levels, from the first that depends on the class down, by name: `blocked`, `gpu`, ...
    """

    plan: VariantPlan
    cubin: bytes
    ptx: str
    source: str
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the class that it is for."""
        return self.plan.name


Specialize = Callable[[VariantClass], Variant]
"""Compiles a variant for a class; an artifact asks for one at a time."""


class Variants:
    """What an artifact has compiled; not for several threads at once.

    remark:  told `(code, text)` when a call gets less than it could
    """

    def __init__(
        self,
        kernel: KernelPlan,
        variants: Iterable[Variant],
        specialize: Specialize | None,
        remark: Callable[[str, str], None],
    ) -> None:
        self._kernel, self._specialize, self._remark = kernel, specialize, remark
        self._by_class = {one.plan.holds: one for one in variants}
        self._failed: set[VariantClass] = set()

    @property
    def all(self) -> tuple[Variant, ...]:
        """In the order in which they were compiled."""
        return tuple(self._by_class.values())

    def choose(self, facts: CallFacts) -> Variant:
        """The variant for a call: that of its class if there is one or it may be compiled, else the most
        specific one that is right, else the generic one.

        Raises `CallError` E418 when nothing is right and nothing can be compiled.
        """
        wanted = classify(self._kernel, facts)
        # A variant with larger blocks than the class foresaw may need the wide offsets.
        for candidate in (wanted, dataclasses.replace(wanted, index_bits=64)):
            exact = self._get(candidate)
            if exact is not None and covers(exact.plan.holds, self._kernel, facts, exact.plan.slack):
                return self._told(exact, wanted)
        direct = ((p, one) for one in self.all for p in (one.plan,) if not (p.holds.copied or p.holds.strided))
        found = best(self._kernel, facts, direct) or self._get(generic_class(self._kernel))
        if found is None:
            raise error(
                "E418", kernel=self._kernel.name, expected=wanted.name, found=", ".join(v.name for v in self.all)
            )
        return self._told(found, wanted)

    def copying(self, variant: Variant, copied: tuple[str, ...]) -> Variant:
        """The variant for calls of the same class whose inputs `copied` are copied first: the same device code."""
        holds = dataclasses.replace(variant.plan.holds, copied=copied)
        found = self._by_class.get(holds)
        if found is None:
            found = dataclasses.replace(variant, plan=dataclasses.replace(variant.plan, holds=holds))
            self._by_class[holds] = found
        return found

    def strided(self, variant: Variant) -> Variant:
        """The variant for calls of the same class that have more points than a grid has programs, if there is one or it
        may be compiled; else the same."""
        return self._get(dataclasses.replace(variant.plan.holds, strided=True)) or variant

    def _told(self, chosen: Variant, wanted: VariantClass) -> Variant:
        if chosen.plan.holds.is_generic:
            better = "arrays with a contiguous axis, aligned to 4 bytes or more" if wanted.is_generic else wanted.name
            self._remark("P003", f"it is right for every call; faster code needs {better}")
        return chosen

    def _get(self, wanted: VariantClass) -> Variant | None:
        """The variant of a class, compiled if need be, may be and can be.

        A class that fails to compile is not tried again; without the generic variant there is nothing left
        to run, so that its failure is raised.
        """
        found = self._by_class.get(wanted)
        if found is not None or self._specialize is None or wanted in self._failed:
            return found
        if not has_room(self._kernel, wanted, self._by_class):
            return None
        try:
            found = self._specialize(wanted)
        except IntentError as problem:
            self._failed.add(wanted)
            if wanted.is_generic:
                raise
            _log.warning("%s: variant %s could not be compiled: %s", self._kernel.name, wanted.name, problem)
            return None
        self._by_class[wanted] = found
        return found
