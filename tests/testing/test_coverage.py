"""Random kernels cover the language: nothing that an author may write is left out, and they are no toys."""

from intent_np.language.declare import OPERATIONS
from intent_np.terms.operators import OPERATORS
from intent_np.testing.coverage import CONSTRUCTS, coverage
from intent_np.testing.generator.pointwise import WRITTEN


def test_no_construct_is_rare() -> None:
    """Each in one kernel of a hundred; half of the kernels have two structured operations, and 25 terms."""
    found = coverage(range(1000), captured=60)
    rare = {n: found.share(n) for n in CONSTRUCTS if found.share(n) < 0.01}
    assert not rare
    assert found.median >= 25
    assert found.with_two >= 0.5


def test_every_operator_that_authors_write_is_generated() -> None:
    """But for what the language itself uses, the table of operators is that of the generator."""
    assert {op.name for op in OPERATORS.values()} == {op.name for op in WRITTEN}


NOT_WRITTEN = {
    # namespaces, and what has no value of its own
    "arg_reduce", "atomic", "quant", "random", "sparse", "parallel", "require_equal",
    # sugar over what is generated
    "fdiv", "scaled_matmul", "sparse_matmul", "members", "end", "matvec", "vecmat",
}  # fmt: skip


def test_every_operation_is_generated() -> None:
    """Of the whole language some kernel has each operation."""
    from intent_np.testing import random_kernel

    texts = "".join(random_kernel(seed).source for seed in range(500))
    missing = {n for n in OPERATIONS if f"I.{n}(" not in texts}
    assert missing <= NOT_WRITTEN, missing - NOT_WRITTEN
