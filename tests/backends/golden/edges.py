import triton
import triton.language as tl


@triton.jit
def floor_div(a, b):
    """The quotient rounded down; `//` truncates."""
    divisor = tl.where((b == 0) | (b == -1), 1, b)
    remainder = a % divisor
    floor = (a - remainder) // divisor - ((remainder != 0) & ((a ^ divisor) < 0))
    return tl.where(b == -1, -a, floor)


@triton.jit
def floor_mod(a, b):
    """The remainder with the sign of `b`; `%` takes that of `a`."""
    divisor = tl.where((b == 0) | (b == -1), 1, b)
    remainder = a % divisor
    return remainder + tl.where((remainder != 0) & ((remainder ^ divisor) < 0), divisor, 0)


@triton.jit
def is_nan(x):
    return x != x


@triton.jit
def edges(x, y, h, i, row, N, M, BN: tl.constexpr, BM: tl.constexpr):
    p = tl.program_id(0)
    n = p * BN + tl.arange(0, BN)
    m = tl.arange(0, BM)
    value = tl.load(x + n, mask=n < N, other=float("nan"))
    signed = tl.where(
        value < 0.0,
        tl.full([], -2147483648, tl.int32).to(tl.float32, bitcast=True),
        float("inf"),
    )
    tl.store(y + n, tl.where(is_nan(value), float("nan"), tl.div_rn(1.0, signed)), mask=n < N)
    tl.store(
        h + n,
        tl.where(value < 0.0, 0.1, tl.full([], -32768, tl.int16).to(tl.float16, bitcast=True)),
        mask=n < N,
    )
    shifted = (
        (floor_div(n - 7, 3) + floor_mod(n - 7, 4) * 100).to(tl.int64) + tl.full([], 1099511627776, tl.int64)
    )
    tl.store(i + n, shifted, mask=n < N)
    mask = (m[:, None] < M) & (n[None, :] < N)
    if 0 < p:
        tl.store(row + m[:, None] * N + n[None, :], 2.5, mask=mask)
    if p == 0:
        tl.debug_barrier()
        tl.store(row + m[:, None] * N + n[None, :], value[None, :], mask=mask)
