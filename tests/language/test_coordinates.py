"""Tensors as subscripts, gathers and scatters: against NumPy's own indexing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intent_np as intent
import intent_np.language as I
from intent_np.backends.reference import logical
from intent_np.errors import CheckError
from intent_np.terms.core import Arena
from intent_np.terms.logical import LOGICAL
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from tests.sources import executed

RNG = np.random.default_rng(5)
SHAPE = (4, 5, 6)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def written(text: str, **space: Any) -> I.Kernel:
    """The kernel `k` of a text."""
    return executed(text, space={"intent": intent, "I": I, **space})["k"]


ENTRIES = ("whole", "slice", "domain", "scalar", "static", "column", "row", "square", "none")


def entry(kind: str, extent: int, name: str) -> tuple[str, Any]:
    """An entry of a subscript as the kernel writes it, and as NumPy gets it."""
    if kind == "whole":
        return ":", slice(None)
    if kind == "slice":
        return "1::2", slice(1, None, 2)
    if kind == "domain":
        return f"I.domain(1, {extent})", slice(1, extent)
    if kind == "static":
        return "-2", extent - 2
    if kind == "scalar":
        return "s", 1
    shape = {"column": (3, 1), "row": (2,), "square": (3, 2)}[kind]
    return f"I.assume_in_bounds({name}[...], x, axis={SHAPE.index(extent)})", RNG.integers(0, extent, shape)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=5), st.integers(0, 4), st.booleans(), st.booleans())
def test_tensors_stand_where_numpy_puts_them(kinds: list[str], dots: int, value: bool, writes: bool) -> None:
    axes = iter(range(3))
    texts, items, views, arrays = [], [], [], {}
    for kind in kinds:
        if kind == "none":
            texts.append("None")
            items.append(None)
            continue
        axis = next(axes, None)
        if axis is None:
            continue
        text, item = entry(kind, SHAPE[axis], f"i{axis}")
        texts.append(text)
        items.append(item)
        if isinstance(item, np.ndarray):
            views.append(f"i{axis}: I.In[I.i32, {item.shape}], ")
            arrays[f"i{axis}"] = item.astype(np.int32)
    if next(axes, 3) < 3:  # what is not named is whole, wherever an ellipsis says
        place = min(dots, len(texts))
        rest = [t for t in texts[place:] if t != "None"]
        if not rest:
            texts.insert(place, "...")
            items.insert(place, Ellipsis)
    x = normal(*SHAPE)
    want = x[tuple(items)]
    shape = tuple(int(n) for n in want.shape)
    index = ", ".join(texts) or "..."
    source = "x[:, :, :]" if value else "x"
    text = f"@intent.kernel\ndef k(x: I.In[I.f32, {SHAPE}], {''.join(views)}s: I.i32, y: I.Out[I.f32, {shape}]):\n"
    text = text.replace("s: I.i32", "t: I.i32") + "    s = I.assume_in_bounds(t, x)\n"
    text += f"    v = {source}\n    y[...] = v[{index}]\n"
    with Arena():
        program = written(text).capture()
        assert LOGICAL.check(program) == []
        assert parse(show(program), LOGICAL) is program
        y = np.zeros(shape, np.float32)
        logical.run(program, {"x": x, "y": y, **arrays}, {"t": 1})
    np.testing.assert_array_equal(y, want)


@intent.kernel
def rows_of(table: I.In[I.f32, ("V", "D")], ids: I.In[I.i64, ("N",)], y: I.Out[I.f32, ("N", "D")]):
    V, D = table.shape
    for n in I.parallel(I.domain(0, ids.shape[0])):
        i = I.cast(ids[n], I.index)
        y[n, :] = table[i, :] if (0 <= i) & (i < V) else I.zeros((D,), I.f32)


@intent.kernel
def gathered(table: I.In[I.f32, ("V", "D")], ids: I.In[I.i64, ("N",)], y: I.Out[I.f32, ("N", "D")]):
    i = ids[:]
    inside = (0 <= i) & (i < I.cast(table.shape[0], I.i64))
    y[:, :] = I.gather(table, index=(i,), valid=inside[:, None], fill=0.0)


@pytest.mark.parametrize("v", [0, 1, 9])
@pytest.mark.parametrize("kernel", [rows_of, gathered])
def test_an_invalid_lane_touches_nothing(run: Callable[..., Any], kernel: I.Kernel, v: int) -> None:
    table, ids = normal(v, 4), RNG.integers(-3, 12, 37)
    y = np.full((37, 4), 7, np.float32)
    run(kernel, table=table, ids=ids, y=y)
    want = np.zeros_like(y)
    for n, i in enumerate(ids):
        if 0 <= i < v:
            want[n] = table[i]
    np.testing.assert_array_equal(y, want)


def test_gather_takes_what_a_subscript_takes(run: Callable[..., Any]) -> None:
    @intent.kernel
    def k(x: I.In[I.f32, (4, "N")], i: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, (2, "N")]):
        (N,) = i.shape
        columns = I.domain(0, N)
        row = i[:]
        y[:] = I.gather(x, (row, I.indices(columns)), valid=(row >= 0) & (row < 4), fill=x[0, :])
        v = I.gather(x[:, :], (I.domain(1, 3), I.indices(columns)[: N - N]), valid=True, fill=0.0)
        z[:, :] = I.gather(
            x[:, :], (I.domain(1, 3),), valid=(I.indices(columns) < 2)[None, :], fill=-1.0
        ) + I.reduce.sum(v)

    x, i = normal(4, 9), RNG.integers(-2, 6, 9).astype(np.int32)
    y, z = np.zeros(9, np.float32), np.zeros((2, 9), np.float32)
    run(k, x=x, i=i, y=y, z=z)
    np.testing.assert_array_equal(y, [x[r, c] if 0 <= r < 4 else x[0, c] for c, r in enumerate(i)])
    np.testing.assert_array_equal(z, np.where(np.arange(9) < 2, x[1:3], -1))


@intent.kernel
def promised(x: I.In[I.f32, ("N",)], i: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    y[:] = x[I.assume_in_bounds(i[:], x)]


def test_a_broken_promise_is_found(run: Callable[..., Any]) -> None:
    x, y = normal(5), np.zeros(3, np.float32)
    run(promised, x=x, i=np.array([4, 0, 4], np.int32), y=y)
    np.testing.assert_array_equal(y, x[[4, 0, 4]])
    with pytest.raises(CheckError, match="E502"):
        run(promised, x=x, i=np.array([4, 5, 4], np.int32), y=y)


# ---- proofs


PROVED = [
    "y[I.indices(n)] = x[I.indices(n)]",
    "y[N - 1 - I.indices(n)] = x[:]",
    "y[(I.indices(n) + 3) % N] = x[:]",
    "y[(I.indices(n) - N // 2) % N] = x[:]",
    "z[3 * I.indices(n) + 1] = x[:]",
    "z[I.indices(I.domain(0, 3))[None, :] * N + I.indices(n)[:, None]] = x[:, None]",
    "z[I.indices(I.domain(0, 3)) + 3 * I.indices(n)[:, None]] = x[:, None]",
    "w[I.indices(s) // 8 + (I.indices(s) % 8) * 8] = 1.0",
    "w[(I.indices(s) * 5 + 3) % 64] = 1.0",
    "w[I.assume_in_bounds(I.indices(s) ^ 21, w)] = 1.0",
    "for p in I.parallel(n):\n        z[p * 3 + I.indices(I.domain(0, 3))] = x[p]",
    "for p in I.parallel(n):\n        for q in range(3):\n            z[p * 3 + q] = x[p]",
    "for p in I.parallel(n):\n        z[p] = x[p]\n        z[p + N] = x[p]",
    "for p in I.parallel(n):\n        z[2 * p] = x[p]\n        z[2 * p + 1] = x[p]",
    "for p in I.parallel(n):\n        if p == 0:\n            y[N - 1] = x[p]",
    "y[I.assume_unique(I.assume_in_bounds(i[:], y))] = x[:]",
]
REFUSED = [
    ("E304", "y[I.indices(n) // 2] = x[:]"),
    ("E304", "w[I.minimum(I.indices(n), N - 1) % 2] = x[:]"),
    ("E304", "w[(I.indices(s) * 4 + 3) % 64] = 1.0"),
    ("E304", "z[I.indices(n)[:, None] + I.indices(n)[None, :]] = x[:, None]"),
    ("E304", "y[I.assume_in_bounds(i[:], y)] = x[:]"),
    ("E304", "for p in I.parallel(n):\n        for q in range(3):\n            z[p + q] = x[p]"),
    ("E304", "for p in I.parallel(n):\n        z[p] = x[p]\n        z[p + 1] = x[p]"),
    ("E305", "for p in I.parallel(n):\n        u[p] = u[N - 1 - p]"),
    ("E303", "for p in I.parallel(n):\n        y[I.indices(n)] = x[p]"),
    ("E301", "y[I.indices(n) + 1] = x[:]"),
    ("E102", "v = x[:][None, :][0, ..., I.indices(n)]"),
    ("E102", "v = x[x[:] > 0]"),
    ("E202", "v = x[x[:]]"),
    ("E204", "v = x[:][None, :][I.zeros((5,), I.index), I.indices(n)]"),
    ("E301", "y[:] = x[i[:]]"),
    ("E301", "y[:] = I.gather(x, i[:], valid=i[:] >= 0, fill=0.0)"),
]

BODY = """@intent.kernel
def k(x: I.In[I.f32, ("N",)], i: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("N",)], z: I.InOut[I.f32, ("3 * N",)],
      w: I.InOut[I.f32, (64,)], u: I.InOut[I.f32, ("N",)]):
    (N,) = x.shape
    n, s = I.domain(0, N), I.domain(0, 64)
    """


@pytest.mark.parametrize("body", PROVED)
def test_index_tensors_that_are_proved_to_be_different(body: str) -> None:
    written(BODY + body + "\n").capture()


@pytest.mark.parametrize(("code", "body"), REFUSED)
def test_what_is_not_proved_is_refused(wrong: Callable[..., Any], code: str, body: str) -> None:
    assert wrong(written(BODY + body + "\n")).code == code


def test_scatters_write_where_they_are_told(run: Callable[..., Any]) -> None:
    @intent.kernel
    def k(x: I.In[I.f32, ("N",)], p: I.In[I.i64, ("N",)], y: I.InOut[I.f32, ("N",)], m: I.InOut[I.i32, (5,)]):
        (N,) = x.shape
        I.scatter_unique(y, I.assume_unique(I.assume_in_bounds(p[:], y)), x[:], valid=x[:] > 0)
        I.scatter_reduce(m, I.cast(I.indices(I.domain(0, N)) % 5, I.i16), I.cast(x[:] * 100, I.i32), I.maximum)

    n = 23
    x, p = normal(n), RNG.permutation(n)
    y, m = np.full(n, 9, np.float32), np.full(5, -50, np.int32)
    want, most = y.copy(), m.copy()
    want[p[x > 0]] = x[x > 0]
    np.maximum.at(most, np.arange(n) % 5, (x * np.float32(100)).astype(np.int32))
    run(k, x=x, p=p, y=y, m=m)
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(m, most)


@intent.fn
def join_bits(a, b):
    return (a | b) ^ 0


def test_any_combine_scatters_from_all_points(run: Callable[..., Any]) -> None:
    @intent.kernel
    def k(x: I.In[I.u8, ("M", "N")], b: I.In[I.i32, ("M", "N")], y: I.InOut[I.u8, (7,)], f: I.InOut[I.f32, (7,)]):
        M, N = x.shape
        for row in I.parallel(I.domain(0, M)):
            i = b[row, :]
            v = (i >= 0) & (i < 7)
            I.scatter_reduce(y, index=(i,), value=x[row, :], combine=join_bits, valid=v)
            I.scatter_reduce(f, index=i, value=I.full((N,), 1.0, I.f32), combine=add, valid=v)

    x, b = RNG.integers(0, 256, (6, 9)).astype(np.uint8), RNG.integers(-2, 9, (6, 9)).astype(np.int32)
    y, f = np.zeros(7, np.uint8), np.full(7, 0.5, np.float32)
    run(k, x=x, b=b, y=y, f=f)
    want, count = np.zeros(7, np.uint8), np.full(7, 0.5, np.float32)
    inside = (b >= 0) & (b < 7)
    np.bitwise_or.at(want, b[inside], x[inside])
    np.add.at(count, b[inside], 1)
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(f, count)


@intent.fn
def add(a, b):
    return a + b


@intent.kernel
def rows_of_nothing(x: I.In[I.f32, ("M", "N")], i: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("P", "N")]):
    M, N = x.shape
    row = i[:][:, None]
    index = (I.cast(row, I.index), I.indices(I.domain(0, N))[None, :])
    y[:, :] = I.gather(x, index, valid=(row >= 0) & (I.cast(row, I.index) < M), fill=0.0)


@pytest.mark.parametrize("n", [0, 1])
def test_no_row_is_looked_up_where_rows_are_empty(run, n):
    x, i, y = np.ones((3, n), np.float32), np.array([2**31 - 1, -5, 1], np.int32), np.full((3, n), 7, np.float32)
    run(rows_of_nothing, x=x, i=i, y=y)
    assert y.tolist() == [[0.0] * n, [0.0] * n, [1.0] * n]
