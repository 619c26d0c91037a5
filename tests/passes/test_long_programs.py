"""Programs of thousands of statements go all the way: no pass follows a term with Python's own stack."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
from intent_np.backends.triton.printer import print_triton
from intent_np.compiler import Compilation, CompileOptions
from intent_np.errors import CompileError, LanguageUseError
from intent_np.passes.pipeline import run
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from kernels.reductions import row_sum
from tests.sources import executed

HEAD = "import intent_np as intent\nimport intent_np.language as I\n\n@intent.kernel\n"
VECTOR = "def long(x: I.In[I.f32, ('N',)], y: I.Out[I.f32, ('N',)]):\n"


def kernel(signature: str, statements: list[str]) -> Any:
    """The kernel of these statements."""
    text = HEAD + signature + "".join(f"    {s}\n" for s in statements)
    return executed(text)["long"]


def triton(made: Any, named: bool = True) -> str:
    """The kernel's Triton source, compiled as Python once; without names, terms stay inside their users."""
    compilation = Compilation(made, SM_90, {}, CompileOptions())
    if not named:
        compilation.arena.names.clear()
    launch, _ = compilation.launch(generic_class(compilation.plan))
    with compilation.arena:
        source = print_triton(launch.function)
    compile(source, "<source>", "exec")
    return source


def test_a_chain_of_named_adds_compiles() -> None:
    source = triton(kernel(VECTOR, ["v = x[:]", *(f"v = v + {i}.0" for i in range(3000)), "y[:] = v"]))
    assert source.count(" + ") > 3000


def test_a_deep_expression_without_names_is_cut_into_named_ones() -> None:
    made = kernel(VECTOR, ["v = x[:]", *(f"v = v + {i}.0" for i in range(1200)), "y[:] = v"])
    assert 20 < triton(made, named=False).count(" = ") < 60


def test_shared_operands_are_computed_once() -> None:
    """As a tree this value has 2**400 leaves."""
    made = kernel(VECTOR, ["v = x[:]", *["v = v * v + 1.0"] * 400, "y[:] = I.reduce.sum(v, axis=0) + v"])
    assert triton(made).count(" * ") < 1000


def test_a_chain_of_reductions_is_right() -> None:
    """Each loop waits for the one before."""
    made = kernel(
        VECTOR,
        ["v = x[:]", *(f"v = v - I.reduce.max(v, axis=0) * 0.5 + {i % 3}.0" for i in range(60)), "y[:] = v"],
    )
    x = np.arange(5, dtype=np.float32)
    expected = x
    for i in range(60):
        expected = expected - expected.max() * np.float32(0.5) + np.float32(i % 3)
    np.testing.assert_array_equal(intent.compile(made, target="cpu").run(x), expected)


def test_a_chain_of_conversions_between_scalars_is_right() -> None:
    made = kernel("def long(s: I.i32, y: I.Out[I.i32, ()]):\n", ["v = s", *["v = (v ^ 1) + 1"] * 1200, "y[()] = v"])
    assert intent.compile(made, target="cpu").run(0) == 0 ^ 2400


def test_many_stores_are_kept_in_order() -> None:
    made = kernel(
        "def long(x: I.In[I.f32, ('N',)], y: I.Out[I.f32, (300, 'N')]):\n",
        [f"y[{i}, :] = x[:] + {i}.0" for i in range(300)],
    )
    y = intent.compile(made, target="cpu").run(np.zeros(3, np.float32))
    np.testing.assert_array_equal(y, np.repeat(np.arange(300, dtype=np.float32)[:, None], 3, axis=1))


def test_the_pipeline_stops_only_ahead_of_the_program() -> None:
    compilation = Compilation(row_sum, SM_90, {}, CompileOptions())
    with compilation.arena:
        for name in ("inline_calls", "lower_to_coordinates"):
            with pytest.raises(LanguageUseError, match=f"E710 the pass '{name}' does not lie ahead"):
                run(compilation.normal, stop_after=name)
        with pytest.raises(LanguageUseError, match="a normal program behind form_groups"):
            run(compilation.normal, stop_after="forward_stores", after="form_groups")


@pytest.mark.parametrize("name", ["share_traversals", "apply_combines"])
def test_loops_are_made_before_statements(name: str) -> None:
    compilation = Compilation(row_sum, SM_90, {}, CompileOptions(disable=(name,)))
    with pytest.raises(LanguageUseError, match=f"E706 the pass '{name}' can't be left out"):
        compilation.launch(generic_class(compilation.plan))


def test_a_fold_is_no_statement() -> None:
    compilation = Compilation(row_sum, SM_90, {}, CompileOptions())
    with compilation.arena:
        blocked = run(compilation.normal, stop_after="choose_fills")
        with pytest.raises(CompileError, match="by share_traversals and apply_combines"):
            run(blocked, after="apply_combines")


STENCIL = "def long(x: I.In[I.f32, ('M', 'N')], y: I.Out[I.f32, ('M', 'N')]):\n"


def test_sums_of_guarded_reads_stay_as_long_as_they_are_written() -> None:
    """What both sides of a branch ask for is one value: as values apart, 25 of them in a row are 2**25."""
    steps = ", ".join(f"({i}, {j})" for i in range(-2, 3) for j in range(-2, 3))
    made = kernel(
        STENCIL,
        [
            "M, N = x.shape",
            "for i, j in I.parallel((I.domain(0, M), I.domain(0, N))):",
            "    total = 0.0",
            f"    for a, b in ({steps}):",
            "        if 0 <= i + a and i + a < M and 0 <= j + b and j + b < N:",
            "            total += x[i + a, j + b]",
            "    y[i, j] = total",
        ],
    )
    artifact = intent.compile(made, target="cpu")
    assert artifact.ir("gpu").count("load") == 25
    for shape in ((7, 4), (2, 9), (1, 1), (0, 3)):
        x, y = np.random.default_rng(1).integers(-9, 9, shape).astype(np.float32), np.empty(shape, np.float32)
        artifact(x, y)
        wide = np.pad(x, 2)
        windows = (wide[i : i + shape[0], j : j + shape[1]] for i in range(5) for j in range(5))
        np.testing.assert_array_equal(y, sum(windows))
