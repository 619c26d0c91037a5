"""What a package of its own extends the compiler with: operations of the language, and passes.

    @operation
    def hypot(a: Operand, b: Operand) -> Value:
        '''sqrt(a² + b²).'''
        return pointwise("sqrt", pointwise("add", pointwise("mul", a, a), pointwise("mul", b, b)))

Rules are declared with `intent_np.rules.pattern`; all three are described in specs/extending.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .language.declare import Intrinsic
from .language.elaborate import Operand, convert, pointwise, select, unify
from .passes.base import nanopass
from .terms.index import Value


def operation(meaning: Callable[..., Any]) -> Intrinsic:
    """Declare an operation of a package of its own, called by its name and not as one of `I`.

    `meaning` takes captured values and gives terms; its signature and docstring are what errors tell.
    """
    return Intrinsic(meaning.__name__, meaning, home="")


__all__ = ["Operand", "Value", "convert", "nanopass", "operation", "pointwise", "select", "unify"]
