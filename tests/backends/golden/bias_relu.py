import triton
import triton.language as tl


@triton.jit
def bias_relu(x, bias, y, M, N, alpha, x_s0, x_s1, y_s0, BM: tl.constexpr, BN: tl.constexpr):
    pid = tl.program_id(0)
    num_pn = tl.cdiv(N, BN)
    pm = pid // num_pn
    pn = pid % num_pn
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    mask = (m[:, None] < M) & (n[None, :] < N)
    value = tl.load(x + m[:, None] * x_s0 + n[None, :] * x_s1, mask=mask, other=0.0).to(tl.float32)
    offset = tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)
    tl.store(
        y + m[:, None] * y_s0 + n[None, :],
        tl.maximum(value * alpha + offset[None, :], 0.0, propagate_nan=tl.PropagateNan.ALL).to(tl.float16),
        mask=mask,
    )
