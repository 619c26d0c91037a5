"""A kernel of the corpus with everything needed to check and time it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .approx import Approx
from .arguments import Arguments, arguments, launched
from .compare import Expected
from .formats import FORMATS, Array, numpy_dtype, widen
from .host import Calls, HostProgram, Launched, calls_of

Extents = Mapping[str, int]
"""The sizes of a call, by the names that the kernel's shapes use."""


@dataclass(frozen=True, eq=False)
class Case:
    """One kernel, or a host program of several, with its constants bound.

    `oracle(**inputs)` takes every In and InOut array by name, widened to f64, i64 or bool, and every scalar and
    constexpr; it gives each output as an `Approx`, an `Expected`, or an array that must be met exactly.
    `small` are adversarial extents for checking, `large` those of the scorecard.  `values` are the distributions
    (`values.KINDS`) that the kernel must be right for; `inputs` overrides the default one for named parameters, and
    `scalars` gives scalar arguments.  `structured(extents, rng)` gives the arrays that no distribution describes, by
    name: indices in range, ascending offsets, permutations, page tables.  `flops` and `bytes` count the least work and
    traffic of a call.
    """

    name: str
    kernel: Any
    oracle: Callable[..., Mapping[str, Any]]
    small: tuple[Extents, ...]
    bytes: Callable[[Extents], int]
    flops: Callable[[Extents], int]
    large: tuple[Extents, ...] = ()
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, float | int | bool] = field(default_factory=dict)
    structured: Callable[[Extents, np.random.Generator], Mapping[str, Any]] = lambda extents, rng: {}
    values: tuple[str, ...] = ("normal", "integers", "negative", "special", "extreme")

    def __repr__(self) -> str:
        return f"Case({self.name})"

    @property
    def parameters(self) -> list[Any]:
        """The parameters that a launch takes, in order."""
        return launched(self.kernel)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the parameters that the kernel writes, in order."""
        return tuple(p.name for p in self.parameters if p.kind == "view" and p.mode != "in")

    @property
    def launches(self) -> Launched:
        """The kernels that are launched, in order, with their constexprs; those of a host program are found by a call
        with its largest small extents."""
        if not isinstance(self.kernel, HostProgram):
            return ((self.kernel, self.constexprs),)
        return tuple(one for one, _ in self._calls(max(self.small, key=self.bytes)))

    @property
    def calls(self) -> Calls:
        """The same of a host program with the arguments of each, for a call of the first large extents, if any."""
        return self._calls(self.large[0] if self.large else max(self.small, key=self.bytes))

    def _calls(self, extents: Extents) -> Calls:
        return calls_of(self.kernel, tuple(arguments(self, extents).values()), self.constexprs)

    def expected(self, arguments: Arguments) -> dict[str, Expected]:
        """What each output must hold after a call with these arguments, which are only read.

        Arrays are NumPy's, or, of a case with large extents, CuPy's; in the kernel's dtypes or already widened.
        """
        given = {**self.constexprs}
        for p in self.parameters:
            if p.kind == "scalar":
                given[p.name] = arguments[p.name]
            elif p.mode != "out":
                given[p.name] = widen(arguments[p.name])
        with np.errstate(all="ignore"):
            results = self.oracle(**given)
            return {p.name: _stored(results[p.name], str(p.dtype)) for p in self.parameters if p.name in self.outputs}


def _stored(result: Any, dtype: str) -> Expected:
    """An oracle's result as an output of element type `dtype` holds it."""
    if isinstance(result, Approx):
        return result.expected(dtype)
    if isinstance(result, Expected):
        return result
    return Expected(_exactly(result, dtype), signed_zeros=True)


def _exactly(value: Array, dtype: str) -> Array:
    if dtype in FORMATS:
        return FORMATS[dtype].round(value)
    return widen(value.astype(numpy_dtype(dtype)))  # integers wrap
