"""The page on the language is executed: its kernels are captured, and what it says is an error is one."""

import re
from pathlib import Path

import pytest

from intent_np.errors import IntentError
from intent_np.language import OPERATIONS, Kernel
from tests.sources import executed

PAGE = Path(__file__).parents[2] / "specs" / "language.md"


def test_every_block_of_the_page() -> None:
    text = PAGE.read_text()
    space: dict[str, object] = {}
    captured = 0
    for block in re.finditer(r"^```python(?: error=(\w+))?\n(.*?)^```$", text, re.M | re.S):
        line = text[: block.start(2)].count("\n")
        source = "\n" * line + block[2]
        name = f"{PAGE.name}@{line}"
        before = set(space)
        executed(source, name, space)
        for kernel in (v for n, v in space.items() if n not in before and isinstance(v, Kernel)):
            if block[1]:
                with pytest.raises(IntentError) as found:
                    kernel.capture()
                assert found.value.code == block[1]
            else:
                kernel.capture()
            captured += 1
    assert captured >= 7


def test_every_operation_is_on_the_page() -> None:
    text = PAGE.read_text()
    assert [n for n in OPERATIONS if f"* `I.{n}(" not in text] == []
