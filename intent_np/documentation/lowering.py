"""Kernels of the corpus on their way down, for the pages that show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent_np.corpus.cases import Entry, entries


def lower(entry: Entry, observe: Callable[[Any, Any], None] | None = None) -> tuple[Any, Any]:
    """The compilation of an entry, and its launch, in the compilation's arena.

    It is for contiguous arrays of the entry's first size, or for any where it has none.

    `observe(pass, program)` sees every step; call it, and use the terms, inside `compilation.arena`.
    """
    compilation, options = prepared(entry)
    with compilation.arena:
        return compilation, compilation.lowered(compilation.logical, options=options, observe=observe)


def prepared(entry: Entry) -> tuple[Any, dict[str, Any]]:
    """The compilation of an entry, and the options of its passes for the arrays that `lower` is for."""
    from intent_np.compiler import Compilation, CompileOptions
    from intent_np.plans import bound_class
    from intent_np.runtime.examples import class_of
    from intent_np.target import SM_90
    from intent_np.testing.checked import extent_names

    compilation = Compilation(entry.kernel, SM_90, dict(entry.constexprs), CompileOptions(**entry.options))
    plan = compilation.plan
    options: dict[str, Any] = {}
    if entry.sizes or not extent_names(entry.kernel):
        holds = class_of(plan, entry.sizes[0] if entry.sizes else {})
        options = {"bind_class": bound_class(plan, holds), "lower_to_triton": {"index_bits": holds.index_bits}}
    return compilation, options


def triton_source(place: str) -> str:
    """The generated Triton of the kernel at `place`, as a block of Markdown."""
    from intent_np.backends.triton.printer import print_triton

    compilation, launch = lower(entries([place])[0])
    with compilation.arena:
        return f"```python\n{print_triton(launch.function).strip()}\n```"
