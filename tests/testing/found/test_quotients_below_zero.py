"""Triton shares a quotient among lanes that count up from a multiple of the divisor, which is wrong for truncated ones
of lanes below 0; and ptxas negates 16 bits in 32.  Both are seen in what is compiled, and on a GPU."""

import re
from typing import Any

import pytest

import intent_np as intent
import intent_np.language as I


@intent.kernel
def ceiling(y: I.Out[I.index, (3, 4)]):
    y[:, :] = I.ceil_div(I.indices(I.domain(-2, 2))[None, :], -2)


@intent.kernel
def floor(y: I.Out[I.index, (3, 4)]):
    y[:, :] = I.indices(I.domain(-2, 2))[None, :] // 2


@intent.kernel
def remainder(y: I.Out[I.index, (3, 8)]):
    y[:, :] = I.indices(I.domain(-4, 4))[None, :] % 4


@intent.kernel
def magnitudes(x: I.In[I.i16, ("N",)], y: I.Out[I.i16, ("N",)], z: I.Out[I.i16, ("N",)]):
    y[:] = I.select(I.abs(x[:]) <= I.sign(x[:]), x[:], 1)
    z[:] = I.select(-x[:] <= I.sign(x[:]), x[:], 1)


@pytest.mark.parametrize(("kernel", "wanted"), [(ceiling, {0, 1}), (floor, {-1, 0}), (remainder, {0, 1, 2, 3})])
def test_lanes_have_quotients_of_their_own(kernel: Any, wanted: set[int]) -> None:
    """Each thread has a whole row, whose values are constants."""
    ptx = intent.compile(kernel, "sm_90").variants[0].ptx
    stored = set(re.findall(r"st\.global\.b64 \[.*\], \{ (%rd\d+) \}", ptx))
    assert {int(n) for name, n in re.findall(r"mov\.b64\s+(%rd\d+), (-?\d+);", ptx) if name in stored} == wanted


def test_sixteen_bits_are_not_negated_in_more() -> None:
    assert not re.search(r"(neg|abs)\.s16", intent.compile(magnitudes, "sm_90").variants[0].ptx)
