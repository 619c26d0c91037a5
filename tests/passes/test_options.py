"""Every pass that stays in its language can be left out, and is there for a reason; every option matters."""

from functools import cache
from typing import Any

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation, CompileOptions
from intent_np.corpus.cases import entries
from intent_np.errors import CompileError
from intent_np.passes.pipeline import PIPELINE
from intent_np.runtime.examples import class_of
from intent_np.target import SM_90
from intent_np.terms.text import show
from kernels.attention import attention_causal
from kernels.broadcast import transpose
from kernels.matmul import matmul_bias_gelu_f16, matmul_f16, matvec
from kernels.pointwise import axpby
from kernels.ragged import grouped_matmul
from kernels.reductions import col_sum, row_sum, sum_all
from kernels.softmax import softmax


@intent.kernel
def extremes(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row] = I.reduce.max(x[row, :], axis=0) - I.reduce.min(x[row, :], axis=0)


@intent.kernel
def turned(x: I.In[I.f32, (4, "N")], y: I.Out[I.f32, ("N",)]):
    y[:] = I.transpose(x[:, :] + I.full(x.shape, 1.0, I.f32), (1, 0))[:, 0]


@intent.kernel
def stored_and_read(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    x[:] = x[:] * 2.0
    y[:] = x[:] + 1.0


@intent.kernel
def neighbours(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N - 1",)]):
    y[:] = x[:]
    z[:] = y[1:]


@intent.kernel
def dear(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.tanh(I.erf(I.tanh(x[row, :])) + x[row, :])
        centered = value - I.reduce.sum(value, axis=0) / I.cast(x.shape[1], I.f32)
        y[row, :] = centered / I.sqrt(I.reduce.sum(centered * centered, axis=0))


@intent.kernel
def band(x: I.In[I.f16, ("M", 64)], z: I.In[I.f16, ("N", 64)], y: I.Out[I.f32, ("M",)]):
    M, N = I.domain(0, x.shape[0]), I.domain(0, z.shape[0])
    row, column = I.indices(M)[:, None], I.indices(N)[None, :]
    product = I.matmul(x[M, :], z[N, :], transpose_rhs=True, acc_dtype=I.f32)
    y[M] = I.reduce.sum(I.mask(product, (column <= row) & (row < column + 200), 0), axis=1)


STRICT = (
    (dear, {"M": 512, "N": 131072}),
    (turned, {"N": 512}),
    (axpby, {"N": 4096}),
    (softmax, {"M": 64, "N": 512}),
    (softmax, {"M": 64, "N": 20000}),
    (row_sum, {"M": 64, "N": 20000}),
    (sum_all, {"N": 2**24}),
    (col_sum, {"M": 512, "N": 512}),
    (matvec, {"M": 512, "K": 512}),
    (matmul_f16, {"M": 512, "N": 512, "K": 512}),
    (matmul_bias_gelu_f16, {"M": 512, "N": 512, "K": 512}),
    (grouped_matmul, {"G": 4, "T": 512, "K": 512, "N": 512}),
    (transpose, {"M": 512, "N": 512}),
    (extremes, {"M": 64, "N": 20000}),
    (stored_and_read, {"N": 4096}),
    (neighbours, {"N": 4096}),
    (band, {"M": 512, "N": 512}),
    *((entry.kernel, {}) for entry in entries(["specs/small_programs.py"])),
)
RELAXED = ((attention_causal, {"B": 1, "H": 2, "Q": 512, "K": 512, "D": 64, "L": 512, "M": 512, "N": 512}),)
CASES = [(*case, "strict") for case in STRICT] + [(*case, "relaxed_normalization") for case in RELAXED]


@cache
def texts(disable: str = "", option: tuple[str, str, Any] | None = None) -> list[str]:
    """The programs of all cases, before they have coordinates and at the end, or what refused them."""
    found = []
    for kernel, sizes, numerics in CASES:
        passes = {option[0]: {option[1]: option[2]}} if option else {}
        options = CompileOptions(numerics=numerics, disable=(disable,) if disable else (), passes=passes, check=True)
        try:
            compilation = Compilation(kernel, SM_90, {}, options)
            _, levels = compilation.launch(class_of(compilation.plan, sizes))
            with compilation.arena:  # what is above `normal` leaves no trace further down
                called = show(compilation.lowered(compilation.logical, stop_after="compose_shapes"))
            found.append(called + levels["launch"])
        except CompileError as problem:
            found.append(problem.code)
    return found


@pytest.mark.parametrize("name", [p.name for p in PIPELINE if p.optional])
def test_a_pass_that_is_left_out_is_missed(name: str) -> None:
    assert texts(disable=name) != texts()


@pytest.mark.parametrize(
    ("step", "key", "value"),
    [
        ("report_debug", "report", True),
        ("form_groups", "serial", "error"),
        ("spread_members", "rows", 64),
        ("spread_members", "spare", 4),
        ("split_reductions", "instances", 64),
        ("split_reductions", "parts", 64),
        ("split_reductions", "members", 8192),
        ("choose_plan", "policy", "directed"),
        ("choose_plan", "rank", 1),
        ("choose_plan", "sizes", {"N": 1000, "M": 10**6}),
        ("choose_plan", "limits", {"nodes": 10}),
        ("block_axes", "lanewise", False),
        ("block_axes", "sizes", {"m": 32, "n": 32, "columns": 128}),
        ("order_programs", "grouping", 4),
        ("share_traversals", "merge", False),
        ("narrow_ranges", "skip", False),
        ("narrow_ranges", "peel", False),
        ("narrow_ranges", "branched", 0),
        ("lower_to_triton", "instances", 64),
        ("lower_to_triton", "descending", True),
        ("lower_to_triton", "longest_first", False),
        ("choose_launch", "num_warps", 2),
        ("choose_launch", "num_stages", 2),
        ("choose_launch", "registers", 32),
    ],
)
def test_an_option_makes_a_difference(step: str, key: str, value: Any) -> None:
    option = (step, key, value)
    if isinstance(value, dict):
        assert texts.__wrapped__(option=option) != texts()
    else:
        assert texts(option=option) != texts()


@pytest.mark.parametrize(
    ("kernel", "numerics", "target", "codes"),
    [
        (softmax, "strict", "cpu", []),
        (softmax, "relaxed_normalization", "cpu", []),
        (softmax, "relaxed_normalization", "sm_90", []),
        (softmax, "relaxed", "cpu", []),
        (axpby, "relaxed_normalization", "cpu", ["P004"]),
        (axpby, "relaxed_normalization", "sm_90", ["P004"]),
        (axpby, "relaxed_normalization", "reference", []),  # it executes what the author wrote
    ],
)
def test_a_permission_that_nothing_used_is_told(kernel: Any, numerics: str, target: str, codes: list[str]) -> None:
    artifact = intent.compile(kernel, target, options=CompileOptions(numerics=numerics))
    assert [r.code for r in artifact.remarks] == codes


def test_all_options_are_tried_here_or_belong_to_the_launch_class() -> None:
    ours = {("bind_class", k) for k in ("unit", "aligned", "bounds", "multiples")} | {("lower_to_triton", "index_bits")}
    ours |= {
        ("report_debug", "capacity"),  # beside `report`, and tried with it in tests of debug statements
        ("split_reductions", "split"),
        ("choose_plan", "sizes"),
        ("choose_plan", "limits"),
        ("choose_plan", "rank"),
    }  # of the e-graph's plan, which has tests of its own
    (mark,) = test_an_option_makes_a_difference.pytestmark  # type: ignore[attr-defined]
    tried = {(step, key) for step, key, _ in mark.args[1]}
    assert {(p.name, key) for p in PIPELINE for key in p.options} == tried | ours
