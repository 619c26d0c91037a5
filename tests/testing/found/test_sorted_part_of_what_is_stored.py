"""A store of members in order beside others, of some of them, and of those at places that a loop carried."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def behind_others(x: I.In[I.i32, ("N",)], w: I.In[I.i32, (3,)], z: I.InOut[I.i32, ("N + 3",)]):
    """Elements that no member in order is for are stored, too."""
    z[:] = I.concat((x[:], I.sort(w[:], axis=0)))


@intent.kernel
def all_but_the_first(x: I.In[I.i32, ("N + 1",)], z: I.Out[I.i32, ("N",)]):
    """The least has no place in the output."""
    z[:] = I.sort(x[:], axis=0)[1:]


@intent.kernel
def with_a_carried_sort(x: I.In[I.i32, ("N",)], flag: I.In[I.bool, ()], z: I.Out[I.i32, ("N",)]):
    """What a loop leaves along the axis is at the place, and not of the member."""
    places = I.indices(I.domain(0, x.shape[0]))
    carried = I.sort(x[:], axis=0)
    for _ in I.domain(0, 3):
        if flag[()]:
            continue
        carried = carried
    z[:] = I.sort(I.cast(places, I.i32) * 3, axis=0, descending=True) << (carried & 31)


def test_others() -> None:
    for extents in ({"N": 3}, {"N": 20}, {"N": 0}):
        holds(behind_others, extents)


def test_some() -> None:
    for n in (1, 7, 40):
        holds(all_but_the_first, {"N": n})


def test_carried() -> None:
    for n in (1, 17):
        holds(with_a_carried_sort, {"N": n})


@intent.fn
def summarized(values):
    return I.reduce.sum(values, axis=0), I.reduce.max(values, axis=0)


@intent.fn
def together(a, b):
    return a[0] + b[0], I.maximum(a[1], b[1])


@intent.kernel
def sums_in_order(x: I.In[I.u64, ("K", "N")], z: I.Out[I.u64, ("N",)]):
    """Another component of the region stands along the axis of the store."""
    sums, _ = I.region_fold(x[:, :], axis=0, summarize=summarized, combine=together, identity=(0, 0))
    z[:] = I.sort(sums, axis=0)


def test_component_of_a_region() -> None:
    for extents in ({"K": 0, "N": 3}, {"K": 3, "N": 7}):
        holds(sums_in_order, extents)
