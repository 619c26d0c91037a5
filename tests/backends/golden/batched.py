import triton
import triton.language as tl


@triton.jit
def batched(
    A, X, C,
    M, N, K,
    A_s0, A_s1, X_s0, X_s1, C_s0, C_s1,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    pid = tl.program_id(0)
    num_pm = tl.cdiv(M, BM)
    num_pn = tl.cdiv(N, BN)
    plane = num_pm * num_pn
    b = pid // plane
    block = pid % plane
    width = 2 * num_pn
    first = block // width * 2
    rows = min(num_pm - first, 2)
    within = block % width
    pm = first + within % rows
    pn = within // rows
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    acc = tl.zeros([BN, BM], tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        lhs = tl.load(
            A + b * A_s0 + m[None, :] * A_s1 + k[:, None],
            mask=(k[:, None] < K) & (m[None, :] < M),
            other=0.0,
        )
        rhs = tl.load(
            X + b * X_s0 + n[:, None] * X_s1 + k[None, :],
            mask=(n[:, None] < N) & (k[None, :] < K),
            other=0.0,
        )
        acc = tl.dot(rhs, lhs, acc)
    tl.store(C + b * C_s0 + n[:, None] * C_s1 + m[None, :], acc, mask=(n[:, None] < N) & (m[None, :] < M))
