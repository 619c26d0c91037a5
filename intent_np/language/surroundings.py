"""What a kernel uses of Python around its text: names whose values the compiled program has taken over."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any


class Surroundings:
    """The names from outside that one capture looked at, and what each was."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], tuple[Callable[[], Any], Any]] = {}

    def cell(self, cell: types.CellType) -> Any:
        """The value of a variable of the function around; ValueError where it has none."""
        return self._noted(cell, "", lambda: cell.cell_contents)

    def member(self, space: dict[str, Any] | types.ModuleType, name: str) -> Any:
        """The value of a global name, or of a module's; AttributeError or KeyError where there is none."""
        if isinstance(space, types.ModuleType) and space.__name__ == "intent_np.language":
            return getattr(space, name)  # which stays what it is
        if isinstance(space, types.ModuleType):
            return self._noted(space, name, lambda: getattr(space, name))
        return self._noted(space, name, lambda: space[name])

    def _noted(self, space: Any, name: str, get: Callable[[], Any]) -> Any:
        value = get()
        self._found[id(space), name] = get, value
        return value

    def changed(self) -> bool:
        """Whether one of the names means something else by now."""
        try:
            return not all(_same(get(), value) for get, value in self._found.values())
        except (AttributeError, KeyError, ValueError):
            return True


def _same(a: Any, b: Any) -> bool:
    """Whether a name that meant one means the other: the same object, or an equal number or text."""
    plain = type(a) is type(b) and isinstance(a, int | float | str)
    return a is b or plain and repr(a) == repr(b)
