"""An oracle for generated Triton: the printed text itself, run on NumPy arrays by Triton's interpreter.

    interpret(launch, source, {"x": x, "y": y}, {"alpha": 2.0})        # writes y in place

It checks what text can get wrong (names, shapes, broadcasting, masks, loop state, addresses), not what hardware adds:
memory order, barriers, layouts.  The interpreter is chosen when Triton is imported, so that it lives in a process of
its own, started at the first use and kept; arrays travel as the bytes they span, strides and overlaps included.
"""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np

from ..runtime.expressions import expression
from ..terms.core import Term
from ..terms.index import Extent, Param
from ..terms.launch import (
    CopyArgument,
    Launch,
    PointerArgument,
    ScalarArgument,
    WorkspaceArgument,
    constants,
    signature,
)
from ..terms.text import brief
from .views import twin

Array = Any

DIVERGENCES: Final = {
    "libdevice": "computed by NumPy in the type of the operands; the device's results may differ in the last places",
    "reduce": "combined from the first member to the last; the device combines a tree",
    "dot": "products and sums of 16-bit floats are taken in f32 by NumPy; the device's order of summation differs",
    "bf16": "computed in f32 and rounded after every operation",
    "tl.exp, tl.log and the like": "computed by NumPy; the device's are approximate where their names say so",
    "masked lanes": "hold `other`, as on the device; without it they hold 0, where the device promises nothing",
}
"""Where the interpreter's meaning is not the device's."""


POISON: Final = 0x7F
"""What the bytes of a workspace hold before: NaN in most formats, and no plausible index."""


OUTSIDE: Final = "a store outside the arrays"
"""Ends the traceback of a text that wrote outside its arrays."""


class InterpreterFailure(RuntimeError):
    """The text could not be run, or wrote outside its arrays."""


@dataclass(frozen=True, slots=True)
class Job:
    """What the process is asked to run.

    spans:      the memory of the arrays, in disjoint pieces
    arguments:  Triton type, then the number of a span and an offset in bytes, or a number by value
    """

    source: str
    entry: str
    grid: int
    constexprs: dict[str, int]
    spans: tuple[bytes, ...]
    arguments: tuple[tuple[Any, ...], ...]


def unavailable() -> str | None:
    """Why Triton's interpreter can't run here, if so."""
    return None if find_spec("triton") else "Triton is not installed"


def interpret(
    launch: Launch, source: str, arrays: Mapping[str, Array], scalars: Mapping[str, Any] | None = None
) -> None:
    """Run `launch` in Triton's interpreter; what it writes is found in `arrays`.

    `arrays` are given by the views' names, `scalars` by name.  Extents follow from shapes, or are given as scalars.
    Raises `InterpreterFailure` with the interpreter's traceback.
    """
    views = {a.view.name: a.view for a in launch.arguments if isinstance(a, PointerArgument)}
    values = {**constants(launch), **bindings(launch, arrays), **(scalars or {})}
    own = {
        a.view.name: np.full(max(0, evaluate(a.size, values)), 0 if a.zeroed else POISON, np.uint8)
        for a in launch.arguments
        if isinstance(a, WorkspaceArgument)
    }
    copies = {a.view.name: twin(arrays[a.view.source]) for a in launch.arguments if isinstance(a, CopyArgument)}
    spans, places = memory({name: arrays[name] for name in views} | own | copies)
    arguments: list[tuple[Any, ...]] = []
    for argument, (_, kind) in zip(launch.arguments, signature(launch), strict=True):
        match argument:
            case PointerArgument(_, view) | WorkspaceArgument(_, view) | CopyArgument(_, view):
                arguments.append((kind, *places[view.name]))
            case ScalarArgument(_, value):
                arguments.append((kind, values[value.name] if isinstance(value, Param) else evaluate(value, values)))
    grid = int(np.prod([evaluate(g, values) for g in launch.grid]))
    job = Job(source, launch.function.name, grid, constants(launch), tuple(s.read() for s in spans), tuple(arguments))
    for span, new in zip(spans, _process().run(job), strict=True):
        span.write(new)


def evaluate(value: Term, values: Mapping[str, Any]) -> int:
    """An index expression of the host."""
    if value.binds:  # its text would be a definition
        return int(values[value.name])  # type: ignore[attr-defined]
    return expression(brief(value, limit=10**6))(values)


def bindings(launch: Launch, arrays: Mapping[str, Array]) -> dict[str, int]:
    """Extents and strides, read off the arrays; an extent that only an expression names follows from that."""
    out: dict[str, int] = {}
    views = [a.view for a in launch.arguments if isinstance(a, PointerArgument)]
    for view in views:
        array = arrays[view.name]
        out |= {e.name: n for e, n in zip(view.shape, array.shape, strict=True) if isinstance(e, Extent)}
        out |= {f"{view.name}_s{i}": s // array.itemsize for i, s in enumerate(array.strides)}
    for view in views:
        for e, n in zip(view.shape, arrays[view.name].shape, strict=True):
            if not e.binds and (solved := expression(brief(e, limit=10**6)).solve(n, out)):
                out.setdefault(*solved)
    return out


# ---- arrays as bytes ---------------------------------------------------------------------------------------------


class Span:
    """Contiguous memory in which some arrays lie, gaps included."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def _bytes(self) -> Array:
        interface = {"data": (self.low, False), "shape": (self.high - self.low,), "typestr": "|u1", "version": 3}
        return np.asarray(type("Memory", (), {"__array_interface__": interface})())

    def read(self) -> bytes:
        return self._bytes().tobytes() if self.high > self.low else b""

    def write(self, new: bytes) -> None:
        if new:
            self._bytes()[:] = np.frombuffer(new, np.uint8)


def memory(arrays: Mapping[str, Array]) -> tuple[list[Span], dict[str, tuple[int, int]]]:
    """The spans of these arrays, overlapping ones joined, and where each array's first element lies."""
    bounds = {n: np.lib.array_utils.byte_bounds(a) if a.size else (a.ctypes.data,) * 2 for n, a in arrays.items()}
    spans: list[Span] = []
    for low, high in sorted(bounds.values()):
        if spans and low < spans[-1].high:
            spans[-1].high = max(spans[-1].high, high)
        else:
            spans.append(Span(low, high))
    places = {}
    for n, a in arrays.items():
        low = bounds[n][0]
        i = next(i for i, s in enumerate(spans) if s.low <= low <= s.high and (low < s.high or s.low == s.high))
        places[n] = (i, a.ctypes.data - spans[i].low)
    return spans, places


# ---- the process -------------------------------------------------------------------------------------------------


class _Interpreter:
    """The other process, spoken to in pickles."""

    def __init__(self) -> None:
        environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join([_root(), *sys.path])}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "intent_np.testing.triton_interpreter_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self.questions, self.answers = cast(IO[bytes], self.process.stdin), cast(IO[bytes], self.process.stdout)

    def run(self, job: Job) -> tuple[bytes, ...]:
        try:
            pickle.dump(job, self.questions)
            self.questions.flush()
            failure, spans = pickle.load(self.answers)
        except (EOFError, OSError) as problem:
            _stop()
            raise InterpreterFailure("the interpreter's process ended; an access far outside the arrays?") from problem
        except BaseException:  # whoever waited gave up: the answer must not be taken for that of the next job
            self.process.kill()
            _stop()
            raise
        if failure:
            raise InterpreterFailure(failure)
        return spans  # type: ignore[no-any-return]


_running: list[_Interpreter] = []


def _process() -> _Interpreter:
    if not _running:
        _running.append(_Interpreter())
        atexit.register(_stop)
    return _running[0]


def begin_anew() -> None:
    """In a fork: the interpreter of the parent is the parent's, this process has one of its own."""
    _running.clear()
    _process()


def has_ended() -> bool:
    """Whether the interpreter of this process was killed, or died."""
    return any(one.process.poll() is not None for one in _running)


def _stop() -> None:
    while _running:
        one = _running.pop()
        one.questions.close()
        one.answers.close()
        one.process.wait(timeout=30)


def _root() -> str:
    return str(Path(__file__).parents[2])
