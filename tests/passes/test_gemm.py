"""A matrix product as a gpu program: the listing that says what this language is meant to read like."""

from pathlib import Path

import intent_np as intent
import intent_np.language as I
from intent_np.passes.pipeline import run
from intent_np.terms.core import Arena
from intent_np.terms.gpu import GPU
from intent_np.terms.parse import parse
from intent_np.terms.text import show

LISTING = Path(__file__).parent / "golden" / "gemm.txt"


@intent.kernel
def gemm(A: I.In[I.f16, ("M", "K")], B: I.In[I.f16, ("K", "N")], C: I.Out[I.f32, ("M", "N")]):
    (M, K), N = A.shape, B.shape[1]
    m, n, k = I.domain(0, M), I.domain(0, N), I.domain(0, K)
    lhs = A[m, k]
    rhs = B[k, n]
    acc = I.matmul(lhs, rhs, acc_dtype=I.f32)
    C[m, n] = acc


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_a_product_over_whole_domains_becomes_the_listing() -> None:
    with Arena():
        program = gemm.capture({}, ())
        program = run(
            program, options={"order_programs": {"grouping": 1}}, disable={"narrow_ranges"}, stop_after="emit"
        )
        text = show(program)
        assert parse(text, GPU) is program
    assert lines(text[text.index("kernel @gemm") :]) == lines(LISTING.read_text())
