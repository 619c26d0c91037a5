"""Declares kernels with their arguments, by name."""

from typing import Any

import numpy as np


class Cases(dict[str, tuple[Any, dict[str, Any]]]):
    """By name: a kernel, and its launch arguments in order, drawn by `rng`."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = np.random.default_rng(seed)

    def case(self, **arguments: Any) -> Any:
        """Declare a kernel with its arguments."""

        def declare(kernel: Any) -> Any:
            self[kernel.name] = kernel, arguments
            return kernel

        return declare

    def few(self, *shape: int, dtype: Any = np.float32) -> Any:
        """Small integers: sums and products of a few are exact."""
        return self.rng.integers(-3, 4, shape).astype(dtype)


def blank(*shape: int, dtype: Any = np.float32) -> Any:
    return np.full(shape, 77, dtype)
