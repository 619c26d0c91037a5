"""Joining, cutting, turning and padding: NumPy's functions of the same names decide."""

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize(("n", "width"), [(1, 3), (2, 5), (5, 2), (5, 5), (4, 13), (3, 0)])
def test_padding_is_numpys(run, mode, n, width):
    @intent.kernel
    def k(
        x: I.In[I.i32, ("M", n)], y: I.Out[I.i32, ("M", n + width + 1)], z: I.Out[I.i32, ("M", n + 2 * width)],
        s: I.Out[I.i32, ("M + 2", n)],
    ):  # fmt: skip
        a = x[:, :]
        y[:, :] = I.pad(a, ((0, 0), (width, 1)), mode)
        z[:, :] = I.pad(a, ((0, 0), (width, width)), mode=mode)
        if x.shape[0] > 0:
            s[:, :] = I.pad(a, ((2, 0), (0, 0)), mode)

    x = RNG.integers(1, 99, (3, n)).astype(np.int32)
    widths = [((0, 0), (width, 1)), ((0, 0), (width, width)), ((2, 0), (0, 0))]
    want = [np.pad(x, w, mode) for w in widths]
    found = [np.zeros(w.shape, np.int32) for w in want]
    run(k, x=x, y=found[0], z=found[1], s=found[2])
    for a, b in zip(found, want, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize(("width", "fill"), [(2, 5), ((1, 3), (-1, 8)), (((0, 2), (3, 1)), ((1, 2), (3, 4)))])
def test_constants_stand_on_each_side_of_each_axis(run, n, width, fill):
    want = np.pad(np.arange(20, 20 + 2 * n, dtype=np.float32).reshape(n, 2), width, constant_values=fill)

    @intent.kernel
    def k(x: I.In[I.f32, ("N", 2)], y: I.Out[I.f32, ("P", "Q")]):
        y[:, :] = I.pad(x[:, :], width, "constant", fill)

    @intent.kernel
    def sized(x: I.In[I.f32, (n, 2)], y: I.Out[I.f32, want.shape]):
        y[:, :] = I.pad(x[:, :], width, constant_values=fill)

    y = np.zeros(want.shape, np.float32)
    run(sized, x=np.arange(20, 20 + 2 * n, dtype=np.float32).reshape(n, 2), y=y)
    np.testing.assert_array_equal(y, want)
    with pytest.raises(intent.CompileError, match="E204"):
        k.capture({})


@pytest.mark.parametrize("m", [0, 1, 4])
def test_without_an_axis_all_elements_are_in_one_row(run, m):
    @intent.kernel
    def k(
        x: I.In[I.i32, ("M", 3)], c: I.Out[I.i32, ("5 * M",)], r: I.Out[I.i32, ("M", 3)], t: I.Out[I.i32, (3, "M", 3)]
    ):
        a = x[:, :]
        c[:] = I.concat((a, a[:, 1:]), axis=None)
        r[:, :] = I.roll(a, 2)
        t[0, :, :] = I.roll(a, (1, -2), 1)
        t[1, :, :] = I.roll(a, 1, (0, 1))
        t[2, :, :] = I.roll(a, (1, 3))

    x = RNG.integers(0, 99, (m, 3)).astype(np.int32)
    c, r, t = np.zeros(5 * m, np.int32), np.zeros((m, 3), np.int32), np.zeros((3, m, 3), np.int32)
    run(k, x=x, c=c, r=r, t=t)
    np.testing.assert_array_equal(c, np.concatenate((x, x[:, 1:]), axis=None))
    np.testing.assert_array_equal(r, np.roll(x, 2))
    np.testing.assert_array_equal(t, [np.roll(x, (1, -2), 1), np.roll(x, 1, (0, 1)), np.roll(x, (1, 3))])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_multiple_of_an_extent_is_cut_into_parts(run, n):
    @intent.kernel
    def k(x: I.In[I.i32, ("3 * N", "M")], y: I.Out[I.i32, ("N", "M")], z: I.Out[I.i32, ("2 * N", "M")]):
        a, b, c = I.split(x[:, :], 3)
        y[:, :] = a + 10 * b + 100 * c
        _, rest = I.split(x[:, :], (y.shape[0],), axis=-2)
        z[:, :] = rest

    x = RNG.integers(0, 9, (3 * n, 2)).astype(np.int32)
    y, z = np.zeros((n, 2), np.int32), np.zeros((2 * n, 2), np.int32)
    run(k, x=x, y=y, z=z)
    a, b, c = np.split(x, 3)
    np.testing.assert_array_equal(y, a + 10 * b + 100 * c)
    np.testing.assert_array_equal(z, x[n:])


@intent.kernel
def mirrored_nothing(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N + 2",)]):
    y[:] = I.pad(x[:], 1, "reflect")


@intent.kernel
def unknown_mode(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N + 2",)]):
    y[:] = I.pad(x[:], 1, "linear_ramp")


@intent.kernel
def negative_width(x: I.In[I.f32, (4,)], y: I.Out[I.f32, (3,)]):
    y[:] = I.pad(x[:], (0, -1))


@intent.kernel
def three_pairs(x: I.In[I.f32, (4, 4)], y: I.Out[I.f32, (4, 4)]):
    y[:, :] = I.pad(x[:, :], ((0, 0), (0, 0), (0, 0)))


@intent.kernel
def three_shifts(x: I.In[I.f32, (4, 4)], y: I.Out[I.f32, (4, 4)]):
    y[:, :] = I.roll(x[:, :], (1, 2, 3), (0, 1))


@intent.kernel
def uneven_parts(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    a, _ = I.split(x[:], 2)
    y[:] = a


@intent.kernel
def no_parts(x: I.In[I.f32, (4,)], y: I.Out[I.f32, (4,)]):
    y[:] = I.split(x[:], 0)


@pytest.mark.parametrize(
    ("kernel", "code", "says"),
    [
        (mirrored_nothing, "E208", "the extent N of axis 0"),
        (unknown_mode, "E113", 'a mode of "constant", "edge", "reflect", "symmetric", "wrap"'),
        (negative_width, "E203", "the width -1"),
        (three_pairs, "E113", "for 2 axes"),
        (three_shifts, "E113", "3 shifts and 2 axes"),
        (uneven_parts, "E113", "2 parts of N"),
        (no_parts, "E113", "0 parts of 4"),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_what_is_refused(told, kernel, code, says):
    told(kernel, code, says)
