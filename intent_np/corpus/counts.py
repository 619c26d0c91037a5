"""What a gpu program does at given extents, counted without running it: bytes, flops and registers.

Each statement counts for the elements of its fragments, masked lanes included, times the iterations of the loops around
it and the instances of the grid.  Where bounds vary with the instance, some instances stand for all.  A loop whose
bounds only the device knows counts once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from ..terms.core import children
from ..terms.gpu import ContractInto, Dispatch, Fetch, For, If, Let, Load, Reduce, Scan, Store, Update, Var, While
from ..terms.index import Apply, Cast, Const, Extent, Physical

INSTANCES = 64
"""So many instances of a grid are looked at."""
GOLDEN = 0.6180339887498949
"""Multiples of it, modulo 1, are spread evenly and in step with no grid."""
WARP, REGISTER = 32, 4
UNKNOWN = 1024
"""An extent that nobody gives."""


@dataclass(frozen=True)
class Counts:
    """Bytes loaded and stored, operations on floats (a contraction's are two an element), and operations on indices."""

    bytes: float = 0
    flops: float = 0
    index_operations: float = 0

    def __add__(self, o: Counts) -> Counts:
        return Counts(self.bytes + o.bytes, self.flops + o.flops, self.index_operations + o.index_operations)

    def __mul__(self, times: float) -> Counts:
        return Counts(self.bytes * times, self.flops * times, self.index_operations * times)


def counts(kernel: Any, extents: Mapping[str, int]) -> Counts:
    """What all instances of a gpu program do together."""
    return _launched(kernel.grid, kernel.coordinates, kernel.body, _Numbers(extents), {})


def registers(kernel: Any, threads: int) -> int:
    """An estimate of registers a thread: the most that named fragments, and the largest of one statement, take."""
    return -(-_pressure(kernel.body, {}) // (threads * REGISTER))


# ---- amounts


def _launched(grid: Any, coordinates: Any, body: Any, numbers: _Numbers, known: dict[Any, int]) -> Counts:
    sizes = [max(0, numbers(g, known) or 0) for g in grid]
    whole = prod(sizes)
    if not whole:
        return Counts()
    some = range(whole) if whole <= INSTANCES else (int(i * GOLDEN % 1 * whole) for i in range(1, INSTANCES + 1))
    total, seen = Counts(), 0
    for n in some:
        at, rest = dict(known), n
        for v, size in zip(reversed(coordinates), reversed(sizes), strict=True):
            at[v], rest = rest % size, rest // size
        total, seen = total + _body(body, numbers, at), seen + 1
    shared = Counts()
    for d in body:
        if isinstance(d, Dispatch):  # each has instances of its own
            shared += _launched(d.grid, d.coordinates, d.body, numbers, known)
    return total * (whole / seen) + shared


def _body(body: Any, numbers: _Numbers, known: dict[Any, int]) -> Counts:
    """One pass through statements; what two of them share counts once."""
    total, seen = Counts(), set[Any]()
    for s in body:
        match s:
            case For(var, lo, hi, step):
                total += _terms((lo, hi, step), seen)
                first, last, by = (numbers(x, known) for x in (lo, hi, step))
                if first is None or last is None or not by:
                    total += _body(s.body, numbers, known)
                elif last > first:
                    trips = -(-(last - first) // by)
                    ends = [_body(s.body, numbers, known | {var: v}) for v in (first, first + (trips - 1) * by)]
                    total += (ends[0] + ends[1]) * (trips / 2)
            case While():
                total += _body(s.body, numbers, known)
            case If(condition):
                total += _terms((condition,), seen)
                if numbers(condition, known) != 0:
                    total += _body(s.body, numbers, known)
            case Dispatch():
                pass
            case _:
                total += _terms((s,), seen)
                if isinstance(s, Let) and (value := numbers(s.value, known)) is not None:
                    known = known | {s.var: value}
    return total


def _terms(roots: Any, seen: set[Any]) -> Counts:
    total, stack = Counts(), list(roots)
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        total += _of(t)
        stack.extend(children(t) if not isinstance(t, Load) else (*t.index, *((t.valid,) if t.valid else ())))
    return total


def _of(t: Any) -> Counts:
    n = prod(p.value for p in t.lanes if isinstance(p, Physical))
    match t:
        case Load() | Store():
            lanes = frozenset().union(*(i.lanes for i in t.index)) if t.index else frozenset()
            return Counts(bytes=prod(p.value for p in lanes) * t.view.dtype.bytes)
        case Update():
            return Counts(bytes=2 * n * t.view.dtype.bytes)
        case ContractInto():
            return Counts(flops=2 * prod(p.value for p in t.left.lanes | t.right.lanes | t.accumulator.lanes))
        case Reduce() | Scan():
            of = frozenset().union(*(v.lanes for v in t.values))
            return Counts(flops=len(t.values) * prod(p.value for p in of))
        case Apply():
            dtype: Any = t.args[-1].type
            if dtype.is_float:
                return Counts(flops=n * (2 if t.op.name == "fma" else 1))
            return Counts(index_operations=n)
    return Counts()


# ---- registers


def _pressure(body: Any, outer: Mapping[Any, int]) -> int:
    """The most bytes that are held at once: what is named and read later, and what one statement makes."""
    last: dict[Any, int] = {}
    for i, s in enumerate(body):
        for v in _read(s):
            last[v] = i
    held: dict[Any, int] = {}
    most = 0
    for i, s in enumerate(body):
        around = sum(size for v, size in held.items() if last.get(v, -1) >= i) + sum(outer.values())
        if isinstance(s, (For, While, If, Dispatch)):
            carried = {v: size for v, size in held.items() if last.get(v, -1) >= i} | dict(outer)
            most = max(most, _pressure(s.body, carried))
        else:
            most = max(most, around + _largest(s))
        if isinstance(s, (Let, Fetch)):
            held[s.var] = _bytes(s.var)
    return most


def _read(s: Any) -> set[Any]:
    found, stack, seen = set(), [s], set()
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if isinstance(t, Var):
            found.add(t)
        stack.extend(children(t.value) if isinstance(t, Let) else children(t))
        if isinstance(t, Let):
            stack.append(t.value)
    return found


def _largest(s: Any) -> int:
    most, stack, seen = 0, [s], set()
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            most = max(most, _bytes(t))
            stack.extend(children(t))
    return most


def _bytes(t: Any) -> int:
    """What a fragment takes of an instance's registers."""
    types = getattr(t, "type", None)
    if types is None or isinstance(t, Const):
        return 0
    each = types if isinstance(types, tuple) else (types,)
    return sum(max(d.bytes, 1) for d in each) * prod(p.value for p in t.lanes if isinstance(p, Physical))


# ---- numbers


class _Numbers:
    """Scalars of a program as numbers, as far as they are known before it runs."""

    def __init__(self, extents: Mapping[str, int]) -> None:
        self.extents = extents

    def __call__(self, t: Any, known: Mapping[Any, int]) -> int | None:
        if t in known:
            return known[t]
        match t:
            case Const(value):
                return int(value) if not t.dtype.is_float else None
            case Physical():
                return t.value
            case Extent(name):
                return self.extents.get(name, min(UNKNOWN, t.bound or UNKNOWN))
            case Cast(value):
                return self(value, known) if t.dtype.is_integer else None
            case Apply() if not t.lanes and not t.args[-1].type.is_float:  # type: ignore[union-attr]
                args = [self(a, known) for a in t.args]
                if any(a is None for a in args):
                    return None
                return _applied(t.op.name, args)
        return None


def _applied(name: str, args: list[Any]) -> int | None:
    a, b = (*args, 0)[:2]
    match name:
        case "add":
            return a + b  # type: ignore[no-any-return]
        case "sub":
            return a - b  # type: ignore[no-any-return]
        case "mul":
            return a * b  # type: ignore[no-any-return]
        case "floordiv":
            return a // b if b else None
        case "ceil_div":
            return -(-a // b) if b else None
        case "mod":
            return a % b if b else None
        case "minimum":
            return min(a, b)  # type: ignore[no-any-return]
        case "maximum":
            return max(a, b)  # type: ignore[no-any-return]
        case "lt" | "le" | "eq" | "ne":
            return int({"lt": a < b, "le": a <= b, "eq": a == b, "ne": a != b}[name])
        case "and":
            return int(all(args))
        case "or":
            return int(any(args))
        case "not":
            return int(not a)
        case "select":
            return args[1] if a else args[2]  # type: ignore[no-any-return]
    return None
