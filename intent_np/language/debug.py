"""Looking inside a kernel: assertions and printing, which the reference performs and a device leaves out."""

from __future__ import annotations

import re
from typing import Any

from intent_np.terms.dtypes import bool_
from intent_np.terms.index import Value
from intent_np.terms.logical import Assert, Print, element

from .context import capture, fail
from .declare import intrinsic
from .elaborate import describe, is_tensor, value
from .products import leaves
from .reductions import reduce


@intrinsic
def debug_assert(condition: Any, text: Any = "") -> None:
    """A run stops with `text` where the condition (all of it, of a tensor) does not hold."""
    state = capture()
    if not isinstance(text, str):
        raise fail("E113", name="I.debug_assert", signature='I.debug_assert(condition, "text")', found=describe(text))
    _allowed("I.debug_assert")
    held = value(condition, bool_)
    if element(held.type) is not bool_:
        found, fix = describe(held), "compare it, for example value != 0"
        raise fail("E202", operation="I.debug_assert", dtype=found, expected="bool", found=found, fix=fix)
    state.emit(Assert(reduce.all.meaning(held) if is_tensor(held) else held, text))


@intrinsic
def debug_print(text: Any, *values: Any) -> None:
    """Print `text` with a value for each {}, once for each point in hand, values left over behind it."""
    if not isinstance(text, str):
        raise fail("E113", name="I.debug_print", signature='I.debug_print("x = {}", x)', found=describe(text))
    _allowed("I.debug_print")
    shown: tuple[Value, ...] = tuple(map(value, leaves(values)))
    if strange := re.findall(r"\{[^{}]+\}", text):
        found = f"{', '.join(strange)} in the text, where only {{}} stands for a value"
        raise fail("E113", name="I.debug_print", signature='I.debug_print("x = {}", x)', found=found)
    if text.count("{}") > len(shown):
        found = f"{text.count('{}')} places in the text, and {len(shown)} values"
        raise fail("E113", name="I.debug_print", signature='I.debug_print("x = {}", x)', found=found)
    capture().emit(Print(text, shown))


def _allowed(name: str) -> None:
    if capture().pure:
        raise fail("E306", effect=name, found=capture().pure)
