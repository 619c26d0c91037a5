"""What replaces elements that later blocks still read is computed into memory of the kernel's own first."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena, find
from intent_np.terms.normal import View
from intent_np.testing.triton_interpreter import interpret, unavailable

from .test_ordered_loops import agree, long_spreading, long_stencil, reference

RNG = np.random.default_rng(4)


def few(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape).astype(np.float32)


@intent.kernel
def chosen_rows(x: I.InOut[I.f32, ("M", "N")], rows: I.In[I.i32, ("M",)]):
    x[:, :] = x[I.assume_in_bounds(rows[:], x), :]


@intent.kernel
def smoothed(x: I.InOut[I.f32, ("M", "N")]):
    if x.shape[1] > 2:
        x[:, 1:-1] = x[:, :-2] + x[:, 2:]


@intent.kernel
def multiplied(x: I.InOut[I.f32, ("M", "N")], w: I.In[I.f32, ("N", "N")]):
    x[:, :] = I.matmul(x[:, :], w[:, :], acc_dtype=I.f32)


@intent.kernel
def counted_down(left: I.InOut[I.i32, ("V",)], of: I.In[I.i32, ("E",)], old: I.Out[I.i32, ("E",)], T: I.index):
    places = I.assume_in_bounds(I.cast(of[:], I.index), left)
    for _ in range(T):
        I.scatter_reduce(left, places, I.gather(left, places) // 2 - 1, combine=I.minimum, valid=of[:] > 1)
    old[:] = left[places]


@intent.kernel
def divided(x: I.InOut[I.f32, ("M", "N")]):
    x[:, :] = x[:, :] - I.reduce.max(x[:, :], axis=1, keepdims=True)


@intent.kernel
def sent_on(x: I.In[I.i32, ("T", "N")], z: I.InOut[I.i32, ("N",)]):
    for t in I.domain(0, x.shape[0]):
        z[I.assume_unique(I.assume_in_bounds(I.cast(z[:], I.index), z))] = x[t, :]


@intent.kernel
def where_others_are(x: I.In[I.i32, ("T", "N")], z: I.InOut[I.i32, ("N",)]):
    for t in I.domain(0, x.shape[0]):
        places = I.indices(I.domain(0, x.shape[1]))
        I.scatter_unique(z, index=places, value=x[t, :] + I.flip(z[:]), valid=I.flip(z[:]) > 3)


@intent.kernel
def rows_of_their_own(x: I.In[I.i32, ("T", "K")], z: I.InOut[I.i32, ("N", 8)], y: I.Out[I.i32, ("N",)]):
    for n in I.parallel(I.domain(0, z.shape[0])):
        at, found = I.cast(n, I.i32), I.cast(0, I.i32)
        for t in I.domain(0, x.shape[0]):
            found = z[n, I.cast(at, I.index) % 8]
            z[n, I.cast(found, I.index) % 8] = found + 3
            at = found + I.reduce.max(x[t, :], axis=0)
        y[n] = found


@intent.kernel
def put_by(x: I.In[I.f32, ("N",)], b: I.InOut[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    for _ in range(3):
        old = I.flip(b[:])
        b[:] = x[:] + 1.0
        y[:] = old


@intent.kernel
def old_and_new(x: I.In[I.f32, ("N",)], b: I.InOut[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    for _ in range(3):
        old = I.flip(b[:])
        b[:] = I.flip(b[:]) + x[:]
        y[:] = old + I.flip(b[:])


@intent.kernel
def exchanged_in_turn(x: I.InOut[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    for _ in range(3):
        old = I.flip(x[:])
        x[:] = I.flip(y[:])
        y[:] = old


@intent.kernel
def sum_of_both(b: I.InOut[I.i32, ("N",)], y: I.InOut[I.i32, (3,)]):
    for t in range(3):
        old = b[:]
        b[:] = I.flip(old) + 1
        y[t] = I.reduce.max(old * I.flip(b[:]))


@intent.kernel
def loop_over_old(b: I.InOut[I.i32, ("N",)], y: I.InOut[I.i32, (3,)]):
    N = b.shape[0]
    for t in range(3):
        old = b[:]
        b[:] = I.flip(old) + 1
        s = I.cast(0, I.i32)
        for i in I.domain(0, N):
            s = s * 3 + old[i] - b[i]
        y[t] = s


EDGES = RNG.integers(0, 9, 60).astype(np.int32)
KERNELS: dict[Any, tuple[dict[str, Any], list[str]]] = {
    chosen_rows: ({"x": few(6, 50), "rows": np.int32([3, 3, 0, 1, 5, 2])}, ["x_new"]),
    smoothed: ({"x": few(5, 70)}, ["x_new"]),
    multiplied: ({"x": few(20, 33), "w": few(33, 33)}, ["x_new"]),
    counted_down: (
        {"left": np.int32([40, 7, 99, 3, 16, 0, 5, 61, 8]), "of": EDGES, "old": np.zeros(60, np.int32), "T": 3},
        ["left_new"],
    ),
    long_stencil: ({"x": few(70), "T": 3}, ["x_new"]),
    long_spreading: ({"at": EDGES, "label": np.int32([40, 7, 99, 3, 16, 0, 5, 61, 8]), "T": 2}, ["label_new"]),
    divided: ({"x": few(5, 70)}, []),
    sent_on: (
        {
            "x": np.stack([RNG.permutation(50) for _ in range(3)]).astype(np.int32),
            "z": RNG.permutation(50).astype(np.int32),
        },
        ["z_new"],
    ),
    where_others_are: ({"x": few(3, 50).astype(np.int32), "z": EDGES[:50]}, ["z_new"]),
    put_by: ({"x": few(50), "b": few(50), "y": few(50)}, []),
    old_and_new: ({"x": few(50), "b": few(50), "y": few(50)}, ["b_before"]),
    exchanged_in_turn: ({"x": few(50), "y": few(50)}, ["x_before"]),
    sum_of_both: ({"b": EDGES[:50], "y": np.zeros(3, np.int32)}, ["b_before", "b_new"]),
    loop_over_old: ({"b": EDGES[:50], "y": np.zeros(3, np.int32)}, ["b_before", "b_new"]),
    rows_of_their_own: (
        {"x": few(4, 40).astype(np.int32), "z": few(50, 8).astype(np.int32), "y": np.zeros(50, np.int32)},
        ["at", "state", "at_next", "state_next"],
    ),
}


def workspaces(program: Any) -> list[str]:
    return [v.name for v in find(program, View) if v.mode == "workspace"]


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_every_level_reads_what_there_was(kernel: Any, order: str) -> None:
    given, wanted = KERNELS[kernel]
    assert workspaces(agree(kernel, given, order)["stage_stores"]) == wanted


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
def test_printed_triton_does(kernel: Any) -> None:
    given, _ = KERNELS[kernel]
    expected = reference(kernel, given)
    found = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}
    arrays = {n: v for n, v in found.items() if isinstance(v, np.ndarray)}
    with Arena():
        launch = lower(kernel.capture({}), check=True, options={"block_axes": {"sizes": dict.fromkeys("nijkev", 16)}})
        interpret(launch, print_triton(launch.function), arrays, {n: v for n, v in found.items() if n not in arrays})
    for n, v in arrays.items():
        np.testing.assert_array_equal(v, expected[n], err_msg=n)


def test_what_a_fragment_holds_whole_is_read_before_it_is_written() -> None:
    given, _ = KERNELS[smoothed]
    made = agree(smoothed, given, options={"bind_class": {"bounds": {"N": 128}}})
    assert not workspaces(made["stage_stores"])


def test_without_it_the_host_copies_what_it_can() -> None:
    given, _ = KERNELS[smoothed]
    made = agree(smoothed, given, disable={"stage_stores"})
    assert [v.name for v in find(made["emit"], View) if v.mode == "copy"] == ["x_before"]
    with pytest.raises(intent.CompileError, match="an earlier loop has replaced"):
        agree(long_stencil, KERNELS[long_stencil][0], disable={"stage_stores"})
