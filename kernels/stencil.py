"""Elements and their neighbours: convolutions, relaxation, pooling."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case, Expected
from intent_np.testing import approx as A


@intent.kernel
def causal_conv1d(
    x: I.In[I.f16, ("B", "C", "T")],
    weight: I.In[I.f16, ("C", "WIDTH")],
    bias: I.In[I.f16, ("C",)],
    y: I.Out[I.f16, ("B", "C", "T")],
    WIDTH: I.Constexpr[int] = 4,
):
    """y[t] = silu(bias + sum over w of weight[w] x[t - WIDTH + 1 + w]) in f32, channel by channel; x is 0 before it
    begins."""
    B, C, T = x.shape
    place = I.indices(I.domain(0, T))[:, None] + I.indices(I.domain(0, WIDTH)) - (WIDTH - 1)
    for i, channel in I.parallel((I.domain(0, B), I.domain(0, C))):
        window = I.cast(I.gather(x, (i, channel, place), valid=place >= 0, fill=0), I.f32)
        total = I.reduce.sum(window * I.cast(weight[channel, :], I.f32), axis=1) + I.cast(bias[channel], I.f32)
        y[i, channel, :] = I.cast(total * I.sigmoid(total), I.f16)


@intent.kernel
def depthwise_conv2d(
    x: I.In[I.f32, ("B", "C", "H", "W")],
    weight: I.In[I.f32, ("C", "R", "S")],
    y: I.Out[I.f32, ("B", "C", "cdiv(H, STRIDE)", "cdiv(W, STRIDE)")],
    R: I.Constexpr[int] = 3,
    S: I.Constexpr[int] = 3,
    STRIDE: I.Constexpr[int] = 1,
):
    """y[h, w] = the sum of weight[r, s] x[h STRIDE + r - R // 2, w STRIDE + s - S // 2], channel by channel; x is 0
    outside."""
    B, C, H, W = x.shape
    _, _, OH, OW = y.shape
    row = I.indices(I.domain(0, OH))[:, None, None, None] * STRIDE + I.indices(I.domain(0, R))[:, None] - R // 2
    column = I.indices(I.domain(0, OW))[:, None, None] * STRIDE + I.indices(I.domain(0, S)) - S // 2
    inside = (row >= 0) & (row < H) & (column >= 0) & (column < W)
    for i, channel in I.parallel((I.domain(0, B), I.domain(0, C))):
        window = I.gather(x, (i, channel, row, column), valid=inside, fill=0)
        y[i, channel, :, :] = I.reduce.sum(window * weight[channel, :, :], axis=(2, 3))


@intent.kernel
def jacobi(
    u: I.In[I.f32, ("M + 2", "N + 2")],
    f: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M + 2", "N + 2")],
):
    """One step of relaxation for -u_xx - u_yy = f on a grid of distance 1: inside, the mean of the four neighbours
    and f / 4; the border stays."""
    out[0, :], out[-1, :] = u[0, :], u[-1, :]
    out[1:-1, 0], out[1:-1, -1] = u[1:-1, 0], u[1:-1, -1]
    out[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + f[:, :])


@intent.kernel
def max_pool(
    x: I.In[I.f16, ("B", "C", "H", "W")],
    y: I.Out[I.f16, ("B", "C", "cdiv(H, STRIDE)", "cdiv(W, STRIDE)")],
    WINDOW: I.Constexpr[int] = 3,
    STRIDE: I.Constexpr[int] = 2,
):
    """y[h, w] = the maximum of x in the window of WINDOW x WINDOW around (h STRIDE, w STRIDE), as far as there is x."""
    B, C, H, W = x.shape
    _, _, OH, OW = y.shape
    taps = I.indices(I.domain(0, WINDOW)) - WINDOW // 2
    row = I.indices(I.domain(0, OH))[:, None, None, None] * STRIDE + taps[:, None]
    column = I.indices(I.domain(0, OW))[:, None, None] * STRIDE + taps
    inside = (row >= 0) & (row < H) & (column >= 0) & (column < W)
    for i, channel in I.parallel((I.domain(0, B), I.domain(0, C))):
        window = I.gather(x, (i, channel, row, column), valid=inside, fill=float("-inf"))
        y[i, channel, :, :] = I.reduce.max(window, axis=(2, 3))


# Oracles
def _windows(x, height, width, step, outside):
    """(B, C, H, W) to (B, C, OH, OW, height * width): what stands around each place, `outside` where there is no x."""
    top, left = height // 2, width // 2
    b, c, h, w = x.shape
    rows, columns = -(-h // step), -(-w // step)
    wide = np.full((b, c, h + height, w + width), outside)
    wide[:, :, top : top + h, left : left + w] = x
    taps = [
        wide[:, :, r : r + step * rows : step, s : s + step * columns : step][:, :, :rows, :columns]
        for r in range(height)
        for s in range(width)
    ]
    return np.stack(taps, axis=-1)


def causal_conv1d_oracle(x, weight, bias, WIDTH):
    past = np.concatenate((np.zeros((*x.shape[:2], WIDTH - 1)), x), axis=2)
    window = np.stack([past[:, :, w : w + x.shape[2]] for w in range(WIDTH)], axis=-1)
    total = A.matmul_add(A.exact(window), A.exact(weight[:, :, None]), A.exact(bias[:, None, None]))
    return {"y": (total * A.sigmoid(total))[..., 0]}


def depthwise_conv2d_oracle(x, weight, R, S, STRIDE):
    products = A.exact(_windows(x, R, S, STRIDE, 0.0)) * A.exact(weight.reshape(-1, 1, 1, R * S))
    return {"y": A.total(products, axis=-1, keepdims=False)}


def jacobi_oracle(u, f):
    out, inner = u.copy(), A.exact(u)
    total = inner[:-2, 1:-1] + inner[2:, 1:-1] + inner[1:-1, :-2] + inner[1:-1, 2:] + A.exact(f)
    out[1:-1, 1:-1] = (0.25 * total).value
    return {"out": out}


def max_pool_oracle(x, WINDOW, STRIDE):
    return {"y": Expected(_windows(x, WINDOW, WINDOW, STRIDE, -np.inf).max(axis=-1))}


_IMAGES = tuple(
    {"B": b, "C": c, "H": h, "W": w}
    for b, c, h, w in (
        (0, 2, 3, 3),
        (1, 0, 4, 4),
        (1, 2, 0, 3),
        (1, 1, 1, 1),
        (2, 3, 2, 5),
        (1, 2, 17, 31),
        (2, 1, 33, 64),
    )
)


_SEQUENCES = tuple(
    {"B": b, "C": c, "T": t}
    for b, c, t in ((0, 2, 5), (1, 0, 5), (2, 3, 0), (1, 1, 1), (2, 3, 2), (1, 5, 31), (2, 17, 128), (1, 3, 1025))
)


def _image(name, kernel, oracle, size, **constants):
    """A case with elements of `size` bytes, a window and a stride."""
    taps = constants["WINDOW"] ** 2 if "WINDOW" in constants else constants["R"] * constants["S"]

    def results(e):
        step = constants["STRIDE"]
        return e["B"] * e["C"] * (-(-e["H"] // step)) * (-(-e["W"] // step))

    return Case(
        name=name,
        kernel=kernel,
        oracle=oracle,
        small=_IMAGES,
        constexprs=constants,
        bytes=lambda e: size * (e["B"] * e["C"] * e["H"] * e["W"] + results(e)),
        flops=lambda e: 2 * taps * results(e),
    )


CASES = (
    Case(
        name="causal_conv1d",
        kernel=causal_conv1d,
        oracle=causal_conv1d_oracle,
        small=tuple(
            {"B": b, "C": c, "T": t}
            for b, c, t in (
                (0, 2, 5),
                (1, 0, 5),
                (2, 3, 0),
                (1, 1, 1),
                (2, 3, 2),
                (1, 5, 31),
                (2, 17, 128),
                (1, 3, 1025),
            )
        ),
        constexprs={"WIDTH": 4},
        bytes=lambda e: 4 * e["B"] * e["C"] * e["T"] + 10 * e["C"],
        flops=lambda e: 10 * e["B"] * e["C"] * e["T"],
    ),
    _image("depthwise_conv2d", depthwise_conv2d, depthwise_conv2d_oracle, 4, R=3, S=3, STRIDE=1),
    _image("depthwise_conv2d_strided", depthwise_conv2d, depthwise_conv2d_oracle, 4, R=5, S=2, STRIDE=2),
    Case(
        name="jacobi",
        kernel=jacobi,
        oracle=jacobi_oracle,
        small=tuple({"M": m, "N": n} for m, n in ((0, 0), (0, 5), (3, 0), (1, 1), (3, 7), (31, 33), (64, 129))),
        bytes=lambda e: 4 * (2 * (e["M"] + 2) * (e["N"] + 2) + e["M"] * e["N"]),
        flops=lambda e: 5 * e["M"] * e["N"],
    ),
    _image("max_pool", max_pool, max_pool_oracle, 2, WINDOW=3, STRIDE=2),
    _image("max_pool_2", max_pool, max_pool_oracle, 2, WINDOW=2, STRIDE=1),
)
