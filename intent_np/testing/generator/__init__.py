"""Random kernels over all constructs of the language, as Python source.

`random_kernel(seed)` is the kernel of a seed; `intent_np.testing.strategies.kernels()` draws them from hypothesis.
"""

from .kernels import Config, RandomKernel, random_kernel

__all__ = ["Config", "RandomKernel", "random_kernel"]
