"""Each language finds each violation of its rules, and says where it stands."""

from __future__ import annotations

from typing import Any

import pytest

import kernels
from intent_np.passes.pipeline import Trace, by_name, run
from intent_np.terms.blocked import BLOCKED
from intent_np.terms.core import Arena
from intent_np.terms.gpu import GPU
from intent_np.terms.grouped import GROUPED
from intent_np.terms.language import Language
from intent_np.terms.logical import LOGICAL
from intent_np.terms.normal import NORMAL
from intent_np.terms.parse import parse
from intent_np.terms.triton import TRITON
from tests.lowering import as_far_as_it_lowers

HEAD = """
M = extent
N = extent
x = view in f32[M, N] strides [N, 1]
k = view in index[M] strides [1]
y = view out f32[M, N] strides [N, 1]
z = view out f32[M] strides [1]
m = axis 0..M
n = axis 0..N
sum = combine [f32] arg(a, 0, f32) + arg(b, 0, f32)
"""

SIZES = "BM = physical 16\nBN = physical 32\n"

FRAGMENTS = """tm = tile of m by BM
tn = tile of n by BN
sn = slice of n by BN
"""

WRONG: list[tuple[Language, str, str]] = [
    (
        GROUPED,
        "grouped @p(x, y, z, M, N) {\n  group over (m, n) {\n    last along n {\n      store z[m] = 1.0:f32\n    }\n"
        "    store y[m, n] = 1.0:f32\n  }\n}",
        "something stands behind what the last of some instances does: last along n",
    ),
    (
        GROUPED,
        "grouped @p(x, z, M, N) {\n  group over (m) {\n    last along n {\n      store z[m] = 1.0:f32\n    }\n  }\n}",
        "axis 0..N is no axis of instances: last along n",
    ),
    (
        GROUPED,
        "grouped @p(y, M, N) {\n  group over (m, n) {\n    last along n {\n"
        "      store y[m, n] = 1.0:f32\n    }\n  }\n}",
        "n, which differs between those that may be the last",
    ),
    (
        GROUPED,
        "grouped @p(z, M, N) {\n  group over (m, n) {\n    last along n {\n      store z[0] = 1.0:f32\n    }\n  }\n}",
        "instances along axis 0..M would write the same element: store z[0]",
    ),
    (
        NORMAL,
        "program @p(x, z, M, N) {\n  store z[m] = load x[m, n]\n}",
        "the stored value varies along n, where the address does not: store z[m] = (load x[m, n])",
    ),
    (
        NORMAL,
        "program @p(x, z, M, N) {\n  store z[m] = 1.0:f32 valid (n < M)\n}",
        "the validity varies along n, where the address does not",
    ),
    (
        NORMAL,
        "program @p(z, M, N) {\n  store z[m] = arg(a, 0, f32)\n}",
        "an argument outside of a combine: arg(a, 0, f32)",
    ),
    (
        NORMAL,
        "c = combine [f32] arg(a, 0, f32) + (load x[0, 0])\n"
        "program @p(x, z, M, N) {\n  store z[m] = (reduce c over n of (load x[m, n]) from 0.0:f32)\n}",
        "a combine uses more than its arguments: load x[0, 0]",
    ),
    (
        NORMAL,
        "t = turn t over n\ns = carry(t, 0, f32, [])\nprogram @p(z, M, N) {\n  store z[m] = final(t, 0, f32, [])\n"
        "  recur t carrying s from 1.0:f32 yielding s {\n  }\n}",
        "final(t, 0, f32, []) is asked for where its loop was not performed",
    ),
    (
        GROUPED,
        "grouped @p(z, M, N) {\n  group over (m, n) {\n    store z[m] = 1.0:f32\n  }\n}",
        "instances along axis 0..N would write the same element: store z[m] = 1.0:f32",
    ),
    (
        GROUPED,
        "r = axis 0..(load k[0])\ngrouped @p(z, k, M, N) {\n  group over (r) {\n    store z[r] = 1.0:f32\n  }\n}",
        "the bounds of workset axis axis 0..(load k[0]) read device memory",
    ),
    (
        BLOCKED,
        "blocked @p(x, y, M, N) {\n  blocks over (tm, tn) {\n    store y[tm, n] = 1.0:f32\n  }\n}",
        "a coordinate over a logical axis is left: n",
    ),
    (
        BLOCKED,
        "blocked @p(x, z, M, N) {\n  blocks over (tm) {\n"
        "    store z[tm] = (reduce sum over n of (load x[tm, n]) from 0.0:f32) valid (tm < M)\n  }\n}",
        "a Reduce over a logical axis is left: reduce sum over n",
    ),
    (
        BLOCKED,
        "blocked @p(x, y, M, N) {\n  blocks over (tm) {\n    store y[tm, tn] = 1.0:f32\n  }\n}",
        "a coordinate over tile of n by BN, which is not in the program space: tn",
    ),
    (
        BLOCKED,
        "blocked @p(x, y, M, N) {\n  blocks over (tm) {\n"
        "    store y[tm, sn] = 1.0:f32 valid (tm < M && sn < N)\n  }\n}",
        "a block of slice of n by BN outside of a loop over it: store y[tm, sn]",
    ),
    (
        BLOCKED,
        "blocked @p(x, z, M, N) {\n  blocks over (tm) {\n    store z[tm] = load x[tm, tn]\n  }\n}",
        "the stored value varies along",
    ),
    (
        BLOCKED,
        "blocked @p(x, z, M, N) {\n  blocks over (tm) {\n"
        "    store z[tm] = branch(M < N, (load x[tm, 0] valid (tm < M) fill 0), 1.0:f32) valid (tm < M)\n  }\n}",
        "a Load on one side of a branch",
    ),
]

VIEWS = HEAD.replace("m = axis 0..M\nn = axis 0..N\n", "")

KERNEL = """kernel @p<BM, BN>(x, y, z, M, N) {{
  grid = ({grid})
  (pm) = program_coord(grid)
  m = pm * BM + range(0, BM)
  n = range(0, BN)
{body}
}}"""

STATEMENTS: list[tuple[str, str]] = [
    ("  for k0 = n to N step BN:\n    store z[m] = 1.0:f32 valid (m < M)", "loop bound n is no scalar index"),
    ("  if m < M:\n    store z[m] = 1.0:f32 valid (m < M)", "condition m < M is no scalar bool"),
    ("  t = 1.0:f32\n  t = 2.0:f32", "t is assigned twice"),
    ("  t = 1.0:f32\n  if M < N:\n    t = 2:i32", "t means two things"),
    ("  M = 1.0:f32", "M means two things"),
    ("  if M < N:\n    t = 1.0:f32\n  store z[pm] = t", "t is used before it is defined"),
    ("  store z[pm] = branch(M < N, 1.0:f32, 2.0:f32)", "a branch without a name of its own"),
    (
        "  t = 1.0:f32\n  for k0 = 0 to N step BN iter_args(t):\n    t = branch(M < N, 1.0:f32, t)\n  store z[pm] = t",
        "a branch without a name of its own",
    ),
    ("  t = branch(M < N, load z[0], 2.0:f32)\n  store z[pm] = t", "a Load on one side of a branch"),
    (
        "  t = 1.0:f32\n  for k0 = 0 to N step BN:\n    t = t + 1.0:f32\n  store z[pm] = t",
        "t is assigned twice",
    ),
    ("  store z[m] = load x[pm, n]", "the stored value varies along BN, where the address does not"),
    ("  store y[m, n] = (load x[pm, n] valid (m < M) fill 0)", "the validity varies along BM"),
    ("  store z[m] = 1.0:f32 valid (n < N)", "the validity varies along BN"),
    ("  store z[pm] = (reduce sum over BN of 1.0:f32 from 0.0:f32)", "reduction over physical 32 of a value without"),
    (
        "  store z[m] = (contract full<fragment<f32, [BM, BN]>>(0), 1.0:f32, full<fragment<f32, [BM, BN]>>(0))",
        "a contraction sums over one axis, not 0",
    ),
]


@pytest.mark.parametrize(("language", "text", "message"), WRONG, ids=[w[2][:40] for w in WRONG])
def test_violations_are_found(language: Language, text: str, message: str) -> None:
    with Arena():
        problems = language.check(parse(HEAD + (SIZES + FRAGMENTS) * (language is BLOCKED) + text, language))
        assert [p for p in problems if p.startswith(message)], problems


@pytest.mark.parametrize(("body", "message"), STATEMENTS, ids=[s[1][:40] for s in STATEMENTS])
def test_violations_among_statements_are_found(body: str, message: str) -> None:
    with Arena():
        program = parse(VIEWS + SIZES + KERNEL.format(grid="ceil_div(M, BM)", body=body), GPU)
        problems = GPU.check(program)
        assert [p for p in problems if p.startswith(message)], problems


def test_a_grid_reads_no_memory() -> None:
    with Arena():
        program = parse(VIEWS + SIZES + KERNEL.format(grid="load k[0]", body="  store z[pm] = 1.0:f32"), GPU)
        assert GPU.check(program) == ["grid extent load k[0] is no launch expression"]


def test_points_that_write_the_same_element_are_found() -> None:
    text = """
M = extent
z = view out f32[M] strides [1]
d = domain 0..M
i = member of d
logical @p(z, M) {
  parallel i:
    write z[0] = 1.0:f32
}
"""
    with Arena():
        (problem,) = LOGICAL.check(parse(text, LOGICAL))
    assert problem.startswith("points along member of d write the same elements: write z[0] = 1.0:f32")


def test_a_message_is_one_short_line() -> None:
    with Arena():
        long = " + ".join(["(load x[m, n])"] * 60)
        (problem,) = NORMAL.check(parse(f"{HEAD}program @p(x, z, M, N) {{\n  store z[m] = {long}\n}}", NORMAL))
        assert "\n" not in problem
        assert len(problem) < 300


@pytest.mark.parametrize("case", kernels.cases(), ids=lambda case: case.name)
def test_every_level_of_every_kernel_is_well_formed(case: Any) -> None:
    numerics = case.options.get("numerics")
    for kernel, constexprs in case.launches:
        with Arena(), as_far_as_it_lowers():
            program = kernel.capture(constexprs, permissions=(numerics,) if numerics else ())
            assert LOGICAL.check(program) == []
            trace = Trace()
            run(program, trace=trace)
            for name, stage in trace.programs.items():
                assert by_name(name).target.check(stage) == [], name
            assert by_name(list(trace.programs)[-1]).target is not TRITON
