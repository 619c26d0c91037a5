"""The process in which Triton interprets: reads jobs from stdin, answers `(failure, spans)` on stdout."""

from __future__ import annotations

import linecache
import os
import pickle
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .triton_interpreter import OUTSIDE, Job
from .triton_interpreter_gaps import Gaps, to_bf16

MARGIN = 4096
"""Bytes on both sides of every span that must not change."""
CANARY = 0xA5


def main() -> None:
    """Serve until stdin ends.  The answers' pipe is kept apart, so that nothing that prints can spoil it."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    interpreter = Interpreter()
    with tempfile.TemporaryDirectory() as folder:
        while (job := _next(sys.stdin.buffer)) is not None:
            try:
                answer = ("", interpreter.run(job, Path(folder)))
            except Exception:
                answer = (traceback.format_exc(), ())
            pickle.dump(answer, answers)
            answers.flush()


def _next(pipe: BinaryIO) -> Job | None:
    try:
        return pickle.load(pipe)  # type: ignore[no-any-return]
    except EOFError:
        return None


class Interpreter:
    """Triton's interpreter with its gaps filled."""

    def __init__(self) -> None:
        import triton
        import triton.language as tl
        from triton.runtime import interpreter

        assert triton.knobs.runtime.interpret, "started with TRITON_INTERPRET=1"
        self.tl, self.inside = tl, interpreter
        self.libdevice = Gaps(tl, interpreter).libdevice

    def run(self, job: Job, folder: Path) -> tuple[bytes, ...]:
        path = folder / "kernel.py"
        path.write_text(job.source)
        linecache.checkcache(str(path))
        space: dict[str, Any] = {"__name__": "kernel", "__file__": str(path)}
        space |= {"min": self._least, "max": self._greatest, "range": self._range}
        exec(compile(job.source, str(path), "exec"), space)
        if "libdevice" in space:
            space["libdevice"] = self.libdevice
        buffers = [_guarded(s) for s in job.spans]
        with np.errstate(all="ignore"):
            arguments = [self._argument(a, buffers) for a in job.arguments]
            if job.grid:
                space[job.entry][(job.grid,)](*arguments, **job.constexprs)
        return tuple(_checked(b) for b in buffers)

    def _least(self, x: Any, y: Any) -> Any:
        """`min` in a kernel: a tensor where an operand is one, never the Python number beside it."""
        return self.tl.minimum(x, y) if isinstance(x, self.tl.tensor) or isinstance(y, self.tl.tensor) else min(x, y)

    def _greatest(self, x: Any, y: Any) -> Any:
        return self.tl.maximum(x, y) if isinstance(x, self.tl.tensor) or isinstance(y, self.tl.tensor) else max(x, y)

    def _range(self, *bounds: Any) -> Iterator[Any]:
        """`range` in a kernel: its counter is a scalar tensor, as wide as the widest of the bounds."""
        wide = any(isinstance(b, self.tl.tensor) and b.dtype == self.tl.int64 for b in bounds)
        kind = self.tl.int64 if wide else self.tl.int32
        for i in range(*(int(b.handle.data.item()) if isinstance(b, self.tl.tensor) else int(b) for b in bounds)):
            data = np.array([i], np.int64 if wide else np.int32)
            yield self.tl.tensor(self.inside.TensorHandle(data, kind), kind)

    def _argument(self, argument: tuple[Any, ...], buffers: list[Any]) -> Any:
        """A scalar tensor of exactly the ABI's type: a pointer into a buffer, or a number."""
        kind, *value = argument
        kind_type = self.tl.str_to_ty(kind, None)
        if kind.startswith("*"):
            data = np.array([buffers[value[0]].ctypes.data + MARGIN + value[1]], np.uint64)
        else:
            data = _number(value[0], self.inside._get_np_dtype(kind_type), kind)
        return self.tl.tensor(self.inside.TensorHandle(data, kind_type), kind_type)


def _number(value: Any, dtype: Any, kind: str) -> Any:
    if kind == "bf16":  # the interpreter holds it as its bits
        return to_bf16(np.array([value], np.float32))
    return np.array([value], dtype)


def _guarded(span: bytes) -> Any:
    buffer = np.full(len(span) + 2 * MARGIN, CANARY, np.uint8)
    buffer[MARGIN : MARGIN + len(span)] = np.frombuffer(span, np.uint8)
    return buffer


def _checked(buffer: Any) -> bytes:
    margins = np.concatenate([buffer[:MARGIN], buffer[-MARGIN:]])
    if (margins != CANARY).any():
        raise IndexError(OUTSIDE)
    return buffer[MARGIN:-MARGIN].tobytes()  # type: ignore[no-any-return]


if __name__ == "__main__":
    main()
