import triton
import triton.language as tl


@triton.jit
def gemm_f64(A, B, C, M, N, K, A_s0, B_s0, C_s0, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    num_pn = tl.cdiv(N, BN)
    pm = pid // num_pn
    pn = pid % num_pn
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float64)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        lhs = tl.load(A + m[:, None] * A_s0 + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        rhs = tl.load(B + k[:, None] * B_s0 + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(lhs, rhs, acc, input_precision="ieee", out_dtype=tl.float64)
    tl.store(C + m[:, None] * C_s0 + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))
