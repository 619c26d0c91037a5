"""The corpus's oracles agree with facts that do not come from them."""

import math

import numpy as np
import pytest

import kernels
from intent_np.testing import Approx, arguments, check, compare, exact
from intent_np.testing.formats import FORMATS, numpy_dtype, widen
from kernels import attention, broadcast, matmul, norms, pointwise, reductions, softmax

from .other_arrays import Other

RNG = np.random.default_rng(0)
CASES = kernels.cases()


def _stored(case, expected):
    """Each expected output as a machine without error would have stored it."""
    dtypes = {p.name: numpy_dtype(str(p.dtype)) for p in case.parameters}
    with np.errstate(all="ignore"):
        return {name: e.value.astype(dtypes[name]) for name, e in expected.items()}


# All of them
def test_names_are_unique_and_select_cases():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert [c.name for c in kernels.cases("softmax")] == ["softmax", "softmax_relaxed", "masked_softmax"]
    assert [c.name for c in kernels.cases("relu", "matvec")] == ["relu", "matvec"]
    with pytest.raises(KeyError, match="no kernel or family is called sofmax"):
        kernels.cases("sofmax")


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_machine_without_error_passes(case):
    def launch(*given):
        named = dict(zip((p.name for p in case.parameters), given, strict=True))
        for name, result in _stored(case, case.expected(named)).items():
            named[name][...] = result

    for index, extents in enumerate(case.small):
        for values in case.values:
            report = check(case, launch, extents, seed=index, layout="random", values=values)
            assert report, f"{extents} {values}: {report}"
            assert report.max_error == 0


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_machine_that_writes_nothing_or_zeros_fails(case):
    extents = max(case.small, key=case.bytes)
    assert not check(case, lambda *given: None, extents)

    def zeros(*given):
        for parameter, argument in zip(case.parameters, given, strict=True):
            if parameter.name in case.outputs:
                argument[...] = 0

    assert not check(case, zeros, extents)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_ordinary_inputs_have_finite_bounds_and_most_results_a_tight_one(case):
    for extents in case.small:
        given = arguments(case, extents, seed=5)
        for name, expected in case.expected(given).items():
            bound = np.zeros_like(expected.value, dtype="f8") + expected.bound
            assert np.isfinite(bound).all(), (extents, name)
            size = np.abs(expected.value.astype("f8"))
            if size.size > 20 and np.isfinite(size).all() and size.any():
                assert np.median(bound) <= 0.02 * np.percentile(size, 90), (extents, name)


@pytest.mark.parametrize("case", [case for case in CASES if case.large], ids=repr)
def test_oracles_of_timed_kernels_run_where_the_arrays_are(case):
    given = arguments(case, max(case.small, key=case.bytes), seed=2)
    elsewhere = {name: Other(widen(a)) if isinstance(a, np.ndarray) else a for name, a in given.items()}
    here, there = case.expected(given), case.expected(elsewhere)
    for name in case.outputs:
        assert np.array_equal(there[name].value.array, here[name].value, equal_nan=True)
        if isinstance(there[name].bound, Other):
            assert np.array_equal(there[name].bound.array, here[name].bound)
        assert compare(there[name].value, there[name])


def test_costs_are_counted():
    by_name = {case.name: case for case in CASES}
    assert by_name["relu"].bytes({"M": 8192, "N": 8192}) == 2 * 2 * 8192**2
    assert by_name["matmul_f16"].flops({"M": 4096, "N": 4096, "K": 4096}) == 2 * 4096**3
    size = {"B": 4, "H": 16, "Q": 4096, "K": 4096}
    assert by_name["attention"].flops(size) == 4 * 64 * 4096**2 * 128
    assert by_name["attention_causal"].flops(size) == 2 * 64 * 4096**2 * 128


# One by one
def test_pointwise():
    x = np.array([-1.0, -0.0, 0.0, 2.0, np.nan, -np.inf])
    y = pointwise.relu_oracle(x)["y"]
    assert np.array_equal(y, [0, 0, 0, 2, np.nan, 0], equal_nan=True)
    assert not np.signbit(y[:4]).any()
    out = pointwise.axpby_oracle(2.0, np.array([3.0]), -1.0, np.array([5.0]))["out"].expected("f16")
    assert out.value.tolist() == [1.0]
    assert out.bound.tolist() == [0.0]
    out = pointwise.swiglu_oracle(np.array([0.0, 40.0, -80.0]), np.array([7.0, 2.0, 1.0]))["out"].expected("bf16")
    assert out.value.tolist()[:2] == [0.0, 80.0]
    assert abs(out.value[2]) < 1e-30


def test_broadcast():
    x = RNG.integers(-8, 9, (3, 4)).astype("f8")
    assert broadcast.bias_relu_oracle(x, np.full(4, -100.0))["y"].value.max() == 0
    mask = np.eye(3, 4, dtype=bool)
    out = broadcast.outer_add_mask_oracle(np.arange(3.0), 10 * np.arange(4.0), mask)["out"].value
    assert np.array_equal(out, np.diag([0.0, 11.0, 22.0]) @ np.eye(3, 4))
    assert broadcast.transpose_oracle(x)["y"][3, 1] == x[1, 3]


def test_reductions():
    x = RNG.standard_normal((5, 40)).astype("f4")
    rows = [math.fsum(map(float, row)) for row in x]
    assert np.allclose(reductions.row_sum_oracle(x)["y"].value, rows, rtol=1e-14, atol=0)
    assert np.allclose(reductions.col_sum_oracle(x.T)["y"].value, rows, rtol=1e-14, atol=0)
    shifted = reductions.logsumexp_oracle(x + 1000.0)["y"].value - reductions.logsumexp_oracle(x)["y"].value
    assert np.allclose(shifted, 1000.0, atol=1e-3)
    assert reductions.logsumexp_oracle(np.zeros((1, 8)))["y"].value == pytest.approx([math.log(8)], abs=1e-7)
    with np.errstate(all="ignore"):
        assert reductions.logsumexp_oracle(np.zeros((2, 0)))["y"].value.tolist() == [-math.inf] * 2
        assert np.isnan(reductions.logsumexp_oracle(np.full((1, 3), -np.inf))["y"].value).all()


def test_norms():
    x = RNG.standard_normal((4, 500))
    ones, zeros = np.ones(500), np.zeros(500)
    y = norms.layer_norm_oracle(x, ones, zeros, 0.0)["y"].value
    assert np.allclose(y.mean(1), 0, atol=1e-6)
    assert np.allclose(y.std(1), 1, atol=1e-6)
    moved = norms.layer_norm_oracle(8 * x + 3, ones, zeros, 0.0)["y"].value
    assert np.allclose(y, moved, atol=1e-5), "shift and scale drop out"
    y = norms.rms_norm_oracle(x, ones, 0.0)["y"].value
    assert np.allclose((y * y).mean(1), 1, atol=1e-6)


@pytest.mark.parametrize("oracle", [softmax.softmax_oracle, softmax.online_softmax_oracle])
def test_softmax(oracle):
    x = RNG.standard_normal((6, 300))
    y = oracle(x)["y"].value
    assert np.allclose(y.sum(1), 1, atol=1e-6)
    assert (np.argsort(x, 1) == np.argsort(y, 1)).all()
    assert np.allclose(oracle(x + 50)["y"].value, y, atol=1e-7)
    assert np.array_equal(oracle(np.zeros((2, 8)))["y"].value, np.full((2, 8), 1 / 8))


def test_matmul_of_integers_is_exact():
    a, b = RNG.integers(-8, 9, (9, 50)), RNG.integers(-8, 9, (50, 7))
    product = [[sum(int(p) * int(q) for p, q in zip(row, column, strict=True)) for column in b.T] for row in a]
    result = matmul.matmul_oracle(a, b, matmul.Epilogue.NONE)["c"]
    assert np.array_equal(result.value, product)
    assert not np.any(result.error)
    assert np.array_equal(matmul.matmul_i8_oracle(a, b, matmul.Epilogue.NONE)["c"], product)
    clipped = matmul.matmul_oracle(a, b, matmul.Epilogue.RELU)["c"].value
    assert np.array_equal(clipped, np.maximum(product, 0))
    assert np.array_equal(matmul.matvec_oracle(a, b[:, 0])["y"].value, np.array(product)[:, 0])
    batched = matmul.batched_matmul_oracle(np.stack([a, -a]), b[None])["c"].value
    assert np.array_equal(batched, [product, np.negative(product)])


def test_gelu():
    a, bias = np.array([[-9.0, -1.0, 0.0, 1.0, 9.0]]), np.zeros(5)
    x = a.ravel()
    y = matmul.matmul_bias_gelu_oracle(np.ones((1, 1)), a, bias)["c"].value.ravel()
    assert np.allclose(y, [v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x], atol=1e-7)


@pytest.mark.parametrize("relaxed", [False, True])
def test_attention(relaxed):
    q, k, v = (RNG.standard_normal((2, 3, n, 8)) for n in (10, 12, 12))
    still = np.zeros_like(q)
    out = attention.attention_oracle(still, k, v, 1.0, 8, relaxed)["out"].value
    assert np.allclose(out, v.mean(axis=2, keepdims=True), atol=1e-3), "without preference, the mean"
    out = attention.attention_causal_oracle(q, k, v, 0.3, 8, relaxed)["out"].value
    assert np.allclose(out[:, :, 0], v[:, :, 0], atol=1e-3), "the first query sees one key"
    changed = k.copy()
    changed[:, :, 5:] = 100
    again = attention.attention_causal_oracle(q, changed, v, 0.3, 8, relaxed)["out"].value
    assert np.array_equal(out[:, :, :5], again[:, :, :5]), "the future is not seen"
    whole = attention.attention_window_oracle(q, k, v, 0.3, 8, 100, relaxed)["out"].value
    assert np.array_equal(whole, out), "a window longer than all keys is causal"
    own = attention.attention_window_oracle(q, k, v, 0.3, 8, 1, relaxed)["out"].value
    assert np.allclose(own, v[:, :, :10], atol=1e-3), "a window of one is oneself"
    pairs = np.concatenate([q, q], axis=1)[:, [0, 3, 1, 4, 2, 5]]
    grouped = attention.attention_grouped_oracle(pairs, k, v, 0.3, 8, 2, relaxed)["out"].value
    assert np.array_equal(grouped[:, ::2], out), "heads share keys in pairs"
    assert np.array_equal(grouped[:, 1::2], out)


def test_a_query_without_keys_gets_nan():
    case = next(c for c in CASES if c.name == "attention_window_relaxed")
    given = arguments(case, {"B": 1, "H": 1, "Q": 50, "K": 10})
    expected = case.expected(given)["out"]
    assert np.isnan(expected.value[:, :, 30:]).all()
    assert np.isfinite(expected.value[:, :, :29]).all()
    assert compare(expected.value.astype(np.float16), expected)


def test_zero_times_what_may_be_infinite_may_be_nan():
    """A sum that overflows in one order of its members and not in another, times 0: 0, or NaN."""
    open_ended = Approx(np.array([3.4e38]), np.array([np.inf]), FORMATS["f32"])
    assert (open_ended * 0.0).error.tolist() == [np.inf]
    assert (exact(np.array([np.inf])) * exact(np.array([2.0]))).error.tolist() == [0.0]
    assert (exact(np.array([3.0])) * 0.0).error.tolist() == [0.0]
