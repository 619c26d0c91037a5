"""Matrix products."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A

from .extents import PRODUCTS


class Epilogue(I.Enum):
    NONE = 0
    RELU = 1


def matmul_of(dtype, acc_dtype, out_dtype):
    """The kernel C = epilogue(A B) with elements of `dtype`, sums in `acc_dtype` and results in `out_dtype`."""

    @intent.kernel
    def matmul(
        a: I.In[dtype, ("M", "K")],
        b: I.In[dtype, ("K", "N")],
        c: I.Out[out_dtype, ("M", "N")],
        EPILOGUE: I.Constexpr[Epilogue] = Epilogue.NONE,
    ):
        product = I.matmul(a[:, :], b[:, :], acc_dtype=acc_dtype)
        if EPILOGUE == Epilogue.RELU:
            product = I.maximum(product, 0)
        c[:, :] = I.cast(product, out_dtype)

    return matmul


matmul_f16 = matmul_of(I.f16, I.f32, I.f16)
matmul_bf16 = matmul_of(I.bf16, I.f32, I.bf16)
matmul_f32 = matmul_of(I.f32, I.f32, I.f32)
matmul_f64 = matmul_of(I.f64, I.f64, I.f64)
matmul_i8 = matmul_of(I.i8, I.i32, I.i32)


@intent.fn
def gelu(x):
    """x Phi(x), through erf."""
    return 0.5 * x * (1.0 + I.erf(x * 0.7071067811865476))


def matmul_bias_gelu_of(dtype):
    """The kernel C = gelu(A B + bias) with elements of `dtype`, in f32."""

    @intent.kernel
    def matmul_bias_gelu(
        a: I.In[dtype, ("M", "K")],
        b: I.In[dtype, ("K", "N")],
        bias: I.In[dtype, ("N",)],
        c: I.Out[dtype, ("M", "N")],
    ):
        product = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)
        c[:, :] = I.cast(gelu(product + I.cast(bias[:], I.f32)), dtype)

    return matmul_bias_gelu


matmul_bias_gelu_f16 = matmul_bias_gelu_of(I.f16)
matmul_bias_gelu_bf16 = matmul_bias_gelu_of(I.bf16)


@intent.kernel
def batched_matmul(a: I.In[I.f16, ("B", "M", "K")], b: I.In[I.f16, ("B", "K", "N")], c: I.Out[I.f16, ("B", "M", "N")]):
    """c[i] = a[i] b[i]."""
    product = I.contract(a[:, :, :], b[:, :, :], reduce=((2, 1),), batch=((0, 0),), acc_dtype=I.f32)
    c[:, :, :] = I.cast(product, I.f16)


@intent.kernel
def batched_matmul_shared(
    a: I.In[I.f16, ("B", "M", "K")], b: I.In[I.f16, (1, "K", "N")], c: I.Out[I.f16, ("B", "M", "N")]
):
    """c[i] = a[i] b[0]: one right side for the whole batch."""
    B, _, _ = a.shape
    for i in I.parallel(I.domain(0, B)):
        c[i, :, :] = I.cast(I.matmul(a[i, :, :], b[0, :, :], acc_dtype=I.f32), I.f16)


@intent.kernel
def matvec(a: I.In[I.f16, ("M", "K")], x: I.In[I.f16, ("K",)], y: I.Out[I.f16, ("M",)]):
    """y = A x, in f32."""
    y[:] = I.cast(I.matvec(a[:, :], x[:], acc_dtype=I.f32), I.f16)


# Oracles
def matmul_oracle(a, b, EPILOGUE):
    product = A.matmul(A.exact(a), A.exact(b))
    return {"c": A.larger(product, 0) if EPILOGUE == Epilogue.RELU else product}


def matmul_f32_oracle(a, b, EPILOGUE):
    return {"c": A.matmul(A.exact(a), A.exact(b), matrix_unit=False)}


def matmul_f64_oracle(a, b, EPILOGUE):
    return {"c": A.matmul(A.exact(a, "f64"), A.exact(b, "f64"), matrix_unit=False)}


def matmul_i8_oracle(a, b, EPILOGUE):
    return {"c": a @ b}


def matmul_bias_gelu_oracle(a, b, bias):
    x = A.matmul_add(A.exact(a), A.exact(b), A.exact(bias))
    return {"c": 0.5 * x * (1.0 + A.erf(x * np.sqrt(0.5)))}


def batched_matmul_oracle(a, b):
    return {"c": A.matmul(A.exact(a), A.exact(b))}


def matvec_oracle(a, x):
    return {"y": A.matmul(A.exact(a), A.exact(x[:, None]))[:, 0]}


def _cost(size, out_size=None):
    """Bytes of a product of matrices with elements of `size` bytes and results of `out_size`, each moved once."""
    return lambda e: e.get("B", 1) * (size * (e["M"] * e["K"] + e["K"] * e["N"]) + (out_size or size) * e["M"] * e["N"])


def _flops(e):
    return 2 * e.get("B", 1) * e["M"] * e["N"] * e["K"]


def _matmul(name, kernel, size, *large, epilogue=Epilogue.NONE, oracle=matmul_oracle, out_size=None, small=PRODUCTS):
    return Case(
        name=name,
        kernel=kernel,
        oracle=oracle,
        small=small,
        large=tuple({"M": m, "N": n, "K": k} for m, n, k in large),
        constexprs={"EPILOGUE": epilogue},
        bytes=_cost(size, out_size),
        flops=_flops,
    )


def _with_gelu(name, kernel, large):
    return Case(
        name=name,
        kernel=kernel,
        oracle=matmul_bias_gelu_oracle,
        small=PRODUCTS,
        large=(large,),
        bytes=lambda e: _cost(2)(e) + 2 * e["N"],
        flops=_flops,
    )


_BATCHES = tuple({"B": b, **e} for b, e in zip((2, 1, 3, 0, 5, 3, 2, 2, 3, 1, 2), PRODUCTS, strict=True))
# Long sums of few products: work for many programs only where each takes a part of the sum.
_LONG = tuple({"M": m, "N": n, "K": k} for m, n, k in ((1, 2, 0), (1, 1, 5003), (3, 5, 20011), (16, 40, 4099)))

CASES = (
    _matmul("matmul_f16", matmul_f16, 2, (4096, 4096, 4096), (8192, 8192, 8192), (4096, 4000, 4100)),
    _matmul("matmul_f16_relu", matmul_f16, 2, epilogue=Epilogue.RELU),
    _matmul("matmul_bf16", matmul_bf16, 2, (8192, 8192, 8192)),
    _matmul("matmul_f32", matmul_f32, 4, (4096, 4096, 4096), oracle=matmul_f32_oracle),
    _matmul("matmul_f64", matmul_f64, 8, oracle=matmul_f64_oracle),
    _matmul("matmul_i8", matmul_i8, 1, oracle=matmul_i8_oracle, out_size=4),
    _matmul("split_k", matmul_f16, 2, (16, 8192, 8192), small=_LONG),
    _with_gelu("matmul_bias_gelu_f16", matmul_bias_gelu_f16, {"M": 4096, "N": 4096, "K": 4096}),
    _with_gelu("matmul_bias_gelu_bf16", matmul_bias_gelu_bf16, {"M": 8192, "N": 4096, "K": 4096}),
    Case(
        name="batched_matmul",
        kernel=batched_matmul,
        oracle=batched_matmul_oracle,
        small=_BATCHES,
        bytes=_cost(2),
        flops=_flops,
    ),
    Case(
        name="batched_matmul_shared",
        kernel=batched_matmul_shared,
        oracle=batched_matmul_oracle,
        small=_BATCHES,
        bytes=lambda e: 2 * (e["B"] * e["M"] * (e["K"] + e["N"]) + e["K"] * e["N"]),
        flops=_flops,
    ),
    Case(
        name="matvec",
        kernel=matvec,
        oracle=matvec_oracle,
        small=(*({"M": e["M"], "K": e["K"]} for e in PRODUCTS), {"M": 3, "K": 20011}),
        bytes=lambda e: 2 * (e["M"] * e["K"] + e["M"] + e["K"]),
        flops=lambda e: 2 * e["M"] * e["K"],
    ),
)
