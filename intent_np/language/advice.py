"""What to write instead of names that other array languages have, and where outside of a kernel a mistake was made."""

from __future__ import annotations

import linecache
import sys
from itertools import islice

from intent_np.errors import Span

from .declare import OPERATIONS

_INSTEAD = {
    "where": "use I.select(condition, then, otherwise)",
    "arange linspace iota": "use I.indices(I.domain(begin, end))",
    "program_id num_programs threadIdx blockIdx blockDim thread_id block_id tl cuda": (
        "say what each point computes, the compiler chooses the programs: for i in I.parallel(I.domain(0, N))"
    ),
    "load": "read elements: x[row, columns], or I.gather(x, index, valid=, fill=) where lanes may be outside",
    "store": "assign to elements: y[row, columns] = value",
    "barrier syncthreads debug_barrier": "leave it out: statements mean what they say in order",
    "shared shared_memory empty": "use I.buffer(shape, dtype), memory of the kernel's own",
    "ones": "use I.full(shape, 1, dtype)",
    "mean average": "divide the sum: I.reduce.sum(value, axis=...) / count",
    "var std": "write it with I.reduce.sum, or see I.region_fold",
    "argmax": "use I.arg_reduce.max(value, axis=...), which gives the values and their positions",
    "argmin": "use I.arg_reduce.min(value, axis=...), which gives the values and their positions",
    "range static_range": "use range(...), or I.domain(begin, end, step)",
    "cdiv": "use I.ceil_div(a, b)",
    "constexpr": "use I.Constexpr[int]",
    "einsum tensordot": "use I.contract(left, right, reduce=((1, 0),), acc_dtype=...)",
    "pow power": "use the operator **",
    "square": "multiply: value * value",
    "logical_and logical_or logical_not": "use and, or, not",
    "bitwise_and bitwise_or bitwise_xor bitwise_not": "use the operators & | ^ ~",
    "add subtract multiply divide": "use the operator, or write a helper decorated with @intent.fn for a combine",
    "T swapaxes permute": "use I.transpose(value, permutation)",
    "astype to type": "use I.cast(value, dtype)",
    "view": "use I.reshape(value, shape), or I.bitcast(value, dtype)",
    "ravel flatten": "use I.reshape(value, (-1,))",
    "expand_dims unsqueeze newaxis": "insert an axis with None: value[:, None]",
    "squeeze": "take the axis away with an integer: value[:, 0]",
    "broadcast_to expand": "leave it out: a static extent of 1 broadcasts, and None inserts one",
    "item": "take the element by its index: value[0]",
    "size numel": "multiply the extents: x.shape[0] * x.shape[1]",
    "copy clone": "leave it out: values never change",
    "append extend": "make a new tuple, values + (value,), in an unrolled loop; or write to an I.buffer",
    "fill": "assign it: y[:] = 0.0",
    "format": 'leave it to I.debug_print("x = {}", x)',
    "relu": "use I.maximum(value, 0)",
    "inf": 'write float("inf")',
    "nan": 'write float("nan")',
    "sorted": "use I.sort(value, axis=-1)",
    "isinstance type_of": "ask value.dtype or value.shape",
    "zip": "index both operands with one domain",
    "reversed": "walk upwards, and compute the coordinate",
    "map filter": "use tensors over domains",
    "ndarray": 'annotate it I.In[I.f32, ("M", "N")]',
    "float16 half": "use I.f16",
    "bfloat16": "use I.bf16",
    "float32 float single": "use I.f32",
    "float64 double": "use I.f64",
    "bool_ bool8 int1": "use I.bool",
    **{f"int{n}": f"use I.i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"use I.u{n}" for n in (8, 16, 32, 64)},
}
_BY_NAME = {name: text for names, text in _INSTEAD.items() for name in names.split()}


_ATOMICS = {"cas": "compare_exchange", "xchg": "exchange", "and": "and_", "or": "or_"}  # as they are called elsewhere


def foreign(name: str) -> str:
    """What to write instead of a name that is common elsewhere; empty for other names."""
    if name.startswith("atomic_") or name in _ATOMICS:
        bare = name.removeprefix("atomic_")
        member = f"atomic.{_ATOMICS.get(bare, bare)}"
        if member not in OPERATIONS:
            return ""
        return f"use {OPERATIONS[member].usage}"
    return _BY_NAME.get(name, "")


def instead(name: str) -> str:
    """The same, or the operation of that name."""
    if name in ("random", "rand", "uniform", "normal", "randn"):
        member = {"normal": "normal", "randn": "normal"}.get(name, "uniform")
        return f"use I.random.{member}(seed, counter)"
    if f"reduce.{name}" in OPERATIONS:
        return f"use I.reduce.{name}(value, axis=...)"
    return foreign(name) or (f"use {OPERATIONS[name].usage}" if name in OPERATIONS else "")


def caller() -> Span | None:
    """Where the author's code, outside of this package's language, is."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "intent_np":
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line, frame.f_globals).rstrip("\n")
    start, stop = len(text) - len(text.lstrip()), len(text)
    positions = getattr(frame.f_code, "co_positions", None)  # of each instruction, from Python 3.11 on
    if positions is not None:
        place = next(islice(positions(), frame.f_lasti // 2, None), (None,) * 4)
        if place[0] == place[1] == line and place[2] is not None and place[3] is not None and text.isascii():
            start, stop = place[2], place[3]
    return Span(file, line, start + 1, stop + 1, text)
