"""A kernel captured once for the many calls of a test: with its arena, and for the rules in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from ..rules.rule_set import active
from ..terms.core import Arena
from ..terms.index import Value
from ..terms.logical import LogicalProgram

_kept: WeakKeyDictionary[Any, dict[Any, tuple[Arena, LogicalProgram, Mapping[Value, Value]]]] = WeakKeyDictionary()


def captured(kernel: Any, constexprs: Mapping[str, Any] | None = None) -> tuple[Arena, LogicalProgram]:
    """The arena and the program of a kernel, which lives as long as the kernel does; errors are those of `capture`."""
    return _settled(kernel, constexprs)[:2]


def required(kernel: Any, constexprs: Mapping[str, Any] | None = None) -> Mapping[Value, Value]:
    """The extents that a kernel requires to be others, with what each has to be, in the arena of `captured`."""
    return _settled(kernel, constexprs)[2]


def _settled(kernel: Any, constexprs: Mapping[str, Any] | None) -> tuple[Arena, LogicalProgram, Mapping[Value, Value]]:
    values = dict(constexprs or {})
    key = active(), tuple((n, type(v), repr(v)) for n, v in values.items())
    programs = _kept.setdefault(kernel, {})
    if key not in programs:
        space = Arena()
        with space:
            programs[key] = space, *kernel.settled(values)
    return programs[key]
