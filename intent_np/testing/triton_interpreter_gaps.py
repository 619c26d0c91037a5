"""What Triton's interpreter lacks, filled in: bf16, fused multiply-add, libdevice, reductions at a usable speed.

The interpreter holds bf16 as 16-bit integers and then computes with the bits; here operands are widened to f32 and
results rounded back.  Functions of libdevice have their NumPy meaning, by name.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np

OPERATORS = {
    "exp": "exp", "exp2": "exp2", "log": "log", "log1p": "log1p", "log2": "log2", "sin": "sin", "cos": "cos",
    "asin": "asin", "tanh": "tanh", "erf": "erf", "erfc": "erfc", "cyl_bessel_i0": "i0", "lgamma": "lgamma",
    "pow": "pow", "fmod": "fmod", "rsqrt": "rsqrt",
}  # fmt: skip
"""Functions of libdevice that are operators of the language."""

PLAIN: dict[str, Any] = {
    "rint": np.rint, "nearbyint": np.rint, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil, "sqrt_rn": np.sqrt,
    "div_rn": np.divide, "isnan": np.isnan, "isinf": np.isinf, "copysign": np.copysign, "fabs": np.abs,
    "ldexp": np.ldexp,
}  # fmt: skip
"""Functions of libdevice that NumPy has."""

EXTREMES = {
    "create_maximumf": "maximum",
    "create_minimumf": "minimum",
    "create_maxnumf": "maximum_num",
    "create_minnumf": "minimum_num",
}
"""Methods of the interpreter's builder that are operators of the language."""

ASSEMBLY: dict[str, Any] = {"tanh.approx.f32": np.tanh, "ex2.approx.ftz.f32": np.exp2}
"""Instructions that inline assembly may consist of."""


class Gaps:
    """Installs the missing parts into the interpreter; `libdevice` takes the place of the module in generated text."""

    def __init__(self, tl: Any, inside: Any) -> None:
        self.tl, self.inside = tl, inside
        builder, reductions = inside.InterpreterBuilder, inside.ReduceOps
        for name in ("binary_op", "unary_op"):
            setattr(builder, name, self._in_f32(getattr(builder, name)))
        builder.get_bf16 = lambda _, value: self.inside.TensorHandle(
            to_bf16(np.array([value], np.float32)), tl.bfloat16
        )
        builder.get_all_ones_value = lambda _, kind: self._all_ones(kind)
        builder.cast_impl = self._cast(builder.cast_impl)
        builder.create_fp_to_fp = self._through_fp8(builder.create_fp_to_fp)
        builder.create_dot = self._dot(builder.create_dot)
        builder.create_atomic_rmw = self._atomic(builder.create_atomic_rmw)
        # functions, not bound methods: the interpreter's own object comes first
        builder.create_fma = lambda _, x, y, z: self._fma(x, y, z)
        builder.create_inline_asm = lambda _, text, constraints, values, *rest: self._assembly(text, values)
        # of two zeros, NumPy's maximum is the first, the device's the positive one
        for name, op in EXTREMES.items():
            setattr(builder, name, lambda this, x, y, op=op: this.binary_op(x, y, _operator(op)))
        reductions.sum = lambda reduction, value: self._sum(reduction, value)
        reductions.generic_reduce = _reduce_slices
        functions = {**PLAIN, **{name: _operator(op) for name, op in OPERATORS.items()}}
        self.libdevice = SimpleNamespace(**{name: self._elementwise(f) for name, f in functions.items()})

    # ---- bf16

    def _is_bf16(self, x: Any) -> bool:
        return bool(x.dtype.scalar == self.tl.bfloat16)

    def _wide(self, x: Any) -> Any:
        return self.inside.TensorHandle(from_bf16(x.data), self.tl.float32) if self._is_bf16(x) else x

    def _in_f32(self, original: Any) -> Any:
        def operate(builder: Any, *operands: Any) -> Any:
            *handles, function = operands
            if not self._is_bf16(handles[0]):
                made = original(builder, *operands)
                # a comparison keeps the type of what it compares, which a scalar one is then spread as
                return self.inside.TensorHandle(made.data, self.tl.int1) if made.data.dtype.kind == "b" else made
            data = function(*(self._wide(h).data for h in handles))
            if data.dtype.kind != "f":  # a comparison
                return self.inside.TensorHandle(data, self.tl.int1)
            return self.inside.TensorHandle(to_bf16(data), self.tl.bfloat16)

        return operate

    def _cast(self, original: Any) -> Any:
        def cast(builder: Any, value: Any, kind: Any) -> Any:
            if kind.scalar == self.tl.bfloat16 and not self._is_bf16(value):
                return self.inside.TensorHandle(to_bf16(value.data), kind.scalar)
            return original(builder, self._wide(value), kind)

        return cast

    def _through_fp8(self, original: Any) -> Any:
        """Conversions of 8-bit floats as the device's instructions make them: to nearest even, what is too large is the
        largest finite number, NaN stays NaN."""
        import ml_dtypes

        formats = {self.tl.float8e4nv: ml_dtypes.float8_e4m3fn, self.tl.float8e5: ml_dtypes.float8_e5m2}

        def convert(builder: Any, value: Any, kind: Any, rounding: Any) -> Any:
            source, target = formats.get(value.dtype.scalar), formats.get(kind.scalar)
            if source is None and target is None:
                return original(builder, value, kind, rounding)
            wide = value.data.view(source) if source is not None else self._wide(value).data
            wide = wide.astype(np.float32)
            if target is not None:
                largest = float(ml_dtypes.finfo(target).max)
                data = np.clip(wide, -largest, largest).astype(target).view(np.uint8)
            else:
                data = wide
            handle = self.inside.TensorHandle(data, self.tl.float32 if target is None else kind.scalar)
            return handle if target is not None or kind.scalar == self.tl.float32 else builder.cast_impl(handle, kind)

        return convert

    def _dot(self, original: Any) -> Any:
        def dot(builder: Any, left: Any, right: Any, *rest: Any) -> Any:
            return original(builder, self._wide(left), self._wide(right), *rest)

        return dot

    def _atomic(self, original: Any) -> Any:
        def atomic(builder: Any, operation: Any, pointer: Any, value: Any, mask: Any, *rest: Any) -> Any:
            if not self._is_bf16(value) or "FADD" not in str(operation):
                return original(builder, operation, pointer, value, mask, *rest)
            old = np.zeros(value.data.shape, np.uint16)
            for k in np.ndindex(old.shape):  # one lane after the other, each sum rounded
                if mask.data[k]:
                    held = np.ctypeslib.as_array((ctypes.c_uint16 * 1).from_address(int(pointer.data[k])))
                    old[k] = held[0]
                    held[0] = to_bf16(from_bf16(held) + from_bf16(value.data[k]))[0]
            return self.inside.TensorHandle(old, self.tl.bfloat16)

        return atomic

    def _sum(self, reduction: Any, value: Any) -> Any:
        handle = self._wide(value.handle)
        total = np.sum(handle.data, axis=reduction.axis, keepdims=reduction.keep_dims, dtype=handle.data.dtype)
        return reduction.to_tensor(np.asarray(to_bf16(total) if self._is_bf16(value.handle) else total), value.dtype)

    def _all_ones(self, kind: Any) -> Any:
        """What `~` is an exclusive or with; the interpreter knows none of unsigned integers."""
        dtype = self.inside._get_np_dtype(kind)
        ones = np.full(1, True) if dtype == np.bool_ else ~np.zeros(1, dtype)
        return self.inside.TensorHandle(ones, kind.scalar)

    # ---- functions

    def _fma(self, x: Any, y: Any, z: Any) -> Any:
        data = [self._wide(h).data for h in (x, y, z)]
        result = _operator("fma")(*data)
        return self.inside.TensorHandle(to_bf16(result) if self._is_bf16(z) else result, z.dtype.scalar)

    def _assembly(self, text: str, values: Any) -> Any:
        result = ASSEMBLY[text.split()[0]](*(v.data for v in values))
        return SimpleNamespace(get_result=lambda _: self.inside.TensorHandle(result, values[0].dtype.scalar))

    def _elementwise(self, function: Any) -> Any:
        """A function of NumPy arrays as one of tensors, in the type of the operand with the most dimensions."""

        def call(*operands: Any) -> Any:
            tensors = [self.inside.interpreter_semantic.to_tensor(x) for x in operands]
            lead = max(tensors, key=lambda t: len(t.shape))
            data = np.asarray(function(*(t.handle.data for t in tensors)))
            scalar = lead.dtype if data.dtype.kind == "f" else self.tl.int32
            data = data.astype(lead.handle.data.dtype if data.dtype.kind == "f" else np.int32)
            kind = self.tl.block_type(scalar, [int(n) for n in lead.shape]) if lead.shape else scalar
            return self.tl.tensor(self.inside.TensorHandle(data, scalar), kind)

        return call


def from_bf16(bits: Any) -> Any:
    """The numbers behind the bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bf16(x: Any) -> Any:
    """Rounded to nearest even, as bits."""
    import ml_dtypes

    return np.asarray(x).astype(ml_dtypes.bfloat16).view(np.uint16)


def _operator(name: str) -> Any:
    from ..numerics import apply
    from ..numerics.storage import dtype_of
    from ..terms.operators import OPERATORS as TABLE

    return lambda *x: apply(TABLE[name], *x, dtype=dtype_of(np.asarray(x[0]).dtype))


def _reduce_slices(reduction: Any, values: tuple[Any, ...]) -> list[Any]:
    """`ReduceOps.generic_reduce` by neighbours: a helper is elementwise, so one call combines all pairs."""
    axis, members = reduction.axis, tuple(values)
    while (n := members[0].handle.data.shape[axis]) > 1:  # a power of two, as all extents of Triton are
        pairs = [
            tuple(reduction.to_tensor(np.take(v.handle.data, range(side, n, 2), axis), v.dtype) for v in members)
            for side in (0, 1)
        ]
        out = reduction.combine_fn.fn(*pairs[0], *pairs[1])
        members = out if isinstance(out, tuple) else (out,)
    return [reduction.to_tensor(np.take(m.handle.data, 0, axis), v.dtype) for m, v in zip(members, values, strict=True)]
