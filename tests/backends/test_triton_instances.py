"""The numbers of instances: fewer of them than points, and points from the last one, as printed Triton."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.passes.pipeline import run as lower
from intent_np.terms.core import Arena
from intent_np.testing.triton_interpreter import interpret, unavailable
from tests.passes import test_groups as groups

pytestmark = pytest.mark.skipif(bool(unavailable()), reason=str(unavailable()))

BLOCKS = {"block_axes": {"sizes": dict.fromkeys(("m", "n", "k", "i", "row"), 16)}}
NUMBERED = (
    {"instances": 3},
    {"descending": True},
    {"instances": 2, "descending": True},
    {"instances": 3, "index_bits": 64},
    {"instances": 1 << 20},
)


@intent.kernel
def product(x: I.In[I.f32, ("M", "K")], w: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[:, :] = I.matmul(x[:, :], w[:, :], acc_dtype=I.f32)


@intent.kernel
def counted(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.InOut[I.i32, (4,)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        kept = I.buffer((x.shape[1],), I.f32)
        kept[:] = I.cumsum(x[row, :])
        y[row] = I.reduce.sum(kept[:] * kept[:])
        I.atomic.add(z, I.assume_in_bounds(row % 4, z), 1)


def values(*shape: int) -> Any:
    return (np.arange(np.prod(shape)).reshape(shape) % 7 - 3).astype(np.float32)


CALLS = {
    "product": (product, {"x": values(70, 20), "w": values(20, 40), "y": np.zeros((70, 40), np.float32)}),
    "one block": (product, {"x": values(3, 20), "w": values(20, 4), "y": np.zeros((3, 4), np.float32)}),
    "nothing": (product, {"x": values(0, 20), "w": values(20, 4), "y": np.zeros((0, 4), np.float32)}),
    "counted": (counted, {"x": values(9, 21), "y": np.zeros(9, np.float32), "z": np.zeros(4, np.int32)}),
    "groups": (
        groups.unrelated,
        {"x": values(50), "w": values(20, 40), "y": np.zeros(50, np.float32), "z": np.zeros(20, np.float32)},
    ),
    "in order": (
        groups.row_neighbours,
        {"x": values(3, 40), "y": np.zeros((3, 41), np.float32), "z": np.zeros((3, 40), np.float32)},
    ),
}


@pytest.mark.parametrize("numbered", NUMBERED, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_every_point_is_taken_once(name: str, numbered: dict[str, Any]) -> None:
    kernel, arrays = CALLS[name]
    expected, found = ({v: x.copy() for v, x in arrays.items()} for _ in range(2))
    intent.compile(kernel, target="reference")(*expected.values())
    with Arena():
        launch = lower(kernel.capture({}), check=True, options={**BLOCKS, "lower_to_triton": numbered})
        text = print_triton(launch.function)
        interpret(launch, text, found)
    for v, x in expected.items():
        np.testing.assert_array_equal(found[v], x, err_msg=f"{v}\n{text}")


def test_an_instance_walks_over_points_so_far_apart_as_there_are_instances() -> None:
    artifact = intent.compile(product, "sm_90", options=intent.CompileOptions(passes={"lower_to_triton": NUMBERED[0]}))
    assert "for point in range(tl.program_id(0).to(tl.int64), points, 3):" in artifact.source
    (grid,) = artifact.variants[0].plan.grid
    assert grid.startswith("minimum(ceil_div(M, ")
    assert grid.endswith(", 3)")
