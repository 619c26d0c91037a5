"""A region over an axis, of a value that sums over the same extent: a slice is no place for the axis of the sum."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def largest(values):
    return I.reduce.max(values, axis=1)


@intent.kernel
def of_sums(x: I.In[I.i64, (5, "M", "M")], at: I.In[I.u8, ("N",)], y: I.Out[I.i64, ("N",)]):
    tables = x[I.cast(at[:], I.index) % 5, :, :]
    y[:] = I.region_fold(I.reduce.sum(tables, axis=1), axis=1, summarize=largest, combine=I.maximum, identity=-(2**63))


def test_it_holds() -> None:
    for extents in ({"M": 2, "N": 5}, {"M": 20, "N": 3}):
        holds(of_sums, extents, values="integers", seed=2)
