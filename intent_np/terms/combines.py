"""Closed functions of two partial results, and the builtin ones with their identities."""

from __future__ import annotations

from .core import Term, arena, find, term
from .dtypes import DType, bool_
from .index import Const, Value, apply


@term
class Arg(Value):
    """An argument of a combine region: component `position` of the left (`a`) or the right (`b`) summary, or of what
    the region is given beside them (`c`)."""

    side: str
    position: int
    dtype: DType
    syntax = "arg({side}, {position}, {dtype})"

    def infer(self) -> DType:
        return self.dtype


@term
class Combine(Term):
    """A closed, typed combine region: one body per component over `Arg`s; captures come as operands."""

    dtypes: tuple[DType, ...]
    bodies: tuple[Value, ...]
    syntax = "combine [{dtypes}] {bodies}"
    binds = True

    def infer(self) -> None:
        if not self.dtypes or tuple(b.type for b in self.bodies) != self.dtypes:
            raise TypeError(f"combine of {self.dtypes} has bodies of {tuple(b.type for b in self.bodies)}")


def check_captures(combine: Combine, operands: tuple[Value, ...]) -> None:
    """Whether a combine names no operand, by an argument of side `c`, that it is not given."""
    for a in find(combine.bodies, Arg):
        if a.side == "c" and (not 0 <= a.position < len(operands) or operands[a.position].type is not a.dtype):
            raise TypeError(f"{a} is none of the operands {[o.type for o in operands]}")


BUILTIN = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def builtin(name: str, d: DType) -> Combine:
    """The combine of a builtin reduction; one term per dtype, so that it is recognized by identity."""
    c = Combine((d,), (apply(BUILTIN[name], Arg("a", 0, d), Arg("b", 0, d)),))
    arena().names.setdefault(c, name)
    return c


def builtin_name(c: Combine) -> str | None:
    """Which builtin a combine is, if any."""
    if len(c.dtypes) == 1:
        for name in ("any", "all") if c.dtypes[0] is bool_ else ("sum", "max", "min", "prod"):
            if builtin(name, c.dtypes[0]) is c:
                return name
    return None


def identity(name: str, d: DType) -> Const:
    """The identity of a builtin reduction: the maximum of nothing is -inf, or the smallest number of the type."""
    if name in ("any", "all"):
        return Const(name == "all", bool_)
    if name in ("sum", "prod"):
        one = 0 if name == "sum" else 1
        return Const(float(one) if d.is_float else one, d)
    if d.is_float:
        from ..numerics.literals import FORMATS

        top = float("inf") if FORMATS[d.name].infinite else FORMATS[d.name].largest
        return Const(-top if name == "max" else top, d)
    return Const(d.range[0 if name == "max" else 1], d)
