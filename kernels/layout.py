"""Elements at other places: rotation in place, operands that repeat, rolled, joined and padded tensors."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case, host_program, launch
from intent_np.testing.approx import concatenated, exact

from .extents import MATRICES, sizes


@intent.kernel
def rope_heads(
    x: I.InOut[I.bf16, ("B", "H", "S", "2 * D")],
    cosine: I.In[I.f32, ("S", "D")],
    sine: I.In[I.f32, ("S", "D")],
    D: I.Constexpr[int],
):
    """Each pair (x[i], x[i + D]) of each head turned by the angle of its position and i, in place."""
    B, H, S, _ = x.shape
    for b, h, s in I.parallel((I.domain(0, B), I.domain(0, H), I.domain(0, S))):
        c, d = cosine[s, :], sine[s, :]
        first, second = I.cast(x[b, h, s, :D], I.f32), I.cast(x[b, h, s, D:], I.f32)
        x[b, h, s, :D] = I.cast(first * c - second * d, I.bf16)
        x[b, h, s, D:] = I.cast(second * c + first * d, I.bf16)


@host_program
def rope(
    q: I.InOut[I.bf16, ("B", "H", "S", "2 * D")],
    k: I.InOut[I.bf16, ("B", "HK", "S", "2 * D")],
    cosine: I.In[I.f32, ("S", "D")],
    sine: I.In[I.f32, ("S", "D")],
    D: I.Constexpr[int],
):
    """Queries, and the fewer heads of keys that groups of them share, turned in place: x[i] + i x[i + D] times exp(i
    angle[position, i])."""
    launch(rope_heads, q, cosine, sine, D=D)
    launch(rope_heads, k, cosine, sine, D=D)


@intent.kernel
def transpose_in_place(x: I.InOut[I.f32, ("N", "N")]):
    """x[m, n] and x[n, m] change places."""
    x[:, :] = I.transpose(x[:, :])


@intent.kernel
def strided_transpose_add(x: I.In[I.f32, ("M", "N")], y: I.In[I.f32, ("N", "M")], out: I.Out[I.f32, ("N", "M")]):
    """out[n, m] = x[m, n] + y[n, m], where either operand may repeat along an axis, with a stride of 0."""
    out[:, :] = I.transpose(x[:, :]) + y[:, :]


@intent.kernel
def roll(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], DOWN: I.Constexpr[int], RIGHT: I.Constexpr[int]):
    """y[(m + DOWN) mod M, (n + RIGHT) mod N] = x[m, n]."""
    y[:, :] = I.roll(x[:, :], (DOWN, RIGHT), (0, 1))


@intent.kernel
def concat(a: I.In[I.f16, ("M", "N")], b: I.In[I.f16, ("M", "K")], y: I.Out[I.f16, ("M", "N + K")]):
    """Row m of y is row m of a and then row m of b."""
    y[:, :] = I.concat((a[:, :], b[:, :]), axis=1)


@intent.kernel
def pad(x: I.In[I.f16, ("M", "N")], fill: I.f16, y: I.Out[I.f16, ("M + 3", "N + 5")]):
    """x with 1 row above, 2 below, 5 columns on the right that hold the fill."""
    y[:, :] = I.pad(x[:, :], ((1, 2), (0, 5)), constant_values=fill)


# Oracles
def rope_oracle(q, k, cosine, sine, D):
    """The rotation as a product of complex numbers."""

    def turned(x):
        real, imaginary, c, s = exact(x[..., :D]), exact(x[..., D:]), exact(cosine), exact(sine)
        return concatenated([real * c - imaginary * s, imaginary * c + real * s], axis=-1)

    return {"q": turned(q), "k": turned(k)}


def transpose_in_place_oracle(x):
    return {"x": x.T}


def strided_transpose_add_oracle(x, y):
    return {"out": exact(x).T + exact(y)}


def roll_oracle(x, DOWN, RIGHT):
    M, N = x.shape
    y = np.empty_like(x)
    if x.size:
        y[np.add.outer(DOWN + np.arange(M), np.zeros(N, int)) % M, (RIGHT + np.arange(N)) % N] = x
    return {"y": y}


def concat_oracle(a, b):
    y = np.empty((len(a), a.shape[1] + b.shape[1]))
    y[:, : a.shape[1]], y[:, a.shape[1] :] = a, b
    return {"y": y}


def pad_oracle(x, fill):
    y = np.full((x.shape[0] + 3, x.shape[1] + 5), fill)
    y[1:-2, : x.shape[1]] = x
    return {"y": y}


def _angles(extents, rng):
    """The angle of position s and pair i is s / 10000^(i / D)."""
    angle = np.outer(np.arange(extents["S"]), 10000.0 ** -(np.arange(32) / 32))
    return {"cosine": np.cos(angle), "sine": np.sin(angle)}


CASES = (
    Case(
        name="transpose_in_place",
        kernel=transpose_in_place,
        oracle=transpose_in_place_oracle,
        small=sizes("N", "0, 1, 2, 31, 64, 129, 300"),
        bytes=lambda e: 8 * e["N"] ** 2,
        flops=lambda e: 0,
    ),
    Case(
        name="rope",
        kernel=rope,
        oracle=rope_oracle,
        small=tuple(
            {"B": b, "H": h, "HK": hk, "S": s}
            for b, h, hk, s in ((0, 2, 1, 3), (1, 1, 1, 0), (1, 1, 1, 1), (2, 6, 2, 17), (1, 4, 4, 64), (3, 5, 1, 129))
        ),
        constexprs={"D": 32},
        structured=_angles,
        values=("normal", "integers", "negative", "special"),
        bytes=lambda e: 2 * 2 * 64 * e["B"] * e["S"] * (e["H"] + e["HK"]),
        flops=lambda e: 3 * 64 * e["B"] * e["S"] * (e["H"] + e["HK"]),
    ),
    Case(
        name="strided_transpose_add",
        kernel=strided_transpose_add,
        oracle=strided_transpose_add_oracle,
        small=MATRICES,
        bytes=lambda e: 3 * 4 * e["M"] * e["N"],
        flops=lambda e: e["M"] * e["N"],
    ),
    Case(
        name="roll",
        kernel=roll,
        oracle=roll_oracle,
        small=MATRICES,
        constexprs={"DOWN": 5, "RIGHT": -130},
        bytes=lambda e: 2 * 4 * e["M"] * e["N"],
        flops=lambda e: 0,
    ),
    Case(
        name="concat",
        kernel=concat,
        oracle=concat_oracle,
        small=tuple({**e, "K": k} for e, k in zip(MATRICES, (3, 2, 1, 0, 16, 7, 64, 1, 130, 2, 31, 3), strict=True)),
        bytes=lambda e: 2 * 2 * e["M"] * (e["N"] + e["K"]),
        flops=lambda e: 0,
    ),
    Case(
        name="pad",
        kernel=pad,
        oracle=pad_oracle,
        small=MATRICES,
        scalars={"fill": -2.5},
        bytes=lambda e: 2 * (e["M"] * e["N"] + (e["M"] + 3) * (e["N"] + 5)),
        flops=lambda e: 0,
    ),
)
