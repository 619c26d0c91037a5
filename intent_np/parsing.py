"""Python's parser, one thread at a time.

`ast.parse` keeps its recursion depth in a place that all threads share (CPython issue 106905), so that two threads
in it fail now and then with `SystemError`.  Whoever parses Python, also inside a lower compiler, holds `PARSER`.
"""

from __future__ import annotations

import threading
from typing import Final

PARSER: Final = threading.RLock()
