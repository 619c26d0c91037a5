"""Arguments have the values, layouts and guards that they promise."""

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from intent_np.terms import dtypes
from intent_np.testing import KINDS, LAYOUTS, arguments, guards_intact
from intent_np.testing.arguments import extent
from intent_np.testing.formats import FORMATS, element_type, numpy_dtype
from intent_np.testing.values import draw
from intent_np.testing.views import guarded


def _parameter(name, mode, dtype, shape=None):
    kind = "scalar" if shape is None else "view"
    return SimpleNamespace(name=name, mode=mode, dtype=dtypes.dtype(dtype), shape=shape, kind=kind)


KERNEL = SimpleNamespace(
    parameters=[
        _parameter("x", "in", "f16", ("M", "2 * N + 1")),
        _parameter("scale", "in", "f32"),
        _parameter("state", "inout", "bf16", ("cdiv(M, 2)",)),
        _parameter("y", "out", "f32", ("M",)),
        _parameter("count", "out", "i32", ()),
        SimpleNamespace(name="BLOCK", type=int, default=4, kind="constexpr"),
    ]
)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("extents", [{"M": 5, "N": 3}, {"M": 1, "N": 0}, {"M": 0, "N": 4}])
def test_every_layout_has_the_declared_shapes_inside_intact_guards(layout, extents):
    given = arguments(KERNEL, extents, seed=3, layout=layout)
    assert list(given) == ["x", "scale", "state", "y", "count"]
    assert given["x"].shape == (extents["M"], 2 * extents["N"] + 1)
    assert given["state"].shape == ((extents["M"] + 1) // 2,)
    assert given["x"].dtype == np.float16
    assert given["state"].dtype == ml_dtypes.bfloat16
    assert np.isfinite(given["x"]).all()
    assert np.isfinite(given["state"].astype("f4")).all()
    views = [v for v in given.values() if isinstance(v, np.ndarray)]
    assert guards_intact(*views)
    for view in views:
        start = view.ctypes.data - view.base.ctypes.data
        assert start >= 64 * view.itemsize, "guarded before"


def test_outputs_are_poisoned():
    given = arguments(KERNEL, {"M": 5, "N": 3})
    assert np.isnan(given["y"]).all()
    assert given["count"].tobytes() == b"\xcd" * 4


def test_layouts_are_what_they_are_called():
    rng = np.random.default_rng(0)

    def strides(layout, writable=False):
        return guarded((4, 6), np.dtype("f4"), layout, rng, writable).strides

    assert strides("contiguous") == (24, 4)
    assert strides("transposed") == (4, 16)
    assert strides("negative") == (-24, -4)
    assert strides("strided") == (144, 12)
    assert 0 in strides("zero")
    assert 0 not in strides("zero", writable=True)
    offset = guarded((4, 6), np.dtype("f4"), "offset", rng)
    assert (offset.ctypes.data - offset.base.ctypes.data) % 16 == 4


def test_a_write_beside_a_view_is_noticed_and_one_inside_is_not():
    view = guarded((3, 4), np.dtype("f2"), "strided", np.random.default_rng(0))
    view[...] = 1
    assert guards_intact(view)
    for place in (
        0,
        view.base.size - 1,
        view.ctypes.data - view.base.ctypes.data + 2,
    ):  # the last lies between elements
        kept = view.base[place]
        view.base[place] = 7
        assert not guards_intact(view)
        view.base[place] = kept
    assert guards_intact(view)


@pytest.mark.parametrize("name", sorted(dtypes.DTYPES))
def test_guards_are_poison_in_every_type(name):
    view = guarded((3,), numpy_dtype(name), "contiguous", np.random.default_rng(0))
    if name in FORMATS:
        assert np.isnan(view.astype("f8")).all()
    else:
        assert set(view.tobytes()) == {0xCD}


def test_the_same_seed_gives_the_same_arguments():
    one, two, other = (arguments(KERNEL, {"M": 5, "N": 3}, seed=s, layout="random") for s in (1, 1, 2))
    assert np.array_equal(one["x"], two["x"])
    assert one["x"].strides == two["x"].strides
    assert not np.array_equal(one["x"], other["x"])


@pytest.mark.parametrize("name", sorted(dtypes.DTYPES))
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_values_are_what_they_are_called(kind, name):
    drawn = draw(kind, (4000,), name, np.random.default_rng(0))
    assert drawn.dtype == numpy_dtype(name)
    if name not in FORMATS:
        return
    x, f = drawn.astype("f8"), FORMATS[name]
    if kind == "extreme":
        assert np.isnan(x).any()
        assert (x == f.largest).any()
        assert np.isinf(x).any() == f.infinities
    else:
        assert np.isfinite(x).all()
    if kind == "special":
        assert (np.signbit(x) & (x == 0)).any()
        assert (x == f.spacing(np.float64(0))).any()
    if kind == "integers":
        assert set(x) == set(range(-8, 9))
    if kind == "negative":
        assert (x <= -0.5).all()


def test_values_of_named_inputs_prevail():
    given = arguments(KERNEL, {"M": 9, "N": 9}, values="negative", inputs={"state": "unit"}, scalars={"scale": 0.1})
    assert (given["x"] < 0).all()
    assert (given["state"].astype("f4") >= 0).all()
    assert given["scale"] == float(np.float32(0.1)), "as the kernel will see it"


def test_shape_entries_are_arithmetic_over_names():
    assert extent("cdiv(N + 1, 64) * G - 1", {"N": 64, "G": 3}) == 5
    assert extent(4, {}) == 4
    with pytest.raises(ValueError, match="cannot size 'K'"):
        extent("K", {"N": 1})
    with pytest.raises(ValueError, match="cannot size"):
        extent("__import__('os')", {})


def test_element_types_are_read_back_from_numpy():
    for name in dtypes.DTYPES:
        assert element_type(np.empty(0, numpy_dtype(name))) == ("i64" if name == "index" else name)
