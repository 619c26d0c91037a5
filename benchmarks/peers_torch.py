"""The scorecard's work in PyTorch: functions of the kernel's own arguments, by name, that give its results.

torch runs each as it stands, and torch.compile makes its best of it.  Only a process with a GPU imports this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

Tensors = Mapping[str, Any]

torch.backends.cuda.matmul.allow_tf32 = False  # IEEE f32, as ours


# Elementwise
def relu(t: Tensors) -> Any:
    return torch.clamp_min(t["x"], 0)


def swiglu(t: Tensors) -> Any:
    return functional.silu(t["gate"]) * t["up"]


def dropout(t: Tensors) -> Any:
    return functional.dropout(t["x"], 1 - t["keep"])


def adamw(t: Tensors) -> Any:
    """In place; the corrections are those of the kernel."""
    g, m, v, p = t["gradient"], t["momentum"], t["variance"], t["parameter"]
    m.copy_(0.9 * m + 0.1 * g)
    v.copy_(0.999 * v + 0.001 * (g * g))
    step = t["correction"] * m / (torch.sqrt(t["correction2"] * v) + t["epsilon"])
    p.copy_(p - t["rate"] * (step + t["decay"] * p))
    return p


def rope(t: Tensors) -> Any:
    """In place."""
    x, cosine, sine = t["x"], t["cosine"], t["sine"]
    half = x.shape[-1] // 2
    first, second = x[..., :half].float(), x[..., half:].float()
    turned = torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
    return x.copy_(turned)


def transpose(t: Tensors) -> Any:
    return t["x"].t().contiguous()


# Rows
def softmax(t: Tensors) -> Any:
    return torch.softmax(t["x"], dim=1)


def layer_norm(t: Tensors) -> Any:
    return functional.layer_norm(t["x"], t["x"].shape[1:], t["weight"], t["bias"], t["epsilon"])


def rms_norm(t: Tensors) -> Any:
    return functional.rms_norm(t["x"], t["x"].shape[1:], t["weight"], t["epsilon"])


def cross_entropy(t: Tensors) -> Any:
    return functional.cross_entropy(t["logits"], t["target"], reduction="none").float()


# Sums, maxima, running sums
def row_sum(t: Tensors) -> Any:
    return torch.sum(t["x"], dim=1)


def col_sum(t: Tensors) -> Any:
    return torch.sum(t["x"], dim=0)


def sum_all(t: Tensors) -> Any:
    return torch.sum(t["x"])


def max_argmax(t: Tensors) -> Any:
    return tuple(torch.max(t["x"], dim=1))


def max_argmax_all(t: Tensors) -> Any:
    return tuple(torch.max(t["x"], dim=0))


def variance(t: Tensors) -> Any:
    return torch.var(t["x"], dim=1, correction=0)


def cumsum(t: Tensors) -> Any:
    return torch.cumsum(t["x"], dim=1)


def cumsum_long(t: Tensors) -> Any:
    return torch.cumsum(t["x"], dim=0)


# Computed places
def embedding(t: Tensors) -> Any:
    return functional.embedding(t["tokens"], t["weight"])


def scatter_add(t: Tensors) -> Any:
    """In place."""
    return t["weight_gradient"].index_add_(0, t["tokens"], t["gradient"])


def histogram(t: Tensors) -> Any:
    return torch.bincount(t["x"], minlength=256)


# Products
def matmul(t: Tensors) -> Any:
    return torch.matmul(t["a"], t["b"])


def matmul_bias_gelu(t: Tensors) -> Any:
    return functional.gelu(torch.addmm(t["bias"], t["a"], t["b"]))


def grouped_matmul(t: Tensors) -> Any:
    """One product after the other; where the groups begin is known on the host."""
    for (begin, end), w in zip(pairwise(t["offsets_on_host"]), t["w"], strict=True):
        torch.matmul(t["x"][begin:end], w, out=t["peer_y"][begin:end])
    return t["peer_y"]


def grouped_mm(t: Tensors) -> Any:
    return torch._grouped_mm(t["x"], t["w"], offs=t["offsets"][1:])


# Attention
def _composed(t: Tensors, causal: bool) -> Any:
    q, k, v = t["q"], t["k"], t["v"]
    scores = torch.matmul(q, k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    if causal:
        hidden = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return torch.matmul(torch.softmax(scores, dim=-1), v)


def _fused(backend: Any, causal: bool) -> Callable[[Tensors], Any]:
    def work(t: Tensors) -> Any:
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(t["q"], t["k"], t["v"], is_causal=causal)

    return work


def attention(t: Tensors) -> Any:
    return _composed(t, False)


def attention_causal(t: Tensors) -> Any:
    return _composed(t, True)


attention_cudnn = _fused(SDPBackend.CUDNN_ATTENTION, False)
attention_cudnn_causal = _fused(SDPBackend.CUDNN_ATTENTION, True)
attention_flash = _fused(SDPBackend.FLASH_ATTENTION, False)
attention_flash_causal = _fused(SDPBackend.FLASH_ATTENTION, True)

EAGER_ONLY = frozenset(
    {
        "matmul",
        "cumsum",
        "scatter_add",
        "cross_entropy",
        "max_argmax",
        "max_argmax_all",
        "grouped_matmul",
        "attention",
        "attention_causal",
        "cumsum_long",
        "histogram",
    }
)
"""Functions that torch.compile has nothing to gain on, or spends minutes on."""


def prepared(t: dict[str, Any]) -> dict[str, Any]:
    """The kernel's arguments, and what some of these functions need beside them."""
    if "offsets" in t:
        t = {**t, "offsets_on_host": t["offsets"].tolist(), "peer_y": torch.empty_like(t["y"])}
    return t
