"""What `benchmarks.numerics` runs: one kernel for each operator and element type and each conversion, its operands,
and the judgement of what came out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from intent_np import numerics
from intent_np.backends.triton.spelling import ATOM, Spelling
from intent_np.numerics.floats import LIBRARY
from intent_np.numerics.literals import FORMATS
from intent_np.numerics.storage import Array, bits, storage
from intent_np.terms.dtypes import DTYPES, DType, bool_, f32, f64
from intent_np.terms.operators import OPERATORS, Op, result_dtype
from intent_np.testing.functions import EXACT, power_samples, rounded, samples

BLOCK = 1024
STRIDE = 257  # of all f32 bit patterns every so many: 32 thousand a binade
TRITON_TYPES = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "f8e4m3fn": "fp8e4nv", "f8e5m2": "fp8e5", "bool": "i1"}
TYPES = [d for d in DTYPES.values() if d.name != "index"]


@dataclass(frozen=True)
class Verdict:
    """steps: representable values between a result and the right one, at most; error: the same in units in the last
    place of the exact value; at: operands where the steps are most; bound: steps allowed; count: lanes judged."""

    steps: float
    error: float
    at: str
    bound: float
    count: int

    @property
    def ok(self) -> bool:
        return self.steps <= self.bound


@dataclass(frozen=True)
class Item:
    """One kernel.  `judge(results, *operands)` compares a slice of it."""

    name: str
    group: str
    sources: tuple[DType, ...]
    result: DType
    text: str
    operands: Callable[[], tuple[Array, ...]]
    judge: Callable[..., tuple[Array, Array]]
    bound: float

    def module(self, capability: int) -> str:
        """The module text, a kernel of `x, y, z, out, n`."""
        spelling = Spelling(capability)
        text = self.spell(spelling)
        names = "xyz"[: len(self.sources)]
        loads = "".join(f"    {a} = tl.load({p} + i, mask=m)\n" for a, p in zip("abc", names, strict=False))
        head = "import triton\nimport triton.language as tl\n" + "\n".join(spelling.imports())
        parts = [head, *("\n".join(lines) for lines in spelling.helpers())]
        parts.append(
            f"@triton.jit\ndef kernel({', '.join(names)}, out, n):\n"
            f"    i = tl.program_id(0) * {BLOCK} + tl.arange(0, {BLOCK})\n    m = i < n\n"
            f"{loads}    tl.store(out + i, {text}, mask=m)\n"
        )
        return "\n\n\n".join(parts)

    def spell(self, spelling: Spelling) -> str:
        operands = [(n, ATOM) for n in "abc"[: len(self.sources)]]
        if self.group == "conversions":
            return spelling.conversion(operands[0], self.sources[0], self.result, mode=self.text)[0]
        return spelling.operator(OPERATORS[self.text], self.sources[0], operands)[0]

    @property
    def signature(self) -> list[tuple[str, str]]:
        names = [*"xyz"[: len(self.sources)], "out"]
        types = [*self.sources, self.result]
        pointers = [(n, "*" + TRITON_TYPES.get(d.name, d.name)) for n, d in zip(names, types, strict=True)]
        return [*pointers, ("n", "i32")]


def items(capability: int) -> Iterator[Item]:
    """Every operator but `select` on every type, then every conversion."""
    types = [d for d in TYPES if capability >= 89 or d.name != "f8e4m3fn"]
    for op in OPERATORS.values():
        for dtype in types:
            if op.accepts(dtype) and op.name != "select" and (dtype is f32 or not op.name.endswith("_approx")):
                yield _operator(op, dtype)
    for source in types:
        for dst in types:
            for mode in ("wrap", "saturate", "bits"):
                castable = mode != "bits" or (source.bits == dst.bits and (source is bool_) == (dst is bool_))
                if castable and source is not dst:
                    yield _conversion(source, dst, mode)


def judge(item: Item, results: Array, operands: tuple[Array, ...], pool: ThreadPoolExecutor) -> Verdict:
    """The verdict on all lanes, a slice at a time in several threads."""
    size = 1 << 18
    slices = [slice(start, start + size) for start in range(0, len(results), size)]
    parts = list(pool.map(lambda s: item.judge(results[s], *(o[s] for o in operands)), slices))
    steps, error = (np.concatenate(column) for column in zip(*parts, strict=True))
    worst = int(steps.argmax())
    at = ", ".join(repr(o[worst].item()) for o in operands)
    return Verdict(float(steps[worst]), float(error.max()), at, item.bound, len(results))


# --- operators


def _operator(op: Op, dtype: DType) -> Item:
    arity = op.arity if op.arity > 0 else 2
    result = result_dtype(op, (dtype,) * arity)
    bound = float(int(numerics.ulp_bound(op, dtype)))
    base = op.name.removesuffix("_approx")
    group = "functions" if op.name in LIBRARY or op.name.endswith("_approx") else "arithmetic"
    verdict: Callable[..., tuple[Array, Array]] = partial(_same, op, dtype)
    operands: Callable[[], tuple[Array, ...]] = partial(_operands, dtype, arity)
    if base in EXACT and dtype is f64:
        verdict, operands = partial(_rounded, op), partial(_samples, base)
    elif group == "functions" and op.name != "div_approx":
        verdict = partial(_near, op, dtype)
    elif op.name == "div_approx":
        verdict = partial(_quotient, op, dtype)
    return Item(f"{op.name}-{dtype}", group, (dtype,) * arity, result, op.name, operands, verdict, bound)


def _same(op: Op, dtype: DType, results: Array, *operands: Array) -> tuple[Array, Array]:
    """Operators with one right value: 0 steps where it is that value, bit for bit but for the NaN."""
    return _equal(results, numerics.apply(op, *operands, dtype=dtype), numerics.invalid(op, *operands, dtype=dtype))


def _equal(results: Array, right: Array, invalid: Array) -> tuple[Array, Array]:
    with np.errstate(all="ignore"):
        whole = np.dtype(f"u{right.itemsize}")
        differ = np.ascontiguousarray(results).view(whole) != np.ascontiguousarray(right).view(whole)
        differ &= ~((results != results) & (right != right)) & ~invalid
    off = np.where(differ, np.inf, 0.0)
    return off, off


def _near(op: Op, dtype: DType, results: Array, *operands: Array) -> tuple[Array, Array]:
    """Functions against f64."""
    with np.errstate(all="ignore"):
        exact = LIBRARY[op.name](*(o.astype(np.float64) for o in operands))
    return _off(op, dtype, results, exact, operands)


def _quotient(op: Op, dtype: DType, results: Array, *operands: Array) -> tuple[Array, Array]:
    with np.errstate(all="ignore"):
        exact = operands[0].astype(np.float64) / operands[1].astype(np.float64)
    return _off(op, dtype, results, exact, operands)


def _off(op: Op, dtype: DType, results: Array, exact: Array, operands: tuple[Array, ...]) -> tuple[Array, Array]:
    """Steps to the rounded value, and the error in units of the exact one, where the bound is promised."""
    form, right = FORMATS[dtype.name], numerics.narrow(exact, dtype)
    with np.errstate(all="ignore"):
        steps = numerics.distance(results, right, dtype)
        zero = (right == 0) & (results == 0) & (exact == 0)
        steps = np.where(zero & (np.signbit(results) != np.signbit(right)), np.inf, steps)
        _, exponent = np.frexp(exact)
        unit = np.ldexp(1.0, np.maximum(exponent - form.precision, form.least))
        error = np.abs(results.astype(np.float64) - exact) / unit
        error = np.where(np.isfinite(error), error, 0.0)
    ignored = ~numerics.bound_holds(op, *operands, dtype=dtype) | numerics.invalid(op, *operands, dtype=dtype)
    return np.where(ignored, 0.0, steps), np.where(ignored, 0.0, error)


def _rounded(op: Op, results: Array, *operands: Array) -> tuple[Array, Array]:
    """f64 functions against mpmath."""
    steps = numerics.distance(results, rounded(op.name, f64, *(o.tolist() for o in operands)), f64)
    steps = np.where(numerics.bound_holds(op, *operands, dtype=f64), steps, 0.0)
    return steps, steps


@cache
def _samples(name: str) -> tuple[Array, ...]:
    if name == "pow":
        return power_samples(f64, 600)
    return (samples(name, f64, _patterns(f64, 500)[0], 400),)


# --- conversions


def _conversion(source: DType, dst: DType, mode: str) -> Item:
    verdict = partial(_converted, source, dst, mode)
    name = f"{source}-{dst}-{mode}"
    return Item(name, "conversions", (source,), dst, mode, partial(_operands, source, 1), verdict, 0.0)


def _converted(source: DType, dst: DType, mode: str, results: Array, x: Array) -> tuple[Array, Array]:
    if mode == "bits":
        return _equal(results, numerics.bitcast(x, dst, source), np.zeros(1, np.bool_))
    if mode == "saturate":
        return _equal(results, numerics.saturate_cast(x, dst, source), np.zeros(1, np.bool_))
    return _equal(results, numerics.cast(x, dst, source), numerics.invalid_cast(x, dst, source))


# --- operands


@cache
def _operands(dtype: DType, arity: int) -> tuple[Array, ...]:
    """All operands of 8-bit types and all single ones of 16 bits; of f32 a regular subset; else random patterns, and
    near values whose sums cancel and whose quotients are moderate."""
    if dtype is bool_:
        return tuple(np.array([(k >> i) & 1 for k in range(8)], np.bool_) for i in range(arity))
    if dtype.bits <= 16 // arity or (dtype is f32 and arity == 1):
        step = STRIDE if dtype is f32 else 1
        codes = np.arange(0, 2**dtype.bits, step, dtype=np.uint64).astype(bits(dtype)).view(storage(dtype))
        return (codes,) if arity == 1 else tuple(np.ascontiguousarray(g.ravel()) for g in np.meshgrid(codes, codes))
    count = 1 << 20
    drawn = [_patterns(dtype, count, seed) for seed in range(arity)]
    if not dtype.is_float:
        return tuple(x for x, _ in drawn)
    rng = np.random.default_rng(9)
    near = [rng.standard_normal(count) * 2.0 ** rng.integers(-4, 4, count) for _ in range(arity)]
    if arity == 3:
        near[2] = -near[0] * near[1] * (1 + rng.integers(-1, 2, count) * 2.0**-9)
    return tuple(np.concatenate([x, numerics.narrow(y, dtype)]) for (x, _), y in zip(drawn, near, strict=True))


def _patterns(dtype: DType, count: int, seed: int = 0) -> tuple[Array, int]:
    """Random bits with every pair of special values at the front, and the number of those."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 2**dtype.bits, count, bits(dtype), endpoint=False)
    if dtype.is_float:
        form = FORMATS[dtype.name]
        special = [0.0, 2.0**form.least, 1.0, 1.5, 2.0, 3.0, form.largest, np.nan, 2.0 ** (form.precision + form.least)]
        special += [np.inf] if form.infinite else []
        ends = numerics.narrow(np.array([s * v for v in special for s in (1, -1)]), dtype)
    else:
        least, most = dtype.range
        values = [v for c in (least, 0, most) for v in range(c - 3, c + 4) if least <= v <= most]
        ends = np.array(values, storage(dtype))
    k = len(ends)
    order = np.tile(np.arange(k), k) if seed % 2 else np.repeat(np.arange(k), k)
    x = whole.view(storage(dtype)).copy()
    n = min(len(order), count)
    x[:n] = ends[order[:n]]
    return x, n


def describe(verdict: Verdict) -> str:
    """As in the table: steps, then the error where it is known to be finer, and a mark where the bound is exceeded."""
    finer = f" ({verdict.error:.2f})" if verdict.error != verdict.steps else ""
    return f"{verdict.steps:g}{finer}" + ("" if verdict.ok else f" > {verdict.bound:g}")


__all__ = ["BLOCK", "Item", "Verdict", "describe", "items", "judge"]
