"""Contractions against sums of Python numbers: every pairing of axes, exact integers, NaN and infinities."""

import itertools
import math

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.numerics import storage

RNG = np.random.default_rng(29)


def summed_by_hand(l, r, reduce, batch, wrap=None):
    """Every element of the result by the definition: kept axes of the left, then free ones of the right."""
    l_kept = [i for i in range(l.ndim) if i not in {i for i, _ in reduce}]
    r_free = [j for j in range(r.ndim) if j not in {j for _, j in (*reduce, *batch)}]
    out = np.zeros([l.shape[i] for i in l_kept] + [r.shape[j] for j in r_free], object)
    for at in np.ndindex(*out.shape):
        left = dict(zip(l_kept, at, strict=False))
        right = dict(zip(r_free, at[len(l_kept) :], strict=True)) | {j: left[i] for i, j in batch}
        total = 0
        for k in itertools.product(*(range(l.shape[i]) for i, _ in reduce)):
            a = left | {i: k[n] for n, (i, _) in enumerate(reduce)}
            b = right | {j: k[n] for n, (_, j) in enumerate(reduce)}
            total += l[tuple(a[i] for i in range(l.ndim))].item() * r[tuple(b[j] for j in range(r.ndim))].item()
        out[at] = total if wrap is None else (total + wrap // 2) % wrap - wrap // 2
    return out


PAIRINGS = {
    "one axis": ((("A", "B"), ("B", "C")), ((1, 0),), ()),
    "both transposed": ((("B", "A"), ("C", "B")), ((0, 1),), ()),
    "two axes": ((("A", "B", "C"), ("C", "D", "B")), ((1, 2), (2, 0)), ()),
    "batch in the middle": ((("A", "Z", "B"), ("B", "C", "Z")), ((2, 0),), ((1, 2),)),
    "batch crosses": ((("Y", "Z", "B"), ("Z", "B", "Y")), ((2, 1),), ((0, 2), (1, 0))),
    "nothing free": ((("B", "Z"), ("Z", "B")), ((0, 1),), ((1, 0),)),
    "nothing summed": ((("A", "Z"), ("Z", "C")), (), ((1, 0),)),
    "everything": ((("A", "B"), ("B", "A")), ((0, 1), (1, 0)), ()),
}
SIZES = (
    {"A": 3, "B": 5, "C": 2, "D": 4, "Y": 2, "Z": 3},
    dict.fromkeys("ABCDYZ", 1),
    dict.fromkeys("ACDYZ", 2) | {"B": 0},
    {"A": 0, "C": 3, "B": 2, "D": 1, "Y": 1, "Z": 2},
    dict.fromkeys("ABCDY", 2) | {"Z": 0},
)


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize(
    ("dtype", "acc"), [("i8", "i32"), ("u8", "u8"), ("i64", "i64"), ("f16", "f32"), ("f64", "f64")]
)
def test_pairings_of_axes(run, pairing, dtype, acc):
    (ls, rs), reduce, batch = PAIRINGS[pairing]
    d, total = getattr(I, dtype), getattr(I, acc)
    kept = [a for i, a in enumerate(ls) if i not in {i for i, _ in reduce}]
    kept += [b for j, b in enumerate(rs) if j not in {j for _, j in (*reduce, *batch)}]
    shape = tuple(kept)

    @intent.kernel
    def kernel(l: I.In[d, ls], r: I.In[d, rs], y: I.Out[total, shape], z: I.Out[total, (2, *shape)]):
        y[...] = I.contract(l[...], r[...], reduce=reduce, batch=batch, acc_dtype=total)
        for i in I.parallel(I.domain(0, 2)):
            z[i] = I.contract(l[...], r[...], reduce=reduce, batch=batch, acc_dtype=total)

    low = 0 if dtype == "u8" else -128
    for sizes in SIZES:
        l, r = (RNG.integers(low, 127, [sizes[e] for e in s]).astype(storage(d)) for s in (ls, rs))
        if dtype == "i64":
            l = l * (2**58 + 12345)  # products wrap
        y = np.ones([sizes[e] for e in kept], storage(total))
        z = np.ones((2, *y.shape), storage(total))
        run(kernel, l=l, r=r, y=y, z=z)
        wanted = summed_by_hand(l, r, reduce, batch, {"i64": 2**64}.get(acc))
        wanted = np.array(wanted % 256 if acc == "u8" else wanted, y.dtype)
        np.testing.assert_array_equal(y, wanted)
        np.testing.assert_array_equal(z, np.stack([y, y]))


def test_what_is_not_finite_is_summed_as_ieee_does(run):
    @intent.kernel
    def kernel(l: I.In[I.f32, ("M", 2)], r: I.In[I.f32, (2, "N")], y: I.Out[I.f32, ("M", "N")]):
        y[...] = I.matmul(l[...], r[...], acc_dtype=I.f32)

    values = np.array([math.nan, math.inf, -math.inf, 0, -0.0, 1, 1e19, -1e19, 1e-45], np.float32)
    rows = np.array(list(itertools.product(values, values)), np.float32)
    y = np.zeros((len(rows), len(rows)), np.float32)
    run(kernel, l=rows, r=rows.T.copy(), y=y)
    with np.errstate(all="ignore"):
        first, second = np.outer(rows[:, 0], rows[:, 0]), np.outer(rows[:, 1], rows[:, 1])
        np.testing.assert_array_equal(y, first + second)


@pytest.mark.parametrize("dtype", ["f8e4m3fn", "f8e5m2", "bf16"])
def test_narrow_operands_are_multiplied_exactly(run, dtype):
    d = getattr(I, dtype)

    @intent.kernel
    def kernel(
        a: I.In[d, ("M", "K")], b: I.In[d, ("N", "K")], x: I.In[d, ("K",)], y: I.Out[I.f32, ("M", "N")],
        v: I.Out[I.f32, ("M",)], w: I.Out[I.f32, ("M",)], s: I.Out[I.f32, ()], o: I.Out[I.f32, ("K", "M")],
    ):  # fmt: skip
        y[...] = I.matmul(a[...], b[...], transpose_rhs=True, acc_dtype=I.f32)
        v[:] = I.matvec(a[...], x[:], acc_dtype=I.f32)
        w[:] = I.vecmat(x[:], I.transpose(a[...]), acc_dtype=I.f32)
        s[()] = I.dot(x[:], x[:], acc_dtype=I.f32)
        o[...] = I.outer(x[:], a[:, :][:, 0] if a.shape[1] > 0 else I.zeros((a.shape[0],), d), acc_dtype=I.f32)

    for m, k, n in ((3, 7, 2), (1, 1, 1), (2, 0, 3), (0, 5, 4), (13, 64, 11)):
        a, b, x = (RNG.standard_normal(s).astype(storage(d)) for s in ((m, k), (n, k), (k,)))
        y, v, w, s, o = (np.ones(z, np.float32) for z in ((m, n), (m,), (m,), (), (k, m)))
        run(kernel, a=a, b=b, x=x, y=y, v=v, w=w, s=s, o=o)
        a, b, x = (t.astype(float) for t in (a, b, x))
        once = lambda t: np.asarray(t).astype(np.float32)  # noqa: E731
        np.testing.assert_array_equal(y, once(a @ b.T))  # exact in f64, rounded once
        np.testing.assert_array_equal(v, once(a @ x))
        np.testing.assert_array_equal(w, v)
        np.testing.assert_array_equal(s, once(x @ x))
        np.testing.assert_array_equal(o, once(np.outer(x, a[:, 0])) if k else o)


@intent.kernel
def twice(l: I.In[I.f32, ("A", "A")], y: I.Out[I.f32, ("A",)]):
    y[:] = I.contract(l[...], l[...], reduce=((0, 0), (0, 1)), acc_dtype=I.f32)


@intent.kernel
def no_pairs(l: I.In[I.f32, ("A", "A")], y: I.Out[I.f32, ("A", "A")]):
    y[...] = I.contract(l[...], l[...], reduce=(1, 0), acc_dtype=I.f32)


@intent.kernel
def unrelated(l: I.In[I.f32, ("A", "B")], r: I.In[I.f32, ("C", "D")], y: I.Out[I.f32, ("A", "D")]):
    y[...] = I.matmul(l[...], r[...], acc_dtype=I.f32)


@intent.kernel
def mixed(l: I.In[I.f32, ("A",)], r: I.In[I.f16, ("A",)], y: I.Out[I.f32, ()]):
    y[()] = I.dot(l[...], r[...], acc_dtype=I.f32)


@intent.kernel
def into_integers(l: I.In[I.f32, ("A",)], y: I.Out[I.i32, ()]):
    y[()] = I.dot(l[...], l[...], acc_dtype=I.i32)


@intent.kernel
def a_matrix_too_many(l: I.In[I.f32, ("A", "A")], y: I.Out[I.f32, ()]):
    y[()] = I.dot(l[...], l[...], acc_dtype=I.f32)


@intent.kernel
def no_accumulator(l: I.In[I.f32, ("A",)], y: I.Out[I.f32, ()]):
    y[()] = I.dot(l[...], l[...])


@pytest.mark.parametrize(
    ("kernel", "code", "says"),
    [
        (twice, "E208", "pair each axis once"),
        (no_pairs, "E113", "reduce"),
        (unrelated, "E208", "(A, B) and (C, D)"),
        (mixed, "E201", "I.dot"),
        (into_integers, "E202", "acc_dtype=I.f32"),
        (a_matrix_too_many, "E208", "rank 1"),
        (no_accumulator, "E113", "acc_dtype"),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_mistakes_are_told(told, kernel, code, says):
    told(kernel, code, says)
