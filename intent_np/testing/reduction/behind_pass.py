"""The smallest program that a pass gets wrong, from a kernel that showed it: what `intent-np bisect` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...language import Kernel
from ..apart import apart
from ..arguments import Arguments, arguments, launched
from ..validated import wanted_of
from ..validation import LaunchClass, Validation, validate
from .reduce import Reduction, reduced
from .standalone import kernel_of, standalone

SECONDS = 30.0


def reduced_behind_pass(
    kernel: Kernel, given: Arguments, which: LaunchClass, wrong: Validation, *,
    constexprs: Mapping[str, Any] | None = None, options: Any = None, attempts: int = 400,
) -> tuple[Reduction, Validation]:  # fmt: skip
    """The reduced text, and what its validation finds: the same wrong pass as `wrong`, that of `kernel` on `given`."""
    text, space = standalone(kernel, constexprs)
    sizes = extents_of(kernel, given)

    def validation(candidate: str) -> Validation:
        one = kernel_of(candidate, space)
        arguments = refitted(one, given, sizes)
        results = wanted_of(one, {}, arguments, bool(options and options.permissions))
        if isinstance(results, tuple):  # no pass can be wrong where the program has no meaning
            return Validation(one.name, ())
        return validate(one, arguments, which, options=options, expected=results)

    def fails(candidate: str) -> bool:
        ended = apart(lambda: _kind(validation(candidate)), SECONDS)
        return bool(ended.value == _kind(wrong))

    if not fails(text):  # what it needs of its module can't be told
        return Reduction(text, 0, 0), wrong
    small = reduced(text, fails, attempts)
    return small, validation(small.text)


def _kind(found: Validation) -> tuple[str, bool, str]:
    """What stays: the pass, and how it fails."""
    return found.wrong, bool(found.output), "" if found.output else str(found.found).partition(":")[0]


def extents_of(kernel: Kernel, given: Mapping[str, Any]) -> dict[str, int]:
    """The extents that arrays show, by the names that shapes give them."""
    found: dict[str, int] = {}
    for p in launched(kernel):
        if p.kind == "view":
            found |= {
                e: n
                for e, n in zip(p.shape, given[p.name].shape, strict=True)
                if isinstance(e, str) and e.isidentifier()
            }
    return found


def refitted(kernel: Kernel, given: Mapping[str, Any], sizes: Mapping[str, int]) -> Arguments:
    """Arguments of a candidate: those of the same names, as far as they fit."""
    made = arguments(kernel, {"_": 0, **sizes}, values="integers")
    for name, new in made.items():
        old = given.get(name)
        if isinstance(new, np.ndarray) and isinstance(old, np.ndarray):
            if old.shape == new.shape and old.dtype == new.dtype:
                made[name] = old
            elif new.flags.writeable and new.size and old.size:
                new[...] = fitted(old, new.shape, new.dtype)
        elif old is not None and not isinstance(new, np.ndarray):
            made[name] = type(new)(old)
    return made


def fitted(old: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Values of an array in another shape and type: a part of it, or it again and again."""
    if old.ndim == len(shape) and all(n <= m for n, m in zip(shape, old.shape, strict=True)):
        part = old[tuple(slice(n) for n in shape)]
    else:
        part = np.resize(old, shape)
    with np.errstate(all="ignore"):
        return part if part.dtype == dtype else part.astype(np.float64).astype(dtype)
