"""What a campaign does with each seed.  It goes to every worker, and into the journal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from ..oracles import DEFAULT


@dataclass(frozen=True)
class Settings:
    """How kernels are made and examined.

    generator:  `module:function` from a seed to a kernel's text, or to an object that has it as `.source`
    oracles:    names of `ORACLES`
    each_pass:  execute the program behind each pass, not behind the last alone
    numerics:   the permissions to compile with, as of `CompileOptions`
    calls:      so many calls of each kernel
    points:     product of the extents of a call
    seconds:    limit of the examination of a seed
    attempts:   candidates of a reduction
    """

    generator: str = "intent_np.testing:random_kernel"
    oracles: tuple[str, ...] = DEFAULT
    each_pass: bool = False
    numerics: str = "strict"
    calls: int = 3
    points: int = 2**10
    seconds: float = 60.0
    attempts: int = 600

    def source(self, seed: int) -> str:
        """The text of the kernel of a seed."""
        module, _, name = self.generator.partition(":")
        found = getattr(import_module(module), name)(seed)
        return str(getattr(found, "source", found))

    @property
    def options(self) -> Any:
        """How kernels are compiled: with the check of each program against its language."""
        from ...compiler import CompileOptions

        return CompileOptions(check=True, numerics=self.numerics)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "oracles": list(self.oracles)}
