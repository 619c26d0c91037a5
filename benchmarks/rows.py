"""The lines of the scorecard: which kernel at which size, and what it is measured against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .cases import WINDOWS


@dataclass(frozen=True, eq=False)
class Row:
    """A line of the scorecard: a case of `benchmarks.cases` at one of its large sizes, and its peers.

    torch:   the function of `benchmarks.peers_torch` that is the same work: run eagerly, and by torch.compile
    triton:  `MODULE.FUNCTION` of `benchmarks.peers_triton`, a kernel written by hand
    others:  further functions of `benchmarks.peers_torch`, by the name that the table gives them
    ranked:  whether the row counts in the means; the others are there to be compared with a row that does
    alike:   whether the results of peers are compared with ours; not where they are random or in place
    reason:  what is known to hold ours back
    """

    title: str
    case: str
    extents: Mapping[str, int]
    torch: str = ""
    triton: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    ranked: bool = True
    alike: bool = True
    reason: str = ""


def _product(m: int, n: int, k: int) -> dict[str, int]:
    return {"M": m, "N": n, "K": k}


_ROWS = {"M": 8192, "N": 16384}
_TOKENS = {"M": 16384, "N": 4096}
_HEADS = {"B": 4, "H": 16, "Q": 4096, "K": 4096}
_FUSED = {"cudnn": "attention_cudnn", "flash": "attention_flash"}
_FUSED_CAUSAL = {"cudnn": "attention_cudnn_causal", "flash": "attention_flash_causal"}
_ATTENTION = "attention f16 4x16x4096x128"
_TURNS = (
    "cuDNN's warp groups take turns at softmax and products, one computes while another multiplies; in Triton 3.6 all "
    "warps do the same, by hand too."
)


def _softmax(m: int, n: int) -> Row:
    return Row(f"softmax f16 {m}x{n}", "softmax_approximate", {"M": m, "N": n}, "softmax", "rows.softmax")


def _window(width: int) -> Row:
    case = f"attention_window_{width}"
    return Row(f"{_ATTENTION} window of {width}, relaxed", case, _HEADS, ranked=False)


SCORECARD: tuple[Row, ...] = (
    Row("relu f16 8192x8192", "relu", {"M": 8192, "N": 8192}, "relu"),
    Row("swiglu bf16 8192x14336", "swiglu_approximate", {"M": 8192, "N": 14336}, "swiglu"),
    _softmax(131072, 512),
    _softmax(16384, 4096),
    _softmax(2048, 32768),
    Row("layer_norm bf16 16384x4096", "layer_norm", _TOKENS, "layer_norm", "rows.layer_norm"),
    Row("rms_norm bf16 16384x4096", "rms_norm", _TOKENS, "rms_norm", "rows.rms_norm"),
    Row("row sum f32 8192x16384", "row_sum", _ROWS, "row_sum", "reductions.row_sum"),
    Row("column sum f32 8192x16384", "col_sum", _ROWS, "col_sum", "reductions.col_sum"),
    Row("sum of all f32 134 M", "sum_all", {"N": 2**27}, "sum_all", "reductions.sum_all"),
    Row(
        "max+argmax rows f32 8192x16384",
        "max_argmax",
        _ROWS,
        "max_argmax",
        "reductions.max_argmax",
        reason="Places are compared as 64-bit numbers, and NaN is looked for, which the kernel by hand does not.",
    ),
    Row("variance rows f32 8192x16384", "variance", _ROWS, "variance", "reductions.variance"),
    Row("cumsum rows f32 8192x16384", "cumsum", _ROWS, "cumsum", "scans.cumsum"),
    Row("cumsum f32 67 M", "cumsum_composed", {"P": 8192}, "cumsum_long", "scans.cumsum_long"),
    Row("transpose f32 16384x8192", "transpose", {"M": 16384, "N": 8192}, "transpose"),
    Row("embedding bf16 65536x1024", "embedding", {"V": 128256, "N": 65536, "D": 1024}, "embedding"),
    Row(
        "scatter-add f32 65536x1024 to 8192",
        "embedding_backward",
        {"V": 8192, "N": 65536, "D": 1024},
        "scatter_add",
        "indexing.scatter_add",
        alike=False,
    ),
    Row("histogram u8 134 M, 256 bins", "count_bytes", {"N": 2**27}, "histogram", "indexing.histogram"),
    Row("dropout f16 134 M", "philox_dropout", {"N": 2**27}, "dropout", "pointwise.dropout", alike=False),
    Row(
        "cross entropy bf16 8192x128256",
        "cross_entropy_relaxed",
        {"M": 8192, "N": 128256},
        "cross_entropy",
        "rows.cross_entropy",
    ),
    Row("rope bf16 4x32x4096x128", "rope_heads", {"B": 4, "H": 32, "S": 4096}, "rope", "pointwise.rope", alike=False),
    Row("adamw f32 67 M", "adamw", {"N": 2**26}, "adamw", alike=False),
    Row("matmul f16 4096x4096x4096", "matmul_f16", _product(4096, 4096, 4096), "matmul", "products.matmul"),
    Row("matmul f16 8192x8192x8192", "matmul_f16", _product(8192, 8192, 8192), "matmul", "products.matmul"),
    Row("matmul bf16 8192x8192x8192", "matmul_bf16", _product(8192, 8192, 8192), "matmul", "products.matmul"),
    Row("matmul f16 16x8192x8192", "split_k", _product(16, 8192, 8192), "matmul", "products.split_k"),
    Row("matmul f16 4096x4000x4100", "matmul_f16", _product(4096, 4000, 4100), "matmul", "products.unaligned"),
    Row(
        "matmul f32 4096x4096x4096",
        "matmul_f32",
        _product(4096, 4096, 4096),
        "matmul",
        reason="A product of f32 is Triton's loop of fused multiply-adds, which reads its operands from shared memory.",
    ),
    Row(
        "matmul+bias+gelu bf16 8192x4096x4096",
        "matmul_bias_gelu_bf16",
        _product(8192, 4096, 4096),
        "matmul_bias_gelu",
        "products.matmul_bias_gelu",
    ),
    Row(
        f"{_ATTENTION} full, relaxed",
        "attention_relaxed",
        _HEADS,
        "attention",
        "attention.full",
        _FUSED,
        reason=_TURNS,
    ),
    Row(
        f"{_ATTENTION} causal, relaxed",
        "attention_causal_relaxed",
        _HEADS,
        "attention_causal",
        "attention.causal",
        _FUSED_CAUSAL,
        reason=_TURNS,
    ),
    Row(
        "grouped matmul bf16 16384x4096x4096, 16 groups",
        "grouped_matmul",
        {"G": 16, "T": 16384, "K": 4096, "N": 4096},
        "grouped_matmul",
        others={"grouped_mm": "grouped_mm"},
        reason="Where the rows of a group begin is known on the device alone: loads are masked, and instances for the "
        "longest group find nothing to do. torch reads the offsets on the host, before it is timed.",
    ),
    # beside them
    Row("column sum f32 4194304x32", "col_sum", {"M": 2**22, "N": 32}, "col_sum", ranked=False),
    Row("max+argmax of all f32 134 M", "max_argmax_all", {"N": 2**27}, "max_argmax_all", ranked=False),
    Row("swiglu bf16 8192x14336, exact", "swiglu", {"M": 8192, "N": 14336}, "swiglu", ranked=False),
    *(
        Row(f"softmax f16 {m}x{n}, {kind}", case, {"M": m, "N": n}, "softmax", ranked=False)
        for case, kind in (("softmax", "exact"), ("softmax_relaxed", "relaxed"))
        for m, n in ((131072, 512), (16384, 4096), (2048, 32768))
    ),
    Row("cross entropy bf16 8192x128256, exact", "cross_entropy", {"M": 8192, "N": 128256}, ranked=False),
    Row(
        "matmul+bias+gelu f16 4096x4096x4096",
        "matmul_bias_gelu_f16",
        _product(4096, 4096, 4096),
        "matmul_bias_gelu",
        ranked=False,
    ),
    Row("triangular matmul f16 8192x8192", "triangular_matmul", {"M": 8192, "N": 8192}, ranked=False),
    Row(f"{_ATTENTION} full", "attention", _HEADS, triton="attention.full", ranked=False),
    Row(f"{_ATTENTION} causal", "attention_causal", _HEADS, triton="attention.causal", ranked=False),
    Row(f"{_ATTENTION} full, a fold", "attention_fold", _HEADS, triton="attention.full", ranked=False),
    Row(f"{_ATTENTION} causal, a fold", "attention_fold_causal", _HEADS, triton="attention.causal", ranked=False),
    *(_window(width) for width in WINDOWS),
)
