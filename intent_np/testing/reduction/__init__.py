"""The reducer: the smallest Python text of a kernel that still fails in the same way.

    small = reduced(source, lambda text: behind_every_pass(text) == "share_traversals")

It knows the shape of kernels: statements, loops, helpers, parameters, axes, literals and element types.  `fails` is
asked about one candidate at a time, most of them no kernel at all; what it says alone counts.
"""

from .behind_pass import fitted, reduced_behind_pass
from .reduce import Reduction, reduced
from .standalone import execute, kernel_of, standalone

__all__ = ["Reduction", "execute", "fitted", "kernel_of", "reduced", "reduced_behind_pass", "standalone"]
