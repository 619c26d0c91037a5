"""Dropout whose mask is a function of a seed and the place of an element, so that nothing but the seed is kept."""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing.approx import exact, select

from .extents import VECTORS


@intent.fn
def hashed(word):
    """A permutation of the 32-bit words that spreads each bit over all."""
    word = word ^ (word >> 16)
    word = word * 0x7FEB352D
    word = word ^ (word >> 15)
    word = word * 0x846CA68B
    return word ^ (word >> 16)


@intent.kernel
def hash_dropout(x: I.In[I.f16, ("N",)], seed: I.u32, keep: I.f32, y: I.Out[I.f16, ("N",)]):
    """y = x (1 / keep) where the hash of seed and place, as a number in [0, 1), is below keep; else 0."""
    places = I.domain(0, x.shape[0])
    bits = hashed(I.cast(I.indices(places), I.u32) ^ hashed(seed))
    kept = I.cast(bits >> 8, I.f32) * 2.0**-24 < keep
    y[places] = I.cast(I.select(kept, I.cast(x[places], I.f32) * (1.0 / keep), 0.0), I.f16)


@intent.fn
def thinned(value, seed, places, keep):
    """value (1 / keep) where the random number of the place is below keep, else 0: forward and backward are alike."""
    kept = I.random.uniform(seed, I.indices(places)) < keep
    return I.select(kept, value * (1.0 / keep), 0.0)


@intent.kernel
def philox_dropout(x: I.In[I.f16, ("N",)], seed: I.u64, keep: I.f32, y: I.Out[I.f16, ("N",)]):
    """y = x (1 / keep) where Philox number i of the seed is below keep; else 0."""
    places = I.domain(0, x.shape[0])
    y[places] = I.cast(thinned(I.cast(x[places], I.f32), seed, places, keep), I.f16)


@intent.kernel
def philox_dropout_backward(dy: I.In[I.f16, ("N",)], seed: I.u64, keep: I.f32, dx: I.Out[I.f16, ("N",)]):
    """dx = dy (1 / keep) under the mask that the seed gave forward."""
    places = I.domain(0, dy.shape[0])
    dx[places] = I.cast(thinned(I.cast(dy[places], I.f32), seed, places, keep), I.f16)


# Oracles
_MASK = (1 << 32) - 1


def _mix(word):
    """`hashed`, of integers that hold more than 32 bits."""
    word = (word ^ word >> 16) * 0x7FEB352D & _MASK
    word = (word ^ word >> 15) * 0x846CA68B & _MASK
    return word ^ word >> 16


def _philox(seed, count):
    """The first `count` words of Philox4x32-10 under a 64-bit key: the four words of blocks 0, 1, …"""
    block = np.arange(-(-count // 4), dtype="u8")
    zero, low = np.zeros_like(block), np.uint64(_MASK)
    words, key = [block & low, block >> np.uint64(32), zero, zero], [seed & _MASK, seed >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [
            (b >> np.uint64(32)) ^ words[1] ^ np.uint64(key[0]), b & low,
            (a >> np.uint64(32)) ^ words[3] ^ np.uint64(key[1]), a & low,
        ]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) & _MASK, (key[1] + 0xBB67AE85) & _MASK]
    return np.stack(words, axis=-1).reshape(-1)[:count]


def _dropped(x, word, keep):
    """24 bits of each word are exact in f32, and so is their product with a power of two."""
    return select((word >> 8) * 2.0**-24 < keep, exact(x) * (exact(np.ones(1)) / keep), 0.0)


def hash_dropout_oracle(x, seed, keep):
    return {"y": _dropped(x, _mix(np.arange(len(x)) ^ _mix(seed)), keep)}


def philox_dropout_oracle(x, seed, keep):
    return {"y": _dropped(x, _philox(seed, len(x)).astype("i8"), keep)}


def philox_dropout_backward_oracle(dy, seed, keep):
    return {"dx": _dropped(dy, _philox(seed, len(dy)).astype("i8"), keep)}


def _case(kernel, oracle, seed):
    return Case(
        name=kernel.name,
        kernel=kernel,
        oracle=oracle,
        small=VECTORS,
        scalars={"seed": seed, "keep": 0.7},
        bytes=lambda e: 2 * 2 * e["N"],
        flops=lambda e: 2 * e["N"],
    )


CASES = (
    _case(hash_dropout, hash_dropout_oracle, 3_000_000_019),
    _case(philox_dropout, philox_dropout_oracle, 0x0123_4567_89AB_CDEF),
    _case(philox_dropout_backward, philox_dropout_backward_oracle, 0x0123_4567_89AB_CDEF),
)
