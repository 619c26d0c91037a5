"""`load`: a saved artifact, without the compiler.  A cubin needs CuPy alone; a NumPy target needs its machine."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .runtime import storage
from .runtime.artifact import Artifact
from .runtime.host import Machine
from .runtime.plan import KernelPlan
from .target import Target


def load(path: str | os.PathLike[str]) -> Artifact:
    """The artifact saved in the folder `path`.  Raises `CallError` E705 for a folder that is none, or is damaged."""
    return storage.load(path, revive=_revive)


def _revive(kernel: KernelPlan, target: Target, texts: Mapping[str, str]) -> Machine:
    from .backends.host import revive  # loads the machine, which an artifact for a GPU never does

    return revive(kernel, target, texts)
