import triton
import triton.language as tl


@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def nested(x, best, place, found, C, x_s0, BC: tl.constexpr):
    r = tl.program_id(0)
    top = tl.full([], float("-inf"), tl.float32)
    at = tl.full([], 0, tl.int32)
    some = tl.full([], False, tl.int1)
    for c0 in range(0, C, 128):
        old = top
        for c1 in range(c0, min(c0 + 128, C), BC):
            c = c1 + tl.arange(0, BC)
            block = tl.reduce(tl.load(x + r * x_s0 + c, mask=c < C, other=float("-inf")), 0, _maximum)
            top = tl.maximum(top, block, propagate_nan=tl.PropagateNan.ALL)
        at = tl.where(old < top, c0, at)
        some = some | (1.0 < top)
    tl.store(best + r, top)
    tl.store(place + r, at.to(tl.int64))
    tl.store(found + r, some)
