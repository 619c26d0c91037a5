"""The element of a tensor at given positions: for each operator, how positions in its result map to positions in what
it is made of.

Three ask: the proofs of the language, which want an index expression or a name for what is unknown; `provenance`, which
wants an exact expression or nothing; and `lower_to_coordinates`, which makes the program of such elements.  So a rule
is a generator: it yields the elements that it asks for, a value and positions in it, is sent them, and returns its own.
How numbers are put together is the asker's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, NamedTuple

from ..terms.index import Cast, Value, add, apply, const, is_const, mul
from ..terms.logical import (
    Along,
    At,
    AtEach,
    Convert,
    Domain,
    Filled,
    Indices,
    Pointwise,
    Reshape,
    Subscript,
    Take,
    Transpose,
    placed,
    shape_of,
)

Positions = tuple[Value, ...]
Asked = tuple[Any, Positions]
Steps = Generator[Asked, Any, Any]


class Numbers(NamedTuple):
    """How an asker puts index expressions together: `scalar` reads what the program computes, `made` what is made."""

    scalar: Callable[[Any], Any] = lambda v: v
    made: Callable[[Any], Any] = lambda t: t

    def coordinate(self, d: Domain, position: Value) -> Value:
        """The member of a domain at a position."""
        steps = position if d.step is None else self.made(mul(position, self.scalar(d.step)))
        return self.made(add(steps, self.scalar(d.lo)))  # type: ignore[no-any-return]

    def reshaped(self, old: Positions, new: Positions, where: Positions) -> Positions:
        """The positions with the same place in row-major order under other extents; equal extents at either end pass
        through."""
        short, head, tail = min(len(old), len(new)), 0, 0
        while head < short and old[head] is new[head]:
            head += 1
        while tail < short - head and old[-1 - tail] is new[-1 - tail]:
            tail += 1
        last, linear = len(new) - tail, const(0)
        for e, p in zip(new[head:last], where[head:last], strict=True):
            linear = self.made(add(self.made(mul(linear, self.scalar(e))), p))
        out: list[Any] = []
        for i, e in reversed(list(enumerate(old[head : len(old) - tail]))):
            out.insert(0, linear if i == 0 else self.made(apply("mod", linear, self.scalar(e))))
            linear = self.made(apply("floordiv", linear, self.scalar(e)))
        return (*where[:head], *out, *where[last:])


def element(v: Any, where: Positions, numbers: Numbers) -> Steps:
    """The element of `v` at these positions, one for each of its axes; None where no rule says it."""
    match v:
        case Indices(domain):
            return numbers.coordinate(domain, where[0])
        case Filled(value):
            return (yield value, ())
        case Pointwise(op, args):
            return apply(op, *(yield from every(fitted(a, where) for a in args)))
        case Convert(value, dtype, mode):
            return Cast((yield value, where), dtype, mode)
        case Transpose(value, permutation):
            back = dict(zip(permutation, where, strict=True))
            return (yield value, tuple(back[i] for i in range(len(where))))
        case Reshape(value):
            return (yield value, numbers.reshaped(shape_of(value), shape_of(v), where))
        case Take(value, subscripts, None):
            return (yield value, (yield from coordinates(subscripts, where, numbers)))
    return None


def coordinates(subscripts: tuple[Subscript, ...], where: Positions, numbers: Numbers) -> Steps:
    """The coordinate in each axis of what is indexed, for an element of the result."""
    out: list[Value] = []
    for s, axes in zip(subscripts, placed(subscripts).axes, strict=True):
        match s:
            case At(value):
                out.append((yield value, ()))
            case Along(domain):
                out.append(numbers.coordinate(domain, where[axes[0]]))
            case AtEach(value):
                out.append((yield fitted(value, tuple(where[a] for a in axes))))
    return tuple(out)


def fitted(v: Value, where: Positions) -> Asked:
    """An operand that is broadcast: its axes are the last ones, those of extent 1 stand at 0."""
    shape = shape_of(v)
    tail = where[len(where) - len(shape) :]
    return v, tuple(const(0) if is_const(e, 1) else p for e, p in zip(shape, tail, strict=True))


def every(asked: Iterable[Asked]) -> Steps:
    """Ask for each in turn."""
    found = []
    for one in asked:
        found.append((yield one))
    return tuple(found)


def finished(steps: Steps, at: Callable[[Any, Positions], Any]) -> Any:
    """The result of `steps`, told `at` what they ask for; None where that is None."""
    answer = None
    while True:
        try:
            answer = at(*steps.send(answer))
        except StopIteration as end:
            return end.value
        if answer is None:
            return None
