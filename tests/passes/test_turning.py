"""Loops of two chained products, in which groups of warps take turns, on whole tiles."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from benchmarks.cases import attention_fold
from intent_np.backends.triton.printer import print_triton
from intent_np.compiler import Compilation, turns
from intent_np.errors import error
from intent_np.runtime.binding import bind
from intent_np.runtime.classes import CallFacts, ViewFacts, classify, covers
from intent_np.runtime.examples import class_of
from intent_np.target import resolve
from intent_np.testing.triton_interpreter import interpret
from kernels.attention import attention, attention_causal, attention_window

SIZES = {"B": 1, "H": 2, "Q": 200, "K": 256}
SCALES = {"D": 128, "SCALE": 128**-0.5}


@intent.kernel
def biased(
    q: I.In[I.f16, ("Q", 128)], k: I.In[I.f16, ("K", 128)], bias: I.In[I.f16, ("Q", "K")], y: I.Out[I.f32, ("Q", 128)]
):
    """A product of what another product gave and of what the loop loads beside it."""
    first = I.matmul(q[:, :], k[:, :], transpose_rhs=True, acc_dtype=I.f32) + I.cast(bias[:, :], I.f32)
    y[:, :] = I.matmul(I.cast(first, I.f16), k[:, :], acc_dtype=I.f32)


@intent.kernel
def twice(q: I.In[I.f16, ("Q", 128)], k: I.In[I.f16, ("K", 128)], y: I.Out[I.f32, ("Q", 128)]):
    first = I.matmul(q[:, :], k[:, :], transpose_rhs=True, acc_dtype=I.f32)
    y[:, :] = I.matmul(I.cast(I.maximum(first, 0.0), I.f16), k[:, :], acc_dtype=I.f32)


def compiled(kernel: Any, numerics: str = "strict", target: str = "sm_90", **constexprs: Any) -> Compilation:
    return Compilation(kernel, resolve(target), constexprs, intent.CompileOptions(numerics=numerics))


def drawn(**extents: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    b, h, q, k = (extents[n] for n in "BHQK")
    made = {n: rng.standard_normal((b, h, m, 128)).astype("f2") for n, m in (("q", q), ("k", k), ("v", k))}
    return made | {"out": np.full((b, h, q, 128), np.nan, "f2")}


FORMS: list[Any] = [
    (attention, "relaxed_normalization", SCALES),
    (attention_causal, "relaxed_normalization", SCALES),
    (attention_window, "relaxed_normalization", {**SCALES, "WINDOW": 100}),
    (attention_fold, "strict", {**SCALES, "CAUSAL": False}),
    (attention_fold, "strict", {**SCALES, "CAUSAL": True}),
]


@pytest.mark.parametrize(("kernel", "numerics", "constexprs"), FORMS, ids=lambda p: getattr(p, "name", ""))
def test_attention_whose_groups_take_turns_is_right(kernel: Any, numerics: str, constexprs: dict[str, Any]) -> None:
    """In the interpreter, with rows of queries past the end of the last tile, beside the reference."""
    made = compiled(kernel, numerics, **constexprs)
    launch, _ = made.launch(class_of(made.plan, SIZES))
    assert turns(launch)
    with made.arena:
        source = print_triton(launch.function)
        assert source.count("warp_specialize=True") == 1
        assert source.count("make_tensor_descriptor") == 3
        assert "tl.load" not in source
        given = drawn(**SIZES)
        arrays = {n: x.copy() for n, x in given.items()}
        interpret(launch, source, arrays, dict(bind(made.plan, tuple(given.values())).values()))
    with_constants = intent.compile(kernel, target="reference", constexprs=constexprs)
    expected = {n: x.copy() for n, x in given.items()}
    with_constants(*expected.values())
    np.testing.assert_allclose(arrays["out"].astype("f4"), expected["out"].astype("f4"), rtol=4e-3, atol=2e-3)


def test_any_chain_of_two_products_is_enough() -> None:
    made = compiled(twice)
    launch, _ = made.launch(class_of(made.plan, {"Q": 256, "K": 256}))
    assert turns(launch)
    assert "keys" not in print_triton(launch.function)


@pytest.mark.parametrize(
    ("kernel", "target", "sizes", "why"),
    [
        (biased, "sm_90", {"Q": 256, "K": 256}, "the loop loads what is no operand"),
        (twice, "sm_90", {"Q": 256, "K": 200}, "blocks that are not whole"),
        (twice, "sm_100", {"Q": 256, "K": 256}, "another partition of loops"),
        (twice, "sm_80", {"Q": 256, "K": 256}, "no asynchronous products"),
    ],
)
def test_loops_that_stay_whole(kernel: Any, target: str, sizes: dict[str, int], why: str) -> None:
    made = compiled(kernel, target=target)
    holds = class_of(made.plan, sizes)
    launch, _ = made.launch(holds)
    with made.arena:
        source = print_triton(launch.function)
    assert not turns(launch), why
    assert "tensor_descriptor" not in source
    assert "warp_specialize" not in source
    assert "BK: tl.constexpr" in source
    assert all(p.value != 128 for p in launch.constexprs if p.name == "BK"), "blocks as without turns"


def test_exact_attention_goes_through_its_keys_twice_and_stays_whole() -> None:
    made = compiled(attention, **SCALES)
    launch, _ = made.launch(class_of(made.plan, SIZES))
    assert not turns(launch)


def test_calls_of_the_class_have_whole_blocks_and_rows_that_ascend() -> None:
    plan = compiled(twice).plan
    assert plan.chained == ("K",)

    def facts(k: int, row: int) -> CallFacts:
        views = {n: ViewFacts((m, 128), (row, 1), 0) for n, m in (("q", 64), ("k", k), ("y", 64))}
        return CallFacts(views, {"Q": 64, "K": k})

    turning = classify(plan, facts(256, 128))
    assert turning.turning
    assert dict(turning.divisible)["K"] == 128
    assert turning.name.endswith("turning")
    for other in (facts(250, 128), facts(256, -128), facts(256, 0), facts(0, 128)):
        assert not classify(plan, other).turning
        assert not covers(turning, plan, other)
    assert covers(classify(plan, facts(250, 128)), plan, facts(256, 128))
    assert covers(turning, plan, facts(1024, 256))


def test_where_triton_ends_on_the_loop_it_is_left_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    from intent_np.backends.triton import compiler

    sources = []
    real = compiler.compile_source

    def refusing(source: str, function: str, *rest: Any, **more: Any) -> Any:
        sources.append(source)
        if "warp_specialize" in source:
            raise error("E601", kernel=function, detail="PassManager::run failed", source="kernel.py")
        return real(source, function, *rest, **more)

    monkeypatch.setattr(compiler, "compile_source", refusing)
    made = compiled(twice)
    variant = made.variant(class_of(made.plan, {"Q": 256, "K": 256}))
    assert len(sources) == 2
    assert variant.source == sources[1]
    assert "warp_specialize" not in sources[1]
    assert variant.plan.holds.turning  # the calls that it is for stay those


def test_a_group_of_warps_loads_and_two_compute() -> None:
    made = compiled(attention, "relaxed_normalization", **SCALES)
    variant = made.variant(class_of(made.plan, SIZES))
    assert variant.plan.num_warps == 12
    assert variant.plan.scratch_bytes > 0
    assert "setmaxnreg" in variant.ptx
    assert "cp.async.bulk.tensor" in variant.ptx
    assert "wgmma" in variant.ptx
    assert variant.plan.facts["stack"] == 0
