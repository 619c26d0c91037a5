"""What tests of lower levels do with a construct that only the reference executes."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from intent_np.corpus.lowering import reference_only
from intent_np.errors import IntentError


@contextmanager
def as_far_as_it_lowers() -> Iterator[None]:
    """Skips the rest of the test where E708 ends the way.  Which kernels go the whole way is a golden file of
    `corpus/test_cases.py`, so that none stops unseen."""
    try:
        yield
    except IntentError as problem:
        if why := reference_only(problem):
            pytest.skip(f"reference only: {why}")
        raise
