"""Seed 1200009 of `intent-np fuzz`, compile: TypeError in step_members."""

import intent_np as intent
import intent_np.language as I
from intent_np.testing.campaign import holds


@intent.kernel
def k(
    x1: I.In[I.bool, (7,)],
    x2: I.In[I.f32, (7,)],
    x3: I.In[I.bool, (7,)],
    x4: I.In[I.u32, ("M",)],
    z1: I.InOut[I.u32, (7,)],
    s1: I.i32,
):
    M = x4.shape[0]
    for p1 in I.parallel(I.domain(1, 7)):
        acc1 = x1[p1]
        for _i2 in range(s1):
            acc2 = acc1
            for _i3 in range(M):
                if x2[p1] < 0:
                    break
                acc2 = x3[p1] != acc2
            acc1 = not acc2
        if acc1:
            z1[p1] = z1[p1] + I.reduce.sum(x4[I.domain(0, M)] // I.cast(p1, I.u32), axis=0)


@intent.kernel
def old_value(x1: I.In[I.i32, ("M",)], x2: I.In[I.i32, (7,)], z1: I.InOut[I.i32, (7,)], z2: I.InOut[I.i32, (7,)]):
    M = x1.shape[0]
    for p1 in I.parallel(I.domain(0, 7)):
        t1 = I.atomic.add(z1, index=p1, value=x2[p1])
        acc1 = t1
        for _i1 in range(M):
            acc2 = acc1 + t1
            for _i2 in range(M):
                if acc2 > x2[p1]:
                    break
                acc2 = acc2 + t1 + 1
            acc1 = acc2
        z2[p1] = acc1 + I.reduce.sum(x1[I.domain(0, M)], axis=0)


def test_it_holds():
    holds(k, {"M": 5}, {"s1": 3})


def test_the_old_value_of_an_update():
    holds(old_value, {"M": 3}, values="integers")
