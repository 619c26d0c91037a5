"""Names in generated Python: from the author's names, distinct, and hiding nothing that the text uses."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

from .support import LIBDEVICE, SUPPORT

MODULE_NAMES = frozenset({"tl", "triton", LIBDEVICE, *SUPPORT})
_TAKEN = MODULE_NAMES | frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))


class Names:
    """Gives out names; each once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(_TAKEN) | set(taken)

    def fresh(self, hint: str) -> str:
        """`hint` as a Python name, with a number behind it where it is taken."""
        base = re.sub(r"\W", "_", hint) or "t"
        if base[0].isdigit():
            base = f"t{base}"
        name, i = base, 0
        while name in self.taken:
            i += 1
            name = f"{base}_{i}" if base not in _TAKEN or i > 1 else f"{base}_"
        self.taken.add(name)
        return name
