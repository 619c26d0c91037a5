"""Passes from outside the package: a file that is named, and what installed packages offer.

    @nanopass(GPU, GPU, after="contract_fma")
    def drop_something(kernel: Kernel) -> Kernel: ...

    PASSES = (drop_something,)

An installed package offers such a module under the entry point group `intent_np.passes`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Final

from ..errors import error
from ..rules.loading import module_of, offered
from .base import Pass
from .pipeline import PIPELINE, extended

GROUP: Final = "intent_np.passes"


def passes_of(paths: Iterable[str] = ()) -> tuple[Pass, ...]:
    """The passes of installed packages and of these files, once they have a place in the pipeline.

    Raises E806 (a file without passes) and E807 (a pass without a place).
    """
    found = (*_installed(), *(p for path in paths for p in load(path)))
    extended(PIPELINE, found)
    return found


@cache
def _installed() -> tuple[Pass, ...]:
    return tuple(p for _, path, module in offered(GROUP, "E806") for p in _declared(module, path))


def load(path: str) -> tuple[Pass, ...]:
    """The passes that a Python file declares; E806 if it declares none."""
    return _declared(module_of(path, "E806", "passes"), path)


def _declared(module: ModuleType, path: str) -> tuple[Pass, ...]:
    passes = getattr(module, "PASSES", None)
    if not isinstance(passes, tuple) or not passes or not all(isinstance(p, Pass) for p in passes):
        found = "no PASSES" if passes is None else f"PASSES is {type(passes).__name__} of other things, or empty"
        raise error("E806", path=path, found=found, how="PASSES = (a_pass, ...), each declared with @nanopass")
    return passes
