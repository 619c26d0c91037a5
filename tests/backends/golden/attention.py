import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def attention(
    q, k, v, out,
    Q, L,
    q_s0, q_s1, k_s0, k_s1, v_s0, v_s1, out_s0, out_s1,
    BQ: tl.constexpr, BD: tl.constexpr, BL: tl.constexpr,
):
    pid = tl.program_id(0)
    num_pq = tl.cdiv(Q, BQ)
    h = pid // num_pq
    pq = pid % num_pq
    i = pq * BQ + tl.arange(0, BQ)
    d = tl.arange(0, BD)
    query = tl.load(q + h * q_s0 + i[:, None] * q_s1 + d[None, :], mask=i[:, None] < Q, other=0.0)
    top = tl.full([BQ], float("-inf"), tl.float32)
    norm = tl.zeros([BQ], tl.float32)
    acc = tl.zeros([BQ, BD], tl.float32)
    # keys
    for j0 in range(0, L, BL):
        j = j0 + tl.arange(0, BL)
        key = tl.load(k + h * k_s0 + j[:, None] * k_s1 + d[None, :], mask=j[:, None] < L, other=0.0)
        score = tl.dot(query, tl.trans(key))
        kept = tl.where(j[None, :] < L, score * 0.17677669, float("-inf"))
        highest = tl.reduce(kept, 1, _maximum)
        next_ = tl.maximum(top, highest, propagate_nan=tl.PropagateNan.ALL)
        scale = libdevice.exp(top - next_)
        weight = libdevice.exp(kept - next_[:, None])
        row = tl.sum(weight, axis=1)
        value = tl.load(v + h * v_s0 + j[:, None] * v_s1 + d[None, :], mask=j[:, None] < L, other=0.0)
        acc = tl.dot(weight.to(tl.float16), value, acc * scale[:, None])
        norm = norm * scale + row
        top = next_
    tl.store(
        out + h * out_s0 + i[:, None] * out_s1 + d[None, :],
        tl.div_rn(acc, norm[:, None]).to(tl.float16),
        mask=i[:, None] < Q,
    )
