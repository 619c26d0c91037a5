"""Artifacts that run in NumPy: the targets `cpu` and `reference`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from intent_np.errors import error
from intent_np.runtime.aliases import copied, pairs, pointers, relation, spans
from intent_np.runtime.arrays import HOST, NUMPY, ArrayInfo, Library, as_numpy, numpy_dtype
from intent_np.runtime.artifact import Artifact
from intent_np.runtime.binding import adopt_arguments, bind, mismatch
from intent_np.runtime.plan import KernelPlan, ScalarPlan
from intent_np.target import Target

Execute = Callable[[Mapping[str, Any]], None]
"""Runs the program: arrays of the views by name, written in place, and NumPy scalars of the scalars."""


class Machine(NamedTuple):
    """What executes a program, and the pairs of views that may be one array for it (`VariantPlan.identical`)."""

    execute: Execute
    identical: tuple[tuple[str, str], ...] = ()


class HostArtifact(Artifact):
    """A kernel executed by a NumPy machine, with the calling conventions and checks of any other artifact."""

    def __init__(self, kernel: KernelPlan, target: Target, machine: Machine, **described: Any) -> None:
        super().__init__(kernel, target, **described)
        self._machine = machine
        self._pairs = pairs(kernel)
        self._positions = {one.name: index for index, one in enumerate(kernel.parameters)}

    def __call__(self, *arguments: Any, **named: Any) -> None:
        self.prepare(*arguments, **named)()

    def prepare(self, *arguments: Any, **named: Any) -> Callable[[], None]:
        if named:
            raise mismatch(self.kernel, arguments, named)
        adopted, _ = adopt_arguments(self.kernel.parameters, arguments)
        call = bind(self.kernel, adopted)
        for name, info in call.arrays.items():
            if info.device != HOST:
                raise error("E405", parameter=name, expected="host memory", found=f"cuda:{info.device}")
        found = relation(spans(call, self._positions, self._pairs), pointers(call, self._positions))
        copies = copied(call, self._pairs, found, self._machine.identical)
        if copies:
            self.remark("P005", f"{', '.join(copies)}: inputs keep their values while the kernel runs")
        values: dict[str, Any] = dict(call.extents)  # not every one is the extent of an array
        values |= {name: as_numpy(info) for name, info in call.arrays.items()}
        for parameter in self.kernel.parameters:
            if isinstance(parameter, ScalarPlan):
                values[parameter.name] = numpy_dtype(parameter.dtype).type(call.scalars[parameter.name])

        def launch() -> None:
            self._machine.execute(values | {name: values[name].copy() for name in copies})

        return launch

    def _allocator(self, first: ArrayInfo | None) -> tuple[Library, int]:
        return (NUMPY if first is None else first.library), HOST
