"""The passes from gpu to launch: what each changes, and what each leaves alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from intent_np.backends.triton.printer import print_triton
from intent_np.passes.choose_launch import choose_launch
from intent_np.passes.keep_sums import keep_sums
from intent_np.passes.legalize_dot import legalize_dot
from intent_np.passes.legalize_reduce import legalize_reduce
from intent_np.passes.lower_to_triton import lower_to_triton
from intent_np.passes.make_abi import make_abi
from intent_np.passes.name_repeated import name_repeated
from intent_np.passes.order_fragments import order_fragments
from intent_np.passes.rebind_carries import rebind_carries
from intent_np.terms.core import Arena, find
from intent_np.terms.gpu import GPU, ContractInto, Reduce
from intent_np.terms.launch import divisibility, signature
from intent_np.terms.parse import parse
from tests.backends.triton_kernels import kernel, matmul


@pytest.fixture(autouse=True)
def arena() -> Iterator[Arena]:
    with Arena() as space:
        yield space


def order(name: str) -> list[str]:
    return [p.name for p in order_fragments(kernel(name)).physical]


def body(function: Any) -> str:
    """The lines of the function, without its signature."""
    return print_triton(function).split("):\n")[-1]


# ---- order_fragments


def test_contracted_axes_stand_before_the_last_stored_one() -> None:
    assert order("gemm") == ["BM", "BK", "BN"]
    assert order("attention") == ["BQ", "BL", "BD"]


def test_the_largest_store_decides() -> None:
    assert order("transpose") == ["BN", "BM"]
    assert order("edges") == ["BM", "BN"]


def test_one_stored_axis_follows_memory() -> None:
    assert order("matvec") == ["BM", "BK"]


def test_an_ordered_kernel_is_the_same_object() -> None:
    once = order_fragments(kernel("gemm"))
    assert order_fragments(once) is once


# ---- legalize_dot


@pytest.mark.parametrize(
    ("operand", "acc", "blocks", "legal"),
    [
        ("f16", "f32", (16, 16, 16), True),
        ("f16", "f16", (16, 16, 16), True),
        ("bf16", "bf16", (16, 16, 16), False),
        ("f16", "f32", (8, 16, 16), False),
        ("f16", "f32", (16, 16, 8), False),
        ("i8", "i32", (16, 16, 32), True),
        ("i8", "i32", (16, 16, 16), False),
        ("u8", "i32", (16, 16, 32), False),
        ("i32", "i32", (16, 16, 16), False),
        ("f64", "f64", (16, 16, 16), True),
    ],
)
def test_what_has_a_matrix_instruction(operand: str, acc: str, blocks: tuple[int, int, int], legal: bool) -> None:
    gpu = legalize_dot(parse(matmul("g", operand, acc, blocks), GPU))
    assert GPU.check(gpu) == []
    assert bool(list(find(gpu, ContractInto))) is legal
    assert bool(list(find(gpu, Reduce))) is not legal


def test_legal_contractions_stay() -> None:
    gpu = kernel("gemm")
    assert legalize_dot(gpu) is gpu


# ---- legalize_reduce


def test_predicates_and_narrow_integers_reduce_as_i32() -> None:
    text = repr(legalize_reduce(kernel("counts")))
    assert "cast((reduce sum over BC of cast(row, i32) from 0:i32), i8)" in text
    assert "(reduce max over BC of cast(100:i8 < row, i32) from -2147483648:i32) != 0:i32" in text


# ---- rebind_carries


def test_the_next_state_takes_the_name_of_the_state() -> None:
    text = matmul("g", "f16", "f32", (16, 16, 16))
    text = text.replace("    acc = contract lhs, rhs, acc", "    next = contract lhs, rhs, acc\n    acc = next")
    function = lower_to_triton(order_fragments(parse(text, GPU)))
    assert "next_ = tl.dot(lhs, rhs, acc)\n        acc = next_" in body(function)
    assert "        acc = tl.dot(lhs, rhs, acc)\n    tl.store" in body(rebind_carries(function))


def test_a_state_that_is_read_once_more_keeps_its_name() -> None:
    text = body(rebind_carries(lower_to_triton(order_fragments(kernel("attention")))))
    assert "scale = libdevice.exp(top - next_)" in text
    assert text.index("top = next_") > text.index("scale =")


def test_lines_that_nothing_uses_go() -> None:
    text = matmul("g", "f16", "f32", (16, 16, 16)).replace("  store C", "  unused = acc * acc\n  store C")
    function = lower_to_triton(order_fragments(parse(text, GPU)))
    assert "unused" in body(function)
    assert "unused" not in body(rebind_carries(function))


# ---- name_repeated

SHARED = """
M = extent
N = extent
x = view inout f32[M, N] strides [N, 1]
y = view out f32[M, N] strides [N, 1]
BM = physical 16
BN = physical 16
kernel @shared<BM, BN>(x, y, M, N) {
  grid = (ceil_div(M, BM), ceil_div(N, BN))
  (pm, pn) = program_coord(grid)
  m = pm * BM + range(0, BM)
  n = pn * BN + range(0, BN)
  store x[m, n] = load x[m, n] valid (m < M && n < N) fill 0 + 1.0:f32 valid (m < M && n < N)
  store y[m, n] = load x[m, n] valid (m < M && n < N) fill 0 + 1.0:f32 valid (m < M && n < N)
}
"""


def test_a_shared_mask_has_a_name_and_a_load_does_not_cross_a_store() -> None:
    text = body(name_repeated(lower_to_triton(parse(SHARED, GPU))))
    assert text.count("mask = (m[:, None] < M) & (n[None, :] < N)") == 1
    assert text.count("tl.load(") == 2


def test_short_predicates_are_said_again() -> None:
    text = body(name_repeated(lower_to_triton(order_fragments(kernel("softmax")))))
    assert text.count("c < C") == 3


# ---- keep_sums


def test_a_product_that_triton_would_take_for_a_matrix_product_is_turned_around() -> None:
    contraction = lower_to_triton(order_fragments(legalize_dot(parse(matmul("g", "f16", "bf16", (16, 16, 16)), GPU))))
    for function in (contraction, name_repeated(contraction)):
        assert "[:, :, None] * " in body(function)
        assert "[:, :, None] * " not in body(keep_sums(function))
        assert "[None, :, :] * " in body(keep_sums(function))


# ---- choose_launch


@pytest.mark.parametrize(
    ("blocks", "warps", "stages"),
    [
        ((128, 256, 64), 8, 4),
        ((128, 128, 64), 8, 4),
        ((64, 64, 32), 4, 5),
        ((16, 16, 16), 2, 5),
        ((256, 256, 128), 8, 2),
    ],
)
def test_warps_and_stages_of_a_matmul(blocks: tuple[int, int, int], warps: int, stages: int) -> None:
    function = choose_launch(lower_to_triton(order_fragments(parse(matmul("g", "f16", "f32", blocks), GPU))))
    assert (function.num_warps, function.num_stages) == (warps, stages)


def test_options_are_taken_as_they_are() -> None:
    function = choose_launch(lower_to_triton(order_fragments(kernel("gemm"))), num_warps=2, num_stages=5)
    assert (function.num_warps, function.num_stages) == (2, 5)


# ---- make_abi


def test_only_what_the_body_uses_is_passed_with_its_divisors() -> None:
    launch = make_abi(lower_to_triton(order_fragments(kernel("softmax")), index_bits=64))
    assert signature(launch) == (("x", "*fp16"), ("y", "*fp16"), ("C", "i64"), ("x_s0", "i64"), ("y_s0", "i64"))
    launch = make_abi(lower_to_triton(order_fragments(kernel("gemm"))))
    assert divisibility(launch) == {"A": 16, "B": 16, "C": 16, "A_s0": 8, "B_s0": 8, "C_s0": 4}
