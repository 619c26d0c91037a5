"""Operators and literals: what an expression means, element by element."""

import math

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np import numerics
from intent_np.terms.operators import OPERATORS
from intent_np.terms.text import show

RNG = np.random.default_rng(7)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@intent.kernel
def arithmetic(a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, (8, "N")]):
    x, z = a[:], b[:]
    y[0, :] = x + z * 2 - 1
    y[1, :] = x / z
    y[2, :] = -x
    y[3, :] = +x * 0.5
    y[4, :] = I.abs(x) ** z
    y[5, :] = I.select((x < z) & ~(x > 0) | (z >= 1.5), x, z)
    y[6, :] = I.select(-1 < x <= 0.5, 1.0, 0.0)
    y[7, :] = I.clamp(x, -0.5, 0.5)


def test_float_operators(run):
    a, b, y = normal(300), normal(300), np.zeros((8, 300), np.float32)
    run(arithmetic, a=a, b=b, y=y)
    expected = [
        a + b * 2 - 1, a / b, -a, a * np.float32(0.5), np.abs(a).astype("f8") ** b,
        np.where((a < b) & ~(a > 0) | (b >= 1.5), a, b), (a > -1) & (a <= 0.5), np.clip(a, -0.5, 0.5),
    ]  # fmt: skip
    for row, want in zip(y, expected, strict=True):
        np.testing.assert_allclose(row, want, rtol=1e-6)


@intent.kernel
def integers(a: I.In[I.i32, ("N",)], b: I.In[I.i32, ("N",)], y: I.Out[I.i32, (9, "N")]):
    x, z = a[:], b[:]
    y[0, :] = x // z
    y[1, :] = x % z
    y[2, :] = x & z
    y[3, :] = x | z
    y[4, :] = x ^ z
    y[5, :] = x << 3
    y[6, :] = x >> 2
    y[7, :] = ~x
    y[8, :] = I.select(not (x == z) and x != 3 or z > 5, x, z)


def test_integer_operators_are_pythons(run):
    a = RNG.integers(-1000, 1000, 200).astype(np.int32)
    b = RNG.integers(1, 50, 200).astype(np.int32) * RNG.choice([-1, 1], 200).astype(np.int32)
    y = np.zeros((9, 200), np.int32)
    run(integers, a=a, b=b, y=y)
    expected = [a // b, a % b, a & b, a | b, a ^ b, a << 3, a >> 2, ~a, np.where((a != b) & (a != 3) | (b > 5), a, b)]
    for row, want in zip(y, expected, strict=True):
        np.testing.assert_array_equal(row, want)


UNARY = [
    "abs", "sign", "floor", "ceil", "round", "exp", "exp2", "log", "log1p", "log2", "sqrt", "rsqrt", "sin", "cos",
    "asin", "tanh", "erf", "erfc", "i0", "lgamma", "sigmoid",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_functions_are_their_operators(run, name):
    function = getattr(I, name)

    @intent.kernel
    def kernel(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        y[:] = function(x[:])

    x, y = normal(100), np.zeros(100, np.float32)
    run(kernel, x=x, y=y)
    np.testing.assert_array_equal(y, numerics.apply(OPERATORS[name], x, dtype=I.f32))


@pytest.mark.parametrize("name", ["exp", "exp2", "tanh", "rsqrt", "sigmoid"])
def test_approximate_forms_are_asked_for(run, name):
    function = getattr(I, name)

    @intent.kernel
    def kernel(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        y[:] = function(x[:], approximate=True)

    x, y = np.abs(normal(10)), np.zeros(10, np.float32)
    program = run(kernel, x=x, y=y)
    assert f"{name}_approx" in show(program)


@intent.kernel
def several(a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], c: I.In[I.bool, ("N",)], y: I.Out[I.f32, (9, "N")]):
    x, z, m = a[:], b[:], c[:]
    y[0, :] = I.maximum(x, z)
    y[1, :] = I.minimum(x, 0)
    y[2, :] = I.maximum_num(x, z)
    y[3, :] = I.minimum_num(x, z)
    y[4, :] = I.fma(x, z, 1.0)
    y[5, :] = I.fmod(x, z)
    y[6, :] = I.mask(x, m, -1.0)
    y[7, :] = I.select(I.isnan(x) | I.isinf(x), 0.0, x)
    y[8, :] = I.fdiv(x, z)


def test_functions_of_several(run):
    a, b, c, y = normal(50), normal(50), RNG.random(50) < 0.5, np.zeros((9, 50), np.float32)
    a[:3] = [np.nan, np.inf, -0.0]
    run(several, a=a, b=b, c=c, y=y)
    with np.errstate(invalid="ignore"):
        expected = [
            np.maximum(a, b), np.minimum(a, 0), np.fmax(a, b), np.fmin(a, b), (a.astype("f8") * b + 1).astype("f4"),
            np.fmod(a, b), np.where(c, a, -1), np.where(np.isfinite(a), a, 0), a / b,
        ]  # fmt: skip
    for row, want in zip(y, expected, strict=True):
        np.testing.assert_array_equal(row, want)


@intent.kernel
def casts(
    x: I.In[I.f32, ("N",)],
    h: I.Out[I.f16, ("N",)],
    s: I.Out[I.i8, ("N",)],
    b: I.Out[I.u32, ("N",)],
    f: I.Out[I.bool, ("N",)],
):
    v = x[:]
    h[:] = I.cast(v, I.f16)
    s[:] = I.saturate_cast(v * 100, I.i8)
    b[:] = I.bitcast(v, I.u32)
    f[:] = I.cast(v, I.bool)


def test_casts(run):
    x = np.append(normal(20), np.float32([0.0, np.nan, 300.0]))
    outs = dict(
        h=np.zeros(23, np.float16), s=np.zeros(23, np.int8), b=np.zeros(23, np.uint32), f=np.zeros(23, np.bool_)
    )
    run(casts, x=x, **outs)
    np.testing.assert_array_equal(outs["h"], x.astype(np.float16))
    np.testing.assert_array_equal(outs["s"], np.clip(np.nan_to_num(x * 100), -128, 127).astype(np.int8))
    np.testing.assert_array_equal(outs["b"], x.view(np.uint32))
    np.testing.assert_array_equal(outs["f"], x != 0)


SCALE = 3
TABLE = (1, 2.5)


class Mode(I.Enum):
    PLAIN = "plain"
    TWICE = "twice"


@intent.kernel
def constants(
    x: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, (4, "N")],
    MODE: I.Constexpr[Mode] = Mode.PLAIN,
    K: I.Constexpr[int] = 2,
    FLAG: I.Constexpr[bool] = False,
    EPS: I.Constexpr[float] = 0.25,
):
    v = x[:]
    assert K > 0, "K is positive"
    y[0, :] = v * SCALE + TABLE[1] + math.pi * 0
    y[1, :] = v * K if MODE == Mode.TWICE else v
    y[2, :] = v + EPS
    assert x.shape == y.shape[1:]
    assert x.shape != y.shape
    assert math.sqrt(K * K) == K
    if FLAG and K == 2:
        y[3, :] = v * (K**2 // 3 - min(4, K, 7))
    elif not FLAG:
        y[3, :] = v + float(len(TABLE))
    else:
        y[3, :] = v


@pytest.mark.parametrize(("mode", "k", "flag"), [(Mode.PLAIN, 2, False), (Mode.TWICE, 3, True), (Mode.TWICE, 2, True)])
def test_constants_decide_now(run, mode, k, flag):
    x, y = normal(10), np.zeros((4, 10), np.float32)
    program = run(constants, x=x, y=y, MODE=mode, K=k, FLAG=flag, EPS=1)
    np.testing.assert_allclose(y[0], x * 3 + np.float32(2.5), rtol=1e-6)
    np.testing.assert_array_equal(y[1], x * k if mode is Mode.TWICE else x)
    np.testing.assert_array_equal(y[2], x + 1)
    last = x + 2 if not flag else -x if k == 2 else x
    np.testing.assert_array_equal(y[3], last)
    assert "select" not in show(program)
    assert "branch" not in show(program)


@intent.kernel
def broadcasting(
    a: I.In[I.f32, ("M",)], b: I.In[I.f32, ("N",)], c: I.In[I.f32, (1, "N")], s: I.f32, y: I.Out[I.f32, (3, "M", "N")]
):
    y[0, :, :] = a[:, None] + b[:]
    y[1, :, :] = a[:][:, None] * c[:, :] + s
    y[2, :, :] = s


@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (0, 4), (4, 0)])
def test_broadcast_is_right_aligned(run, shape):
    m, n = shape
    a, b, c, y = normal(m), normal(n), normal(1, n), np.zeros((3, m, n), np.float32)
    run(broadcasting, a=a, b=b, c=c, s=1.5, y=y)
    np.testing.assert_array_equal(y[0], a[:, None] + b)
    np.testing.assert_array_equal(y[1], a[:, None] * c + np.float32(1.5))
    np.testing.assert_array_equal(y[2], np.full((m, n), 1.5, np.float32))


@intent.kernel
def scalar(x: I.In[I.f64, ()], n: I.i32, flag: I.bool, y: I.Out[I.f64, ()]):
    y[()] = x[()] * I.cast(n, I.f64) if flag else 0.0


def test_rank_0_and_scalars(run):
    for flag, want in ((True, 7.5), (False, 0.0)):
        y = np.zeros(())
        run(scalar, x=np.array(2.5), n=3, flag=flag, y=y)
        assert y == want
