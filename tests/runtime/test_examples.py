"""The class of a call that has not been made."""

import numpy as np
import pytest

from intent_np.errors import CallError
from intent_np.runtime.examples import class_of
from tests.runtime.test_classes import SOFTMAX


def test_extents_and_arrays_of_one_shape_have_one_class() -> None:
    x = np.zeros((8, 1024), np.float16)
    assert class_of(SOFTMAX, {"M": 8, "N": 1024}).bucket == class_of(SOFTMAX, (x, x.copy())).bucket


def test_a_missing_extent_is_named() -> None:
    with pytest.raises(CallError, match="the extent 'N' is not known") as caught:
        class_of(SOFTMAX, {"M": 8})
    assert caught.value.code == "E410"
    assert "{'N': 1024}" in caught.value.fix
