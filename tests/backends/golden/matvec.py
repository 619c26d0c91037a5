import triton
import triton.language as tl


@triton.jit
def matvec(A, x, y, M, K, A_s0, BM: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    m = pm * BM + tl.arange(0, BM)
    acc = tl.zeros([BM], tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        lhs = tl.load(A + m[:, None] * A_s0 + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        rhs = tl.load(x + k, mask=k < K, other=0.0)
        acc += tl.sum(lhs.to(tl.float32) * rhs.to(tl.float32)[None, :], axis=1)
    tl.store(y + m, acc, mask=m < M)
