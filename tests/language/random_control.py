"""Random programs of loops, branches and ways out, as source that is a kernel and a Python function at once."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

HELPER = """
@intent.fn
def body(x, y, p, n):
    a, b = I.cast(p, I.i64), I.cast(1, I.i64)
{body}
    return a * 1000 + b

@intent.kernel
def k(x: I.In[I.i64, ("P", "N")], y: I.InOut[I.i64, ("P", "N")], z: I.InOut[I.i64, ("P",)]):
    P, N = x.shape
    for p in I.parallel(I.domain(0, P)):
        z[p] = body(x, y, p, N)
"""

KERNEL = """
@intent.kernel
def k(x: I.In[I.i64, (1, "N")], y: I.InOut[I.i64, (1, "N")], z: I.InOut[I.i64, (1,)]):
    p, n = 0, x.shape[1]
    a, b = I.cast(p, I.i64), I.cast(1, I.i64)
{body}
    z[p] = a * 1000 + b
"""


class _Language:
    """What the sources use of `I`, as Python means it."""

    def __getattr__(self, name: str) -> Any:
        return {
            "parallel": lambda d: d, "domain": range, "cast": lambda v, d: np.int64(v), "exchange": _exchange,
        }.get(name, self)  # fmt: skip

    def __getitem__(self, _: Any) -> None:
        return None


def _exchange(target: np.ndarray, index: Any, value: Any) -> Any:
    old = target[index]
    target[index] = value
    return old


class _Intent:
    kernel = fn = staticmethod(lambda function: function)


def as_python(source: str, **arrays: np.ndarray) -> None:
    """Run the source as the Python that it is."""
    space: dict[str, Any] = {"I": _Language(), "intent": _Intent()}
    exec(source, space)
    space["k"](**arrays)


class Programs:
    """Source text, drawn statement by statement."""

    def __init__(self, seed: int, returns: str) -> None:
        self.random, self.returns, self.count = Random(seed), returns, 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def operand(self, members: list[str]) -> str:
        choices = ["a", "b", str(self.random.randint(0, 9)), *(f"x[p, {i}]" for i in members)]
        return self.random.choice([*choices, *(f"y[p, {i}]" for i in members)])

    def condition(self, members: list[str]) -> str:
        r, one = self.random, self.operand(members)
        kind = r.randrange(5)
        if kind == 0:
            return f"{self.condition(members)} {r.choice(('and', 'or'))} {self.condition(members)}"
        if kind == 1:
            return f"not {one} < {self.operand(members)}"
        return f"({one} + {r.randint(0, 4)}) % {r.randint(2, 4)} == {r.randint(0, 1)}"

    def exit(self, looping: bool, members: list[str]) -> str:
        ways = ["return" + (f" a + {self.operand(members)}" if self.returns else "")]
        return self.random.choice([*ways, *(["break", "continue"] * 2 if looping else [])])

    def block(self, depth: int, looping: bool, members: list[str]) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, looping, members)
        return lines

    def statement(self, depth: int, looping: bool, members: list[str]) -> list[str]:
        r = self.random
        kind = r.randrange(9 if depth else 3)
        if kind == 0 and members:
            i = r.choice(members)
            if r.random() < 0.4:
                return [f"b = (b + I.atomic.exchange(y, (p, {i}), {self.operand(members)})) % 103"]
            return [f"y[p, {i}] = (y[p, {i}] * 3 + {self.operand(members)}) % 107"]
        if kind < 3:
            name, modulus = r.choice((("a", 101), ("b", 103)))
            return [f"{name} = ({name} * {r.randint(1, 3)} + {self.operand(members)}) % {modulus}"]
        if kind < 6:
            lines = [f"if {self.condition(members)}:"]
            lines += self.leaving(depth - 1, looping, members)
            if r.random() < 0.3:
                lines += [f"elif {self.condition(members)}:", *self.leaving(depth - 1, looping, members)]
            if r.random() < 0.5:
                lines += ["else:", *self.leaving(depth - 1, looping, members)]
            return lines
        if kind < 8:
            i = self.fresh("i")
            head = f"for {i} in range({r.choice(('n', '0, n', '0, n, 2', '1, n'))}):"
            return [head, *indented(self.block(depth - 1, True, [*members, i]))]
        w = self.fresh("w")
        test = "True" if r.random() < 0.2 else self.condition(members)
        stop = [f"if {w} > 5:", "    break"] if test == "True" else []
        bound = "" if stop else f"{w} < 6 and "
        lines = [f"{w} += 1", *stop, *self.block(depth - 1, True, members)]
        return [f"{w} = 0", f"while {bound}({test}):" if bound else "while True:", *indented(lines)]

    def leaving(self, depth: int, looping: bool, members: list[str]) -> list[str]:
        lines = self.block(depth, looping, members) if self.random.random() < 0.7 else []
        if not lines or self.random.random() < 0.35:
            lines.append(self.exit(looping, members))
        return indented(lines)


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def source(seed: int) -> str:
    """The program of a seed: its body in a helper that returns a value, or at the level of the kernel."""
    made = Programs(seed, "a" if seed % 2 else "")
    body = "\n".join(indented([line for _ in range(3) for line in made.statement(3, False, [])]))
    return (HELPER if seed % 2 else KERNEL).format(body=body)
