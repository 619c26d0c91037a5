"""From gpu kernels to Triton text: readable (goldens), compiled ahead of time, and run on NumPy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from intent_np.backends.triton.compiler import compile_source
from intent_np.backends.triton.printer import Printer, print_triton
from intent_np.passes.choose_launch import choose_launch
from intent_np.passes.legalize_dot import legalize_dot
from intent_np.passes.legalize_reduce import legalize_reduce
from intent_np.passes.lower_to_triton import lower_to_triton
from intent_np.passes.make_abi import make_abi
from intent_np.passes.name_repeated import name_repeated
from intent_np.passes.order_fragments import order_fragments
from intent_np.passes.rebind_carries import rebind_carries
from intent_np.target import SM_80, SM_90, SM_100
from intent_np.terms.core import Arena, find
from intent_np.terms.gpu import GPU, Load
from intent_np.terms.launch import LAUNCH, Launch, constants, divisibility, signature
from intent_np.terms.parse import parse
from intent_np.terms.triton import TRITON
from intent_np.testing.formats import numpy_dtype
from intent_np.testing.triton_interpreter import interpret, unavailable
from tests.backends.triton_kernels import TEXTS, kernel

NAMES = sorted(TEXTS)


def lower(gpu: Any, bits: int = 32) -> Launch:
    """The way from a kernel to its launch, each result checked."""
    gpu = legalize_reduce(legalize_dot(order_fragments(gpu)))
    assert GPU.check(gpu) == []
    function = lower_to_triton(gpu, index_bits=bits)
    for step in (rebind_carries, name_repeated, choose_launch):
        assert TRITON.check(function) == []
        function = step(function)
    launch = make_abi(function)
    assert LAUNCH.check(launch) == []
    return launch  # type: ignore[no-any-return]


@pytest.fixture
def arena() -> Any:
    with Arena() as space:
        yield space


@pytest.mark.parametrize("name", NAMES)
def test_text_is_the_reviewed_one(name: str, golden: Any, arena: Arena) -> None:
    golden(f"{name}.py", print_triton(lower(kernel(name)).function))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", NAMES)
def test_text_form_reads_back(name: str, bits: int, arena: Arena) -> None:
    launch = lower(kernel(name), bits)
    assert parse(repr(launch), LAUNCH) is launch
    assert parse(repr(launch.function), TRITON) is launch.function


def test_lines_know_the_author_s_place(arena: Arena) -> None:
    gpu = kernel("transpose")
    (load,) = find(gpu, Load)
    arena.spans[load] = ("transpose.py:3",)
    printer = Printer(lower(gpu).function)
    lines = printer.module().splitlines()
    ((number, place),) = printer.spans.items()
    assert lines[number - 1].strip().startswith("tile = tl.load(x")
    assert place == "transpose.py:3"


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", NAMES)
def test_compiles_without_a_gpu(name: str, bits: int, arena: Arena, tmp_path: Path) -> None:
    launch = lower(kernel(name), bits)
    source, f = print_triton(launch.function), launch.function
    for target in (SM_90,) if bits == 64 else (SM_80, SM_90, SM_100):
        facts = (signature(launch), constants(launch), divisibility(launch))
        made = compile_source(source, f.name, *facts, target, f.num_warps, f.num_stages, tmp_path)
        assert made.cubin
        assert made.stack_bytes == 0


# ---- what the text computes --------------------------------------------------------------------------------------


MATMULS = [
    ("gemm", "f16"),
    ("gemm_f32", "f32"),
    ("gemm_f64", "f64"),
    ("gemm_bf16", "bf16"),
    ("gemm_i8", "i8"),
    ("gemm_grouped", "f16"),
]


def run(launch: Launch, arrays: dict[str, Any], **scalars: Any) -> None:
    if reason := unavailable():
        pytest.skip(reason)
    interpret(launch, print_triton(launch.function), arrays, scalars)


def matrix(rng: Any, m: int, n: int, dtype: str, kind: int = 0) -> Any:
    """A matrix with contiguous rows: of its own (0), a window of a larger one (1), every other row from the end (2)."""
    size = (2 * m + 1, n + 3)
    whole = rng.integers(-5, 5, size) if dtype.startswith("i") else rng.standard_normal(size)
    whole = whole.astype(numpy_dtype(dtype))
    return (np.ascontiguousarray(whole[:m, :n]), whole[1 : m + 1, 2 : n + 2], whole[::-2][:m, :n])[kind]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize(("name", "dtype"), MATMULS)
def test_matmul(name: str, dtype: str, kind: int, bits: int, arena: Arena) -> None:
    launch, rng = lower(kernel(name), bits), np.random.default_rng(0)
    for m, n, k in ((33, 70, 41), (64, 64, 64), (1, 1, 1), (100, 17, 0), (0, 5, 3)):
        a, b = matrix(rng, m, k, dtype, kind), matrix(rng, k, n, dtype, kind)
        c = np.full((m, n), 7, {"i8": np.int32, "f64": np.float64}.get(dtype, np.float32))
        run(launch, {"A": a, "B": b, "C": c}, M=m, N=n, K=k)
        wide = np.float64 if dtype != "i8" else np.int32
        np.testing.assert_allclose(c, a.astype(wide) @ b.astype(wide), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("columns", [1, 2, 127, 128])
def test_softmax(columns: int, arena: Arena) -> None:
    x = np.random.default_rng(1).standard_normal((5, columns)).astype(np.float16) * 4 - 20
    y = np.zeros_like(x)
    run(lower(kernel("softmax")), {"x": x, "y": y})
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=2e-3, atol=1e-6)


def test_transpose(arena: Arena) -> None:
    x = np.arange(70 * 45, dtype=np.float32).reshape(70, 45)
    y = np.zeros((45, 70), np.float32)
    run(lower(kernel("transpose")), {"x": x, "y": y})
    np.testing.assert_array_equal(y, x.T)


def test_two_strides_and_a_scalar(arena: Arena) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((50, 37)).astype(np.float16).T
    bias = rng.standard_normal(50).astype(np.float16)
    y = np.zeros((37, 50), np.float16)
    run(lower(kernel("bias_relu")), {"x": x, "bias": bias, "y": y}, alpha=0.5)
    np.testing.assert_array_equal(
        y, np.maximum(x.astype(np.float32) * 0.5 + bias.astype(np.float32), 0).astype(np.float16)
    )


@pytest.mark.parametrize("columns", [0, 1, 63, 64, 65, 200])
def test_loops_in_two_segments_carry_one_state(columns: int, arena: Arena) -> None:
    x = -1 - np.abs(np.random.default_rng(3).standard_normal((4, columns))).astype(np.float32)
    if columns > 3:
        x[2, 3] = np.nan
    y = np.zeros(4, np.float32)
    run(lower(kernel("row_max")), {"x": x, "y": y})
    np.testing.assert_array_equal(y, x.max(1, initial=-np.inf))


def test_tuple_reduction(arena: Arena) -> None:
    x = np.random.default_rng(4).integers(0, 9, (6, 100)).astype(np.float32)
    value, place = np.zeros(6, np.float32), np.zeros(6, np.int64)
    run(lower(kernel("argmax")), {"x": x, "value": value, "place": place})
    np.testing.assert_array_equal(value, x.max(1))
    np.testing.assert_array_equal(place, x.argmax(1))


def test_sum_of_products(arena: Arena) -> None:
    rng = np.random.default_rng(5)
    a, x = rng.standard_normal((70, 100)).astype(np.float16), rng.standard_normal(100).astype(np.float16)
    y = np.zeros(70, np.float32)
    run(lower(kernel("matvec")), {"A": a, "x": x, "y": y})
    np.testing.assert_allclose(y, a.astype(np.float64) @ x.astype(np.float64), rtol=1e-5, atol=1e-5)


def test_attention_with_three_carries(arena: Arena) -> None:
    rng = np.random.default_rng(6)
    q, k, v = (rng.standard_normal((2, n, 32)).astype(np.float16) for n in (70, 50, 50))
    out = np.zeros_like(q)
    run(lower(kernel("attention")), {"q": q, "k": k, "v": v, "out": out})
    s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 32**-0.5
    p = np.exp(s - s.max(-1, keepdims=True))
    np.testing.assert_allclose(out, p / p.sum(-1, keepdims=True) @ v.astype(np.float64), rtol=1e-2, atol=2e-3)


def test_narrow_integers_and_predicates(arena: Arena) -> None:
    x = np.random.default_rng(7).integers(-128, 128, (9, 60)).astype(np.int8)
    total, some = np.zeros(9, np.int8), np.zeros(9, np.bool_)
    run(lower(kernel("counts")), {"x": x, "total": total, "some": some})
    np.testing.assert_array_equal(total, x.sum(1, dtype=np.int8))
    np.testing.assert_array_equal(some, (x > 100).any(1))


@pytest.mark.parametrize("bits", [32, 64])
def test_numbers_keep_their_bits_and_quotients_are_floors(bits: int, arena: Arena) -> None:
    x = np.array([-1.0, 0.0, 2.0, np.nan] * 5, np.float32)
    y, h, i, row = (
        np.zeros(20, np.float32),
        np.zeros(20, np.float16),
        np.zeros(20, np.int64),
        np.zeros((3, 20), np.float32),
    )
    run(lower(kernel("edges"), bits), {"x": x, "y": y, "h": h, "i": i, "row": row})
    np.testing.assert_array_equal(y, np.where(np.isnan(x), np.nan, np.where(x < 0, -np.inf, 0)).astype(np.float32))
    np.testing.assert_array_equal(h.view(np.uint16), np.where(x < 0, np.float16(0.1), np.float16(-0.0)).view(np.uint16))
    n = np.arange(20) - 7
    np.testing.assert_array_equal(i, n // 3 + n % 4 * 100 + 2**40)
    np.testing.assert_array_equal(row, np.broadcast_to(np.where(np.arange(20) < 16, x, 2.5), (3, 20)))


def test_taken_names(arena: Arena) -> None:
    x = np.linspace(-9, 9, 20, dtype=np.float32)
    y = np.zeros_like(x)
    run(lower(kernel("taken")), {"tl": x, "max": y})
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-x.astype(np.float64))), rtol=1e-6)


@pytest.mark.parametrize("bits", [32, 64])
def test_batches_in_groups_with_a_transposed_result(bits: int, arena: Arena) -> None:
    rng = np.random.default_rng(8)
    a, x = rng.standard_normal((3, 70, 20)).astype(np.float16), rng.standard_normal((3, 40, 20)).astype(np.float16)
    c = np.zeros((3, 40, 70), np.float32)
    launch = lower(kernel("batched"), bits)
    run(launch, {"A": a, "X": x, "C": c})
    np.testing.assert_allclose(c, x.astype(np.float64) @ a.astype(np.float64).transpose(0, 2, 1), rtol=1e-5, atol=1e-5)
    assert "tl.trans" not in print_triton(launch.function)  # it is the order of the axes that is transposed


@pytest.mark.parametrize("bits", [32, 64])
def test_nested_loops_with_scalar_states(bits: int, arena: Arena) -> None:
    x = np.random.default_rng(9).standard_normal((4, 300)).astype(np.float32)
    x[1] -= 9
    best, place, found = np.zeros(4, np.float32), np.zeros(4, np.int64), np.zeros(4, np.bool_)
    run(lower(kernel("nested"), bits), {"x": x, "best": best, "place": place, "found": found})
    np.testing.assert_array_equal(best, x.max(1))
    np.testing.assert_array_equal(place, x.argmax(1) // 128 * 128)
    np.testing.assert_array_equal(found, x.max(1) > 1)
