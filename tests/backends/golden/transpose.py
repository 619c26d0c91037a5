import triton
import triton.language as tl


@triton.jit
def transpose(x, y, M, N, x_s0, y_s0, BM: tl.constexpr, BN: tl.constexpr):
    pid = tl.program_id(0)
    num_pn = tl.cdiv(N, BN)
    pm = pid // num_pn
    pn = pid % num_pn
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    mask = (n[:, None] < N) & (m[None, :] < M)
    tile = tl.load(x + m[None, :] * x_s0 + n[:, None], mask=mask, other=0.0)
    tl.store(y + n[:, None] * y_s0 + m[None, :], tile, mask=mask)
