"""gpu kernels written by hand: one for each thing that lowering to Triton has to get right."""

from __future__ import annotations

from intent_np.terms.gpu import GPU, Kernel
from intent_np.terms.parse import parse

_MATRICES = """
M = extent
N = extent
K = extent
A_s0 = stride A 0
B_s0 = stride B 0
C_s0 = stride C 0
A = view in {operand}[M, K] strides [A_s0, 1] aligned 16
B = view in {operand}[K, N] strides [B_s0, 1] aligned 16
C = view out {acc}[M, N] strides [C_s0, 1] aligned 16
BM = physical {bm}
BN = physical {bn}
BK = physical {bk}
kernel @{name}<BM, BN, BK>(A, B, C, M, N, K) {{
  grid = (ceil_div(M, BM), ceil_div(N, BN))
  (pm, pn) = program_coord(grid{grouping})
  m = pm * BM + range(0, BM)
  n = pn * BN + range(0, BN)
  acc = full<fragment<{acc}, [BM, BN]>>(0{zero})
  for k0 = 0 to K step BK iter_args(acc):
    k = k0 + range(0, BK)
    lhs = load A[m, k] valid (m < M && k < K) fill 0
    rhs = load B[k, n] valid (k < K && n < N) fill 0
    acc = contract lhs, rhs, acc
  store C[m, n] = acc valid (m < M && n < N)
}}
"""


def matmul(name: str, operand: str, acc: str, blocks: tuple[int, int, int], grouping: int = 1) -> str:
    """The GEMM listing with these dtypes and blocks."""
    bm, bn, bk = blocks
    group = f", group {grouping}" if grouping > 1 else ""
    zero = "" if acc == "i32" else ".0"
    return _MATRICES.format(name=name, operand=operand, acc=acc, bm=bm, bn=bn, bk=bk, grouping=group, zero=zero)


SOFTMAX = """
R = extent
C = extent at most 1024
x_s0 = stride x 0
y_s0 = stride y 0
x = view in f16[R, C] strides [x_s0, 1]
y = view out f16[R, C] strides [y_s0, 1]
BC = physical 128
max = combine [f32] maximum(arg(a, 0, f32), arg(b, 0, f32))
sum = combine [f32] arg(a, 0, f32) + arg(b, 0, f32)
kernel @softmax<BC>(x, y, R, C) {
  grid = (R)
  (r) = program_coord(grid)
  c = range(0, BC)
  row = cast(load x[r, c] valid (c < C) fill -inf, f32)
  largest = reduce max over BC of row from -inf:f32
  weight = exp(row - broadcast(largest, [BC]))
  total = reduce sum over BC of (select(c < C, weight, 0.0:f32)) from 0.0:f32
  store y[r, c] = cast(weight / total, f16) valid (c < C)
}
"""

TRANSPOSE = """
M = extent
N = extent
x_s0 = stride x 0
y_s0 = stride y 0
x = view in f32[M, N] strides [x_s0, 1]
y = view out f32[N, M] strides [y_s0, 1]
BM = physical 32
BN = physical 64
kernel @transpose<BM, BN>(x, y, M, N) {
  grid = (ceil_div(M, BM), ceil_div(N, BN))
  (pm, pn) = program_coord(grid)
  m = pm * BM + range(0, BM)
  n = pn * BN + range(0, BN)
  tile = load x[m, n] valid (m < M && n < N) fill 0
  store y[n, m] = tile valid (m < M && n < N)
}
"""

BIAS_RELU = """
M = extent
N = extent
x_s0 = stride x 0
x_s1 = stride x 1
y_s0 = stride y 0
x = view in f16[M, N] strides [x_s0, x_s1]
bias = view in f16[N] strides [1]
y = view out f16[M, N] strides [y_s0, 1]
alpha = param f32
BM = physical 16
BN = physical 64
kernel @bias_relu<BM, BN>(x, bias, y, M, N, alpha) {
  grid = (ceil_div(M, BM), ceil_div(N, BN))
  (pm, pn) = program_coord(grid)
  m = pm * BM + range(0, BM)
  n = pn * BN + range(0, BN)
  value = cast(load x[m, n] valid (m < M && n < N) fill 0, f32)
  offset = cast(load bias[n] valid (n < N) fill 0, f32)
  store y[m, n] = cast(maximum(value * alpha + offset, 0.0:f32), f16) valid (m < M && n < N)
}
"""

ROW_MAX = """
R = extent
C = extent
x_s0 = stride x 0
x = view in f32[R, C] strides [x_s0, 1]
y = view out f32[R] strides [1]
BC = physical 64
max = combine [f32] maximum(arg(a, 0, f32), arg(b, 0, f32))
kernel @row_max<BC>(x, y, R, C) {
  grid = (R)
  (r) = program_coord(grid)
  whole = C // BC * BC
  acc = full<fragment<f32, [BC]>>(-inf)
  for c0 = 0 to whole step BC iter_args(acc) # "whole blocks":
    c = c0 + range(0, BC)
    acc = maximum(acc, load x[r, c])
  for c0 = whole to C step BC iter_args(acc) # "the rest":
    c = c0 + range(0, BC)
    acc = maximum(acc, load x[r, c] valid (c < C) fill -inf)
  store y[r] = reduce max over BC of acc from -inf:f32
}
"""

ARGMAX = """
R = extent
C = extent at most 128
x_s0 = stride x 0
x = view in f32[R, C] strides [x_s0, 1]
value = view out f32[R] strides [1]
place = view out i64[R] strides [1]
BC = physical 128
left = arg(b, 0, f32) < arg(a, 0, f32) || arg(a, 0, f32) == arg(b, 0, f32) && arg(a, 1, index) < arg(b, 1, index)
larger = select(left, arg(a, 0, f32), arg(b, 0, f32))
earlier = select(left, arg(a, 1, index), arg(b, 1, index))
first_largest = combine [f32, index] larger, earlier
kernel @argmax<BC>(x, value, place, R, C) {
  grid = (R)
  (r) = program_coord(grid)
  c = range(0, BC)
  row = load x[r, c] valid (c < C) fill -inf
  largest = proj((reduce first_largest over BC of row, c from -inf:f32, 0), 0)
  at = proj((reduce first_largest over BC of row, c from -inf:f32, 0), 1)
  store value[r] = largest
  store place[r] = cast(at, i64)
}
"""

MATVEC = """
M = extent
K = extent
A_s0 = stride A 0
A = view in f16[M, K] strides [A_s0, 1]
x = view in f16[K] strides [1]
y = view out f32[M] strides [1]
BM = physical 32
BK = physical 64
kernel @matvec<BM, BK>(A, x, y, M, K) {
  grid = (ceil_div(M, BM))
  (pm) = program_coord(grid)
  m = pm * BM + range(0, BM)
  acc = full<fragment<f32, [BM]>>(0.0)
  for k0 = 0 to K step BK iter_args(acc):
    k = k0 + range(0, BK)
    lhs = load A[m, k] valid (m < M && k < K) fill 0
    rhs = load x[k] valid (k < K) fill 0
    acc = contract lhs, rhs, acc
  store y[m] = acc valid (m < M)
}
"""

ATTENTION = """
H = extent
Q = extent
L = extent
q_s0 = stride q 0
q_s1 = stride q 1
k_s0 = stride k 0
k_s1 = stride k 1
v_s0 = stride v 0
v_s1 = stride v 1
out_s0 = stride out 0
out_s1 = stride out 1
q = view in f16[H, Q, 32] strides [q_s0, q_s1, 1] aligned 16
k = view in f16[H, L, 32] strides [k_s0, k_s1, 1] aligned 16
v = view in f16[H, L, 32] strides [v_s0, v_s1, 1] aligned 16
out = view out f16[H, Q, 32] strides [out_s0, out_s1, 1] aligned 16
BQ = physical 64
BL = physical 32
BD = physical 32
max = combine [f32] maximum(arg(a, 0, f32), arg(b, 0, f32))
sum = combine [f32] arg(a, 0, f32) + arg(b, 0, f32)
kernel @attention<BQ, BL, BD>(q, k, v, out, H, Q, L) {
  grid = (H, ceil_div(Q, BQ))
  (h, pq) = program_coord(grid)
  i = pq * BQ + range(0, BQ)
  d = range(0, BD)
  query = load q[h, i, d] valid (i < Q) fill 0
  top = full<fragment<f32, [BQ]>>(-inf)
  norm = full<fragment<f32, [BQ]>>(0.0)
  acc = full<fragment<f32, [BQ, BD]>>(0.0)
  for j0 = 0 to L step BL iter_args(top, norm, acc) # "keys":
    j = j0 + range(0, BL)
    key = load k[h, j, d] valid (j < L) fill 0
    none = full<fragment<f32, [BL, BQ]>>(0.0)
    score = contract query, key, none
    kept = select(j < L, score * 0.17677669529663687:f32, -inf:f32)
    highest = reduce max over BL of kept from -inf:f32
    next = maximum(top, highest)
    scale = exp(top - next)
    weight = exp(kept - next)
    row = reduce sum over BL of weight from 0.0:f32
    value = load v[h, j, d] valid (j < L) fill 0
    acc = contract cast(weight, f16), value, (acc * scale)
    norm = norm * scale + row
    top = next
  store out[h, i, d] = cast(acc / norm, f16) valid (i < Q)
}
"""

COUNTS = """
R = extent
C = extent at most 64
x_s0 = stride x 0
x = view in i8[R, C] strides [x_s0, 1]
total = view out i8[R] strides [1]
some = view out bool[R] strides [1]
BC = physical 64
sum = combine [i8] arg(a, 0, i8) + arg(b, 0, i8)
any = combine [bool] arg(a, 0, bool) || arg(b, 0, bool)
kernel @counts<BC>(x, total, some, R, C) {
  grid = (R)
  (r) = program_coord(grid)
  c = range(0, BC)
  row = load x[r, c] valid (c < C) fill 0
  store total[r] = reduce sum over BC of row from 0:i8
  store some[r] = reduce any over BC of (100:i8 < row) from false
}
"""

# numbers that Triton would change, floors of negative numbers, a branch, a store that broadcasts
EDGES = """
N = extent
M = extent
x = view in f32[N] strides [1]
y = view out f32[N] strides [1]
h = view out f16[N] strides [1]
i = view out i64[N] strides [1]
row = view out f32[M, N] strides [N, 1]
BN = physical 16
BM = physical 4
kernel @edges<BM, BN>(x, y, h, i, row, N, M) {
  grid = (ceil_div(N, BN))
  (p) = program_coord(grid)
  n = p * BN + range(0, BN)
  m = range(0, BM)
  value = load x[n] valid (n < N) fill nan
  signed = select(value < 0.0:f32, -0.0:f32, inf:f32)
  store y[n] = select(isnan(value), nan:f32, 1.0:f32 / signed) valid (n < N)
  store h[n] = select(value < 0.0:f32, 0.0999755859375:f16, -0.0:f16) valid (n < N)
  shifted = (n - 7) // 3 + (n - 7) % 4 * 100 + 1099511627776
  store i[n] = cast(shifted, i64) valid (n < N)
  if 0 < p:
    late = 2.5:f32
    store row[m, n] = late valid (m < M && n < N)
  if p == 0:
    store row[m, n] = value valid (m < M && n < N)
}
"""

# names that Python, Triton or the printer's own helpers have taken
TAKEN = """
N = extent
tl = view in f32[N] strides [1]
max = view out f32[N] strides [1]
lambda = physical 16
kernel @sigmoid<lambda>(tl, max, N) {
  grid = (ceil_div(N, lambda))
  (pid) = program_coord(grid)
  range_1 = pid * lambda + range(0, lambda)
  print = load tl[range_1] valid (range_1 < N) fill 0
  libdevice = sigmoid(print)
  store max[range_1] = libdevice valid (range_1 < N)
}
"""

BATCHED = """
B = extent
M = extent
N = extent
K = extent
A_s0 = stride A 0
A_s1 = stride A 1
X_s0 = stride X 0
X_s1 = stride X 1
C_s0 = stride C 0
C_s1 = stride C 1
A = view in f16[B, M, K] strides [A_s0, A_s1, 1]
X = view in f16[B, N, K] strides [X_s0, X_s1, 1]
C = view out f32[B, N, M] strides [C_s0, C_s1, 1]
BM = physical 16
BN = physical 32
BK = physical 16
kernel @batched<BM, BN, BK>(A, X, C, B, M, N, K) {
  grid = (B, ceil_div(M, BM), ceil_div(N, BN))
  (b, pm, pn) = program_coord(grid, group 2)
  m = pm * BM + range(0, BM)
  n = pn * BN + range(0, BN)
  acc = full<fragment<f32, [BM, BN]>>(0.0)
  for k0 = 0 to K step BK iter_args(acc):
    k = k0 + range(0, BK)
    lhs = load A[b, m, k] valid (m < M && k < K) fill 0
    rhs = load X[b, n, k] valid (k < K && n < N) fill 0
    acc = contract lhs, rhs, acc
  store C[b, n, m] = acc valid (m < M && n < N)
}
"""

# scalar carries of three kinds, a nested loop, a copy of a state that changes later
NESTED = """
R = extent
C = extent
x_s0 = stride x 0
x = view in f32[R, C] strides [x_s0, 1]
best = view out f32[R] strides [1]
place = view out i64[R] strides [1]
found = view out bool[R] strides [1]
BC = physical 32
max = combine [f32] maximum(arg(a, 0, f32), arg(b, 0, f32))
kernel @nested<BC>(x, best, place, found, R, C) {
  grid = (R)
  (r) = program_coord(grid)
  top = -inf:f32
  at = 0
  some = false
  for c0 = 0 to C step 128 iter_args(top, at, some):
    old = top
    for c1 = c0 to minimum(c0 + 128, C) step BC iter_args(top):
      c = c1 + range(0, BC)
      block = reduce max over BC of (load x[r, c] valid (c < C) fill -inf) from -inf:f32
      top = maximum(top, block)
    at = select(old < top, c0, at)
    some = some || 1.0:f32 < top
  store best[r] = top
  store place[r] = cast(at, i64)
  store found[r] = some
}
"""

TEXTS = {
    "gemm": matmul("gemm", "f16", "f32", (32, 64, 32)),
    "gemm_f32": matmul("gemm_f32", "f32", "f32", (32, 32, 16)),
    "gemm_i8": matmul("gemm_i8", "i8", "i32", (32, 32, 32)),
    "gemm_grouped": matmul("gemm_grouped", "f16", "f32", (16, 16, 16), 3),
    "softmax": SOFTMAX,
    "transpose": TRANSPOSE,
    "bias_relu": BIAS_RELU,
    "row_max": ROW_MAX,
    "argmax": ARGMAX,
    "matvec": MATVEC,
    "attention": ATTENTION,
    "counts": COUNTS,
    "edges": EDGES,
    "taken": TAKEN,
    "batched": BATCHED,
    "nested": NESTED,
    "gemm_f64": matmul("gemm_f64", "f64", "f64", (32, 64, 16)),
    "gemm_bf16": matmul("gemm_bf16", "bf16", "f32", (32, 32, 32)),
}


def kernel(name: str) -> Kernel:
    """The kernel as a term of the arena in force, checked."""
    k = parse(TEXTS[name], GPU)
    assert GPU.check(k) == []
    return k  # type: ignore[no-any-return]
