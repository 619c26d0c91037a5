"""Kernels from text that stands in no file."""

import itertools
import linecache
from typing import Any

import intent_np as intent
import intent_np.language as I

_COUNT = itertools.count()


def executed(text: str, file: str = "", space: dict[str, Any] | None = None) -> dict[str, Any]:
    """The names that `text` defines in `space`; its lines are found as those of `file`, by default a new one."""
    file = file or f"<text {next(_COUNT)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"intent": intent, "I": I} if space is None else space
    exec(compile(text, file, "exec"), names)
    return names
