"""What tests of checking mode share: a program from text, and the codes of what is found."""

from typing import Any

import numpy as np

from intent_np.backends.reference.checking import check
from intent_np.terms.core import Arena
from intent_np.terms.logical import LOGICAL
from intent_np.terms.parse import parse


def codes(checked: Any) -> list[str]:
    return [one.code for one in checked.findings]


HEAD = """\
N = extent
x_s0 = stride x 0
x = view in index[N] strides [x_s0]
y_s0 = stride y 0
y = view inout index[N] strides [y_s0]
n = domain 0..N
two = domain 0..2
i = member of n
j = member of two
k = member of two depth 1
"""


def checked_text(body: str, x: Any, y: Any = None, more: str = "") -> Any:
    """The findings of statements on two vectors of N elements."""
    x = np.asarray(x, np.int64)
    y = np.zeros(len(x), np.int64) if y is None else y
    with Arena():
        program = parse(f"{HEAD}{more}logical @k(x, y) {{\n{body}\n}}\n", LOGICAL)
        return check(program, {"x": x, "y": y})
