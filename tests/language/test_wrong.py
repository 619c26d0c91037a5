"""Programs as newcomers get them wrong, and the one thing that each is told.

`wrong/*.txt` hold the programs.  A faulty line ends in `#! CODE title | beginning of the advice`; a program with two
such lines is told both.  What is not marked must not be said.
"""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.errors import IntentError
from tests.sources import executed

MARK = re.compile(r" *#! (E\d+) (.*?) \| (.*)")
INTERNAL = re.compile(r"Traceback|<class|object at 0x|<operation|<function|NoneType|the result of|\bextent\d")


def programs() -> list[Any]:
    found = []
    for path in sorted((Path(__file__).parent / "wrong").glob("*.txt")):
        names = re.split(r"(?m)^== (\w+)\n", path.read_text())[1:]
        found += [
            pytest.param(text, id=f"{path.stem}-{name}") for name, text in zip(names[::2], names[1::2], strict=True)
        ]
    return found


def compiled(text: str) -> None:
    """Execute a program, and compile the kernel that it defines."""
    space = executed(text, space={"intent": intent, "I": I, "np": np, "math": math})
    kernel = space["Model"].kernel if "Model" in space else space.get("kernel")
    if kernel is not None:
        chosen = {p.name: p.type(1) for p in kernel.constexprs if p.default is p.REQUIRED}
        intent.compile(kernel, target="reference", constexprs=chosen)


@pytest.mark.parametrize("text", programs())
def test_a_wrong_program_is_told_what_is_wrong_where_and_what_to_do(text: str) -> None:
    lines = text.splitlines()
    marks = [(n, *m.groups()) for n, line in enumerate(lines, 1) for m in [MARK.search(line)] if m]
    assert marks
    with pytest.raises(IntentError) as caught:
        compiled("\n".join(MARK.sub("", line) for line in lines) + "\n")
    told = [
        (e.span and e.span.line, e.code, e.title, e.fix[: len(mark[3])])
        for e, mark in zip(caught.value.errors, marks, strict=False)
    ]
    assert told == marks, str(caught.value)
    assert len(caught.value.errors) == len(marks), str(caught.value)
    for e in caught.value.errors:
        assert e.why
        assert e.fix
        assert not INTERNAL.search(str(e)), str(e)


def test_there_are_many() -> None:
    assert len(programs()) >= 400
