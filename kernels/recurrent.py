"""States that are carried along a sequence: selective state spaces in chunks, and the gated delta rule.

In the state space model a head has the state h (P, S) and, at position t, the decay exp(a[t]), the step d[t], the
input x[t] (P), and the vectors b[t] and c[t] (S):

    h = exp(a[t]) h + d[t] x[t] b[t]'        y[t] = h c[t] + skip x[t]

The sequence is cut into chunks of CHUNK positions (the last may be shorter).  `decay[t]` is the sum of `a` from the
beginning of t's chunk up to t.
"""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case
from intent_np.testing import approx as A


@intent.kernel
def mamba_chunk_state(
    x: I.In[I.f16, ("B", "T", "H", "P")],
    b: I.In[I.f16, ("B", "T", "S")],
    step: I.In[I.f32, ("B", "H", "T")],
    decay: I.In[I.f32, ("B", "H", "T")],
    states: I.Out[I.f32, ("B", "cdiv(T, CHUNK)", "H", "P", "S")],
    CHUNK: I.Constexpr[int] = 256,
    P: I.Constexpr[int] = 64,
    S: I.Constexpr[int] = 128,
):
    """What each chunk adds to the state behind it: the sum of exp(decay[end] - decay[t]) step[t] x[t] b[t]'."""
    B, T, H, _ = x.shape
    C = states.shape[1]
    positions = I.domain(0, T)
    for i, chunk, h in I.parallel((I.domain(0, B), I.domain(0, C), I.domain(0, H))):
        last = I.minimum(chunk * CHUNK + CHUNK, T) - 1
        members = positions[chunk * CHUNK : last + 1]
        weight = I.exp(decay[i, h, last] - decay[i, h, members]) * step[i, h, members]
        scaled = I.cast(weight[:, None] * I.cast(x[i, members, h, :], I.f32), I.f16)
        states[i, chunk, h, :, :] = I.matmul(scaled, b[i, members, :], transpose_lhs=True, acc_dtype=I.f32)


@intent.kernel
def mamba_state_passing(
    states: I.In[I.f32, ("B", "C", "H", "P", "S")],
    decay: I.In[I.f32, ("B", "H", "C")],
    first: I.In[I.f32, ("B", "H", "P", "S")],
    before: I.Out[I.f32, ("B", "C", "H", "P", "S")],
    final: I.Out[I.f32, ("B", "H", "P", "S")],
):
    """The state before each chunk, and the final one: h = exp(decay[chunk]) h + states[chunk]."""
    B, C, H, _, _ = states.shape
    for i, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        state = first[i, h, :, :]
        for chunk in I.domain(0, C):
            before[i, chunk, h, :, :] = state
            state = I.exp(decay[i, h, chunk]) * state + states[i, chunk, h, :, :]
        final[i, h, :, :] = state


@intent.kernel
def mamba_chunk_scan(
    x: I.In[I.f16, ("B", "T", "H", "P")],
    b: I.In[I.f16, ("B", "T", "S")],
    c: I.In[I.f16, ("B", "T", "S")],
    step: I.In[I.f32, ("B", "H", "T")],
    decay: I.In[I.f32, ("B", "H", "T")],
    before: I.In[I.f32, ("B", "cdiv(T, CHUNK)", "H", "P", "S")],
    skip: I.In[I.f32, ("H",)],
    y: I.Out[I.f16, ("B", "T", "H", "P")],
    CHUNK: I.Constexpr[int] = 256,
    P: I.Constexpr[int] = 64,
    S: I.Constexpr[int] = 128,
):
    """y[t] = the sum over s <= t of its chunk of (c[t] b[s]') exp(decay[t] - decay[s]) step[s] x[s]
    + exp(decay[t]) c[t] before' + skip x[t]."""
    B, T, H, _ = x.shape
    C = before.shape[1]
    positions = I.domain(0, T)
    for i, chunk, h in I.parallel((I.domain(0, B), I.domain(0, C), I.domain(0, H))):
        members = positions[chunk * CHUNK : I.minimum(chunk * CHUNK + CHUNK, T)]
        at, so_far = I.indices(members), decay[i, h, members]
        scores = I.matmul(c[i, members, :], b[i, members, :], transpose_rhs=True, acc_dtype=I.f32)
        # a later member has no weight; its exponent, which may be large, is not asked for
        between = I.select(at[None, :] <= at[:, None], so_far[:, None] - so_far[None, :], float("-inf"))
        weight = scores * I.exp(between) * step[i, h, members]
        inside = I.matmul(I.cast(weight, I.f16), x[i, members, h, :], acc_dtype=I.f32)
        entering = I.matmul(
            c[i, members, :], I.cast(before[i, chunk, h, :, :], I.f16), transpose_rhs=True, acc_dtype=I.f32
        )
        total = inside + I.exp(so_far)[:, None] * entering + skip[h] * I.cast(x[i, members, h, :], I.f32)
        y[i, members, h, :] = I.cast(total, I.f16)


@intent.kernel
def gated_delta_rule(
    q: I.In[I.f16, ("B", "T", "H", "K")],
    k: I.In[I.f16, ("B", "T", "H", "K")],
    v: I.In[I.f16, ("B", "T", "H", "V")],
    gate: I.In[I.f32, ("B", "T", "H")],
    beta: I.In[I.f32, ("B", "T", "H")],
    first: I.In[I.f32, ("B", "H", "K", "V")],
    out: I.Out[I.f16, ("B", "T", "H", "V")],
    final: I.Out[I.f32, ("B", "H", "K", "V")],
    SCALE: I.Constexpr[float],
):
    """h = exp(gate[t]) h, then h += beta[t] k[t] (v[t] - k[t]' h)', and out[t] = SCALE q[t]' h."""
    B, T, H, _ = q.shape
    for i, head in I.parallel((I.domain(0, B), I.domain(0, H))):
        state = first[i, head, :, :]
        for t in I.domain(0, T):
            key, query = I.cast(k[i, t, head, :], I.f32), I.cast(q[i, t, head, :], I.f32)
            state = I.exp(gate[i, t, head]) * state
            missing = I.cast(v[i, t, head, :], I.f32) - I.vecmat(key, state, acc_dtype=I.f32)
            state = state + I.outer(key, beta[i, t, head] * missing, acc_dtype=I.f32)
            out[i, t, head, :] = I.cast(SCALE * I.vecmat(query, state, acc_dtype=I.f32), I.f16)
        final[i, head, :, :] = state


# Oracles
def _chunks(length, size):
    return [slice(b, min(b + size, length)) for b in range(0, length, size)]


def _heads_first(x):
    """(B, T, H, P) to (B, H, T, P)."""
    return x.swapaxes(1, 2)


def mamba_chunk_state_oracle(x, b, step, decay, CHUNK, P, S):
    inputs, states = _heads_first(x), []
    for chunk in _chunks(x.shape[1], CHUNK):
        left = A.exact(decay[:, :, chunk.stop - 1 : chunk.stop]) - A.exact(decay[:, :, chunk])
        weight = A.exp(left) * A.exact(step[:, :, chunk])
        scaled = (weight[..., None] * A.exact(inputs[:, :, chunk])).to("f16").to("f32")
        states.append(A.matmul(scaled.T, A.exact(b[:, None, chunk]))[:, None])
    empty = np.zeros((len(x), 0, *x.shape[2:], S))
    return {"states": A.concatenated(states, axis=1) if states else A.exact(empty)}


def mamba_state_passing_oracle(states, decay, first):
    state, before = A.exact(first), []
    for chunk in range(states.shape[1]):
        before.append(state[:, None])
        state = A.exp(A.exact(decay[:, :, chunk, None, None])) * state + A.exact(states[:, chunk])
    return {"before": A.concatenated(before, axis=1) if before else A.exact(states), "final": state}


def mamba_chunk_scan_oracle(x, b, c, step, decay, before, skip, CHUNK, P, S):
    inputs, parts = _heads_first(x), []
    for i, chunk in enumerate(_chunks(x.shape[1], CHUNK)):
        so_far, queries = A.exact(decay[:, :, chunk]), A.exact(c[:, None, chunk])
        earlier = np.tri(chunk.stop - chunk.start, dtype=bool)
        between = A.select(earlier, so_far[..., :, None] - so_far[..., None, :], float("-inf"))
        scores = A.matmul(queries, A.exact(b[:, None, chunk]).T)
        weight = scores * A.exp(between) * A.exact(step[:, :, None, chunk])
        inside = A.matmul(weight.to("f16").to("f32"), A.exact(inputs[:, :, chunk]))
        entering = A.matmul(queries, A.exact(before[:, i]).to("f16").to("f32").T)
        direct = A.exact(skip[:, None, None]) * A.exact(inputs[:, :, chunk])
        parts.append(inside + A.exp(so_far)[..., None] * entering + direct)
    y = A.concatenated(parts, axis=2) if parts else A.exact(inputs)
    return {"y": y.to("f16").swapaxes(1, 2)}


def gated_delta_rule_oracle(q, k, v, gate, beta, first, SCALE):
    state, out = A.exact(first), []
    for t in range(q.shape[1]):
        key, query, value = (A.exact(x[:, t, :, None, :]) for x in (k, q, v))
        state = A.exp(A.exact(gate[:, t, :, None, None])) * state
        missing = value - A.matmul(key, state, matrix_unit=False)
        state = A.matmul_add(key.T, A.exact(beta[:, t, :, None, None]) * missing, state)
        out.append((SCALE * A.matmul(query, state, matrix_unit=False))[:, None, :, 0, :])
    return {"out": A.concatenated(out, axis=1) if out else A.exact(v), "final": state}


# Arrays
def _decays(e, rng):
    """Sums of negative logarithms that begin anew with each chunk, and positive steps."""
    shape = (e["B"], e["H"], e["T"])
    single = -rng.random(shape)
    sums = [np.cumsum(single[:, :, c], axis=2) for c in _chunks(e["T"], _CHUNK)]
    return {"decay": np.concatenate(sums, axis=2) if sums else single, "step": rng.random(shape)}


def _whole_decays(e, rng):
    return {"decay": -5 * rng.random((e["B"], e["H"], e["C"]))}


def _gates(e, rng):
    """Keys of length 1, so that what is learnt about one can be forgotten, gates below 0 and rates within 0 and 1."""
    b, t, h = e["B"], e["T"], e["H"]
    keys = rng.standard_normal((b, t, h, e["K"]))
    length = np.sqrt((keys**2).sum(axis=-1, keepdims=True))
    return {"k": keys / length, "gate": -rng.random((b, t, h)), "beta": rng.random((b, t, h))}


_CHUNK = 16
_SIZES = {"P": 16, "S": 32}
_SEQUENCES = tuple(
    {"B": b, "T": t, "H": h, **_SIZES}
    for b, t, h in ((0, 5, 1), (1, 0, 2), (1, 1, 1), (2, 16, 3), (1, 17, 2), (2, 61, 1))
)


def _states(e):
    return e["B"] * (-(-e["T"] // _CHUNK)) * e["H"] * e["P"] * e["S"]


CASES = (
    Case(
        name="mamba_chunk_state",
        kernel=mamba_chunk_state,
        oracle=mamba_chunk_state_oracle,
        small=_SEQUENCES,
        constexprs={"CHUNK": _CHUNK, **_SIZES},
        structured=_decays,
        bytes=lambda e: 2 * e["B"] * e["T"] * (e["H"] * (e["P"] + 4) + e["S"]) + 4 * _states(e),
        flops=lambda e: 2 * e["B"] * e["T"] * e["H"] * e["P"] * e["S"],
        values=("normal", "integers", "negative"),
    ),
    Case(
        name="mamba_state_passing",
        kernel=mamba_state_passing,
        oracle=mamba_state_passing_oracle,
        small=tuple(
            {"B": b, "C": c, "H": h, "P": p, "S": s}
            for b, c, h, p, s in ((0, 2, 1, 2, 3), (1, 0, 2, 3, 4), (1, 1, 1, 1, 1), (2, 3, 2, 5, 7), (1, 17, 3, 8, 16))
        ),
        structured=_whole_decays,
        bytes=lambda e: 4 * e["B"] * e["H"] * (e["C"] * (2 * e["P"] * e["S"] + 1) + 2 * e["P"] * e["S"]),
        flops=lambda e: 2 * e["B"] * e["C"] * e["H"] * e["P"] * e["S"],
    ),
    Case(
        name="mamba_chunk_scan",
        kernel=mamba_chunk_scan,
        oracle=mamba_chunk_scan_oracle,
        small=_SEQUENCES,
        constexprs={"CHUNK": _CHUNK, **_SIZES},
        structured=_decays,
        bytes=lambda e: 4 * e["B"] * e["T"] * (e["H"] * (e["P"] + 2) + e["S"]) + 4 * _states(e) + 4 * e["H"],
        flops=lambda e: 2 * e["B"] * e["T"] * e["H"] * (_CHUNK * (e["P"] + e["S"]) + e["P"] * e["S"]),
        values=("normal", "integers", "negative"),
    ),
    Case(
        name="gated_delta_rule",
        kernel=gated_delta_rule,
        oracle=gated_delta_rule_oracle,
        small=tuple(
            {"B": b, "T": t, "H": h, "K": k, "V": v}
            for b, t, h, k, v in ((0, 3, 1, 2, 3), (1, 0, 2, 3, 4), (1, 1, 1, 1, 1), (2, 7, 3, 4, 5), (1, 40, 2, 16, 8))
        ),
        constexprs={"SCALE": 0.25},
        structured=_gates,
        bytes=lambda e: (
            2 * e["B"] * e["T"] * e["H"] * (2 * e["K"] + 2 * e["V"] + 4) + 8 * e["B"] * e["H"] * e["K"] * e["V"]
        ),
        flops=lambda e: 7 * e["B"] * e["T"] * e["H"] * e["K"] * e["V"],
        values=("normal", "integers", "negative"),
    ),
)
