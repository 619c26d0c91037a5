"""Kernels over rows whose groups have ordered loops, updates or syncs."""

import intent_np as intent
import intent_np.language as I


@intent.kernel
def iterated(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("T",)], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M", "T")]):
    """An ordered loop whose iterations all need the same dear values, and a maximum that none of them changes."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = I.tanh(x[row, :] - I.reduce.max(x[row, :], axis=0))
        state = I.cast(0.0, I.f32)
        for t in I.domain(0, w.shape[0]):
            state = 0.5 * state + I.reduce.sum(value * w[t], axis=0)
            z[row, t] = state
        y[row] = state + I.reduce.sum(value, axis=0)


@intent.kernel
def weighed_steps(
    x: I.In[I.f32, ("M", "T", "N")],
    w: I.In[I.f32, ("M", "N")],
    y: I.Out[I.f32, ("M", "T")],
    z: I.Out[I.f32, ("M", "N")],
):
    """In each iteration, values of its own that wait for a reduction; behind the loop, its result with another one."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        state = I.cast(1.0, I.f32)
        for t in I.domain(0, x.shape[1]):
            value = I.erf(x[row, t, :] * state)
            top = I.reduce.max(value, axis=0)
            state = I.reduce.sum(I.exp(value - top), axis=0) / I.cast(x.shape[2], I.f32)
            y[row, t] = state + top
        last = I.tanh(w[row, :])
        z[row, :] = last * state - I.reduce.max(last, axis=0)


@intent.kernel
def staged(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    """Memory that is written, read elsewhere and written again, and values that both sides need."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        N = x.shape[1]
        value = I.exp(x[row, :] - I.reduce.max(x[row, :], axis=0))
        held = I.buffer((N,), I.f32)
        held[:] = value / I.reduce.sum(value, axis=0)
        moved = I.roll(held[:], 1, axis=0)
        held[:] = moved * I.reduce.max(moved, axis=0)
        y[row, :] = I.roll(held[:], -1, axis=0) - value


@intent.kernel
def scattered(
    x: I.In[I.f32, ("M", "N")],
    place: I.In[I.i32, ("M", "N")],
    y: I.Out[I.f32, ("M", "N")],
    total: I.InOut[I.f32, ("N",)],
):
    """Updates of what waits for reductions, beside stores of it."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        weight = I.exp(x[row, :] - I.reduce.max(x[row, :], axis=0))
        share = weight / I.reduce.sum(weight, axis=0)
        y[row, :] = share
        I.atomic.add(total, index=I.assume_in_bounds(place[row, :], total), value=share * weight)


@intent.kernel
def found_place(x: I.In[I.f32, ("M", "N")], free: I.InOut[I.i32, (1,)], y: I.Out[I.f32, ("M", "N")]):
    """What an update found decides what is stored."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        place = I.atomic.add(free, index=0, value=1)
        y[row, :] = x[row, :] - I.reduce.max(x[row, :], axis=0) + I.cast(place, I.f32)


@intent.kernel
def published(x: I.In[I.f32, ("M", "N")], free: I.InOut[I.i32, (1,)], y: I.Out[I.f32, ("M", "N")]):
    """An update that orders memory, which nothing before it passes."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        y[row, :] = x[row, :] - I.reduce.max(x[row, :], axis=0)
        I.atomic.add(free, index=0, value=I.cast(y[row, 0], I.i32) if x.shape[1] > 0 else 0, order="release")


@intent.kernel
def eliminated(a: I.InOut[I.f32, ("N", "N")]):
    """Each iteration reads elsewhere what it stores."""
    for j in I.domain(0, a.shape[0]):
        a[j, :] = a[j, :] - I.reduce.sum(a[:, :], axis=0)


@intent.kernel
def compacted(x: I.In[I.f32, ("M", "N")], y: I.InOut[I.f32, ("M", "N")], count: I.Out[I.i64, ("M",)]):
    """What is above the mean first, then the rest: places that depend on a scan and on reductions."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        value = x[row, :]
        above = value > I.reduce.sum(value, axis=0) / I.cast(x.shape[1], I.f32)
        number = I.cast(above, I.i64)
        place = I.cumsum(number, axis=0) - number
        found = I.reduce.sum(number, axis=0)
        rest = found + I.cast(I.indices(I.domain(0, x.shape[1])), I.i64) - place
        where = I.assume_in_bounds(I.select(above, place, rest), y, axis=1)
        I.scatter_unique(y, index=(row, I.assume_unique(where)), value=I.tanh(value))
        count[row] = found


@intent.kernel
def looked_up(x: I.In[I.f32, ("M", "N")], table: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    """The row of a table that a reduction says, under a condition that another one says."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        weight = I.exp(x[row, :] - I.reduce.max(x[row, :], axis=0))
        level = I.cast(I.reduce.sum(weight, axis=0), I.index)
        inside = level >= 0 and level < table.shape[0]
        known = I.gather(table, (level, slice(None)), valid=inside, fill=0)
        y[row, :] = weight * known


@intent.kernel
def reduced(a: I.In[I.f32, ("N", "N")], x: I.InOut[I.f32, ("M", "N")]):
    """Each iteration changes what stands behind its member, and reads what stands in front of that."""
    members = I.domain(0, a.shape[0])
    for row in I.parallel(I.domain(0, x.shape[0])):
        for j in members:
            before, behind = members[0:j], members[j + 1 : a.shape[0]]
            step = x[row, j] - I.reduce.sum(x[row, before] * a[j, before], axis=0)
            x[row, behind] = x[row, behind] - step * I.tanh(a[j, behind])


@intent.kernel
def guarded(x: I.In[I.f32, ("M", "N")], z: I.InOut[I.f32, ("M", "N")]):
    """What an iteration reads of the one before it depends on a reduction."""
    for row in I.parallel(I.domain(0, x.shape[0])):
        some = I.reduce.max(x[row, :], axis=0) > 1.5
        for i in I.domain(0, x.shape[1]):
            z[row, i] = x[row, i] + (0.5 * z[row, i - 1] if some and i > 0 else 2.0)


@intent.kernel
def cut(x: I.In[I.f32, ("T", "N")], offsets: I.Out[I.i32, ("G + 1",)], y: I.Out[I.f32, ("T", "N")]):
    """A softmax of the rows of each group; where the groups begin is stored before."""
    bounds = I.domain(0, offsets.shape[0])
    offsets[:] = I.cast(I.minimum(I.indices(bounds) * 17, x.shape[0]), I.i32)
    groups = I.domain(0, offsets.shape[0] - 1)
    rows = I.ragged(groups, I.domain(0, x.shape[0]), offsets)
    for g in I.parallel(groups):
        weight = I.exp(x[rows[g], :] - I.reduce.max(x[rows[g], :], axis=0))
        y[rows[g], :] = weight / I.reduce.sum(weight, axis=0)
