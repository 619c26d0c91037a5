"""An array of another library, as strict as CuPy: it takes part in NumPy's dispatch, and mixes with nothing but itself
and scalars."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

SCALARS = (bool, int, float, np.generic)
# What CuPy implements of what oracles call.
FUNCTIONS = {
    np.where, np.zeros_like, np.ones_like, np.full_like, np.any, np.clip, np.moveaxis, np.expand_dims, np.swapaxes,
    np.cumsum, np.tril, np.concatenate,
}  # fmt: skip


class Other(NDArrayOperatorsMixin):
    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("implicit conversion to NumPy")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        assert method == "__call__", "reductions are methods of the array"
        return _wrapped(ufunc(*map(_plain, inputs), **options))

    def __array_function__(self, function: Any, _: Any, given: Any, options: Any) -> Any:
        if function not in FUNCTIONS:
            raise TypeError(f"{function.__name__} is not dispatched")
        if function is np.full_like and options.get("shape") == ():
            del options["shape"]  # taken for no shape at all
        if function is np.where:
            assert any(isinstance(g, Other) for g in given[1:]), "two scalars leave the dtype open"
            assert isinstance(given[0], Other | np.generic)
        return _wrapped(function(*map(_plain, given), **options))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self.array, name)
        return (lambda *a, **o: _wrapped(value(*a, **o))) if callable(value) else _wrapped(value)

    def __getitem__(self, key: Any) -> Any:
        places = [k.array if isinstance(k, Other) else k for k in (key if isinstance(key, tuple) else (key,))]
        return _wrapped(self.array[tuple(places)])

    def __len__(self) -> int:
        return len(self.array)

    def __bool__(self) -> bool:
        return bool(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __int__(self) -> int:
        return int(self.array)


def _plain(x: Any) -> Any:
    if isinstance(x, Other):
        return x.array
    if isinstance(x, tuple):
        return x
    if isinstance(x, list):
        return list(map(_plain, x))
    assert isinstance(x, SCALARS), f"{type(x).__name__} among arrays of another library"
    return x


def _wrapped(x: Any) -> Any:
    if isinstance(x, tuple) and all(isinstance(e, np.ndarray | np.generic) for e in x):
        return tuple(map(_wrapped, x))
    return Other(x) if isinstance(x, np.ndarray | np.generic) else x
