"""Domains, their members in hand, and the subscripts that are made of them."""

from __future__ import annotations

from typing import NamedTuple

from ..core import Term, once, term
from ..dtypes import DType, index
from ..index import Apply, Const, Value
from ..operators import OPERATORS
from .types import TensorType, broadcast, element, shape_of


@term
class Domain(Term):
    """The ordered coordinates lo, lo + step, … below hi; a subregion keeps the domain that it was cut from."""

    lo: Value
    hi: Value
    step: Value | None = None
    source: Term | None = None
    syntax = "domain {lo}..{hi}{ step |step|}{ in |source|}"
    binds = True

    def infer(self) -> None:
        if any(b.type is not index for b in (self.lo, self.hi, self.step) if b is not None):
            raise TypeError("the bounds of a domain are index values")
        if not isinstance(self.source, (Domain, type(None))):
            raise TypeError(f"a domain cut from a {type(self.source).__name__}")

    @property
    @once
    def extent(self) -> Value:
        """Number of members, in normal form for the common cases."""
        from ...rules.simplify import simplify

        width: Value = Apply(OPERATORS["sub"], (self.hi, self.lo))
        if self.step is not None:
            width = Apply(OPERATORS["ceil_div"], (width, self.step))
        return simplify(width)


@term
class LoopVar(Value):
    """The member in hand of an enclosing loop over `domain`; `depth` tells nested loops over one domain apart."""

    domain: Domain
    depth: int = 0
    syntax = "member of {domain}{ depth |depth|}"
    binds = True

    def infer(self) -> DType:
        return index


@term
class Between(Value):
    """An index that is promised to be at least `low` and at most `high`."""

    value: Value
    low: Value
    high: Value
    syntax = "between {low}..{high}: {value}"

    def infer(self) -> DType:
        if any(v.type is not index for v in (self.value, self.low, self.high)):
            raise TypeError("a bound of an index is an index")
        return index


class Subscript(Term):
    """Sort: one entry of an index expression."""

    __slots__ = ()


@term
class At(Subscript):
    """A scalar coordinate: the dimension disappears."""

    value: Value
    syntax = "{value}"

    def infer(self) -> None:
        if self.value.type is not index:
            raise TypeError(f"a coordinate is {self.value.type}, not index")


@term
class Along(Subscript):
    """The coordinates of a domain: one result axis."""

    domain: Domain
    syntax = "along {domain}"


@term
class AtEach(Subscript):
    """A tensor of coordinates; the tensors of one access broadcast jointly."""

    value: Value
    syntax = "each {value}"

    def infer(self) -> None:
        if not isinstance(self.value.type, TensorType) or element(self.value.type) is not index:
            raise TypeError(f"coordinates are {self.value.type}, not a tensor of index")


@term
class NewAxis(Subscript):
    """A result axis of extent 1 (`None` in the source)."""

    syntax = "newaxis"


class Placed(NamedTuple):
    """The extents of what is indexed, the axes among them along which each subscript varies, and those that the
    tensors of coordinates have in common."""

    shape: tuple[Value, ...]
    axes: tuple[tuple[int, ...], ...]
    joint: tuple[int, ...]


def placed(subscripts: tuple[Subscript, ...]) -> Placed:
    """Where the axes of an access come from.

    As in NumPy, the joint axes stand where the first tensor of coordinates does if all of them stand side by side,
    else in front; beside a tensor, a scalar coordinate counts as one.
    """
    extents = tuple(shape_of(s.value) for s in subscripts if isinstance(s, AtEach))
    joint = broadcast(extents)
    among = [k for k, s in enumerate(subscripts) if isinstance(s, (At, AtEach))] if extents else []
    apart = len(among) != (among[-1] - among[0] + 1 if among else 0)
    shape: list[Value] = [*joint] if apart else []
    start, own = 0, list[tuple[int, ...]]()
    for k, s in enumerate(subscripts):
        if among and not apart and k == among[0]:
            start = len(shape)
            shape += joint
        own.append(() if isinstance(s, (At, AtEach)) else (len(shape),))
        if isinstance(s, (Along, NewAxis)):
            shape.append(s.domain.extent if isinstance(s, Along) else Const(1, index))
    end = start + len(joint)
    for k, s in enumerate(subscripts):
        if isinstance(s, AtEach):
            own[k] = tuple(range(end - len(shape_of(s.value)), end))
    return Placed(tuple(shape), tuple(own), tuple(range(start, end)))


def indexed(rank: int, subscripts: tuple[Subscript, ...], what: str) -> tuple[Value, ...]:
    """Extents of the result of indexing a resource of this rank."""
    used = sum(not isinstance(s, NewAxis) for s in subscripts)
    if used != rank:
        raise TypeError(f"{what} has rank {rank}, indexed with {used}")
    return placed(subscripts).shape
