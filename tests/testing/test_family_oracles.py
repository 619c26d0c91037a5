"""Oracles of products, attention, decoding, groups and experts agree with facts that do not come from them."""

import itertools

import numpy as np
import pytest

import kernels
from intent_np.testing import arguments
from intent_np.testing.compare import Expected, compare
from kernels import attention, attention_training, cholesky, decode, linear_attention, moe, products, ragged

RNG = np.random.default_rng(3)


def normal(*shape):
    return RNG.standard_normal(shape)


def soft(scores, values):
    weight = np.exp(scores)
    return weight @ values / weight.sum(-1, keepdims=True)


def test_what_stands_above_the_diagonal_plays_no_part():
    a, b = normal(9, 9), normal(9, 4)
    lower = a.copy()
    lower[np.triu_indices(9, 1)] = 0
    a[np.triu_indices(9, 1)] = np.nan
    assert np.allclose(products.triangular_matmul_oracle(a, b)["c"].value, lower @ b)


def test_products():
    x, w = RNG.integers(-128, 128, (2, 5, 300)), RNG.integers(-128, 128, (300, 3))
    y = products.int8_matmul_bias_oracle(x[0], w, np.full(5, 0.5), np.full(3, 2.0), np.arange(3.0))["y"]
    exact = [[sum(int(p) * int(q) for p, q in zip(row, column, strict=True)) for column in w.T] for row in x[0]]
    assert (y.value - np.arange(3) == exact).all()
    a, b = normal(7, 5), normal(7, 3)
    assert np.allclose(products.matmul_tn_oracle(a, b)["c"].value, np.einsum("km,kn->mn", a, b))
    for x, gated in ((30.0, 30.0), (-30.0, 0.0), (0.0, 0.0)):
        y = products.swiglu_matmul_oracle(np.full((1, 1), x), np.ones((1, 1)), np.ones((1, 1)))["y"].value
        assert np.allclose(y, gated * x)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_a_factor_times_itself_is_the_matrix(n):
    root = normal(2, n, n)
    a = root @ root.swapaxes(1, 2) + np.eye(n)
    factor = cholesky.cholesky_oracle(a)["a"].value
    assert np.array_equal(np.triu(factor, 1), np.triu(a, 1)), "above the diagonal nothing moves"
    lower = np.tril(factor)
    assert np.allclose(lower @ lower.swapaxes(1, 2), a, rtol=1e-5, atol=1e-5)


def test_the_logarithm_of_the_sum():
    q, k, v = normal(1, 2, 5, 8), normal(1, 2, 7, 8), normal(1, 2, 7, 8)
    found = attention_training.attention_forward_oracle(q, k, v, 8, 0.3, True)
    for i in range(5):
        scores = 0.3 * np.einsum("d,kd->k", q[0, 1, i], k[0, 1, : i + 3])
        assert np.isclose(found["lse"].value[0, 1, i], np.log(np.exp(scores).sum()), atol=1e-6)
        assert np.allclose(found["out"].value[0, 1, i], soft(scores, v[0, 1, : i + 3]), atol=2e-3)
    found = attention_training.attention_forward_oracle(k, q, normal(1, 2, 5, 8), 8, 0.3, True)
    assert (found["out"].value[:, :, :2] == 0).all(), "the first two see nothing"
    assert (found["lse"].value[:, :, :2] == -np.inf).all()


def test_gradients_are_differences():
    """By finite differences of the sum of out dout, in f64 and without the roundings that the oracle allows for."""
    given = {"q": normal(1, 1, 6, 4), "k": normal(1, 1, 9, 4), "v": normal(1, 1, 9, 4)}
    dout = normal(1, 1, 6, 4)

    def weighed(q, k, v):
        scores = 0.5 * q[0, 0] @ k[0, 0].T
        scores[np.arange(9)[None, :] > np.arange(6)[:, None] + 3] = -np.inf
        return (soft(scores, v[0, 0]) * dout[0, 0]).sum()

    found = attention_training.attention_backward_oracle(**given, dout=dout, D=4, SCALE=0.5)
    for name, x in given.items():
        gradient = np.empty_like(x)
        for i in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[i] = 1e-5
            ahead, behind = (weighed(**{**given, name: x + s}) for s in (step, -step))
            gradient[i] = (ahead - behind) / 2e-5
        assert np.allclose(found["d" + name].value, gradient, atol=5e-3), name


def test_a_sink_takes_weight():
    q, k, v = normal(1, 4, 6, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 8)
    given = {"D": 8, "SCALE": 0.3, "WINDOW": 3, "GROUP": 2}
    never = attention.attention_sink_oracle(q, k, v, np.full(4, -1e4), **given)["out"].value
    k2, v2 = k.repeat(2, axis=1), v.repeat(2, axis=1)
    assert np.array_equal(never, attention.attention_window_oracle(q, k2, v2, 8, 0.3, 3)["out"].value)
    always = attention.attention_sink_oracle(q, k, v, np.full(4, 1e4), **given)["out"].value
    assert not always.any()


def test_parts_and_pages_are_the_whole():
    q, k, v = normal(2, 3, 4, 8), normal(2, 3, 11, 8), normal(2, 3, 11, 8)
    whole = soft(0.3 * q @ k.swapaxes(-1, -2), v)
    split = decode.decode_split_oracle(q, k, v, 4, 8, 0.3)["out"]
    assert (abs(split.value - whole) <= split.error).all()
    # sequence 0 in pages 4, 0, 3 and sequence 1 in pages 1, 5, 2, of four keys each; one of 12 places is not used
    order = np.array([[4, 0, 3], [1, 5, 2]])
    padded = (np.concatenate([x, np.full((2, 3, 1, 8), np.nan)], axis=2) for x in (k, v))
    pages = [x.swapaxes(1, 2).reshape(6, 4, 3, 8)[np.argsort(order.reshape(-1))] for x in padded]
    paged = decode.paged_decode_oracle(q, *pages, order, np.array([11, 11]), 4, 8, 0.3)["out"].value
    assert np.allclose(paged, whole, atol=2e-3)
    none = decode.paged_decode_oracle(q, *pages, order, np.array([0, 1]), 4, 8, 0.3)["out"].value
    assert not none[0].any()
    assert np.allclose(none[1], np.broadcast_to(v[1, :, :1, :], (3, 4, 8)))


def test_compressed_keys_are_the_values():
    q, latent = normal(2, 3, 8), normal(2, 7, 8)
    out = decode.mla_decode_oracle(q, normal(2, 3, 2), latent, np.zeros((2, 7, 2)), np.array([7, 3]), 8, 2, 0.3)["out"]
    for b, n in enumerate((7, 3)):
        assert np.allclose(out.value[b], soft(0.3 * q[b] @ latent[b, :n].T, latent[b, :n]), atol=2e-2)


def test_a_state_step_by_step():
    q, k, v, state = normal(1, 2, 9, 4), normal(1, 2, 9, 4), normal(1, 2, 9, 5), normal(1, 2, 4, 5)
    found = linear_attention.causal_linear_attention_oracle(q, k, v, state)
    for t in range(9):
        state = state + np.einsum("bhd,bhe->bhde", k[:, :, t], v[:, :, t])
        assert np.allclose(found["out"].value[:, :, t], np.einsum("bhd,bhde->bhe", q[:, :, t], state))
    assert np.allclose(found["final"].value, state)


def test_groups_by_row():
    x, w, offsets = normal(9, 4), normal(3, 4, 5), np.array([0, 4, 4, 9])
    y = ragged.grouped_matmul_oracle(x, w, offsets)["y"].value
    assert np.allclose(y, [row @ w[0 if i < 4 else 2] for i, row in enumerate(x)])
    y = ragged.jagged_softmax_oracle(x, offsets)["y"].value
    assert np.allclose([y[:4].sum(0), y[4:].sum(0)], 1)
    moved = ragged.jagged_softmax_oracle(x + np.repeat([[3.0], [-2.0]], [4, 5], axis=0), offsets)["y"].value
    assert np.allclose(moved, y)


def test_ties_go_to_the_lowest_expert():
    logits = np.array([[1.0, 3.0, 3.0, 2.0, 3.0], [np.nan, -np.inf, 0.0, 0.0, -1.0]])
    found = moe.moe_topk_gate_oracle(logits, 5, 3)
    assert found["experts"].tolist() == [[1, 2, 4], [2, 3, 4]]
    assert np.allclose(found["weights"].value.sum(1), 1)
    assert found["weights"].value[0].tolist() == pytest.approx([1 / 3] * 3)


def test_every_choice_has_one_place():
    experts = RNG.integers(0, 5, 40)
    found = moe.moe_alignment_oracle(experts, 7, 4)
    tokens = found["tokens"].value
    assert sorted(tokens[tokens < 40]) == list(range(40))
    for place in np.nonzero(tokens < 40)[0]:
        assert found["owner"][place // 4] == experts[tokens[place]]
    assert all(begin % 4 == 0 for begin in found["offsets"])
    assert (found["owner"][found["offsets"][-1] // 4 :] == -1).all()
    assert (found["owner"] >= 5).sum() == 0, "experts that nobody chose"


def test_there_and_back():
    case = next(c for c in kernels.cases("moe") if c.name == "moe_permute_combine")
    given = arguments(case, {"T": 6, "K": 2, "E": 3, "SPARE": 3, "D": 4, "F": 5}, seed=1)
    x, w, weights = (given[n].astype("f8") for n in ("x", "w", "weights"))
    there = moe.moe_permute_oracle(x, given["source"].astype(int))["y"]
    rows = np.zeros((15, 5))
    for e, (begin, end) in enumerate(itertools.pairwise(given["offsets"])):
        rows[begin:end] = there[begin:end] @ w[e]
    back = moe.moe_combine_oracle(rows, given["places"].astype(int), weights)["out"].value
    assert np.allclose(case.expected(given)["out"].value, back, atol=0.05)
    assert (there[12:] == 0).all(), "places of nobody"


def test_elements_of_one_label_stand_in_any_order():
    expected = Expected(np.array([7, 8, 9, 1, 2]), unordered=np.array([0, 1, 0, 1, 2]))
    assert compare(np.array([9, 1, 7, 8, 2]), expected)
    for wrong in ([9, 1, 9, 8, 2], [1, 9, 7, 8, 2], [9, 1, 7, 2, 8]):
        assert not compare(np.array(wrong), expected)
