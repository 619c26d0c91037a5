"""The command line: exit codes, JSON, and errors without tracebacks."""

import json

import numpy as np
import pytest

from intent_np.cli import FAILED, OK, PROVIDER, USAGE, docs, doctor, exit_code, main
from intent_np.errors import IntentError, error


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `intent-np ARGUMENTS`."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    captured = capsys.readouterr()
    return int(stopped.value.code or 0), captured.out, captured.err


def test_help_lists_the_commands(capsys) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == OK
    assert "doctor" in out
    assert "passes" in out
    assert "Exit codes" in out


def test_a_wrong_command_line_is_a_usage_error(capsys) -> None:
    code, _, err = run(capsys, "doctor", "--jsn")
    assert code == USAGE
    assert "--jsn" in err


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (error("E101", name="x"), FAILED),
        (error("E703", name="x"), USAGE),
        (error("E603", package="cupy", purpose="a launch", command="pip install cupy"), PROVIDER),
    ],
)
def test_errors_are_advice_with_an_exit_code(capsys, monkeypatch, raised: IntentError, code: int) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr(doctor, "examine", fail)
    assert exit_code(raised) == code
    assert run(capsys, "doctor") == (code, "", raised.render() + "\n")
    found, out, err = run(capsys, "doctor", "--json")
    assert (found, json.loads(out), err) == (code, {"error": raised.as_json()}, "")
    with pytest.raises(IntentError):
        main(["doctor", "--debug"])


def test_a_defect_is_told_without_a_traceback(capsys, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr(doctor, "examine", fail)
    code, out, err = run(capsys, "doctor")
    assert (code, out) == (FAILED, "")
    assert err.startswith("E901 the compiler failed in ")
    assert "ZeroDivisionError: surprise" in err
    with pytest.raises(ZeroDivisionError):
        main(["--debug", "doctor"])


def test_doctor_says_what_there_is(capsys) -> None:
    code, out, _ = run(capsys, "doctor", "--json")
    report = json.loads(out)
    assert (code == OK) is report["ok"]
    checks = {check["name"]: check for check in report["checks"]}
    assert {"python", "numpy", "triton", "driver", "gpu", "cupy", "cache"} <= set(checks)
    assert checks["numpy"]["status"] == "ok"
    assert report["target"] == "cpu" or report["target"].startswith("sm_")
    assert "XDG_CACHE_HOME" in report["environment"]


def test_doctor_looks_at_saved_artifacts(capsys, monkeypatch, tmp_path) -> None:
    place = tmp_path / "relu"
    assert run(capsys, "compile", "kernels/pointwise.py:relu", "--target", "sm_90", "--out", str(place))[0] == OK
    facts = json.loads((place / "metadata.json").read_text())["facts"]
    assert facts["options"] == {
        "numerics": "strict",
        "disable": [],
        "passes": {},
        "serial": "remark",
        "without_rules": [],
    }
    assert facts["source"].startswith("sha256:")
    found = {}
    for capability in ((9, 0), (8, 0)):
        monkeypatch.setattr(doctor, "driver", lambda here=capability: ((13, 0), [doctor.Gpu("one", here, 1 << 30)]))
        _, out, _ = run(capsys, "doctor", "--json", str(place), str(tmp_path))
        checks = {check["name"]: check for check in json.loads(out)["checks"]}
        found[capability] = checks[str(place)]["status"]
        assert "relu for sm_90, 2 variants, made by intent_np 0.1.0, triton 3." in checks[str(place)]["found"]
        assert ", ptxas 1" in checks[str(place)]["found"]
        assert checks[str(tmp_path)]["status"] == "missing"
    assert found == {(9, 0): "ok", (8, 0): "warning"}


def test_doctor_names_the_command_that_mends(capsys, monkeypatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda package: None if package == "ml_dtypes" else "9.9")
    monkeypatch.setattr(doctor, "driver", lambda: ((13, 0), [doctor.Gpu("H200", (9, 0), 141 << 30)]))
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None)
    code, out, _ = run(capsys, "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    assert code == FAILED
    assert checks["ml_dtypes"]["fix"] == "python -m pip install 'ml_dtypes>=0.5'"
    assert checks["cupy"]["fix"] == "python -m pip install 'intent-np[cuda13]'"
    assert checks["gpu"]["found"] == "H200, sm_90, 141 GiB"


def test_doctor_prints_a_table(capsys) -> None:
    code, out, _ = run(capsys, "doctor")
    assert code == OK
    assert out.splitlines()[0].split() == ["name", "status", "found", "fix"]
    assert "target auto is" in out


def test_specs_are_checked_without_writing(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(docs, "PARTS", [part for part in docs.PARTS if part.page == "errors.md"])
    page = tmp_path / "errors.md"
    page.write_text("<!-- generated: codes -->\nold\n<!-- end -->\n")
    code, out, _ = run(capsys, "docs", "--folder", str(tmp_path), "--check")
    assert code == FAILED
    assert "errors.md is out of date" in out
    assert "old" in page.read_text()
    assert run(capsys, "docs", "--folder", str(tmp_path))[0] == OK
    assert "**E101**" in page.read_text()
    assert run(capsys, "docs", "--folder", str(tmp_path), "--check") == (OK, "", "")


RELU = """\
M = extent
x = view in f16[M] strides [1]
y = view out f16[M] strides [1]
row = axis 0..M
program @relu(x, y, M) {
  store y[row] = maximum((load x[row]), 0.0:f16)
}
"""


def test_opt_prints_what_it_read(capsys, tmp_path) -> None:
    file = tmp_path / "relu.normal"
    file.write_text(RELU)
    assert run(capsys, "opt", str(file)) == (OK, RELU.rstrip() + "\n", "")
    code, out, _ = run(capsys, "opt", str(file), "--json")
    assert (code, json.loads(out)) == (OK, {"level": "normal", "passes": [], "text": RELU.rstrip()})


def test_opt_points_at_text_that_it_cannot_read(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "relu.txt").write_text(RELU.replace("load x[row]", "lod x[row]"))
    code, out, err = run(capsys, "opt", "relu.txt", "--level", "normal")
    assert (code, out) == (FAILED, "")
    assert err.startswith("relu.txt:6:27: E701 the text is not a normal program\n    6 |   store y[row]")
    assert "expected: a term of normal or a name defined above\n  found:    'lod'" in err
    assert "did you mean 'load'?" in err
    code, _, err = run(capsys, "opt", "relu.txt", "--level", "nrmal")
    assert code == USAGE
    assert "did you mean 'normal'?" in err


def test_passes_are_listed_in_order(capsys) -> None:
    from intent_np.passes.pipeline import PIPELINE

    code, out, _ = run(capsys, "passes", "--json")
    rows = json.loads(out)["passes"]
    assert code == OK
    assert [row["name"] for row in rows] == [step.name for step in PIPELINE]
    assert all(row["doc"] for row in rows)
    _, table, _ = run(capsys, "passes")
    assert len(table.splitlines()) == len(PIPELINE) + 1
    _, full, _ = run(capsys, "passes", "--full")
    assert f"{PIPELINE[0].name} : {PIPELINE[0].source.name} -> {PIPELINE[0].target.name}" in full


def test_compile_stops_after_a_pass_and_opt_goes_on_from_there(capsys, tmp_path) -> None:
    softmax = "kernels/softmax.py:softmax"
    code, normal, _ = run(capsys, "compile", softmax, "--stop-after", "lower_to_coordinates")
    assert code == OK
    assert "program @softmax" in normal
    file = tmp_path / "softmax.normal"
    file.write_text(normal)
    code, grouped, _ = run(capsys, "opt", str(file), "--pass", "form_groups")
    assert code == OK
    assert "grouped @softmax" in grouped
    code, out, _ = run(capsys, "opt", str(file), "--pass", "form_groups", "--pass", "block_axes", "--json")
    assert json.loads(out)["level"] == "blocked"


def test_passes_are_run_in_their_own_language_with_their_own_options(capsys, tmp_path) -> None:
    file = tmp_path / "relu.normal"
    file.write_text(RELU)
    code, _, err = run(capsys, "opt", str(file), "--pass", "bind_class", "--pass", "emit")
    assert code == USAGE
    assert "emit reads blocked, not normal" in err
    code, _, err = run(capsys, "opt", str(file), "--pass", "bind_clas")
    assert code == USAGE
    assert "did you mean 'bind_class'" in err
    assert run(capsys, "opt", str(file), "--pass", "form_groups", "--option", "form_groups.serial=error")[0] == OK
    assert run(capsys, "opt", str(file), "--pass", "bind_class", "--option", "bind_class.speed=3")[0] == USAGE


def test_what_the_pipeline_needs_is_not_disabled(capsys) -> None:
    code, _, err = run(capsys, "compile", "kernels/softmax.py:softmax", "--stop-after", "emit", "--disable", "emit")
    assert code == USAGE
    assert "leads from blocked to gpu" in err


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


def test_passes_are_timed_on_kernels(capsys) -> None:
    code, out, _ = run(capsys, "passes", "kernels/pointwise.py:relu", "--json")
    assert code == OK
    assert all(row["ms"] >= 0 for row in json.loads(out)["passes"])


def test_compile_validates_every_pass(capsys, monkeypatch) -> None:
    place = "kernels/pointwise.py:relu"
    assert run(capsys, "compile", place, "--target", "cpu", "--validate")[0] == OK
    assert run(capsys, "compile", place, "--stop-after", "emit", "--validate")[0] == USAGE

    from intent_np.passes import pipeline
    from intent_np.passes.base import Pass
    from intent_np.terms.core import replace, rewrite
    from intent_np.terms.index import Const

    def one_more(program):
        return rewrite((program,), lambda t: replace(t, value=1.0) if isinstance(t, Const) and t.value == 0.0 else t)[0]

    one_more.__name__ = "contract_fma"
    old = pipeline.by_name("contract_fma")
    steps = tuple(Pass(one_more, p.source, p.target) if p is old else p for p in pipeline.PIPELINE)
    monkeypatch.setattr(pipeline, "PIPELINE", steps)
    code, _, err = run(capsys, "compile", place, "--target", "cpu", "--validate")
    assert code == FAILED
    assert "E711 the pass 'contract_fma' changes what 'relu' computes" in err
    assert "kernels/pointwise.py:" in err.splitlines()[0]


def test_compile_prints_what_a_target_executes(capsys, tmp_path) -> None:
    softmax, folder = "kernels/softmax.py:softmax", tmp_path / "softmax"
    code, out, _ = run(capsys, "compile", softmax, "--target", "sm_90", "--out", str(folder), "-e", "N=100", "--json")
    result = json.loads(out)["kernels"][0]
    assert code == OK
    assert "@triton.jit" in result["texts"]["source"]
    assert result["saved"] == str(folder)
    assert list(folder.glob("*/kernel.cubin"))
    code, out, _ = run(
        capsys, "compile", softmax, "--target", "cpu", "--print", "form_groups", "--print", "gpu", "--check"
    )
    assert code == OK
    assert "# softmax.softmax: form_groups\n" in out
    assert "kernel @softmax" in out
    code, _, err = run(capsys, "compile", softmax, "--target", "cpu", "--print", "gup")
    assert code == USAGE
    assert "did you mean 'gpu'" in err
    assert run(capsys, "compile", softmax, "--target", "sm_91")[0] == PROVIDER


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
    assert "own.py:7:12: E507 an invalid 'floordiv' is used" in out
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


def test_options_have_the_kind_of_their_default(capsys) -> None:
    compile = "compile", "kernels/pointwise.py:relu", "--target", "sm_90", "--print", "blocked"
    code, text, _ = run(capsys, *compile, "--option", "block_axes.sizes.n=64")
    assert code == OK
    assert "= physical 64\n" in text
    for wrong in ("block_axes.sizes=3", "order_programs.grouping=many", "block_axes.lanewise=3"):
        code, _, err = run(capsys, *compile, "--option", wrong)
        assert code != OK
        assert err.startswith("E006")
    assert run(capsys, *compile, "--option", "order_programs.grouping.n=3")[0] == USAGE


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("choose_launch.num_warps=3", "choose one of 0, 1, 2, 4, 8, 16, 32"),
        ("choose_launch.num_stages=-1", "choose a whole number from 0 to 8"),
        ("block_axes.sizes.n=-4", "choose a whole number from 1 to 1048576"),
        ("block_axes.sizes.n=many", "choose a whole number from 1 to 1048576"),
        ("form_groups.serial=never", "choose one of remark, error"),
        ("lower_to_triton.index_bits=16", "choose one of 32, 64"),
        ("order_programs.grouping=0", "choose a whole number from 1"),
        ("bind_class.bounds.N=-1", "choose a whole number from 0"),
        ("choose_plan.policy=never", "choose one of auto, directed"),
        ("spread_members.rows=0", "choose a whole number from 1"),
    ],
)
@pytest.mark.parametrize("target", ["cpu", "sm_90"])  # of which the one comes by fewer passes
def test_options_have_the_values_that_their_pass_takes(capsys, option: str, advice: str, target: str) -> None:
    code, _, err = run(capsys, "compile", "kernels/pointwise.py:relu", "--target", target, "--option", option)
    assert code == USAGE
    name, value = option.partition(".")[2].split("=")
    assert err.startswith(f"E006 the option '{name}' of the pass {option.partition('.')[0]} can't be ")
    assert value in err.partition("\n")[0]
    assert advice in err


def test_every_option_but_a_switch_says_what_values_it_takes() -> None:
    from intent_np.passes.pipeline import PIPELINE

    for step in PIPELINE:
        for key, default in step.options.items():
            free = isinstance(default, bool) or (step.name, key) == (
                "bind_class",
                "unit",
            )  # dimensions by view, or None
            assert free or key in step.allowed, f"{step.name}.{key}"
            assert isinstance(default, dict) or default in step.allowed.get(key, (default,))


def test_no_extent_is_negative(capsys) -> None:
    for command in (("compile", "--target", "cpu"), ("run",), ("check",), ("bisect",)):
        code, _, err = run(capsys, command[0], "kernels/pointwise.py:relu", *command[1:], "-e", "N=-1")
        assert code == USAGE
        assert "'N=-1': an extent is 0 or more" in err


def test_every_level_of_a_host_program_is_printed(capsys) -> None:
    place = "compile", "kernels/pointwise.py:relu", "--target", "cpu", "--print"
    for level in ("logical", "normal", "grouped", "blocked", "gpu"):
        code, text, _ = run(capsys, *place, level)
        assert code == OK
        assert "@relu" in text
    code, _, err = run(capsys, *place, "triton")
    assert code == USAGE
    assert "expected: logical, normal, grouped, blocked, gpu" in err
    assert "a GPU target, such as sm_90, has those behind gpu as well" in err


def test_bisect_gives_whole_numbers_to_scalars(capsys, tmp_path) -> None:
    file = tmp_path / "average.py"
    file.write_text(AVERAGE)
    code, text, _ = run(capsys, "bisect", f"{file}:average", "-e", "M=3", "-e", "N=9")
    assert code == OK, text


AVERAGE = """
import intent_np as intent
import intent_np.language as I


@intent.kernel
def average(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], a: I.f32):
    for row in I.parallel(I.domain(0, x.shape[0])):
        h: I.f32 = 0.0
        for t in I.domain(0, x.shape[1]):
            h = a * h + (1.0 - a) * x[row, t]
            y[row, t] = h
"""


PROMISED = """
import intent_np as intent
import intent_np.language as I


@intent.kernel
def picked(x: I.In[I.f32, ("M",)], at: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[I.assume_in_bounds(at[:], x)]
"""


def test_run_and_bisect_keep_what_a_kernel_is_promised(capsys, tmp_path) -> None:
    file = tmp_path / "promised.py"
    file.write_text(PROMISED)
    for command in ("run", "bisect"):
        code, _, err = run(capsys, command, f"{file}:picked", "-e", "M=3", "-e", "N=40")
        assert code == OK, err
        code, _, err = run(capsys, command, f"{file}:picked", "-e", "M=0", "-e", "N=40")
        assert code == USAGE
        assert "no arguments of these sizes keep what the kernel is promised" in err


def test_bisect_blames_arguments_without_meaning_and_no_pass(capsys, tmp_path) -> None:
    file = tmp_path / "promised.py"
    file.write_text(PROMISED)
    np.save(tmp_path / "at.npy", np.int32([0, 7]))
    code, text, err = run(capsys, "bisect", f"{file}:picked", "-e", "M=3", "--input", f"at={tmp_path / 'at.npy'}")
    assert (code, text) == (FAILED, "")
    assert "E510 'an index' is not in bounds, as was promised" in err


def test_bisect_allows_what_rounding_explains(capsys, tmp_path) -> None:
    file = tmp_path / "average.py"
    file.write_text(AVERAGE)
    code, text, _ = run(capsys, "bisect", f"{file}:average", "-e", "M=3", "-e", "N=40", "--values", "normal")
    assert code == OK, text
    assert "contract_fma" in text  # which rounds less often


def test_bisect_names_a_wrong_pass(capsys, monkeypatch) -> None:
    from intent_np.passes import pipeline
    from intent_np.passes.base import Pass
    from intent_np.terms.blocked import Loop
    from intent_np.terms.core import replace, rewrite

    place = "kernels/reductions.py:row_sum"
    code, text, _ = run(capsys, "bisect", place, "-e", "M=3", "-e", "N=40")
    assert code == OK
    assert "every pass keeps the results" in text

    def narrow_ranges(program):  # forgets the rest of each range
        first = lambda t: replace(t, segments=t.segments[:1]) if isinstance(t, Loop) else t  # noqa: E731
        return rewrite((old(program),), first)[0]

    old = pipeline.by_name("narrow_ranges")
    steps = tuple(Pass(narrow_ranges, p.source, p.target, p.needed) if p is old else p for p in pipeline.PIPELINE)
    monkeypatch.setattr(pipeline, "PIPELINE", steps)
    code, text, _ = run(capsys, "bisect", place, "-e", "M=3", "-e", "N=40", "--json")
    assert code == FAILED
    assert json.loads(text)["wrong"] == "narrow_ranges"
    assert run(capsys, "bisect", place, "--class", "other")[0] == USAGE


def test_compile_prints_plans_with_their_costs(capsys) -> None:
    code, out, _ = run(capsys, "compile", "kernels/norms.py:layer_norm", "--plans", "-e", "M=1024", "-e", "N=65536")
    assert code == OK
    assert "group of y\n*" in out
    assert "columns@1 columns@2 columns@3" in out
    assert "memory" in out
