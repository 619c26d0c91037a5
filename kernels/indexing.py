"""Rows and elements at computed places: gathers, scatters, atomic sums, sparse rows."""

import itertools

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case, Expected
from intent_np.testing import approx as A


@intent.kernel
def embedding(
    weight: I.In[I.bf16, ("V", "D")],
    tokens: I.In[I.i32, ("N",)],
    out: I.Out[I.bf16, ("N", "D")],
    PADDING: I.Constexpr[int] = 0,
):
    """out[n] = weight[tokens[n]], and zeros where the token is PADDING."""
    N, D = out.shape
    columns = I.domain(0, D)
    for n in I.parallel(I.domain(0, N)):
        token = I.assume_in_bounds(tokens[n], weight)
        out[n, columns] = I.gather(weight, (token, columns), valid=token != PADDING, fill=0)


@intent.kernel
def embedding_backward(
    gradient: I.In[I.f32, ("N", "D")],
    tokens: I.In[I.i32, ("N",)],
    weight_gradient: I.InOut[I.f32, ("V", "D")],
    PADDING: I.Constexpr[int] = 0,
):
    """weight_gradient[v] += the sum of gradient[n] over all n with tokens[n] = v, except for PADDING."""
    N, D = gradient.shape
    columns = I.domain(0, D)
    for n in I.parallel(I.domain(0, N)):
        token = I.assume_in_bounds(tokens[n], weight_gradient)
        if token != PADDING:
            I.atomic.add(weight_gradient, index=(token, columns), value=gradient[n, columns])


@intent.kernel
def scatter_max(
    value: I.In[I.f32, ("N", "D")],
    places: I.In[I.i32, ("N",)],
    out: I.InOut[I.f32, ("M", "D")],
):
    """out[m] = the maximum of out[m] and of every value[n] with places[n] = m."""
    row = I.assume_in_bounds(places[:], out)
    I.scatter_reduce(out, index=(row, slice(None)), value=value[:, :], combine=I.maximum)


@intent.kernel
def index_put(
    value: I.In[I.f32, ("N",)],
    places: I.In[I.i64, ("N",)],
    out: I.InOut[I.f32, ("M",)],
):
    """out[places[n]] = value[n]; -1 is the last place, and a place outside -M to M - 1 changes nothing."""
    (M,) = out.shape
    place = I.cast(places[:], I.index)
    place = I.select(place < 0, place + M, place)
    inside = (place >= 0) & (place < M)
    I.scatter_unique(out, index=I.assume_unique(place), value=value[:], valid=inside)


@intent.kernel
def csr_spmv(
    values: I.In[I.f32, ("Z",)],
    columns: I.In[I.i32, ("Z",)],
    offsets: I.In[I.i32, ("M + 1",)],
    x: I.In[I.f32, ("K",)],
    y: I.Out[I.f32, ("M",)],
):
    """y = A x: row m of A has values[e] in columns[e], for e from offsets[m] to offsets[m + 1]."""
    rows = I.domain(0, y.shape[0])
    entries = I.ragged(rows, I.domain(0, values.shape[0]), offsets, indices=columns)
    for row in I.parallel(rows):
        column = I.assume_in_bounds(I.members(entries[row]), x)
        y[row] = I.reduce.sum(values[entries[row]] * x[column], axis=0)


# Oracles
def embedding_oracle(weight, tokens, PADDING):
    return {"out": np.where((tokens == PADDING)[:, None], 0.0, weight[tokens])}


def embedding_backward_oracle(gradient, tokens, weight_gradient, PADDING):
    rows = []
    for v in range(len(weight_gradient)):
        members = np.concatenate((weight_gradient[v : v + 1], gradient[(tokens == v) & (v != PADDING)]))
        rows.append(A.in_memory(A.total(A.exact(members), axis=0), len(members)))
    none = A.exact(weight_gradient)
    return {"weight_gradient": A.concatenated(rows, axis=0) if rows else none}


def scatter_max_oracle(value, places, out):
    most = out.copy()
    for n, m in enumerate(places):
        most[m] = np.maximum(most[m], value[n])
    return {"out": Expected(most)}


def index_put_oracle(value, places, out):
    changed = out.copy()
    for n, m in enumerate(places):
        if -len(out) <= m < len(out):
            changed[m] = value[n]
    return {"out": changed}


def csr_spmv_oracle(values, columns, offsets, x):
    """Every stored entry by itself, then each row's sum: an entry that is not stored meets no element of x."""
    products = A.exact(values) * A.exact(x[columns])
    rows = [A.total(products[b:e], axis=0) for b, e in itertools.pairwise(offsets)]
    return {"y": A.concatenated(rows, axis=0) if rows else A.exact(np.zeros(0))}


# Arrays
def _some(rng, bound, count):
    """Numbers below `bound`, a few of them often."""
    return rng.integers(0, max(bound, 1), count) // rng.integers(1, 4, count)


def _tokens(e, rng):
    return {"tokens": _some(rng, e["V"], e["N"])}


def _scattered(e, rng):
    return {"places": _some(rng, e["M"], e["N"])}


def _put(e, rng):
    """Places that differ, some of them counted from the end, and some that do not exist."""
    m, n = e["M"], e["N"]
    places = rng.permutation(np.arange(-m - n, 2 * m + n))
    _, first = np.unique(np.where(places < 0, places + m, places), return_index=True)
    return {"places": rng.permutation(places[first])[:n]}


def _rows(e, rng):
    """Offsets of rows of which many are empty, and columns for all entries."""
    m, z = e["M"], e["Z"]
    cuts = np.sort(rng.integers(0, z + 1, max(m - 1, 0)) // 2 * 2)
    return {"offsets": np.minimum(np.array([0, *cuts, z])[: m + 1], z), "columns": rng.integers(0, max(e["K"], 1), z)}


_TABLES = tuple(
    {"V": v, "N": n, "D": d}
    for v, n, d in ((1, 0, 3), (5, 7, 0), (1, 1, 1), (3, 17, 5), (17, 31, 64), (100, 65, 129), (31, 257, 33))
)

CASES = (
    Case(
        name="embedding",
        kernel=embedding,
        oracle=embedding_oracle,
        small=(*_TABLES, {"V": 5, "N": 9, "D": 2500}),
        large=({"V": 128256, "N": 65536, "D": 1024},),
        structured=_tokens,
        constexprs={"PADDING": 2},
        bytes=lambda e: 4 * e["N"] * e["D"] + 4 * e["N"],
        flops=lambda e: 0,
    ),
    Case(
        name="embedding_backward",
        kernel=embedding_backward,
        oracle=embedding_backward_oracle,
        small=_TABLES,
        structured=_tokens,
        constexprs={"PADDING": 2},
        bytes=lambda e: 4 * (e["N"] * e["D"] + e["N"] + 2 * min(e["N"], e["V"]) * e["D"]),
        flops=lambda e: e["N"] * e["D"],
    ),
    Case(
        name="scatter_max",
        kernel=scatter_max,
        oracle=scatter_max_oracle,
        small=tuple({"M": e["V"], "N": e["N"], "D": e["D"]} for e in _TABLES),
        structured=_scattered,
        bytes=lambda e: 4 * (e["N"] * e["D"] + e["N"] + 2 * min(e["N"], e["M"]) * e["D"]),
        flops=lambda e: e["N"] * e["D"],
    ),
    Case(
        name="index_put",
        kernel=index_put,
        oracle=index_put_oracle,
        small=tuple({"M": m, "N": n} for m, n in ((0, 3), (5, 0), (1, 1), (2, 5), (17, 13), (100, 257), (4099, 1000))),
        structured=_put,
        bytes=lambda e: 16 * e["N"],
        flops=lambda e: 0,
    ),
    Case(
        name="csr_spmv",
        kernel=csr_spmv,
        oracle=csr_spmv_oracle,
        small=tuple(
            {"M": m, "K": k, "Z": z}
            for m, k, z in ((0, 3, 0), (4, 0, 0), (1, 1, 1), (5, 7, 0), (3, 5, 11), (64, 31, 129), (100, 257, 2000))
        ),
        structured=_rows,
        bytes=lambda e: 8 * e["Z"] + 4 * (2 * e["M"] + e["K"] + 1),
        flops=lambda e: 2 * e["Z"],
    ),
)
