"""Atomic accesses, buffers, random numbers and layout, against Python and NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.reference import logical
from intent_np.numerics import storage
from intent_np.terms.core import Arena

RNG = np.random.default_rng(8)


@intent.kernel
def partition(x: I.In[I.i32, ("N",)], count: I.InOut[I.i64, (1,)], y: I.InOut[I.i32, ("N",)]):
    (N,) = x.shape
    for i in I.parallel(I.domain(0, N)):
        v = x[i]
        if v >= 0:
            slot = I.atomic.add(count, index=0, value=1, order="acq_rel")
            y[I.assume_in_bounds(I.cast(slot, I.index), y)] = v


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_tickets_are_unique_in_every_order(seed: int | None) -> None:
    x = RNG.integers(-5, 9, 40).astype(np.int32)
    count, y = np.zeros(1, np.int64), np.full(40, -1, np.int32)
    with Arena():
        logical.run(partition.capture(), {"x": x, "count": count, "y": y}, seed=seed)
    kept = x[x >= 0]
    assert count[0] == len(kept)
    if seed is None:
        np.testing.assert_array_equal(y[: len(kept)], kept)
    np.testing.assert_array_equal(np.sort(y[: len(kept)]), np.sort(kept))
    assert (y[len(kept) :] == -1).all()


@pytest.mark.parametrize(
    ("dtype", "op"), [(I.u8, "add"), (I.i16, "max"), (I.i64, "min"), (I.u32, "xor"), (I.i32, "and_")]
)
def test_old_values_follow_one_order(run: Callable[..., Any], dtype: Any, op: str) -> None:
    atomic = getattr(I.atomic, op)

    @intent.kernel
    def k(x: I.In[dtype, ("N",)], b: I.In[I.u8, ("N",)], y: I.InOut[dtype, (3,)], old: I.Out[dtype, ("N",)]):
        i = b[:]
        old[:] = atomic(y, i, x[:], valid=i < 3)

    d = np.dtype(storage(dtype))
    low, high = max(-100, np.iinfo(d).min), 120
    x, b = RNG.integers(low, high, 50).astype(d), RNG.integers(0, 5, 50).astype(np.uint8)
    y, old = RNG.integers(low, high, 3).astype(d), np.full(50, 9, d)
    want, olds = [int(v) for v in y], [0] * 50
    step = {"add": lambda a, c: (a + c) % 256, "max": max, "min": min, "xor": int.__xor__, "and_": int.__and__}[op]
    for n, (v, i) in enumerate(zip(x.tolist(), b.tolist(), strict=True)):
        if i < 3:
            olds[n], want[i] = want[i], step(want[i], v)
    run(k, x=x, b=b, y=y, old=old)
    assert y.tolist() == want
    assert old.tolist() == olds


def test_compare_exchange_compares_bits(run: Callable[..., Any]) -> None:
    @intent.kernel
    def k(y: I.InOut[I.f32, (3,)], old: I.Out[I.f32, (3,)], won: I.Out[I.bool, (3,)], e: I.In[I.f32, (3,)]):
        r = I.atomic.compare_exchange(y, I.indices(I.domain(0, 3)), expected=e[:], desired=5.0, order="release")
        old[:] = r.old_value
        won[:] = r.success

    y, e = np.array([0.0, np.nan, 1.0], np.float32), np.array([-0.0, np.nan, 1.0], np.float32)
    old, won = np.zeros(3, np.float32), np.zeros(3, bool)
    run(k, y=y, old=old, won=won, e=e)
    assert won.tolist() == [False, True, True]
    np.testing.assert_array_equal(y, np.array([0, 5, 5], np.float32))


def test_buffers_are_private_where_they_are_made(run: Callable[..., Any]) -> None:
    @intent.kernel
    def k(x: I.In[I.i32, ("M", 4)], y: I.Out[I.i32, ("M", 4)], z: I.Out[I.i32, (4,)]):
        M, _ = x.shape
        total = I.buffer((4,), I.i32, init=0)
        for row in I.parallel(I.domain(0, M)):
            mine = I.buffer((4,), I.i32)
            mine[:] = x[row, :]
            for j in range(1, 4):
                mine[j] = mine[j] + mine[j - 1]
            y[row, :] = mine[:]
            I.atomic.add(total, I.indices(I.domain(0, 4)), x[row, :])
        z[:] = total[:]

    x = RNG.integers(-9, 9, (5, 4)).astype(np.int32)
    y, z = np.zeros_like(x), np.zeros(4, np.int32)
    run(k, x=x, y=y, z=z)
    np.testing.assert_array_equal(y, np.cumsum(x, 1))
    np.testing.assert_array_equal(z, x.sum(0))


@intent.kernel
def unwritten(y: I.Out[I.i32, (4,)]):
    b = I.buffer((4,), I.i32)
    y[:] = b[:]


@intent.kernel
def releasing_load(x: I.InOut[I.i32, (4,)], y: I.Out[I.i32, ()]):
    y[()] = I.atomic.load(x, 0, order="release")


@intent.kernel
def short_count(x: I.In[I.i32, ("N",)], count: I.InOut[I.i32, (1,)], y: I.InOut[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        slot = I.atomic.add(count, index=0, value=1)
        y[I.assume_in_bounds(I.cast(slot, I.index), y)] = x[i]


@pytest.mark.parametrize(("code", "kernel"), [("E307", unwritten), ("E310", releasing_load), ("E304", short_count)])
def test_what_is_refused(wrong: Callable[..., Any], code: str, kernel: I.Kernel) -> None:
    assert wrong(kernel).code == code


# ---- random numbers


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox4x32-10 over Python integers."""
    c, (k0, k1) = counter, key
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k0, q & 0xFFFFFFFF, p >> 32 ^ c[3] ^ k1, p & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


KNOWN = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]  # fmt: skip


@intent.kernel
def numbers(
    seed: I.u64, n: I.In[I.u64, ("N",)], b: I.Out[I.u32, ("N",)], u: I.Out[I.f32, ("N",)], g: I.Out[I.f32, ("N",)]
):
    b[:] = I.random.bits(seed, n[:])
    u[:] = I.random.uniform(seed, n[:])
    g[:] = I.random.normal(seed, n[:])


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_random_numbers_are_those_of_philox(run: Callable[..., Any], seed: int) -> None:
    for counter, key, want in KNOWN:
        assert philox(counter, key) == want
    n = np.array([0, 1, 2, 3, 4, 2**34 + 3, 2**63 + 1, 2**64 - 1], np.uint64)
    b, u, g = np.zeros(8, np.uint32), np.zeros(8, np.float32), np.zeros(8, np.float32)
    run(numbers, seed=seed, n=n, b=b, u=u, g=g)

    def bits(i: int) -> int:
        i %= 2**64
        return philox([i // 4 & 0xFFFFFFFF, i // 4 >> 32, 0, 0], [seed & 0xFFFFFFFF, seed >> 32])[i % 4]

    want = [bits(int(i)) for i in n]
    assert b.tolist() == want
    np.testing.assert_array_equal(u, np.array([(w >> 8) * 2.0**-24 for w in want], np.float32))
    pairs = [((bits(2 * int(i)) >> 8) + 1, bits(2 * int(i) + 1) >> 8) for i in n]
    normals = [np.sqrt(-2 * np.log(p * 2.0**-24)) * np.cos(2 * np.pi * q * 2.0**-24) for p, q in pairs]
    np.testing.assert_allclose(g, normals, rtol=1e-5, atol=3e-6)


# ---- layout


@pytest.mark.parametrize("m", [0, 1, 5])
def test_layout_is_numpys(run: Callable[..., Any], m: int) -> None:
    @intent.kernel
    def k(
        x: I.In[I.i32, ("M", 6)], y: I.In[I.i32, (3, 6)], c: I.Out[I.i32, ("M + 3", 6)], d: I.Out[I.i32, ("M", 12)],
        j: I.Out[I.i32, ("M", 6, 2)], f: I.Out[I.i32, ("M", 6)], r: I.Out[I.i32, ("M", 6)],
        p: I.Out[I.i32, ("M + 3", 6)], s: I.Out[I.i32, ("M", 2)],
    ):  # fmt: skip
        a = x[:, :]
        c[:, :] = I.concat((a, y[:, :]))
        d[:, :] = I.concat((a, I.flip(a, 1)), axis=-1)
        j[:, :, :] = I.join(a, a + 1)
        f[:, :] = I.flip(a)
        r[:, :] = I.roll(a, (2, -7), (0, 1))
        p[:, :] = I.pad(a, ((1, 2), (0, 0)), constant_values=-4)
        first, second, third = I.split(a, 3, axis=1)
        left, right = I.split(a, (2,), axis=1)
        s[:, :] = first * 100 + second * 10 + third - left * right[:, 2:]

    x, y = RNG.integers(0, 9, (m, 6)).astype(np.int32), RNG.integers(0, 9, (3, 6)).astype(np.int32)
    shapes = {"c": (m + 3, 6), "d": (m, 12), "j": (m, 6, 2), "f": (m, 6), "r": (m, 6), "p": (m + 3, 6), "s": (m, 2)}
    got = {n: np.zeros(shape, np.int32) for n, shape in shapes.items()}
    run(k, x=x, y=y, **got)
    want = {
        "c": np.concatenate((x, y)), "d": np.concatenate((x, np.flip(x, 1)), -1), "j": np.stack((x, x + 1), -1),
        "f": np.flip(x), "r": np.roll(x, (2, -7), (0, 1)), "p": np.pad(x, ((1, 2), (0, 0)), constant_values=-4),
        "s": x[:, :2] * 100 + x[:, 2:4] * 10 + x[:, 4:] - x[:, :2] * x[:, 4:],
    }  # fmt: skip
    for n, w in want.items():
        np.testing.assert_array_equal(got[n], w, err_msg=n)
