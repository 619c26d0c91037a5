"""Python's parser, one thread at a time.

`ast.parse` keeps its recursion depth in a place that all threads share (CPython issue 106905), so that two threads
in it fail now and then with `SystemError`.  Whoever parses Python, also inside a lower compiler, holds `PARSER`.
"""

from __future__ import annotations

import ast
import threading
from typing import Any, Final

PARSER: Final = threading.RLock()


def parse(text: str, mode: str = "exec") -> Any:
    """`ast.parse`, by one thread at a time."""
    with PARSER:
        return ast.parse(text, mode=mode)
