"""Programs for the passes that no kernel of the corpus needs; `passes.md` shows what becomes of them."""

import intent_np as intent
import intent_np.language as I


@intent.kernel
def double(x: I.InOut[I.f32, (4096,)], y: I.Out[I.f32, (4096,)]):
    points = I.domain(0, 4096)
    x[points] = x[points] * 2.0
    y[points] = x[points] + 1.0


@intent.kernel
def two_steps(x: I.In[I.f32, (4096,)], y: I.Out[I.f32, (4096,)]):
    for i in I.parallel(I.domain(0, 4096)):
        steps = I.buffer((2,), I.f32)
        steps[0] = x[i] * 2.0
        steps[1] = steps[0] + 1.0
        y[i] = steps[0] * steps[1]


@intent.kernel
def added_up(x: I.In[I.i32, (4096, 8)], y: I.Out[I.i32, (4096, 8)]):
    for row in I.parallel(I.domain(0, 4096)):
        sums = I.buffer((8,), I.i32)
        sums[:] = x[row, :]
        for i in range(1, 8):
            sums[i] = sums[i] + sums[i - 1]
        y[row, :] = sums[:]


@intent.kernel
def turned_in_place(x: I.InOut[I.f32, (4096, 4096)]):
    x[:, :] = I.transpose(x[:, :])


@intent.kernel
def smoothed_in_place(x: I.InOut[I.f32, (64, 65536)]):
    x[:, 1:-1] = x[:, :-2] + x[:, 2:]


@intent.kernel
def any_negative(x: I.In[I.f32, (64, 512)], y: I.Out[I.bool, (64,)]):
    for row in I.parallel(I.domain(0, 64)):
        y[row] = I.reduce.any(x[row, :] < 0.0, axis=0)


@intent.kernel
def roots(x: I.In[I.f32, (4096,)], y: I.Out[I.f32, (4096,)]):
    for i in I.parallel(I.domain(0, 4096)):
        I.debug_assert(x[i] >= 0.0, "roots are of positive numbers")
        y[i] = I.sqrt(x[i])


@intent.kernel
def integers(a: I.In[I.i16, (256, 512)], b: I.In[I.i16, (512, 256)], c: I.Out[I.i32, (256, 256)]):
    c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.i32)


@intent.kernel
def rows_of_its_own(x: I.In[I.f32, (4096,)], at: I.Out[I.i32, (65,)], y: I.Out[I.f32, (64,)]):
    at[:] = I.cast(I.indices(I.domain(0, 65)) * 64, I.i32)
    rows = I.ragged(I.domain(0, 64), I.domain(0, 4096), at)
    for row in I.parallel(I.domain(0, 64)):
        y[row] = I.reduce.max(x[rows[row]], axis=0)


@intent.kernel
def both_ways(x: I.In[I.f32, (65536,)], y: I.Out[I.f32, (65536,)]):
    y[:] = I.cumsum(x[:]) + I.cumsum(x[:], reverse=True)
