"""A permission is for what it names, and for nothing beside it; so is an option."""

import pytest

import intent_np as intent
import intent_np.language as I
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


def test_an_option_that_no_pass_has_is_named() -> None:
    options = intent.CompileOptions(passes={"narrow_ranges": {"peal": False}})
    with pytest.raises(LanguageUseError, match="narrow_ranges has no option 'peal'") as caught:
        intent.compile(logsumexp, target="cpu", options=options)
    assert "peel" in caught.value.fix
