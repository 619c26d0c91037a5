"""Seeds 500076 and 500279 of `intent-np fuzz`, device: E605, elements of 64 bits in as many lanes as those of 32."""

import intent_np as intent
import intent_np.language as I


@intent.kernel
def k(x2: I.In[I.index, ("K", "N + 1")], x3: I.In[I.index, ("N", 2, "N")], y1: I.Out[I.i64, ("K", "N")]):
    K, N = x2.shape[0], x3.shape[0]
    y1[:, :] = I.cast(
        I.sparse_contract(
            x2[:, 1 : N + 1][:, :, None], I.full((K, N, 1), 1, I.i32),
            I.join(I.full((N, 2, N), 1, I.index), x3[:, :, :])[..., 1],
            format=I.sparse.one_of_two(), acc_dtype=I.index,
        ),
        I.i64,
    )  # fmt: skip


def test_a_block_has_the_shared_memory():
    assert intent.compile(k, target="sm_90").variants[0].cubin
