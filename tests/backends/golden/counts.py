import triton
import triton.language as tl


@triton.jit
def counts(x, total, some, C, x_s0, BC: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BC)
    row = tl.load(x + r * x_s0 + c, mask=c < C, other=0)
    tl.store(total + r, tl.sum(row.to(tl.int32), axis=0).to(tl.int8))
    tl.store(some + r, tl.max((100 < row).to(tl.int32), axis=0) != 0)
