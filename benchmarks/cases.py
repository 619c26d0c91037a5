"""What the scorecard times: kernels of the corpus at its large sizes, and a few of its own.

intent-np build benchmarks/cases.py --target sm_90 --out out
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import intent_np as intent
import intent_np.language as I
import kernels
from intent_np.testing import Case, host_program, launch
from intent_np.testing import approx as A
from kernels.attention import attention_window, attention_window_oracle
from kernels.attention_training import attention_forward_oracle
from kernels.extents import VECTORS, sizes
from kernels.layout import rope_heads, rope_oracle
from kernels.reductions import row_sum
from kernels.scans import cumsum


# Kernels of its own: those of the corpus where the peers' numbers are approximate, and others
@intent.kernel
def softmax_approximate(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    """y = exp(x) / sum(exp(x)) by row, in f32, with the exponential and the quotient that Triton's own are."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.cast(x[row, :], I.f32)
        weight = I.exp(value - I.reduce.max(value, axis=0), approximate=True)
        y[row, :] = I.cast(I.fdiv(weight, I.reduce.sum(weight, axis=0), approximate=True), I.f16)


@intent.kernel
def swiglu_approximate(gate: I.In[I.bf16, ("M", "N")], up: I.In[I.bf16, ("M", "N")], out: I.Out[I.bf16, ("M", "N")]):
    """out = silu(gate) up, the former rounded to bf16, with the sigmoid that Triton's own is."""
    g = I.cast(gate[:, :], I.f32)
    out[:, :] = I.cast(g * I.sigmoid(g, approximate=True), I.bf16) * up[:, :]


@intent.kernel
def count_bytes(x: I.In[I.u8, ("N",)], counts: I.Out[I.i32, (256,)]):
    """counts[b] = how many elements of x are b."""
    counts[:] = I.histogram(x[:], bins=256, count_dtype=I.i32)


@intent.fn
def weighted(scores, values):
    """Of some keys: each query's largest score, and its weights' sum and sum of values relative to that."""
    peak = I.reduce.max(scores, axis=1)
    base = I.select(peak == float("-inf"), 0.0, peak)
    weight = I.exp(scores - base[:, None])
    product = I.matmul(I.cast(weight, I.f16), values, acc_dtype=I.f32)
    return I.record(peak=peak, total=I.reduce.sum(weight, axis=1), product=product)


@intent.fn
def together(a, b):
    """The same of two groups of keys."""
    peak = I.maximum(a.peak, b.peak)
    base = I.select(peak == float("-inf"), 0.0, peak)
    left, right = I.exp(a.peak - base), I.exp(b.peak - base)
    product = a.product * left[:, None] + b.product * right[:, None]
    return I.record(peak=peak, total=a.total * left + b.total * right, product=product)


@intent.kernel
def attention_fold(
    q: I.In[I.f16, ("B", "H", "Q", "D")],
    k: I.In[I.f16, ("B", "H", "K", "D")],
    v: I.In[I.f16, ("B", "H", "K", "D"), I.constraints(finite=True)],
    out: I.Out[I.f16, ("B", "H", "Q", "D")],
    D: I.Constexpr[int],
    SCALE: I.Constexpr[float],
    CAUSAL: I.Constexpr[bool],
):
    """softmax(Q K' SCALE) V as one fold over the keys, with exact numerics."""
    B, H, Q, _ = q.shape
    queries, keys = I.domain(0, Q), I.domain(0, k.shape[2])
    seen = I.indices(keys)[None, :] <= I.indices(queries)[:, None]
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        scores = I.matmul(q[b, h, queries, :], k[b, h, keys, :], transpose_rhs=True, acc_dtype=I.f32) * SCALE
        if CAUSAL:
            scores = I.select(seen, scores, float("-inf"))
        found = I.region_fold(
            (scores, v[b, h, keys, :]),
            axis=(1, 0),
            summarize=weighted,
            combine=together,
            identity=I.record(
                peak=I.full((Q,), float("-inf"), I.f32), total=I.zeros((Q,), I.f32), product=I.zeros((Q, D), I.f32)
            ),
        )
        out[b, h, queries, :] = I.cast(found.product / found.total[:, None], I.f16)


@intent.kernel
def variance(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    """The biased variance of each row: the mean of squares about the mean."""
    M, N = x.shape
    count = I.cast(N, I.f32)
    for row in I.parallel(I.domain(0, M)):
        value = x[row, :]
        centered = value - I.reduce.sum(value, axis=0) / count
        y[row] = I.reduce.sum(centered * centered, axis=0) / count


@intent.kernel
def cumsum_behind(x: I.In[I.f32, ("M", "N")], before: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("M", "N")]):
    """Running sums of each row, which begin with what is before it."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row, :] = before[row] + I.cumsum(x[row, :], axis=0)


@host_program
def cumsum_composed(x: I.In[I.f32, ("P * LENGTH",)], y: I.Out[I.f32, ("P * LENGTH",)], LENGTH: I.Constexpr[int] = 8192):
    """y[n] = sum of x[i] for i <= n: the sums of parts, what is before each of them, and the sums inside of each."""
    rows = x.reshape(-1, LENGTH)
    total = np.empty_like(x, shape=(len(rows),))
    before = np.empty_like(x, shape=(1, len(rows)))
    launch(row_sum, rows, total)
    launch(cumsum, total.reshape(1, -1), before, INCLUSIVE=False, REVERSE=False)
    launch(cumsum_behind, rows, before.reshape(-1), y.reshape(-1, LENGTH))


# Oracles
def count_bytes_oracle(x):
    return {"counts": np.bincount(np.asarray(x, "i8"), minlength=256)}


def variance_oracle(x):
    value = A.exact(x)
    centered = value - A.mean(value, axis=1)
    return {"y": A.mean(centered * centered, axis=1, keepdims=False)}


def cumsum_composed_oracle(x, LENGTH):
    return {"y": A.running_total(A.exact(x), axis=0)}


# At the sizes of the scorecard
_HEADS = {"B": 4, "H": 16, "Q": 4096, "K": 4096}
_FEW = sizes("B H Q K", "1 1 1 1, 1 2 65 65, 2 1 150 150")
_ELEMENTS = {"N": 2**27}
_ROWS = {"M": 8192, "N": 16384}


def _corpus(name: str, *large: Mapping[str, int], title: str = "", **changed: Any) -> Case:
    case = next(case for case in kernels.cases() if case.name == name)
    return replace(case, name=title or name, large=large or case.large, **changed)


def _attention(name: str, kernel: Any, oracle: Any, visible: float, relaxed: bool = False, **constants: Any) -> Case:
    constexprs = {**constants, "D": 128, "SCALE": 128**-0.5}
    return Case(
        name=name,
        kernel=kernel,
        oracle=(lambda **inputs: oracle(**inputs, relaxed=True)) if relaxed else oracle,
        small=_FEW,
        large=(_HEADS,),
        constexprs=constexprs,
        options={"numerics": "relaxed_normalization"} if relaxed else {},
        values=("normal", "integers", "negative"),
        bytes=lambda e: 4 * e["B"] * e["H"] * 128 * (e["Q"] + e["K"]),
        flops=lambda e: int(4 * visible * e["B"] * e["H"] * e["Q"] * e["K"] * 128),
    )


def visible(window: int, length: int = 4096) -> float:
    """The share of scores that a causal window keeps."""
    return sum(min(window, i + 1) for i in range(length)) / length**2


def _fold_oracle(q, k, v, D, SCALE, CAUSAL):
    return {"out": attention_forward_oracle(q, k, v, D, SCALE, CAUSAL)["out"]}


WINDOWS = (256, 512, 1024, 2048)

CASES = (
    *(_corpus(name) for name in ("relu", "swiglu", "softmax", "softmax_relaxed", "layer_norm", "rms_norm")),
    _corpus("swiglu", title="swiglu_approximate", kernel=swiglu_approximate),
    _corpus("softmax", title="softmax_approximate", kernel=softmax_approximate),
    *(_corpus(name) for name in ("row_sum", "col_sum", "transpose", "embedding")),
    _corpus("sum_all", _ELEMENTS),
    _corpus("max_argmax", _ROWS),
    _corpus("max_argmax_all", _ELEMENTS),
    Case(
        name="variance",
        kernel=variance,
        oracle=variance_oracle,
        small=sizes("M N", "1 1, 3 31, 5 129, 2 20011"),
        large=(_ROWS,),
        bytes=lambda e: 4 * (e["M"] * e["N"] + e["M"]),
        flops=lambda e: 4 * e["M"] * e["N"],
    ),
    _corpus("cumsum", _ROWS),
    Case(
        name="cumsum_composed",
        kernel=cumsum_composed,
        oracle=cumsum_composed_oracle,
        small=sizes("P", "1, 3, 16"),
        large=({"P": 8192},),
        constexprs={"LENGTH": 8192},
        values=("normal", "integers", "negative", "special"),
        bytes=lambda e: 2 * 4 * e["P"] * 8192,
        flops=lambda e: e["P"] * 8192,
    ),
    _corpus("embedding_backward", {"V": 8192, "N": 65536, "D": 1024}),
    Case(
        name="count_bytes",
        kernel=count_bytes,
        oracle=count_bytes_oracle,
        small=VECTORS,
        large=(_ELEMENTS,),
        values=("normal",),
        bytes=lambda e: e["N"] + 4 * 256,
        flops=lambda e: e["N"],
    ),
    _corpus("philox_dropout", _ELEMENTS),
    _corpus("adamw", {"N": 2**26}),
    _corpus("cross_entropy", {"M": 8192, "N": 128256}),
    _corpus("cross_entropy", {"M": 8192, "N": 128256}, title="cross_entropy_relaxed", options={"numerics": "relaxed"}),
    Case(
        name="rope_heads",
        kernel=rope_heads,
        oracle=lambda x, cosine, sine, D: {"x": rope_oracle(x, x, cosine, sine, D)["q"]},
        small=sizes("B H S", "1 1 1, 2 3 5, 1 2 31"),
        large=({"B": 4, "H": 32, "S": 4096},),
        constexprs={"D": 64},
        values=("normal", "integers", "negative"),
        bytes=lambda e: 2 * 2 * 128 * e["B"] * e["H"] * e["S"],
        flops=lambda e: 3 * 128 * e["B"] * e["H"] * e["S"],
    ),
    *(_corpus(name) for name in ("matmul_f16", "matmul_bf16", "matmul_f32", "split_k", "grouped_matmul")),
    *(_corpus(name) for name in ("matmul_bias_gelu_f16", "matmul_bias_gelu_bf16")),
    _corpus("triangular_matmul", {"M": 8192, "N": 8192}),
    *(_corpus(f"attention{kind}{form}") for form in ("", "_relaxed") for kind in ("", "_causal")),
    _attention("attention_fold", attention_fold, _fold_oracle, 1.0, CAUSAL=False),
    _attention("attention_fold_causal", attention_fold, _fold_oracle, 0.5, CAUSAL=True),
    *(
        _attention(
            f"attention_window_{w}", attention_window, attention_window_oracle, visible(w), relaxed=True, WINDOW=w
        )
        for w in WINDOWS
    ),
)


def case_of(name: str) -> Case:
    """The case of the scorecard that is called so."""
    return next(case for case in CASES if case.name == name)
