"""Functions of slices that folds of several tests are made of."""

import intent_np as intent
import intent_np.language as I


@intent.fn
def total(x):
    return I.reduce.sum(x, axis=-1)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def products(x, z):
    nested = I.region_fold(x, axis=2, summarize=total, combine=plus, identity=I.zeros(x.shape[:2], I.i64))
    return I.reduce.sum(nested * I.reduce.sum(z, axis=1)[None, :])
