"""Products for each member of a batch, where the batch is summed, or where something else is shared by it."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

RNG = np.random.default_rng(5)


@intent.kernel
def scaled_groups(
    a: I.In[I.f16, ("M", "32 * G")],
    b: I.In[I.f16, ("32 * G", "N")],
    s: I.In[I.f32, ("G",)],
    c: I.Out[I.f32, ("M", "N")],
):
    (G,), (M, _), (_, N) = s.shape, a.shape, b.shape
    left, right = I.reshape(a[:, :], (M, G, 32)), I.reshape(b[:, :], (G, 32, N))
    product = I.contract(left, right, reduce=((2, 1),), batch=((1, 0),), acc_dtype=I.f32)
    c[:, :] = I.reduce.sum(product * s[None, :, None], axis=1)


@intent.kernel
def shared_scores(
    q: I.In[I.f16, ("T", "D")], k: I.In[I.f16, ("T", "D")], v: I.In[I.f16, ("H", "T", "P")],
    decay: I.In[I.f32, ("H", "T")], y: I.Out[I.f32, ("H", "T", "P")], D: I.Constexpr[int] = 16,
):  # fmt: skip
    for h in I.parallel(I.domain(0, v.shape[0])):
        scores = I.matmul(q[:, :], k[:, :], transpose_rhs=True, acc_dtype=I.f32)
        weight = I.cast(scores * decay[h, :], I.f16)
        y[h, :, :] = I.matmul(weight, v[h, :, :], acc_dtype=I.f32)


def integers(*shape):
    return RNG.integers(-3, 4, shape).astype(np.float16)


@pytest.mark.parametrize(("m", "n", "g"), [(0, 3, 1), (3, 2, 0), (17, 33, 3)])
def test_groups_with_scales(m, n, g):
    a, b, s = integers(m, 32 * g), integers(32 * g, n), np.float32(2) ** RNG.integers(-2, 3, g).astype(np.float32)
    c = np.zeros((m, n), np.float32)
    intent.compile(scaled_groups, "cpu")(a, b, s, c)
    want = sum(
        (a[:, 32 * i : 32 * i + 32].astype("f8") @ b[32 * i : 32 * i + 32].astype("f8") * s[i] for i in range(g)), 0 * c
    )
    np.testing.assert_array_equal(c, want)
    intent.compile(scaled_groups, "sm_90")  # no tensor is larger than Triton admits


def test_an_axis_taken_apart_leaves_its_neighbours_alone():
    artifact = intent.compile(scaled_groups, "cpu")
    assert "%" not in artifact.ir("gpu")
    assert "//" not in artifact.ir("gpu")


@pytest.mark.parametrize(("h", "t", "p"), [(0, 3, 4), (3, 5, 7), (2, 33, 16)])
def test_scores_that_heads_share(h, t, p):
    q, k, v = integers(t, 16), integers(t, 16), integers(h, t, p)
    decay, y = np.float32(2) ** RNG.integers(-2, 3, (h, t)).astype(np.float32), np.zeros((h, t, p), np.float32)
    intent.compile(shared_scores, "cpu")(q, k, v, decay, y)
    np.testing.assert_array_equal(y, (q.astype("f8") @ k.T * decay[:, None]) @ v)


def test_heads_are_instances_where_each_has_a_product():
    """No instruction takes a product for several heads at once, so each computes its scores again."""
    text = intent.compile(shared_scores, "cpu").ir("gpu")
    assert "grid = (H, " in text
    assert "contract weight" in text
