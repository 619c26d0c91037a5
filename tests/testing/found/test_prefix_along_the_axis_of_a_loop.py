"""Seed 2001015 of `intent-np fuzz`, compile: KeyError in choose_plan order.Order.slots.  The prefix that is kept in
memory is one along another occurrence of its axis: what the loop over the same axis left is still what that left."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(flag: I.In[I.bool, ()], x: I.In[I.i64, ("M", "N")], y: I.Out[I.i64, ("M", "N")]):
    kept = flag[()]
    for _i in I.domain(0, x.shape[1]):
        kept = kept
    y[:, :] = I.cumsum(I.cumsum(I.select(kept, x[:, :], 0), axis=1), axis=0)


def test_it_holds():
    holds(k, {"M": 300, "N": 200})
