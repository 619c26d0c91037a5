"""`intent-np run`, `verify` and `check`: kernels executed on given and on generated arrays."""

import json

import numpy as np
import pytest

from intent_np.cli import FAILED, OK, USAGE

from .command import run


def test_run_executes_behind_any_pass(capsys, tmp_path) -> None:
    place, out = "kernels/softmax.py:softmax", tmp_path / "y.npz"
    options = ("-e", "M=3", "-e", "N=5", "--stop-after", "form_groups", "--out", str(out), "--json")
    code, text, _ = run(capsys, "run", place, *options)
    assert code == OK
    output = json.loads(text)["outputs"][0]
    assert (output["name"], output["shape"], output["status"]) == ("y", [3, 5], "ok")
    assert np.load(out)["y"].astype(np.float32).sum(axis=1) == pytest.approx(np.ones(3), abs=1e-2)


def test_run_takes_arrays_from_files(capsys, tmp_path) -> None:
    np.save(tmp_path / "x.npy", np.float16([[-1, 2, -3]]))
    given = f"x={tmp_path / 'x.npy'}"
    code, text, _ = run(capsys, "run", "kernels/pointwise.py:relu", "--input", given, "--stop-after", "emit", "--json")
    assert code == OK
    assert json.loads(text)["outputs"][0]["greatest"] == 2.0
    assert run(capsys, "run", "kernels/pointwise.py", "--stop-after", "emit")[0] == USAGE
    assert run(capsys, "run", "kernels/pointwise.py:relu", "--layout", "odd", "--stop-after", "emit")[0] == USAGE


def test_run_takes_a_kernel_without_a_case(capsys, tmp_path) -> None:
    place = tmp_path / "own.py"
    place.write_text(
        "import intent_np as intent\n"
        "import intent_np.language as I\n\n\n"
        "@intent.kernel\n"
        'def wide(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N", "K")], K: I.Constexpr[int] = 3):\n'
        "    y[:, :] = x[:, None]\n\n\n"
        "@intent.kernel\n"
        'def wrong(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):\n'
        "    y[:] = I.expp(x[:])\n"
    )
    for more, shape in (((), [5, 3]), (("-c", "K=4"), [5, 4])):
        code, text, _ = run(capsys, "run", f"{place}:wide", "--target", "cpu", "-e", "N=5", *more, "--json")
        assert code == OK
        assert json.loads(text)["outputs"][0]["shape"] == shape
    for extents in (("N=-5",), ("N=5", "Q=4"), ()):
        options = [word for text in extents for word in ("-e", text)]
        assert run(capsys, "run", f"{place}:wide", "--target", "cpu", *options)[0] == USAGE
    assert run(capsys, "compile", f"{place}:wrong", "--target", "cpu")[0] == FAILED


def test_verify_reports_every_kernel(capsys) -> None:
    code, out, _ = run(capsys, "verify", "kernels/pointwise.py", "--machine", "gpu", "--json")
    report = json.loads(out)
    assert code == OK
    assert report["summary"] == {"ok": len(report["kernels"])}
    assert {check["machine"] for kernel in report["kernels"] for check in kernel["checks"]} == {"gpu"}


def test_a_kernel_without_an_oracle_is_not_counted_as_verified(capsys, tmp_path) -> None:
    file = tmp_path / "alone.py"
    file.write_text(
        "import intent_np as intent\nimport intent_np.language as I\n\n\n@intent.kernel\n"
        "def twice(x: I.In[I.f32, ('N',)], y: I.Out[I.f32, ('N',)]):\n    y[:] = x[:] * 2.0\n"
    )
    code, out, _ = run(capsys, "verify", str(file), "--machine", "cpu", "--json")
    report = json.loads(out)
    assert (code, report["summary"]) == (OK, {"no oracle": 1})
    assert report["kernels"][0]["checks"][0]["status"] == "no oracle"
    code, out, _ = run(capsys, "verify", str(file), "kernels/pointwise.py:relu", "--machine", "cpu")
    assert code == OK
    assert "1 no oracle, 1 ok on cpu" in out
    assert "cpu: the kernel is in no list CASES" in out


def test_check_prints_findings_in_the_one_format(capsys, tmp_path) -> None:
    place = tmp_path / "own.py"
    place.write_text(
        "import intent_np as intent\n"
        "import intent_np.language as I\n\n\n"
        "@intent.kernel\n"
        'def ratio(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):\n'
        "    y[:] = x[:] // y[:]\n\n\n"
        "@intent.kernel\n"
        'def doubled(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):\n'
        "    y[:] = x[:] + x[:]\n"
    )
    code, out, _ = run(capsys, "check", str(place))
    assert code == FAILED
    assert "own.ratio: 1 findings in 9 calls" in out
    assert "own.py:7:12: E507 an invalid '//' is used" in out
    assert "own.doubled: ok in 9 calls" in out
    code, out, _ = run(capsys, "check", f"{place}:ratio", "--json")
    (kernel,) = json.loads(out)["kernels"]
    assert (code, kernel["status"], [f["code"] for f in kernel["findings"]]) == (FAILED, "failed", ["E507"])
    assert (kernel["findings"][0]["line"], kernel["calls"]) == (7, 9)
    np.save(tmp_path / "x.npy", np.int32([1, 2]))
    np.save(tmp_path / "y.npy", np.int32([1, 3]))
    arrays = [f"--array={name}={tmp_path / name}.npy" for name in "xy"]
    assert run(capsys, "check", f"{place}:ratio", *arrays)[0] == OK
    assert run(capsys, "check", "kernels/softmax.py:softmax", "-e", "N=9")[0] == OK


OUTSIDE = """
import intent_np as intent
import intent_np.language as I


@intent.kernel
def taken(x: I.In[I.f32, ("N",)], p: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    at = I.assume_in_bounds(p[:], x)
    y[:] = x[at]


@intent.kernel
def put(x: I.In[I.f32, ("M",)], p: I.In[I.i32, ("M",)], z: I.InOut[I.f32, ("N",)]):
    at = I.assume_in_bounds(p[:], z)
    I.scatter_reduce(z, index=at, value=x[:], combine=I.maximum)
"""


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_an_access_outside_is_told_at_its_line(capsys, tmp_path, target: str) -> None:
    file, places = tmp_path / "outside.py", tmp_path / "p.npy"
    file.write_text(OUTSIDE)
    np.save(places, np.int32([1, 9]))
    for name, line in (("taken", 9), ("put", 15)):
        place = f"{file}:{name}"
        code, _, err = run(capsys, "run", place, "-e", "N=4", "--input", f"p={places}", "--target", target)
        assert code == FAILED
        assert f"outside.py:{line}:" in err
        assert "E502" in err


def test_what_run_cannot_execute_is_a_usage_error(capsys, tmp_path) -> None:
    place = "kernels/pointwise.py:relu"
    (tmp_path / "x.npy").write_text("no array")
    for wrong in ("x=nofile.npy", "x=3", f"x={tmp_path / 'x.npy'}"):
        assert run(capsys, "run", place, "--input", wrong)[0] == USAGE
    for step in ("inline_calls", "make_abi"):
        assert run(capsys, "run", place, "-e", "M=2", "-e", "N=3", "--stop-after", step)[0] == USAGE
