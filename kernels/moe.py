"""A mixture of experts: which experts each token goes to, in which order, and there and back.

Each of T tokens makes K choices among E experts.  A place is a row in the order of the experts; each expert's places
begin at a multiple of BLOCK, so that a block of them has one expert.
"""

import numpy as np

import intent_np as intent
import intent_np.language as I
from intent_np.testing import Case, Expected, host_program, launch
from intent_np.testing import approx as A

from .extents import sizes
from .ragged import grouped_matmul


@intent.kernel
def moe_topk_gate(
    logits: I.In[I.f32, ("T", "E")],
    weights: I.Out[I.f32, ("T", "K")],
    experts: I.Out[I.i32, ("T", "K")],
    E: I.Constexpr[int],
    K: I.Constexpr[int],
):
    """The experts of the K largest logits, the lowest of equal ones, and the softmax over those K."""
    values, places = I.topk(logits[:, :], K, axis=1)
    share = I.exp(values - I.reduce.max(values, axis=1, keepdims=True))
    weights[:, :] = share / I.reduce.sum(share, axis=1, keepdims=True)
    experts[:, :] = I.cast(places, I.i32)


# Which token stands where
@intent.kernel
def moe_count(experts: I.In[I.i32, ("N",)], counts: I.InOut[I.i32, ("E",)]):
    """Adds to counts[e] how many choices there are of expert e."""
    I.atomic.add(counts, index=I.assume_in_bounds(experts[:], counts), value=1)


@intent.kernel
def moe_offsets(counts: I.In[I.i32, ("E",)], offsets: I.Out[I.i32, ("E + 1",)], BLOCK: I.Constexpr[int]):
    """Where each expert's places begin, if they are as many as its choices in whole blocks; and where the last end."""
    offsets[0] = 0
    offsets[1:] = I.cumsum(I.ceil_div(counts[:], BLOCK) * BLOCK, axis=0)


@intent.kernel
def moe_blocks(
    offsets: I.In[I.i32, ("E + 1",)],
    tokens: I.Out[I.i32, ("P * BLOCK",)],
    owner: I.Out[I.i32, ("P",)],
    nobody: I.i32,
    BLOCK: I.Constexpr[int],
):
    """owner[p] is the expert of block p, -1 behind the last; and nobody stands at any place."""
    tokens[:] = nobody
    begin = I.cast(I.indices(I.domain(0, owner.shape[0])) * BLOCK, I.i32)
    ended = I.reduce.sum(I.cast(offsets[1:][None, :] <= begin[:, None], I.i32), axis=1)
    owner[:] = I.select(begin < offsets[-1], ended, -1)


@intent.kernel
def moe_place(experts: I.In[I.i32, ("N",)], free: I.InOut[I.i32, ("E + 1",)], tokens: I.InOut[I.i32, ("P",)]):
    """Each choice takes the next free place of its expert."""
    for i in I.parallel(I.domain(0, experts.shape[0])):
        place = I.atomic.add(free, index=I.assume_in_bounds(experts[i], free), value=1)
        tokens[I.assume_unique(I.assume_in_bounds(place, tokens))] = I.cast(i, I.i32)


@host_program
def moe_alignment(
    experts: I.In[I.i32, ("N",)],
    tokens: I.Out[I.i32, ("cdiv(N + E * (BLOCK - 1), BLOCK) * BLOCK",)],
    owner: I.Out[I.i32, ("cdiv(N + E * (BLOCK - 1), BLOCK)",)],
    offsets: I.Out[I.i32, ("E + 1",)],
    E: I.Constexpr[int],
    BLOCK: I.Constexpr[int],
):
    """The places in the order of the experts: the choice that stands at each, or N for none; the expert of each block
    of places, or -1 for none; and where the places of each expert begin.  The choices of one expert are in no order."""
    counts = np.zeros_like(experts, shape=(E,))
    launch(moe_count, experts, counts)
    launch(moe_offsets, counts, offsets, BLOCK=BLOCK)
    launch(moe_blocks, offsets, tokens, owner, len(experts), BLOCK=BLOCK)
    launch(moe_place, experts, offsets.copy(), tokens)


# There and back
@intent.kernel
def moe_permute(x: I.In[I.bf16, ("T", "D")], source: I.In[I.i32, ("P",)], y: I.Out[I.bf16, ("P", "D")]):
    """Row p is row source[p], or zeros where that is none."""
    T, D = x.shape
    token = source[:][:, None]
    index = (I.cast(token, I.index), I.indices(I.domain(0, D))[None, :])
    y[:, :] = I.gather(x, index, valid=(token >= 0) & (I.cast(token, I.index) < T), fill=0.0)


@intent.kernel
def moe_combine(
    y: I.In[I.bf16, ("P", "D")],
    places: I.In[I.i32, ("T", "K")],
    weights: I.In[I.f32, ("T", "K")],
    out: I.Out[I.bf16, ("T", "D")],
):
    """out[t] = sum over k of weights[t, k] y[places[t, k]], in f32."""
    for t in I.parallel(I.domain(0, places.shape[0])):
        rows = y[I.assume_in_bounds(places[t, :], y, axis=0), :]
        out[t, :] = I.cast(I.vecmat(weights[t, :], I.cast(rows, I.f32), acc_dtype=I.f32), I.bf16)


@host_program
def moe_permute_combine(
    x: I.In[I.bf16, ("T", "D")],
    w: I.In[I.bf16, ("E", "D", "F")],
    source: I.In[I.i32, ("T * K + SPARE",)],
    offsets: I.In[I.i32, ("E + 1",)],
    places: I.In[I.i32, ("T", "K")],
    weights: I.In[I.f32, ("T", "K")],
    out: I.Out[I.bf16, ("T", "F")],
):
    """out[t] = sum over the choices k of token t of weights[t, k] x[t] w[its expert]; the products are bf16."""
    there = np.empty_like(x, shape=(len(source), x.shape[1]))
    product = np.empty_like(x, shape=(len(source), w.shape[2]))
    launch(moe_permute, x, source, there)
    launch(grouped_matmul, there, w, offsets, product)
    launch(moe_combine, product, places, weights, out)


# Oracles
def moe_topk_gate_oracle(logits, E, K):
    order = np.argsort(-logits, axis=1, kind="stable")[:, :K]  # NaN last
    values = A.exact(np.take_along_axis(logits, order, axis=1))
    share = A.exp(values - A.maximum(values, axis=1))
    return {"weights": share / A.total(share, axis=1), "experts": order}


def moe_alignment_oracle(experts, E, BLOCK):
    """One expert after the other; in which order its choices stand, depends on who comes first."""
    N = len(experts)
    blocks = -(-(N + E * (BLOCK - 1)) // BLOCK)
    tokens, whose, owner, offsets = np.full(blocks * BLOCK, N), np.full(blocks * BLOCK, -1), np.full(blocks, -1), [0]
    for e in range(E):
        (mine,) = np.nonzero(experts == e)
        begin, end = offsets[-1], offsets[-1] + -(-len(mine) // BLOCK) * BLOCK
        tokens[begin : begin + len(mine)] = mine
        whose[begin : begin + len(mine)] = e
        owner[begin // BLOCK : end // BLOCK] = e
        offsets.append(end)
    return {"tokens": Expected(tokens, unordered=whose), "owner": owner, "offsets": np.array(offsets)}


def moe_permute_oracle(x, source):
    inside = (source >= 0) & (source < len(x))
    rows = np.zeros((len(source), x.shape[1]))
    rows[inside] = x[source[inside]]
    return {"y": rows}


def moe_combine_oracle(y, places, weights):
    rows = A.exact(y[places])  # (T, K, D)
    return {"out": A.matmul(A.exact(weights[:, None, :]), rows)[:, 0, :]}


def moe_permute_combine_oracle(x, w, source, offsets, places, weights):
    """Expert by expert, over all tokens: no places at all."""
    T, K = places.shape
    expert = np.searchsorted(offsets, places, side="right") - 1
    value, error = np.zeros((2, T, K, w.shape[2]))
    for e in range(len(w)):
        product = A.matmul(A.exact(x), A.exact(w[e])).to("bf16").to("f32")
        mine = np.nonzero(expert == e)
        value[mine], error[mine] = product.value[mine[0]], product.error[mine[0]]
    rows = A.Approx(value, error, A.FORMATS["f32"])
    return {"out": A.matmul(A.exact(weights[:, None, :]), rows)[:, 0, :]}


def _chosen(extents, rng):
    """Experts of which some are never chosen."""
    T, K, E = (extents[name] for name in "TKE")
    liked = rng.choice(E, max(1, E // 2), replace=False)
    return rng.choice(liked, (T, K))


def _routes(extents, rng):
    """A place by expert for each choice, and the token of each place; SPARE places behind them are of nobody."""
    T, K, E, spare = (extents[name] for name in ("T", "K", "E", "SPARE"))
    experts = _chosen(extents, rng).reshape(-1)
    order = np.argsort(experts, kind="stable")
    places = np.empty(T * K, int)
    places[order] = np.arange(T * K)
    offsets = np.searchsorted(experts[order], np.arange(E + 1))
    offsets[-1] += spare  # the places of nobody count for the last expert
    source = np.concatenate([order // max(K, 1), rng.choice([-1, T, 2**31 - 1], spare)])
    return {"places": places.reshape(T, K), "source": source, "offsets": offsets}


_E, _K, _BLOCK = 13, 3, 8

CASES = (
    Case(
        name="moe_topk_gate",
        kernel=moe_topk_gate,
        oracle=moe_topk_gate_oracle,
        small=sizes("T", "0, 1, 2, 17, 64, 131"),
        constexprs={"E": _E, "K": _K},
        bytes=lambda e: e["T"] * (4 * _E + 8 * _K),
        flops=lambda e: e["T"] * (_E + 3 * _K),
    ),
    Case(
        name="moe_alignment",
        kernel=moe_alignment,
        oracle=moe_alignment_oracle,
        small=sizes("N", "0, 1, 2, 17, 64, 131, 1000"),
        constexprs={"E": _E, "BLOCK": _BLOCK},
        structured=lambda e, rng: {"experts": _chosen({"T": e["N"], "K": 1, "E": _E}, rng)[:, 0]},
        bytes=lambda e: 8 * e["N"] + 4 * _E,
        flops=lambda e: 2 * e["N"],
    ),
    Case(
        name="moe_permute",
        kernel=moe_permute,
        oracle=moe_permute_oracle,
        small=sizes("T P D", "0 4 5, 3 3 0, 3 0 3, 1 1 1, 7 20 17, 40 120 130"),
        structured=lambda e, rng: {"source": rng.choice([-1, e["T"], 2**31 - 1, *range(e["T"])], e["P"])},
        bytes=lambda e: 2 * e["D"] * (e["T"] + e["P"]) + 4 * e["P"],
        flops=lambda e: 0,
    ),
    Case(
        name="moe_combine",
        kernel=moe_combine,
        oracle=moe_combine_oracle,
        small=sizes("T K P D", "0 2 4 5, 3 0 3 2, 1 1 1 1, 7 2 20 17, 40 3 120 130"),
        structured=lambda e, rng: {"places": rng.integers(0, max(e["P"], 1), (e["T"], e["K"]))},
        bytes=lambda e: 2 * e["D"] * (e["T"] * e["K"] + e["T"]) + 8 * e["T"] * e["K"],
        flops=lambda e: 2 * e["T"] * e["K"] * e["D"],
    ),
    Case(
        name="moe_permute_combine",
        kernel=moe_permute_combine,
        oracle=moe_permute_combine_oracle,
        small=sizes("T K E SPARE D F", "0 2 3 4 5 2, 3 1 4 0 0 2, 1 1 1 0 1 1, 7 2 5 6 17 9, 40 3 6 0 33 70"),
        structured=_routes,
        # what is multiplied by a padding of zeros is finite
        values=("normal", "integers", "negative"),
        bytes=lambda e: 2 * (e["T"] * (e["D"] + e["F"]) + e["E"] * e["D"] * e["F"]),
        flops=lambda e: 2 * e["T"] * e["K"] * e["D"] * e["F"],
    ),
)
