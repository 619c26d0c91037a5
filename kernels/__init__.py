"""The kernel corpus: ordinary author code, one module a family, to copy from and to measure the compiler on.

Each module has its kernels, then an oracle for each (the mathematics, over `intent_np.testing.Approx` numbers), then
`CASES`: every kernel with its constants, sizes and costs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intent_np.testing import Case

FAMILIES = (
    "pointwise", "dropout", "broadcast", "layout", "reductions", "segments", "norms", "group_norm", "softmax", "losses",
    "scans", "ordering", "matmul", "products", "cholesky", "attention", "attention_training", "decode",
    "linear_attention", "ragged", "moe", "indexing", "quantized", "recurrent", "stencil",
)  # fmt: skip


def cases(*names: str) -> "list[Case]":
    """The cases called `names`, or all, in the order of the families; a family's name stands for all of its cases."""
    found = [
        case
        for family in FAMILIES
        for case in import_module(f"{__name__}.{family}").CASES
        if not names or family in names or case.name in names
    ]
    if missing := set(names) - set(FAMILIES) - {case.name for case in found}:
        raise KeyError(f"no kernel or family is called {', '.join(sorted(missing))}")
    return found
