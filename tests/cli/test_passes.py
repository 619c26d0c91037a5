"""Passes on the command line: listed, timed, run alone on text, left out, and with options."""

import json

import pytest

from intent_np.cli import FAILED, OK, USAGE

from .command import run

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


def test_passes_are_timed_on_kernels(capsys) -> None:
    code, out, _ = run(capsys, "passes", "kernels/pointwise.py:relu", "--json")
    assert code == OK
    assert all(row["ms"] >= 0 for row in json.loads(out)["passes"])


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
