"""Tuples and records: SSA products that group values and are never elements themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Record:
    """`I.record(a=..., b=...)`: values by name."""

    names: tuple[str, ...]
    values: tuple[Any, ...]


def leaves(v: Any) -> Iterator[Any]:
    """What a product groups, depth first; anything else is its own only leaf."""
    if isinstance(v, tuple):
        for x in v:
            yield from leaves(x)
    elif isinstance(v, Record):
        yield from leaves(v.values)
    else:
        yield v


def mapped(v: Any, step: Callable[[Any], Any]) -> Any:
    """The same product over `step(leaf)`, leaves taken depth first."""
    if isinstance(v, tuple):
        return tuple(mapped(x, step) for x in v)
    if isinstance(v, Record):
        return Record(v.names, mapped(v.values, step))
    return step(v)


def refilled(v: Any, values: Iterable[Any]) -> Any:
    """The same product over other leaves."""
    rest = iter(values)
    return mapped(v, lambda _: next(rest))


def alike(a: Any, b: Any) -> bool:
    """Whether two products have one structure."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, Record) and isinstance(b, Record):
        return a.names == b.names and alike(a.values, b.values)
    return not isinstance(a, tuple | Record) and not isinstance(b, tuple | Record)
