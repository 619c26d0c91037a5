"""A range that predicates cut at both ends is walked by one loop where it has few blocks, else by three."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

from .printed import by_reference, printed


def windowed(width: int):
    """The sum of the last `width` elements of each row of a triangle."""

    @intent.kernel
    def sums(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
        row, column = I.domain(0, x.shape[0]), I.domain(0, x.shape[1])
        places, rows = I.indices(column)[None, :], I.indices(row)[:, None]
        y[:] = I.reduce.sum(I.mask(x[row, column], (places <= rows) & (rows < places + width), 0), axis=1)

    return sums


@pytest.mark.parametrize(("width", "loops"), [(32, 1), (64, 1), (128, 3)])
def test_few_blocks_have_one_loop(width, loops):
    asked = {"block_axes": {"sizes": {"row": 16, "column": 16}}, "choose_plan": {"policy": "directed"}}
    made = printed(windowed(width), **asked)
    assert made.source.count(" in range(") == loops
    for n in (1, 40, 333):
        x = np.random.default_rng(n).integers(-4, 5, (n, n)).astype("f4")
        given = {"x": x, "y": np.full(n, np.nan, "f4")}
        wanted = np.array([x[i, max(0, i - width + 1) : i + 1].sum() for i in range(n)], "f4")
        np.testing.assert_array_equal(made(given)["y"], wanted)
        np.testing.assert_array_equal(by_reference(windowed(width), given)["y"], wanted)
