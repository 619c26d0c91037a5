"""On a GPU: debug statements say what the reference says, whatever library the arrays are of and on whatever stream."""

from typing import Any

import numpy as np
import pytest

import intent_np as intent

from .test_debug import CALLS, DEBUG, rows, steps
from .test_gpu import TARGET, pytestmark  # noqa: F401

if TARGET.is_gpu:
    import cupy


@pytest.mark.parametrize("name", CALLS)
def test_the_device_prints_what_the_reference_prints(name: str, capsys: Any) -> None:
    kernel, arguments = CALLS[name]
    expected, found = arguments(), arguments()
    intent.compile(kernel, "reference")(*expected)
    printed = capsys.readouterr().out
    intent.compile(kernel, options=DEBUG)(*found)
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(printed.splitlines())
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_many_points_of_many_instances_come_in_order(capsys: Any) -> None:
    x = cupy.asarray(np.random.default_rng(1).integers(1, 99, 3000).astype(np.int32))
    with pytest.raises(intent.CheckError, match="it stays small") as caught:
        intent.compile(steps, options=DEBUG).run(x)
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("[")]
    points = [int(line.split(" at ")[1].split(",")[0]) for line in lines]
    assert points == sorted(points)
    assert len(set(points)) > 1000
    assert "more points" in caught.value.found


def test_arrays_of_the_device_stay_there(capsys: Any) -> None:
    artifact = intent.compile(rows, options=DEBUG)
    x, y = cupy.ones((4, 3), np.float32) * 2, cupy.zeros(4, np.float32)
    prepared = artifact.prepare(x, y)
    for _ in range(3):
        prepared()
    assert capsys.readouterr().out.splitlines() == [f"row {i} has 6.0 False 2" for i in range(4)] * 3
    assert artifact.remarks == []
    assert (y == np.sqrt(np.float32(6))).all()
    x[2, 0] = -1
    with pytest.raises(intent.CheckError, match="numbers of things") as caught:
        prepared()
    assert caught.value.found == "at row = 2"


def test_it_waits_for_the_stream_of_another_library(capsys: Any) -> None:
    torch = pytest.importorskip("torch")
    artifact = intent.compile(rows, options=DEBUG)
    x, y = torch.ones((4, 3), device="cuda"), torch.zeros(4, device="cuda")
    artifact(x, y)
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(50_000_000)
        x.mul_(3)
        artifact(x, y)
        assert y.tolist() == [3, 3, 3, 3]
    assert capsys.readouterr().out.splitlines() == [f"row {i} has 9.0 True 2" for i in range(4)]
