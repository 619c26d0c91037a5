"""Reductions and matrix products of one launch, split among instances of which the last combines what all found."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import intent_np as intent
import intent_np.language as I
from benchmarks.cases import attention_fold
from intent_np.compiler import Compilation
from intent_np.errors import CheckError, CompileError
from intent_np.passes.pipeline import language_of
from intent_np.rules.simplify import node
from intent_np.runtime.examples import class_of
from intent_np.target import SM_90, resolve
from intent_np.terms.core import Arena, contains, replace
from intent_np.terms.gpu import GPU
from intent_np.terms.grouped import Last
from intent_np.terms.index import add, apply, const
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from intent_np.testing import validation as v
from intent_np.testing.arguments import arguments as made_arguments
from intent_np.testing.triton_interpreter import unavailable
from kernels.matmul import matmul_f16
from kernels.reductions import col_sum, row_sum, sum_all
from kernels.softmax import softmax

from .printed import by_reference, printed
from .split_kernels import KERNELS, arguments
from .test_regions import KERNELS as REGIONS

ORDERS: tuple[dict[str, Any], ...] = (
    {"order": "forward", "strict": True},
    {"order": "random", "strict": True, "budget": 1},  # an instance at a time
    {"order": "reverse", "strict": True},
)
MANY = {"members": 1, "parts": 64, "instances": 9}  # more parts than some have members
FEW = {"members": 4, "parts": 5, "instances": 7}


def split(**how: int) -> dict[str, Any]:
    sizes = dict.fromkeys(("m", "n", "k", "i", "row", "along"), 16)
    return {"split_reductions": {"split": True, **how}, "block_axes": {"sizes": sizes}}


@cache
def stages(name: str, members: int, parts: int, instances: int = 7) -> v.Stages:
    options = intent.CompileOptions(check=True, passes=split(members=members, parts=parts, instances=instances))
    return v.stages(KERNELS[name][0], options=options)


def calls(name: str) -> list[dict[str, int]]:
    """Extents: of reductions of nothing, of one member, of fewer than there are parts, and of primes."""
    _, extents = KERNELS[name]
    return [dict.fromkeys(extents, base) | {extents[-1]: n} for base, n in ((1, 0), (3, 1), (2, 3), (1, 67), (3, 19))]


@pytest.mark.parametrize("how", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("name", KERNELS)
def test_every_pass_keeps_what_is_combined_in_any_order_of_instances(name: str, how: dict[str, int]) -> None:
    made = stages(name, **how)
    assert any(contains(p, Last) for p in made.programs.values())
    for extents in calls(name):
        given = arguments(name, extents)
        for order in ORDERS[:2]:
            found = v.validate(KERNELS[name][0], given, made=made, steps=24, **order)
            assert found, f"{extents}: {found}"


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", KERNELS)
def test_printed_triton_combines_the_parts(name: str) -> None:
    kernel = KERNELS[name][0]
    text = printed(kernel, **split(**FEW))
    for extents in calls(name)[1:4]:
        given = arguments(name, extents)
        found, expected = text(given), by_reference(kernel, given)
        for k, x in found.items():
            np.testing.assert_allclose(x, expected[k], rtol=1e-5, err_msg=f"{extents}\n{text.source}")


@pytest.mark.parametrize("name", KERNELS)
def test_text_of_every_level_is_read_back(name: str) -> None:
    made = stages(name, **FEW)
    with made.space:
        for stage, program in made.programs.items():
            assert parse(show(program), language_of(program)) is program, stage


# ---- against NumPy


def largest_of(x: np.ndarray) -> tuple[Any, int]:
    at = int(np.isnan(x).argmax() if np.isnan(x).any() else x.argmax())
    return x[at], at


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_order_of_parts_is_that_of_their_members(data: st.DataObject) -> None:
    """The first of several largest ones is found, wherever the parts begin; and every column has its own sum."""
    parts, members = data.draw(st.sampled_from([(1, 1), (3, 1), (5, 4), (16, 2)]))
    order = data.draw(st.sampled_from(ORDERS))
    x = np.array(data.draw(st.lists(st.sampled_from([-1.0, 0.0, 2.0, np.nan]), min_size=1, max_size=80)), np.float32)
    value, at = np.zeros((), np.float32), np.zeros((), np.int64)
    stages("first_largest", members, parts).launch("emit", **order)(x, value, at)
    expected = largest_of(x)
    np.testing.assert_array_equal(value, expected[0])
    assert at == expected[1]

    shape = data.draw(st.tuples(st.integers(0, 40), st.integers(1, 20)))
    x = np.random.default_rng(shape[0]).integers(-9, 9, shape).astype(np.int32)
    sums, most = np.zeros(shape[1], np.int32), np.zeros(shape[1], np.int64)
    stages("columns", members, parts).launch("emit", **order)(x, sums, most)
    np.testing.assert_array_equal(sums, x.sum(axis=0))
    if len(x):
        np.testing.assert_array_equal(most, x.max(axis=0) * 3)


def test_a_call_is_always_combined_the_same_way() -> None:
    """Bits do not depend on which instance is the last one."""
    x = np.random.default_rng(3).standard_normal(1009).astype(np.float32)
    made, found = stages("total", **FEW), set()
    for order in ORDERS:
        y = np.zeros((), np.float32)
        made.launch("emit", **order)(x, y)
        found.add(y.tobytes())
    assert len(found) == 1


# ---- what is split


SPLIT = [
    (sum_all, {"N": 2**27}, True),
    (sum_all, {"N": 2**12}, False),
    (col_sum, {"M": 2**22, "N": 32}, True),
    (col_sum, {"M": 8192, "N": 16384}, False),
    (row_sum, {"M": 3, "N": 2**24}, True),
    (row_sum, {"M": 8192, "N": 16384}, False),
    (matmul_f16, {"M": 16, "N": 2048, "K": 8192}, True),
    (matmul_f16, {"M": 16, "N": 8192, "K": 8192}, False),  # as many instances as there are processors
    (matmul_f16, {"M": 256, "N": 256, "K": 65536}, True),
    (matmul_f16, {"M": 4096, "N": 4096, "K": 4096}, False),
    (matmul_f16, {"M": 16, "N": 512, "K": 512}, False),
    (softmax, {"M": 1, "N": 2**24}, False),
]


@pytest.mark.parametrize(("kernel", "extents", "wanted"), SPLIT, ids=lambda x: getattr(x, "name", str(x)))
def test_calls_of_few_instances_with_many_members_are_a_class(
    kernel: Any, extents: dict[str, int], wanted: bool
) -> None:
    compilation = Compilation(kernel, SM_90, {p.name: p.default for p in kernel.constexprs}, intent.CompileOptions())
    holds = class_of(compilation.plan, extents)
    assert holds.split is wanted
    assert ("-split" in holds.name) is wanted
    _, texts = compilation.launch(holds)
    assert ("last along" in texts["grouped"]) is wanted


@intent.kernel
def two_passes(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    value = x[:]
    centered = value - I.reduce.sum(value) / I.cast(x.shape[0], I.f32)
    y[()] = I.reduce.sum(centered * centered)


@intent.kernel
def scaled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:] / I.reduce.sum(x[:])


@intent.kernel
def added(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, (4,)]):
    for i in I.parallel(I.domain(0, 4)):
        I.atomic.add(y, i, I.reduce.sum(x[:]))


@intent.kernel
def prefixes(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.reduce.max(I.cumsum(x[:]))


@pytest.mark.parametrize("kernel", [two_passes, scaled, added, prefixes, softmax], ids=lambda k: k.name)
def test_what_would_leave_the_last_one_much_to_do_stays_whole(kernel: Any) -> None:
    compilation = Compilation(kernel, SM_90, {}, intent.CompileOptions(passes=split()))
    assert compilation.plan.split == ()
    _, texts = compilation.launch(class_of(compilation.plan, {"M": 1, "N": 2**24}))
    assert "last along" not in texts["grouped"]


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_cubins_draw_a_ticket(target: str) -> None:
    for kernel, extents in ((sum_all, {"N": 2**27}), (matmul_f16, {"M": 16, "N": 2048, "K": 8192})):
        constexprs = {p.name: p.default for p in kernel.constexprs}
        compilation = Compilation(kernel, resolve(target), constexprs, intent.CompileOptions(check=True))
        variant = compilation.variant(class_of(compilation.plan, extents))
        assert variant.ptx.count("atom.global.gpu.acq_rel.add.u32") == 1
        assert [a.kind for a in variant.plan.arguments if a.name.startswith(("partial", "tickets"))] == [
            "workspace",
            "counter",
        ]


def test_parts_follow_the_processors_of_the_target() -> None:
    compilation = Compilation(sum_all, SM_90, {}, intent.CompileOptions())
    _, texts = compilation.launch(class_of(compilation.plan, {"N": 2**27}))
    assert f"minimum({4 * SM_90.sms}, " in texts["grouped"]


# ---- what the machine finds


TICKET = """
N = extent
BN = physical 4
x = view in f32[N] strides [1]
y = view out f32[] strides []
partial = view workspace f32[N] strides [1]
tickets = view counter i32[] strides []
sum = combine [f32] arg(a, 0, f32) + arg(b, 0, f32)
kernel @p<BN>(x, y, partial, tickets, N) {
  grid = (N)
  (i) = program_coord(grid)
  BEFORE
  ticket = update tickets[] by add of (1:i32) over () ORDER
  AFTER
  if ticket == cast(N - 1, i32):
    each = range(0, BN)
    found = load partial[each] valid (each < N) fill 0
    total = reduce sum over BN of found from 0.0:f32
    store y[] = total
    RESET
}
"""
STORE, RESET = "store partial[i] = load x[i]", "store tickets[] = 0:i32"


def ran(before: str, after: str, memory_order: str, reset: str, **how: Any) -> float:
    from intent_np.backends.program import run

    text = TICKET
    for name, new in (("BEFORE", before), ("AFTER", after), ("ORDER", memory_order), ("RESET", reset)):
        text = text.replace(f"  {name}\n", f"  {new}\n" if new else "").replace(name, new)
    y = np.zeros((), np.float32)
    with Arena():
        run(parse(text, GPU), {"x": np.arange(4, dtype=np.float32), "y": y}, strict=True, **how)
    return float(y)


@pytest.mark.parametrize("how", [{}, {"order": "random"}, {"budget": 1}, {"budget": 1, "order": "reverse"}])
def test_the_machine_takes_tickets_in_any_order(how: dict[str, Any]) -> None:
    assert ran(STORE, "", "acq_rel", RESET, **how) == 6.0


@pytest.mark.parametrize("how", [{}, {"budget": 1}])
@pytest.mark.parametrize(
    ("before", "after", "order"), [("", STORE, "acq_rel"), (STORE, "", "relaxed")], ids=["drawn too early", "relaxed"]
)
def test_the_machine_finds_a_ticket_that_orders_nothing(before: str, after: str, order: str, how: Any) -> None:
    with pytest.raises(CheckError) as found:
        ran(before, after, order, RESET, **how)
    assert found.value.code in ("E505", "E504")


def test_whoever_draws_behind_the_last_one_is_found() -> None:
    """A counter that is set back too early is drawn from again."""
    with pytest.raises(CheckError, match="E505"):
        ran(STORE, RESET, "acq_rel", RESET, budget=1)


# ---- validation


def test_validation_executes_reductions_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that overlap by a member are found on a small call, though none of its size is split."""
    from intent_np.passes import split_reductions as step

    options = intent.CompileOptions(validate=True)
    intent.compile(sum_all, target="cpu", options=options)
    right = step._Parts._pieces

    def overlapping(self: Any, *given: Any) -> Any:
        pieces = right(self, *given)
        return {a: replace(b, hi=node(apply("minimum", a.hi, add(b.hi, const(1))))) for a, b in pieces.items()}

    monkeypatch.setattr(step._Parts, "_pieces", overlapping)
    with pytest.raises(CompileError, match=r"E711.*split_reductions"):
        intent.compile(sum_all, target="cpu", options=options)


# ---- folds of slices


SLICES = {kernel.name: kernel for kernel in REGIONS if kernel.name != "attention"}  # whose summaries have any length


@cache
def slices(name: str) -> v.Stages:
    options = intent.CompileOptions(check=True, passes=split(**FEW))
    return v.stages(SLICES[name], options=options)


def slices_of(kernel: Any, n: int) -> dict[str, Any]:
    return made_arguments(kernel, {e: n for p in kernel.parameters for e in map(str, p.shape)}, values="integers")


@pytest.mark.parametrize("name", SLICES)
def test_summaries_are_combined_in_the_order_of_the_parts(name: str) -> None:
    """Also where the combine does not commute."""
    made = slices(name)
    assert any(contains(p, Last) for p in made.programs.values())
    for n in (1, 5, 33):
        for order in ORDERS[:2]:
            found = v.validate(SLICES[name], slices_of(SLICES[name], n), made=made, steps=64, **order)
            assert found, f"{n}: {found}"


@pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))
@pytest.mark.parametrize("name", SLICES)
def test_printed_triton_combines_summaries(name: str) -> None:
    text = printed(SLICES[name], **split(**FEW))
    given = slices_of(SLICES[name], 19)
    found, expected = text(given), by_reference(SLICES[name], given)
    for k, x in found.items():
        np.testing.assert_allclose(x, expected[k], rtol=1e-5, err_msg=text.source)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_attention_over_many_keys_is_shared(causal: bool) -> None:
    """A fold over keys with matrix products in its summary, in parts whose blocks are narrowed as all are."""
    constexprs = {"D": 16, "SCALE": 0.25, "CAUSAL": causal}
    compilation = Compilation(attention_fold, SM_90, constexprs, intent.CompileOptions())
    assert class_of(compilation.plan, {"B": 1, "H": 8, "Q": 128, "K": 2**16}).split
    assert not class_of(compilation.plan, {"B": 4, "H": 16, "Q": 4096, "K": 4096}).split
    options = intent.CompileOptions(check=True, passes=split(members=16, parts=4))
    made = v.stages(attention_fold, options=options, constexprs=constexprs)
    draw = np.random.default_rng(0)
    q, k, w = (draw.standard_normal((1, 2, n, 16)).astype(np.float16) for n in (21, 53, 53))
    out = np.zeros_like(q)
    made.launch("emit", **ORDERS[1])(q, k, w, out)
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / 4
    if causal:
        scores = np.where(np.arange(53) <= np.arange(21)[:, None], scores, -np.inf)
    weight = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weight / weight.sum(-1, keepdims=True) @ w.astype(np.float64)
    np.testing.assert_allclose(out, expected, atol=4e-3)
