"""Seed 1201855 of `intent-np fuzz`, machine: CheckError in lower_to_coordinates."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def padded(x1: I.In[I.i32, (9,)], x2: I.In[I.i32, ("N",)], y1: I.Out[I.i32, ("N + 2",)], n: I.i32):
    N = x2.shape[0]
    acc = x1[:-1]
    for _ in range(n):
        acc = acc * 2 + x1[1:]
    y1[:] = I.pad(acc[x2[:] % 8], ((1, 1),), constant_values=3)


@intent.kernel
def joined(x1: I.In[I.i32, (8,)], x2: I.In[I.i32, ("N",)], x3: I.In[I.i32, ("M",)], y1: I.Out[I.i32, ("M + N",)]):
    N, M = x2.shape[0], x3.shape[0]
    acc = x1[:]
    for i in range(M):
        acc = acc + x3[i]
        for j in range(N):
            acc = I.maximum(acc, x2[j])
    y1[:] = I.concat((acc[x2[:] % 8], acc[x3[:] & 7]))


@intent.kernel
def chosen(x1: I.In[I.i32, (8,)], x2: I.In[I.i32, ("N",)], y1: I.Out[I.i32, ("N + 3",)], n: I.i32):
    N = x2.shape[0]
    acc = x1[:]
    for _ in range(n):
        acc = acc * acc
    for p in I.parallel(I.domain(0, N + 3)):
        y1[p] = acc[I.assume_in_bounds(x2[p] & 7, acc)] if p < N else 7


def test_a_part_of_the_lanes():
    holds(padded, {"N": 5}, {"n": 2})


def test_two_parts():
    holds(joined, {"N": 5, "M": 2})


def test_a_selection():
    holds(chosen, {"N": 4}, {"n": 3})
