"""A permission is for what it names, and for nothing beside it; so is an option."""

from pathlib import Path

import pytest

import intent_np as intent
import intent_np.language as I
import kernels.reductions
from intent_np.errors import LanguageUseError
from kernels.reductions import logsumexp


@intent.kernel
def distance(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        y[row] = I.reduce.sum(I.exp(x[row, columns] - w[row, columns]), axis=0)


def gpu(kernel, numerics: str) -> str:
    return intent.compile(kernel, target="cpu", options=intent.CompileOptions(numerics=numerics)).ir("gpu")


def test_a_chain_from_maximum_to_sum_runs_in_one_loop_with_approximate_powers() -> None:
    strict, relaxed = gpu(logsumexp, "strict"), gpu(logsumexp, "relaxed_normalization")
    assert "exp2_approx" not in strict
    assert "exp2_approx" in relaxed
    assert relaxed.count("for ") < strict.count("for ")


def test_a_sum_of_exponentials_without_a_maximum_stays_exact() -> None:
    assert gpu(distance, "relaxed_normalization").replace(" permits relaxed_normalization", "") == gpu(
        distance, "strict"
    )


@intent.kernel
def scaled_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = x[row, columns]
        y[row, columns] = value / I.reduce.sum(value, axis=0)


@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_what_was_taken_up_is_explained_with_its_lines(target: str) -> None:
    """The lines of the maximum, the exponential and the sum; nothing where nothing is allowed, or nothing is found."""

    def explained(kernel, numerics: str) -> list[str]:
        options = intent.CompileOptions(numerics=numerics)
        lines = intent.compile(kernel, target=target, options=options).explain().splitlines()
        return [line.strip() for line in lines if line.strip().startswith("relaxed")]

    source = Path(kernels.reductions.__file__).read_text().splitlines()
    begin = next(n for n, line in enumerate(source, 1) if line.startswith("def logsumexp("))
    wanted = [n for n in range(begin, begin + 12) if "reduce.max" in source[n - 1] or "I.exp" in source[n - 1]]
    (said,) = explained(logsumexp, "relaxed")
    name, numbers = said.split(" for lines ")
    assert name == "relaxed_normalization"
    assert set(wanted) <= {int(n) for n in numbers.split(", ")} <= set(range(begin, begin + 12))
    assert explained(logsumexp, "strict") == []
    assert explained(scaled_rows, "relaxed_normalization") == []


def test_an_option_that_no_pass_has_is_named() -> None:
    options = intent.CompileOptions(passes={"narrow_ranges": {"peal": False}})
    with pytest.raises(LanguageUseError, match="narrow_ranges has no option 'peal'") as caught:
        intent.compile(logsumexp, target="cpu", options=options)
    assert "peel" in caught.value.fix
