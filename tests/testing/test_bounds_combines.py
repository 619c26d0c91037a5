"""Combines that authors write: every order of combining is inside of the bounds, and integers are exact."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.testing import expected

f32 = np.float32


@intent.fn
def product(a, b):
    return a * b


@intent.fn
def composed(a, b):
    return b[0] * a[0], b[0] * a[1] + b[1]


@intent.fn
def segment(a, b):
    return (b[0] if b[1] else a[0] + b[0]), (a[1] or b[1])


@intent.fn
def larger(a, b):
    better = (b[0] > a[0]) or ((b[0] == a[0]) and (b[1] < a[1]))
    return (b[0] if better else a[0]), (b[1] if better else a[1])


@intent.kernel
def products(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M", "N")]):
    y[:] = I.reduce(x[:, :], axis=1, identity=1, combine=product)
    z[:, :] = I.scan(x[:, :], axis=1, identity=1, combine=product, inclusive=True)


@intent.kernel
def affine(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M", "N")]):
    y[:, :], z[:, :] = I.scan(
        (x[:, :], x[:, :] + 1.0), axis=1, identity=(1, 0), combine=composed, inclusive=True, reverse=True
    )


@intent.kernel
def segmented(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.bool, ("M", "N")]):
    y[:, :], z[:, :] = I.scan((x[:, :], x[:, :] > 1.0), axis=1, identity=(0, False), combine=segment, inclusive=True)


@intent.kernel
def extremes(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.index, ("M",)]):
    M, N = x.shape
    at = I.indices(I.domain(0, N)) + I.zeros((M, N), I.index)
    y[:], z[:] = I.reduce((x[:, :], at), axis=1, identity=(float("-inf"), 2**62), combine=larger)


@intent.kernel
def running(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M", "N")]):
    y[:, :] = I.cumsum(I.exp(x[:, :]), axis=1, inclusive=False)
    z[:, :] = I.cummax(I.exp(x[:, :]), axis=1, reverse=True)


def _affine(a: Any, b: Any) -> Any:
    return b[0] * a[0], b[0] * a[1] + b[1]


def _segment(a: Any, b: Any) -> Any:
    return np.where(b[1], b[0], a[0] + b[0]), a[1] | b[1]


def in_some_order(rng: np.random.Generator, combine: Callable[..., Any], members: list[Any]) -> Any:
    """Neighbours combined in any order, in f32."""
    members = list(members)
    while len(members) > 1:
        i = int(rng.integers(len(members) - 1))
        members[i : i + 2] = [combine(members[i], members[i + 1])]
    return members[0]


def given(values: str, m: int = 4, n: int = 40) -> np.ndarray:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((m, n)).astype(f32)
    return np.rint(x).astype(f32) if values == "integers" else x * f32(1e-3) if values == "small" else x


def inside(want: Any, at: Any, got: Any) -> None:
    value, bound = want.value[at], np.broadcast_to(want.bound, want.value.shape)[at]
    assert np.isfinite(bound).all()
    assert (np.abs(got.astype("f8") - value) <= bound).all()


@pytest.mark.parametrize("values", ["normal", "integers", "small"])
def test_every_order_is_inside(values: str) -> None:
    x = given(values)
    rng = np.random.default_rng(1)
    empty = np.full_like(x, np.nan)
    of = {
        k.name: expected(
            k,
            {
                "x": x,
                "y": empty[:, 0] if k is products else empty,
                "z": empty.astype(bool) if k is segmented else empty,
            },
        )
        for k in (products, affine, segmented)
    }
    for _ in range(40):
        i = int(rng.integers(1, x.shape[1] + 1))
        got = in_some_order(rng, lambda a, b: a * b, list(x.T[:i]))
        inside(of["products"]["z"], (slice(None), i - 1), got)
        if i == x.shape[1]:
            inside(of["products"]["y"], slice(None), got)
        ab = in_some_order(rng, _affine, [(c, c + f32(1)) for c in x.T[::-1][:i]])
        inside(of["affine"]["y"], (slice(None), x.shape[1] - i), ab[0])
        inside(of["affine"]["z"], (slice(None), x.shape[1] - i), ab[1])
        got = in_some_order(rng, _segment, [(c, c > 1) for c in x.T[:i]])[0]
        inside(of["segmented"]["y"], (slice(None), i - 1), got)


def test_what_is_only_chosen_is_exact() -> None:
    x = given("normal")
    want = expected(extremes, {"x": x, "y": np.zeros(4, f32), "z": np.zeros(4, np.int64)})
    assert not np.any(want["y"].bound)
    assert not np.any(want["z"].bound)
    assert np.array_equal(want["y"].value, x.max(1))
    x[1, 3] = np.nan  # it has no order
    assert np.isinf(expected(extremes, {"x": x, "y": np.zeros(4, f32), "z": np.zeros(4, np.int64)})["y"].bound).all()


def test_sums_and_products_of_integers_are_exact() -> None:
    x = given("integers", n=9)
    want = expected(segmented, {"x": x, "y": np.zeros_like(x), "z": np.zeros(x.shape, bool)})
    assert not np.any(want["y"].bound)


def test_prefixes_of_what_is_rounded() -> None:
    x = given("normal")
    want = expected(running, {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)})
    exact = np.exp(x.astype("f8"))
    sums = np.cumsum(exact, 1) - exact
    assert np.isfinite(want["y"].bound).all()
    assert (want["y"].bound <= 1e-4 * (1 + sums)).all()
    assert (np.abs(want["y"].value - sums) <= want["y"].bound + 1e-12).all()
    assert (np.asarray(want["z"].bound) <= 1e-6 * np.maximum.accumulate(exact[:, ::-1], 1)[:, ::-1]).all()
