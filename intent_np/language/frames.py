"""What names mean while a function is read, and what a name means that has no value."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

from .source import Source


@dataclass
class Frame:
    """One function being read: its text, where its free names live, and what its names mean now."""

    source: Source
    function: types.FunctionType
    names: dict[str, Any]


@dataclass(frozen=True)
class Missing:
    """The meaning of a name that has none here: using it is the error `code`."""

    code: str
    fields: dict[str, Any]


POISON = Missing("", {})  # of a name whose own error was reported already


class Poisoned(Exception):
    """An expression over such a name: it is not judged."""
