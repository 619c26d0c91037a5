"""Kernels that rules are named after: each rule here fires in the kernel of its name, on the way to Triton."""

import intent_np as intent
import intent_np.language as I

M, N, K = "M", "N", "K"


@intent.kernel
def bitcast_same(x: I.In[I.i32, (N,)], y: I.Out[I.i32, (N,)]):
    y[:] = I.bitcast(I.bitcast(x[:], I.f32), I.i32)


@intent.kernel
def cast_truncates(x: I.In[I.i64, (N,)], y: I.Out[I.i16, (N,)], s: I.i64):
    y[:] = I.cast(I.cast(x[:] + s, I.i32), I.i16)


@intent.kernel
def transpose_identity(x: I.In[I.f32, (M, N)], y: I.Out[I.f32, (M, N)]):
    y[:, :] = I.transpose(I.transpose(x[:, :], (1, 0)), (1, 0))


@intent.kernel
def transpose_transpose(x: I.In[I.f32, (M, N, K)], y: I.Out[I.f32, (K, M, N)]):
    y[:, :, :] = I.transpose(I.transpose(x[:, :, :], (1, 0, 2)), (2, 1, 0))


@intent.kernel
def transpose_filled(s: I.f32, y: I.Out[I.f32, (M, N)]):
    m, n = y.shape
    y[:, :] = I.transpose(I.full((n, m), s, I.f32))


@intent.kernel
def transpose_pointwise(x: I.In[I.f32, (N, M)], z: I.In[I.f32, (N, M)], y: I.Out[I.f32, (M, N)]):
    y[:, :] = I.transpose(x[:, :] + z[:, :])


@intent.kernel
def reshape_same(x: I.In[I.f32, (M, N)], y: I.Out[I.f32, (M, N)]):
    m, n = x.shape
    y[:, :] = I.reshape(I.reshape(x[:, :], (m * n,)), (m, n))


@intent.kernel
def reshape_reshape(x: I.In[I.f32, (M, N)], y: I.Out[I.f32, (N, M)]):
    m, n = x.shape
    y[:, :] = I.reshape(I.reshape(x[:, :], (m * n,)), (n, m))


@intent.kernel
def reshape_filled(s: I.f32, y: I.Out[I.f32, (M, N)]):
    m, n = y.shape
    y[:, :] = I.reshape(I.full((m * n,), s, I.f32), (m, n))


@intent.kernel
def reshape_of_kept(x: I.In[I.f32, (M, N)], y: I.Out[I.f32, (M,)]):
    m, _ = x.shape
    y[:] = I.reshape(I.reduce.sum(x[:, :], axis=1, keepdims=True), (m,))


@intent.kernel
def convert_same(x: I.In[I.f16, (N,)], y: I.Out[I.f16, (N,)], s: I.f16):
    y[:] = I.cast(I.cast(x[:] + s, I.f32), I.f16)


@intent.kernel
def convert_convert(x: I.In[I.f16, (N,)], y: I.Out[I.f64, (N,)], s: I.f16):
    y[:] = I.cast(I.cast(x[:] + s, I.f32), I.f64)


@intent.kernel
def convert_filled(s: I.i32, y: I.Out[I.f32, (N,)]):
    (n,) = y.shape
    y[:] = I.cast(I.full((n,), s, I.i32), I.f32)


@intent.kernel
def take_whole(x: I.In[I.f32, (N,)], y: I.Out[I.f32, (N,)]):
    y[:] = I.cumsum(x[:])[None, :][0]


@intent.kernel
def take_take(x: I.In[I.f32, (16,)], y: I.Out[I.f32, (4,)]):
    y[:] = I.cumsum(x[:])[2:10][1:5]


@intent.kernel
def take_filled(s: I.f32, y: I.Out[I.f32, (4,)]):
    y[:] = I.full((9,), s, I.f32)[1:5]


@intent.kernel
def take_indices(y: I.Out[I.index, (4,)]):
    y[:] = I.indices(I.domain(2, 12))[1:5]


@intent.kernel
def take_index(y: I.Out[I.index, (4,)]):
    y[:] = I.indices(I.domain(2, 12))[3]


@intent.kernel
def take_of_kept(x: I.In[I.f32, (M, N)], y: I.Out[I.f32, (M,)]):
    y[:] = I.reduce.sum(x[:, :], axis=1, keepdims=True)[:, 0]


@intent.kernel
def pointwise_of_filled(s: I.f32, y: I.Out[I.f32, (N,)]):
    (n,) = y.shape
    y[:] = I.full((n,), s, I.f32) + s


@intent.kernel
def pointwise_with_filled(x: I.In[I.f32, (N,)], s: I.f32, y: I.Out[I.f32, (N,)]):
    (n,) = y.shape
    y[:] = x[:] + I.full((n,), s, I.f32)
