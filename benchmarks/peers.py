"""What the corpus's kernels are measured against: the same work in PyTorch, one row of the scorecard each.

Every peer takes the kernel's own arguments, as torch tensors by name, and gives a function of no arguments that does
the work once; it writes the kernel's output where torch can.  torch is imported by the functions that need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Tensors = Mapping[str, Any]
Peer = Callable[[Tensors], Callable[[], Any]]


@dataclass(frozen=True)
class Row:
    """A line of the scorecard: a case of the corpus at one of its large sizes, and its peers.

    The first peer is torch's own eager form, the one to be no slower than.
    """

    title: str
    case: str
    extents: Mapping[str, int]
    peers: Mapping[str, Peer] = field(default_factory=dict)


def relu(t: Tensors) -> Callable[[], Any]:
    import torch

    return lambda: torch.clamp_min(t["x"], 0, out=t["y"])


def swiglu(t: Tensors) -> Callable[[], Any]:
    import torch

    return lambda: torch.mul(torch.nn.functional.silu(t["gate"]), t["up"], out=t["out"])


def softmax(t: Tensors) -> Callable[[], Any]:
    import torch

    return lambda: torch.softmax(t["x"], dim=1, out=t["y"])


def layer_norm(t: Tensors) -> Callable[[], Any]:
    import torch

    x, shape = t["x"], t["x"].shape[1:]
    return lambda: torch.nn.functional.layer_norm(x, shape, t["weight"], t["bias"], t["epsilon"])


def rms_norm(t: Tensors) -> Callable[[], Any]:
    import torch

    x, shape = t["x"], t["x"].shape[1:]
    return lambda: torch.nn.functional.rms_norm(x, shape, t["weight"], t["epsilon"])


def row_sum(t: Tensors) -> Callable[[], Any]:
    import torch

    return lambda: torch.sum(t["x"], dim=1, out=t["y"])


def col_sum(t: Tensors) -> Callable[[], Any]:
    import torch

    return lambda: torch.sum(t["x"], dim=0, out=t["y"])


def transpose(t: Tensors) -> Callable[[], Any]:
    return lambda: t["y"].copy_(t["x"].t())


def matmul(t: Tensors) -> Callable[[], Any]:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False  # IEEE f32, as ours
    return lambda: torch.matmul(t["a"], t["b"], out=t["c"])


def embedding(t: Tensors) -> Callable[[], Any]:
    import torch

    return lambda: torch.index_select(t["weight"], 0, t["tokens"], out=t["out"])


def grouped_matmul(t: Tensors) -> Callable[[], Any]:
    import torch

    ends = pairwise(t["offsets"].tolist())
    groups = [(t["x"][begin:end], w, t["y"][begin:end]) for (begin, end), w in zip(ends, t["w"], strict=True)]

    def products() -> None:
        for x, w, y in groups:
            torch.matmul(x, w, out=y)

    return products


def matmul_bias_gelu(t: Tensors) -> Callable[[], Any]:
    import torch

    return lambda: torch.nn.functional.gelu(torch.addmm(t["bias"], t["a"], t["b"]))


def naive_attention(causal: bool) -> Peer:
    """softmax(Q K' scale) V, an operation at a time; the mask is made beforehand."""

    def peer(t: Tensors) -> Callable[[], Any]:
        import torch

        q, k, v, scale = t["q"], t["k"], t["v"], t["q"].shape[-1] ** -0.5
        hidden = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1) if causal else None

        def run() -> Any:
            scores = torch.matmul(q, k.transpose(-1, -2)) * scale
            if hidden is not None:
                scores = scores.masked_fill_(hidden, float("-inf"))
            return torch.matmul(torch.softmax(scores, dim=-1), v)

        return run

    return peer


def fused_attention(causal: bool, backend: str) -> Peer:
    """torch's fused attention through one backend: `CUDNN_ATTENTION` or `FLASH_ATTENTION`."""

    def peer(t: Tensors) -> Callable[[], Any]:
        from torch.nn import functional
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def run() -> Any:
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return functional.scaled_dot_product_attention(
                    t["q"], t["k"], t["v"], is_causal=causal, scale=t["q"].shape[-1] ** -0.5
                )

        return run

    return peer


def _rows(title: str, case: str, peer: Peer, *sizes: Mapping[str, int]) -> tuple[Row, ...]:
    return tuple(Row(f"{title} {'x'.join(map(str, size.values()))}", case, size, {"torch": peer}) for size in sizes)


def _product(m: int, n: int, k: int) -> dict[str, int]:
    return {"M": m, "N": n, "K": k}


_HEADS = {"B": 4, "H": 16, "Q": 4096, "K": 4096}


def _attention(causal: bool, relaxed: bool) -> Row:
    kind = "causal" if causal else "full"
    return Row(
        f"attention f16 4x16x4096x128 {kind}{', relaxed' if relaxed else ''}",
        f"attention{'_causal' if causal else ''}{'_relaxed' if relaxed else ''}",
        _HEADS,
        {
            "torch": naive_attention(causal),
            "cudnn": fused_attention(causal, "CUDNN_ATTENTION"),
            "flash": fused_attention(causal, "FLASH_ATTENTION"),
        },
    )


_SOFTMAX = ({"M": 131072, "N": 512}, {"M": 16384, "N": 4096}, {"M": 2048, "N": 32768})

SCORECARD: tuple[Row, ...] = (
    *_rows("relu f16", "relu", relu, {"M": 8192, "N": 8192}),
    *_rows("swiglu bf16", "swiglu", swiglu, {"M": 8192, "N": 14336}),
    *_rows("softmax f16", "softmax", softmax, *_SOFTMAX),
    *_rows("softmax f16, relaxed,", "softmax_relaxed", softmax, *_SOFTMAX),
    *_rows("layer_norm bf16", "layer_norm", layer_norm, {"M": 16384, "N": 4096}),
    *_rows("rms_norm bf16", "rms_norm", rms_norm, {"M": 16384, "N": 4096}),
    *_rows("row sum f32", "row_sum", row_sum, {"M": 8192, "N": 16384}),
    *_rows("column sum f32", "col_sum", col_sum, {"M": 8192, "N": 16384}),
    *_rows("transpose f32", "transpose", transpose, {"M": 16384, "N": 8192}),
    *_rows("embedding bf16", "embedding", embedding, {"V": 128256, "N": 65536, "D": 1024}),
    *_rows("matmul f16", "matmul_f16", matmul, *(_product(n, n, n) for n in (4096, 8192))),
    *_rows("matmul f16", "matmul_f16", matmul, _product(4096, 4000, 4100)),
    *_rows("matmul f16, long sums", "split_k", matmul, _product(16, 8192, 8192)),
    *_rows("matmul bf16", "matmul_bf16", matmul, _product(8192, 8192, 8192)),
    *_rows("matmul f32", "matmul_f32", matmul, _product(4096, 4096, 4096)),
    *_rows("grouped matmul bf16", "grouped_matmul", grouped_matmul, {"G": 16, "T": 16384, "K": 4096, "N": 4096}),
    *_rows("matmul+bias+gelu f16", "matmul_bias_gelu_f16", matmul_bias_gelu, _product(4096, 4096, 4096)),
    *_rows("matmul+bias+gelu bf16", "matmul_bias_gelu_bf16", matmul_bias_gelu, _product(8192, 4096, 4096)),
    *(_attention(causal, relaxed) for causal in (False, True) for relaxed in (False, True)),
)
