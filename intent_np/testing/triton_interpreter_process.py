"""The process in which Triton interprets: reads jobs from stdin, answers `(failure, spans)` on stdout.

What the interpreter lacks is filled in here by name: functions of libdevice have their NumPy meaning, and a reduction
with a helper combines whole slices instead of one element at a time.
"""

from __future__ import annotations

import linecache
import os
import pickle
import sys
import tempfile
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np

from .triton_interpreter import Job

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
        interpreter.ReduceOps.generic_reduce = _reduce_slices
        self._dot = interpreter.InterpreterBuilder.create_dot
        interpreter.interpreter_builder.create_dot = self._dot_bf16
        self.libdevice = SimpleNamespace(**{name: self._elementwise(f) for name, f in libdevice_functions().items()})

    def run(self, job: Job, folder: Path) -> tuple[bytes, ...]:
        path = folder / "kernel.py"
        path.write_text(job.source)
        linecache.checkcache(str(path))
        space: dict[str, Any] = {"__name__": "kernel", "__file__": str(path)}
        exec(compile(job.source, str(path), "exec"), space)
        if "libdevice" in space:
            space["libdevice"] = self.libdevice
        buffers = [_guarded(s) for s in job.spans]
        with np.errstate(all="ignore"):
            arguments = [self._argument(a, buffers) for a in job.arguments]
            if job.grid:
                space[job.entry][(job.grid,)](*arguments, **job.constexprs)
        return tuple(_checked(b) for b in buffers)

    def _dot_bf16(self, left: Any, right: Any, *rest: Any) -> Any:
        """`tl.dot` with the numbers behind the bits of bf16."""
        bf16, f32, handle = self.tl.bfloat16, self.tl.float32, self.inside.TensorHandle
        if left.dtype.scalar == bf16:
            left, right = (handle(_from_bf16(x.data), f32) for x in (left, right))
        return self._dot(self.inside.interpreter_builder, left, right, *rest)

    def _argument(self, argument: tuple[Any, ...], buffers: list[Any]) -> Any:
        """A scalar tensor of exactly the ABI's type: a pointer into a buffer, or a number."""
        kind, *value = argument
        kind_type = self.tl.str_to_ty(kind, None)
        if kind.startswith("*"):
            data = np.array([buffers[value[0]].ctypes.data + MARGIN + value[1]], np.uint64)
        else:
            data = _number(value[0], self.inside._get_np_dtype(kind_type), kind)
        return self.tl.tensor(self.inside.TensorHandle(data, kind_type), kind_type)

    def _elementwise(self, function: Any) -> Any:
        """A function of NumPy arrays as one of tensors, in the type of the first operand."""

        def call(*operands: Any) -> Any:
            tensors = [self.inside.interpreter_semantic.to_tensor(x) for x in operands]
            lead = max(tensors, key=lambda t: len(t.shape))
            data = function(*(t.handle.data for t in tensors))
            data = np.asarray(data).astype(lead.handle.data.dtype if np.asarray(data).dtype.kind == "f" else np.int32)
            scalar = lead.dtype if data.dtype.kind == "f" else self.tl.int32
            shape = [int(n) for n in lead.shape]
            kind = self.tl.block_type(scalar, shape) if shape else scalar
            return self.tl.tensor(self.inside.TensorHandle(data, scalar), kind)

        return call


def libdevice_functions() -> dict[str, Any]:
    """NumPy meanings of libdevice's functions, those of operators from the table of the language."""
    from ..numerics import apply
    from ..numerics.storage import dtype_of
    from ..terms.operators import OPERATORS

    def by_operator(name: str) -> Any:
        return lambda *x: apply(OPERATORS[name], *x, dtype=dtype_of(x[0].dtype))

    operators = {
        "exp": "exp", "exp2": "exp2", "log": "log", "log1p": "log1p", "log2": "log2", "sin": "sin", "cos": "cos",
        "asin": "asin", "tanh": "tanh", "erf": "erf", "erfc": "erfc", "cyl_bessel_i0": "i0", "lgamma": "lgamma",
        "pow": "pow", "fmod": "fmod", "rsqrt": "rsqrt",
    }  # fmt: skip
    plain = {
        "rint": np.rint, "nearbyint": np.rint, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil,
        "sqrt_rn": np.sqrt, "div_rn": np.divide, "isnan": np.isnan, "isinf": np.isinf,
        "copysign": np.copysign, "fabs": np.abs,
        "ldexp": np.ldexp, "fma_rn": lambda a, b, c: a * b + c,
    }  # fmt: skip
    return plain | {name: by_operator(op) for name, op in operators.items()}


def _number(value: Any, dtype: Any, kind: str) -> Any:
    if kind == "bf16":  # the interpreter holds it as its bits
        return (np.array([value], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.array([value], dtype)


def _from_bf16(bits: Any) -> Any:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _guarded(span: bytes) -> Any:
    buffer = np.full(len(span) + 2 * MARGIN, CANARY, np.uint8)
    buffer[MARGIN : MARGIN + len(span)] = np.frombuffer(span, np.uint8)
    return buffer


def _checked(buffer: Any) -> bytes:
    margins = np.concatenate([buffer[:MARGIN], buffer[-MARGIN:]])
    if (margins != CANARY).any():
        raise IndexError("a store outside the arrays")
    return buffer[MARGIN:-MARGIN].tobytes()  # type: ignore[no-any-return]


def _reduce_slices(self: Any, values: tuple[Any, ...]) -> list[Any]:
    """`ReduceOps.generic_reduce` over whole slices: a helper is elementwise, so that it takes them at once."""
    axis, data = self.axis, [v.handle.data for v in values]
    acc: Any = None
    for i in range(data[0].shape[axis]):
        member = tuple(self.to_tensor(np.take(d, i, axis), v.dtype) for d, v in zip(data, values, strict=True))
        if acc is None:
            acc = member
        else:
            out = self.combine_fn.fn(*acc, *member)
            acc = out if isinstance(out, tuple) else (out,)
    return [
        self.to_tensor(a.handle.data.reshape(np.take(data[0], 0, axis).shape), v.dtype)
        for a, v in zip(acc, values, strict=True)
    ]


if __name__ == "__main__":
    main()
