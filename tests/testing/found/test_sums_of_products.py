"""Seeds 1500373 and 1500628 of `intent-np fuzz`, cubin: E601 where Triton made matrix products of sums of products.

It made them in TF32, silently where the rank is right.
"""

from typing import Any

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.target import SM_90
from intent_np.testing.campaign import holds

pytest.importorskip("triton")


@intent.kernel
def in_bf16(a: I.In[I.bf16, ("M", "K")], b: I.In[I.bf16, ("K", "N")], y: I.Out[I.bf16, ("M", "N")]):
    y[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.bf16)


@intent.kernel
def narrow(a: I.In[I.f8e4m3fn, ("M", 16)], b: I.In[I.f8e4m3fn, (16, "N")], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)


@intent.kernel
def batched(a: I.In[I.f8e5m2, (4, "M", 16)], b: I.In[I.f8e5m2, (4, 16, "N")], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = I.reduce.max(I.matmul(a[:, :, :], b[:, :, :], acc_dtype=I.f32), axis=0)


@pytest.mark.parametrize("kernel", [in_bf16, narrow, batched])
def test_it_holds(kernel: Any) -> None:
    holds(kernel, {"M": 33, "N": 17, "K": 40}, oracles=("reference", "machine", "triton", "cubin"))


@pytest.mark.parametrize("kernel", [in_bf16, narrow, batched])
def test_no_matrix_instruction_computes_it(kernel: Any) -> None:
    made = intent.compile(kernel, target=SM_90)
    assert "mma" not in made.ir("ptx")
