import triton
import triton.language as tl


@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def row_max(x, y, C, x_s0, BC: tl.constexpr):
    r = tl.program_id(0)
    whole = C // BC * BC
    acc = tl.full([BC], float("-inf"), tl.float32)
    # whole blocks
    for c0 in range(0, whole, BC):
        c = c0 + tl.arange(0, BC)
        acc = tl.maximum(acc, tl.load(x + r * x_s0 + c), propagate_nan=tl.PropagateNan.ALL)
    # the rest
    for c0 in range(whole, C, BC):
        c = c0 + tl.arange(0, BC)
        acc = tl.maximum(
            acc,
            tl.load(x + r * x_s0 + c, mask=c < C, other=float("-inf")),
            propagate_nan=tl.PropagateNan.ALL,
        )
    tl.store(y + r, tl.reduce(acc, 0, _maximum))
