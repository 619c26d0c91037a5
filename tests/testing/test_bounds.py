"""Plain f32 programs, written here without any oracle, pass the corpus's bounds; the classic mistakes do not."""

import numpy as np
import pytest

import kernels
from intent_np.testing import check

CASES = {case.name: case for case in kernels.cases()}
F = np.float32
EXP2 = F(1.4426950408889634)


def softmax(x, y, padded=0, dropped=0):
    """By row; `padded` zeros that no mask hides join the maximum and the sum, `dropped` members leave both."""
    v = np.pad(x[:, : x.shape[1] - dropped].astype(F), ((0, 0), (0, padded)))
    w = np.exp(v - v.max(1, keepdims=True))
    y[...] = np.exp(x.astype(F) - v.max(1, keepdims=True)) / w.sum(1, keepdims=True)


def online_softmax(x, y, block=16):
    """A running maximum and sum by blocks, exponents in base 2, then a second pass."""
    v = x.astype(F) * EXP2
    top, total = np.full((len(x), 1), -np.inf, F), np.zeros((len(x), 1), F)
    for at in range(0, x.shape[1], block):
        part = v[:, at : at + block]
        new = np.maximum(top, part.max(1, keepdims=True))
        total = total * np.exp2(top - new) + np.exp2(part - new).sum(1, keepdims=True)
        top = new
    y[...] = np.exp2(v - top) / total


def layer_norm(x, weight, bias, epsilon, y, lanes=7):
    """With lane-wise sums."""
    v = x.astype(F)
    padded = np.pad(v, ((0, 0), (0, -v.shape[1] % lanes)))
    mean = padded.reshape(len(v), -1, lanes).sum(1, dtype=F).sum(1, dtype=F)[:, None] / F(v.shape[1])
    centered = v - mean
    variance = (centered * centered).sum(1, keepdims=True) / F(v.shape[1])
    y[...] = centered * (F(1) / np.sqrt(variance + F(epsilon))) * weight.astype(F) + bias.astype(F)


def attention(q, k, v, out, causal=True, block=16, online=False):
    """Whole rows, or by blocks of keys with a running maximum."""
    s = q.astype(F) @ k.astype(F).swapaxes(-1, -2) * F(q.shape[-1] ** -0.5)
    hidden = np.arange(s.shape[-1]) > np.arange(s.shape[-2])[:, None]
    s = np.where(hidden, F(-np.inf), s) if causal else s
    if not online:
        w = np.exp(s - s.max(-1, keepdims=True))
        out[...] = w.astype(np.float16).astype(F) @ v.astype(F) / w.sum(-1, keepdims=True)
        return
    top, total = np.full((*s.shape[:-1], 1), -np.inf, F), np.zeros((*s.shape[:-1], 1), F)
    acc = np.zeros(out.shape, F)
    for at in range(0, s.shape[-1], block):
        part = s[..., at : at + block] * EXP2
        new = np.maximum(top, part.max(-1, keepdims=True))
        w, factor = np.exp2(part - new), np.exp2(top - new)
        total = total * factor + w.sum(-1, keepdims=True)
        acc = acc * factor + w.astype(np.float16).astype(F) @ v[..., at : at + block, :].astype(F)
        top = new
    out[...] = acc / total


def matmul(a, b, c):
    c[...] = a.astype(F) @ b.astype(F)


def row_sum(x, y, dropped=0):
    y[...] = np.add.accumulate(x[:, : x.shape[1] - dropped], axis=1, dtype=F)[:, -1]


def swiglu(gate, up, out, rounds=True):
    g = gate.astype(F)
    activated = g * (F(1) / (F(1) + np.exp(-g)))
    out[...] = (activated.astype(gate.dtype) if rounds else activated).astype(F) * up.astype(F)


@pytest.mark.parametrize(
    ("name", "program", "extents"),
    [
        ("softmax", softmax, {"M": 20, "N": 1000}),
        ("softmax_relaxed", online_softmax, {"M": 20, "N": 1000}),
        ("layer_norm", layer_norm, {"M": 20, "N": 1003}),
        ("attention_causal", attention, {"B": 1, "H": 2, "Q": 60, "K": 130}),
        ("attention_causal_relaxed", attention, {"B": 1, "H": 2, "Q": 60, "K": 130}),
        ("attention_causal_relaxed", lambda *a: attention(*a, online=True), {"B": 1, "H": 2, "Q": 60, "K": 130}),
        ("attention_relaxed", lambda *a: attention(*a, causal=False, online=True), {"B": 1, "H": 1, "Q": 9, "K": 400}),
        ("matmul_f16", matmul, {"M": 30, "N": 40, "K": 500}),
        ("matmul_f32", matmul, {"M": 30, "N": 40, "K": 500}),
        ("row_sum", row_sum, {"M": 30, "N": 20000}),
        ("swiglu", swiglu, {"M": 100, "N": 100}),
    ],
)
def test_right_programs_pass(name, program, extents):
    for seed, values in enumerate(v for v in CASES[name].values if v in ("normal", "integers", "negative")):
        with np.errstate(all="ignore"):
            report = check(CASES[name], program, extents, seed, "random", values)
        assert report, f"{values}: {report}"


@pytest.mark.parametrize(
    ("name", "program", "extents", "values"),
    [
        ("softmax", lambda *a: softmax(*a, padded=24), {"M": 20, "N": 1000}, "normal"),
        ("softmax", lambda *a: softmax(*a, padded=24), {"M": 20, "N": 1000}, "negative"),
        ("softmax", lambda *a: softmax(*a, dropped=1), {"M": 20, "N": 1000}, "normal"),
        ("softmax_relaxed", lambda *a: softmax(*a, padded=24), {"M": 20, "N": 1000}, "normal"),
        ("row_sum", lambda *a: row_sum(*a, dropped=1), {"M": 20, "N": 20000}, "integers"),
        ("row_sum", lambda *a: row_sum(*a, dropped=1), {"M": 20, "N": 2000}, "normal"),
        ("attention_causal", lambda *a: attention(*a, causal=False), {"B": 1, "H": 1, "Q": 40, "K": 40}, "normal"),
        (
            "attention_causal_relaxed",
            lambda *a: attention(*a, causal=False),
            {"B": 1, "H": 1, "Q": 9, "K": 9},
            "normal",
        ),
        ("matmul_f16", lambda a, b, c: matmul(a[:, 1:], b[1:], c), {"M": 30, "N": 40, "K": 500}, "normal"),
        ("matmul_f32", lambda a, b, c: matmul(a.astype("f2"), b, c), {"M": 30, "N": 40, "K": 500}, "normal"),
        ("swiglu", lambda *a: swiglu(*a, rounds=False), {"M": 100, "N": 100}, "normal"),
    ],
)
def test_wrong_programs_fail(name, program, extents, values):
    assert not check(CASES[name], program, extents, values=values)


def test_damage_beside_the_output_and_to_an_input_is_reported():
    def spills(x, y):
        softmax(x, y)
        y.base[-1] = 0

    def scribbles(x, y):
        softmax(x, y)
        x[0, 0] = 1

    assert check(CASES["softmax"], spills, {"M": 3, "N": 5}).complaints == ("memory around y was written",)
    assert check(CASES["softmax"], scribbles, {"M": 3, "N": 5}).complaints == ("input x was written",)
