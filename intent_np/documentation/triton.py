"""The generated Triton of kernels, for the pages that show it."""

from __future__ import annotations

from intent_np.corpus.cases import entries
from intent_np.corpus.lowering import lower


def triton_source(place: str) -> str:
    """The generated Triton of the kernel at `place`, as a block of Markdown."""
    from intent_np.backends.triton.printer import print_triton

    compilation, launch = lower(entries([place])[0])
    with compilation.arena:
        return f"```python\n{print_triton(launch.function).strip()}\n```"
