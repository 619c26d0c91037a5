"""Scans in order, counting, the largest members, places that meet, and random numbers that hang on nothing else."""

import ml_dtypes
import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

RNG = np.random.default_rng(40)

# ---- scans


@intent.fn
def then(a, b):
    return a[0] * b[0], a[1] * b[0] + b[1]


@intent.kernel
def affine(m: I.In[I.i32, ("N",)], c: I.In[I.i32, ("N",)], y: I.Out[I.i32, (4, "N")]):
    identity = (1, 0)
    v = (m[:], c[:])
    y[0, :], y[1, :] = I.scan(v, axis=0, identity=identity, combine=then, inclusive=True)
    _, y[2, :] = I.scan(v, axis=0, identity=identity, combine=then, inclusive=False)
    _, y[3, :] = I.scan(v, axis=0, identity=identity, combine=then, inclusive=True, reverse=True)


def folded(pairs):
    a, b, out = 1, 0, []
    for m, c in pairs:
        a, b = a * m, b * m + c
        out.append((a, b))
    return out


@pytest.mark.parametrize("n", [0, 1, 2, 64, 65, 100])
def test_a_scan_of_what_does_not_commute_is_the_left_fold(everywhere, n):
    m, c = RNG.choice([-1, 1], n).astype(np.int32), RNG.integers(-9, 10, n).astype(np.int32)
    y = np.zeros((4, n), np.int32)
    everywhere(affine, m, c, y)
    pairs = [*zip(m.tolist(), c.tolist(), strict=True)]
    forward, backward = folded(pairs), folded(reversed(pairs))[::-1]
    assert y[:2].T.tolist() == [list(p) for p in forward]
    assert y[2].tolist() == [0, *(b for _, b in forward)][:n]
    assert y[3].tolist() == [b for _, b in backward]


# ---- counts


@intent.kernel
def counted(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("B",)]):
    y[:] = I.histogram(x[:], bins=y.shape[0], count_dtype=I.i32)


def test_members_outside_of_the_bins_are_not_counted(everywhere):
    y = np.full(4, 7, np.int32)
    everywhere(counted, np.int32([0, 1, 2, 3, 4, 4, 5, -1]), y)
    assert y.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("n", "bins"), [(0, 3), (1, 1), (1000, 7), (50, 129), (5, 0)])
def test_counts_are_those_of_bincount(everywhere, n, bins):
    x = RNG.integers(-3, bins + 3, n).astype(np.int32)
    y = np.full(bins, 7, np.int32)
    everywhere(counted, x, y)
    inside = x[(x >= 0) & (x < bins)]
    np.testing.assert_array_equal(y, np.bincount(inside, minlength=bins)[:bins])


@intent.kernel
def counted_bytes(x: I.In[I.i8, ("N",)], y: I.Out[I.i32, (4,)], z: I.Out[I.i8, (4,)], u: I.Out[I.u8, (4,)]):
    y[:] = I.histogram(x[:], bins=4, count_dtype=I.i32)
    z[:] = I.histogram(x[:], bins=4, count_dtype=I.i8)
    u[:] = I.histogram(x[:], bins=4, count_dtype=I.u8)


def test_a_count_is_of_its_own_type_and_wraps_there(everywhere):
    y, z, u = np.ones(4, np.int32), np.ones(4, np.int8), np.ones(4, np.uint8)
    everywhere(counted_bytes, np.zeros(128, np.int8), y, z, u)
    assert y.tolist() == [128, 0, 0, 0]
    assert z.tolist() == [-128, 0, 0, 0]
    assert u.tolist() == [128, 0, 0, 0]


@intent.kernel
def clustered(
    p: I.In[I.f32, ("N", "D")], c: I.In[I.f32, ("K", "D")], near: I.Out[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]
):
    distance = I.reduce.sum(c[:, :] * c[:, :], axis=1)[None, :] - 2.0 * I.matmul(
        p[:, :], c[:, :], transpose_rhs=True, acc_dtype=I.f32
    )
    _, place = I.arg_reduce.min(distance, axis=1)
    own = I.cast(place, I.i32)
    near[:] = own
    y[:] = I.histogram(own, bins=y.shape[0], count_dtype=I.i32)


@pytest.mark.parametrize("shape", [(128, 16, 16), (33, 5, 3), (1, 1, 1)])
def test_counts_of_the_nearest_of_products(everywhere, shape):
    n, d, k = shape
    p, c = (RNG.integers(-9, 10, s).astype(np.float32) for s in ((n, d), (k, d)))
    near, y = np.full(n, -1, np.int32), np.full(k, -1, np.int32)
    everywhere(clustered, p, c, near, y)
    want = ((p[:, None] - c) ** 2).sum(-1).argmin(1)
    np.testing.assert_array_equal(near, want)
    np.testing.assert_array_equal(y, np.bincount(want, minlength=k))


# ---- the largest


@pytest.mark.parametrize("k", [0, -1, 16, 9])
def test_as_many_largest_as_there_are_not_is_refused(k):
    @intent.kernel
    def largest(x: I.In[I.f32, (8,)], y: I.Out[I.f32, (8,)]):
        v, _ = I.topk(x[:], k)
        y[:] = x[:] + I.reduce.sum(v, axis=0)

    with pytest.raises(intent.CompileError) as caught:
        intent.compile(largest, target="reference")
    assert caught.value.code == "E210"


@pytest.mark.parametrize("k", [1, 3, 8])
def test_the_largest_are_in_order_and_equal_ones_as_they_came(everywhere, k):
    @intent.kernel
    def largest(x: I.In[I.i32, ("M", 8)], y: I.Out[I.i32, ("M", k)], p: I.Out[I.index, ("M", k)]):
        y[:, :], p[:, :] = I.topk(x[:, :], k)

    x = RNG.integers(0, 5, (6, 8)).astype(np.int32)
    y, p = np.zeros((6, k), np.int32), np.zeros((6, k), np.int64)
    everywhere(largest, x, y, p)
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(p, order)
    np.testing.assert_array_equal(y, np.take_along_axis(x, order, 1))


# ---- places that meet


def adding(dtype):
    @intent.kernel
    def added(n: I.index, x: I.InOut[dtype, (1,)]):
        for _ in I.parallel(I.domain(0, I.maximum(n, 0))):
            I.atomic.add(x, index=(0,), value=1)

    return added


@pytest.mark.parametrize(
    ("dtype", "stored", "times", "want"),
    [
        (I.i32, np.int32, 512, 512),
        (I.f32, np.float32, 512, 512),
        (I.f16, np.float16, 2049, 2048),  # 2048 + 1 rounds to even
        (I.bf16, ml_dtypes.bfloat16, 257, 256),
        (I.bf16, ml_dtypes.bfloat16, 512, 256),
    ],
    ids=lambda v: str(getattr(v, "name", v)),
)
def test_adding_one_often_rounds_each_time(everywhere, dtype, stored, times, want):
    x = np.zeros(1, stored)
    everywhere(adding(dtype), times, x)
    assert float(x[0]) == want


@intent.kernel
def scatter_add(at: I.In[I.i64, ("N",)], v: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("M",)], z: I.InOut[I.f32, ("M",)]):
    (M,) = y.shape
    for i in I.parallel(I.domain(0, at.shape[0])):
        p = I.cast(at[i], I.index)
        if p >= 0 and p < M:
            I.scatter_reduce(y, index=p, value=v[i], combine=added_up)
            I.atomic.add(z, index=p, value=v[i])


@intent.fn
def added_up(a, b):
    return a + b


def test_five_equal_places_count_five_times(everywhere):
    y, z = np.zeros(3, np.float32), np.zeros(3, np.float32)
    everywhere(scatter_add, np.int64([1] * 5), np.ones(5, np.float32), y, z)
    assert y.tolist() == [0, 5, 0]
    assert z.tolist() == [0, 5, 0]


@pytest.mark.parametrize("n", [0, 1, 100])
def test_places_that_meet_are_added_and_those_outside_touch_nothing(everywhere, n):
    at, v = RNG.integers(-2, 7, n), RNG.integers(-9, 10, n).astype(np.float32)
    y, z = np.ones(5, np.float32), np.ones(5, np.float32)
    everywhere(scatter_add, at, v, y, z)
    want = np.ones(5)
    inside = (at >= 0) & (at < 5)
    np.add.at(want, at[inside], v[inside])
    np.testing.assert_array_equal(y, want)
    np.testing.assert_array_equal(z, want)


# ---- random numbers


def philox(block, seed):
    """The four words of a block, over Python integers."""
    c, k = [block & 0xFFFFFFFF, block >> 32, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & 0xFFFFFFFF, p >> 32 ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


@intent.kernel
def uniform_matrix(seed: I.u64, y: I.Out[I.f32, ("M", "N")]):
    M, N = y.shape
    rows, columns = I.indices(I.domain(0, M)), I.indices(I.domain(0, N))
    y[:, :] = I.random.uniform(seed, rows[:, None] * N + columns[None, :])


@intent.kernel
def uniform_points(seed: I.u64, y: I.Out[I.f32, ("M", "N")]):
    M, N = y.shape
    for c, r in I.parallel((I.domain(0, N), I.domain(0, M))):
        y[r, c] = I.random.uniform(seed, r * N + c)


@pytest.mark.parametrize("kernel", [uniform_matrix, uniform_points], ids=lambda k: k.name)
@pytest.mark.parametrize("shape", [(128, 1), (1, 128), (1, 1), (0, 4), (23, 7)])
def test_random_numbers_hang_on_seed_and_counter_alone(everywhere, kernel, shape):
    """Whatever the shape, the order of points, or the grid: element i is the i-th of one sequence."""
    y = np.full(shape, 9, np.float32)
    everywhere(kernel, 2**63 + 5, y)
    count = y.size
    words = [w for b in range(-(-count // 4)) for w in philox(b, 2**63 + 5)][:count]
    np.testing.assert_array_equal(y.reshape(-1), np.array([(w >> 8) * 2.0**-24 for w in words], np.float32))


@intent.kernel
def at_counters(n: I.In[I.u64, ("N",)], b: I.Out[I.u32, ("N",)], u: I.Out[I.f32, ("N",)]):
    b[:] = I.random.bits(0, n[:])
    u[:] = I.random.uniform(0, n[:])


def extreme_counters():
    """Counters whose words are next to 0, 0x80000000 and 0xFFFFFFFF among a hundred thousand."""
    n = np.arange(100_000, dtype=np.uint64)
    block, word = n // 4, n % 4
    c = [block & 0xFFFFFFFF, block >> 32, np.zeros_like(n), np.zeros_like(n)]
    k = [0, 0]
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [q >> 32 ^ c[1] ^ np.uint64(k[0]), q & 0xFFFFFFFF, p >> 32 ^ c[3] ^ np.uint64(k[1]), p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    bits = np.choose(word.astype(int), c).astype(np.int64)
    return np.array([np.abs(bits - w).argmin() for w in (0, 2**31 - 1, 2**31, 2**32 - 1)], np.uint64)


def test_a_word_at_the_sign_bit_gives_a_number_from_0_to_below_1(everywhere):
    n = extreme_counters()
    b, u = np.zeros(4, np.uint32), np.full(4, -1, np.float32)
    everywhere(at_counters, n, b, u)
    want = [philox(int(i) // 4, 0)[int(i) % 4] for i in n]
    assert b.tolist() == want
    np.testing.assert_array_equal(u, np.array([(w >> 8) * 2.0**-24 for w in want], np.float32))
    assert ((u >= 0) & (u < 1)).all()
