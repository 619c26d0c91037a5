"""Algorithms that keep tables of their own: elimination, dynamic programs, counts."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A

from .extents import sizes


@intent.kernel
def tridiagonal(
    below: I.In[I.f32, ("B", "N")],
    diagonal: I.In[I.f32, ("B", "N")],
    above: I.In[I.f32, ("B", "N")],
    right: I.In[I.f32, ("B", "N")],
    x: I.Out[I.f32, ("B", "N")],
):
    """below[i] x[i - 1] + diagonal[i] x[i] + above[i] x[i + 1] = right[i], where the first below and the last above do
    not count: eliminated from the first row to the last, which keeps a ratio of each, then substituted backwards."""
    B, N = x.shape
    for b in I.parallel(I.domain(0, B)):
        ratios = I.buffer((N,), I.f32)
        ratio, known = I.cast(0.0, I.f32), I.cast(0.0, I.f32)
        for i in I.domain(0, N):
            pivot = diagonal[b, i] - below[b, i] * ratio
            ratio = above[b, i] / pivot
            known = (right[b, i] - below[b, i] * known) / pivot
            ratios[i] = ratio
            x[b, i] = known
        found = I.cast(0.0, I.f32)
        for k in I.domain(0, N):
            i = N - 1 - k
            found = x[b, i] - ratios[i] * found
            x[b, i] = found


@intent.kernel
def edit_distance(a: I.In[I.i32, ("B", "M")], b: I.In[I.i32, ("B", "N")], distance: I.Out[I.i32, ("B",)]):
    """How many letters have to be inserted, removed or replaced to make b of a; one row of the table is kept."""
    B, M = a.shape
    _, N = b.shape
    for p in I.parallel(I.domain(0, B)):
        row = I.buffer((N + 1,), I.i32)
        row[:] = I.cast(I.indices(I.domain(0, N + 1)), I.i32)
        for i in I.domain(0, M):
            diagonal = row[0]
            left = I.cast(i, I.i32) + 1
            row[0] = left
            for j in I.domain(0, N):
                up = row[j + 1]
                replaced = diagonal + I.select(a[p, i] == b[p, j], 0, 1)
                left = I.minimum(I.minimum(up, left) + 1, replaced)
                row[j + 1] = left
                diagonal = up
        distance[p] = row[N]


@intent.kernel
def viterbi(
    initial: I.In[I.f32, ("S",)],
    transition: I.In[I.f32, ("S", "S")],
    emission: I.In[I.f32, ("B", "T", "S")],
    path: I.Out[I.i32, ("B", "T")],
    score: I.Out[I.f32, ("B",)],
    S: I.Constexpr[int],
):
    """The states that make T observations most likely, and the logarithm of how likely they are: best[t, s] =
    max over r of best[t - 1, r] + transition[r, s], + emission[t, s]; of equal states the lowest."""
    B, T, _ = emission.shape
    for b in I.parallel(I.domain(0, B)):
        came_from = I.buffer((T, S), I.i32)
        best = initial[:] + emission[b, 0, :] if T > 0 else initial[:]
        for t in I.domain(1, T):
            likely, state = I.arg_reduce.max(best[:, None] + transition[:, :], axis=0)
            came_from[t, :] = I.cast(state, I.i32)
            best = likely + emission[b, t, :]
        highest, last = I.arg_reduce.max(best, axis=0)
        score[b] = highest
        at = I.cast(last, I.i32)
        for k in I.domain(0, T):
            t = T - 1 - k
            path[b, t] = at
            if t > 0:
                at = came_from[t, I.assume_in_bounds(I.cast(at, I.index), came_from, axis=1)]


@intent.kernel
def equalize(x: I.In[I.u8, ("B", "P")], y: I.Out[I.u8, ("B", "P")]):
    """Images whose levels are spread: level l becomes 255 (below(l) - least) / (P - least), rounded down, where
    below(l) pixels are at most l and `least` are at the lowest level."""
    B, P = x.shape
    for b in I.parallel(I.domain(0, B)):
        counts = I.buffer((256,), I.i32, init=0)
        I.atomic.add(counts, I.assume_in_bounds(I.cast(x[b, :], I.index), counts), 1)
        below = I.cumsum(counts[:], axis=0)
        pixels = I.cast(P, I.i32)
        least = I.reduce.min(I.select(below > 0, below, pixels), axis=0)
        levels = I.buffer((256,), I.u8)
        levels[:] = I.cast((I.maximum(below - least, 0) * 255) // I.maximum(pixels - least, 1), I.u8)
        y[b, :] = levels[I.assume_in_bounds(I.cast(x[b, :], I.index), levels)]


# Oracles
def tridiagonal_oracle(below, diagonal, above, right):
    below, diagonal, above, right = (A.exact(v) for v in (below, diagonal, above, right))
    N = diagonal.value.shape[1]
    place = np.arange(N)
    x, ratio, known, ratios = right, None, None, []
    for i in range(N):
        first = i == 0
        pivot = diagonal[:, i] if first else diagonal[:, i] - below[:, i] * ratio
        known = (right[:, i] if first else right[:, i] - below[:, i] * known) / pivot
        ratio = above[:, i] / pivot
        ratios.append(ratio)
        x = A.select(place == i, known[:, None], x)
    for i in reversed(range(N - 1)):
        x = A.select(place == i, (x[:, i] - ratios[i] * x[:, i + 1])[:, None], x)
    return {"x": x}


def edit_distance_oracle(a, b):
    (B, M), N = a.shape, b.shape[1]
    table = np.zeros((B, M + 1, N + 1), "i8")
    table[:, :, 0], table[:, 0, :] = np.arange(M + 1), np.arange(N + 1)
    for total in range(2, M + N + 1):  # along the diagonals, whose places do not wait for each other
        i = np.arange(max(1, total - N), min(M, total - 1) + 1)
        j = total - i
        replaced = table[:, i - 1, j - 1] + (a[:, i - 1] != b[:, j - 1])
        table[:, i, j] = np.minimum(np.minimum(table[:, i - 1, j], table[:, i, j - 1]) + 1, replaced)
    return {"distance": table[:, M, N]}


def viterbi_oracle(initial, transition, emission, S):
    B, T, _ = emission.shape
    first = initial + emission[:, 0] if T else np.broadcast_to(initial, (B, S))
    best, sources = first, []
    for t in range(1, T):
        through = best[:, :, None] + transition
        sources.append(through.argmax(axis=1))
        best = through.max(axis=1) + emission[:, t]
    path = np.zeros((B, T), "i8")
    at = best.argmax(axis=1)
    for t in reversed(range(T)):
        path[:, t] = at
        at = sources[t - 1][np.arange(B), at] if t else at
    return {"path": path, "score": best.max(axis=1)}


def equalize_oracle(x):
    made = np.empty_like(x)
    for image, out in zip(x, made, strict=True):
        below = np.cumsum(np.bincount(image, minlength=256))
        least = below[image.min()] if image.size else 0
        out[...] = (below[image] - least) * 255 // max(1, image.size - least)
    return {"y": made}


def _dominant(extents, rng):
    """Systems whose diagonals outweigh the rest, as those of diffusion do."""
    shape = extents["B"], extents["N"]
    below, above = rng.standard_normal(shape), rng.standard_normal(shape)
    return {"below": below, "above": above, "diagonal": np.abs(below) + np.abs(above) + 1 + rng.random(shape)}


def _words(extents, rng):
    """Words of four letters, so that many fit."""
    return {n: rng.integers(0, 4, (extents["B"], extents[e])) for n, e in (("a", "M"), ("b", "N"))}


CASES = (
    Case(
        name="tridiagonal",
        kernel=tridiagonal,
        oracle=tridiagonal_oracle,
        small=sizes("B N", "0 3, 2 0, 1 1, 3 2, 5 17, 130 9, 2 300"),
        large=sizes("B N", "65536 128"),
        structured=_dominant,
        values=("normal",),
        bytes=lambda e: 20 * e["B"] * e["N"],
        flops=lambda e: 8 * e["B"] * e["N"],
    ),
    Case(
        name="edit_distance",
        kernel=edit_distance,
        oracle=edit_distance_oracle,
        small=sizes("B M N", "0 3 3, 2 0 4, 2 4 0, 1 1 1, 3 7 5, 130 4 6, 5 19 33"),
        large=sizes("B M N", "16384 64 64"),
        structured=_words,
        values=("normal",),
        bytes=lambda e: 4 * e["B"] * (e["M"] + e["N"] + 1),
        flops=lambda e: 5 * e["B"] * e["M"] * e["N"],
    ),
    Case(
        name="viterbi",
        kernel=viterbi,
        oracle=viterbi_oracle,
        small=sizes("B T", "0 3, 2 0, 1 1, 3 2, 5 29"),
        large=sizes("B T", "4096 256"),
        constexprs={"S": 8},
        values=("integers",),
        bytes=lambda e: 4 * e["B"] * e["T"] * 9,
        flops=lambda e: 2 * e["B"] * e["T"] * 64,
    ),
    Case(
        name="equalize",
        kernel=equalize,
        oracle=equalize_oracle,
        small=sizes("B P", "0 3, 2 0, 1 1, 3 2, 5 100, 2 5000"),
        large=sizes("B P", "64 1048576"),
        values=("normal", "integers"),
        bytes=lambda e: 3 * e["B"] * e["P"],
        flops=lambda e: 2 * e["B"] * e["P"],
    ),
)
