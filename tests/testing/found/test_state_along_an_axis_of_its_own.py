"""A state that varies along an axis which nothing else is over, since what it holds is constant."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.fn
def nothing(a, b):
    return 0


@intent.kernel
def zeros(z: I.InOut[I.i32, ("2 * K",)], x: I.In[I.i8, ("K", "K", 1)]):
    K = x.shape[1]
    places = I.full((K, K, 1), 0, I.i32)
    for _ in I.domain(0, 0):
        places = places
    of_nothing = I.full((K, 2, 0), 2, I.i8)
    products = I.sparse_contract(x[:, :, :], places & 1, of_nothing, format=I.sparse.one_of_two(), acc_dtype=I.i32)
    I.scatter_unique(z, index=I.domain(0, K), value=I.reduce(products, axis=1, identity=0, combine=nothing))


def test_it_holds() -> None:
    holds(zeros, {"K": 0})
    holds(zeros, {"K": 3})
