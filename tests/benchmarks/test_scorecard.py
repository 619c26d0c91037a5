"""The scorecard's lines name what exists, and its summary says what was measured."""

import ast
import json
from pathlib import Path

import pytest

import kernels
from benchmarks import scorecard, supervise
from benchmarks.cases import CASES, visible
from benchmarks.ranking import ratio, report
from benchmarks.rows import SCORECARD, Row
from intent_np.testing import arguments, check

FOLDER = Path(__file__).parents[2] / "benchmarks"


def test_lines_are_cases_at_their_large_sizes():
    listed = {(row.case, tuple(row.extents.items())) for row in SCORECARD}
    assert listed == {(case.name, tuple(size.items())) for case in CASES for size in case.large}
    assert len({row.title for row in SCORECARD}) == len(SCORECARD)


def test_every_large_size_of_the_corpus_is_a_line():
    listed = {(row.case, tuple(row.extents.items())) for row in SCORECARD}
    assert {(case.name, tuple(size.items())) for case in kernels.cases() for size in case.large} <= listed


def _defined(path):
    """Names at the top of a module, which may need a GPU to be imported."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def test_peers_exist():
    torch = set(_defined(FOLDER / "peers_torch.py"))
    for row in SCORECARD:
        assert {name for name in (row.torch, *row.others.values()) if name} <= torch
        if row.triton:
            module, _, function = row.triton.partition(".")
            assert function in _defined(FOLDER / "peers_triton" / f"{module}.py")
        assert row.torch or row.triton or not row.ranked


OWN = [case for case in CASES if case.name not in {one.name for one in kernels.cases()} and len(case.small) < 6]


@pytest.mark.parametrize("case", OWN, ids=repr)
def test_kernels_of_its_own_agree_with_their_oracles(case):
    import intent_np

    if case.kernel.name == "cumsum_composed":
        case.kernel(*(given := arguments(case, {"P": 3}, seed=1)).values(), **case.constexprs)
        assert abs(given["y"] - given["x"].astype("f8").cumsum()).max() < 0.1
        return
    options = intent_np.CompileOptions(**case.options)
    launch = intent_np.compile(case.kernel, "reference", constexprs=dict(case.constexprs), options=options)
    for extents in case.small:
        for kind in case.values:
            report = check(case, launch, extents, values=kind)
            assert report, (dict(extents), kind, str(report))


def test_a_window_is_seen_by_as_many_queries_as_there_are():
    assert visible(4096) == pytest.approx(0.5, rel=1e-3)
    assert visible(1, 4) == 4 / 16
    assert visible(2, 4) == 7 / 16


def _record(ours, **peers):
    return {"ok": True, "ms": {"ours": ours, **peers}, "tb_per_s": 1.0, "tflop_per_s": 2.0, "title": "", "case": ""}


def test_the_ratio_is_to_the_best_peer():
    assert ratio(_record(3.0, torch=6.0, triton=2.0)) == 1.5
    assert ratio(_record(3.0)) is None
    assert ratio({"ok": False}) is None


def test_means_leave_out_our_two_best_and_the_worst_are_named():
    titles = [row.title for row in SCORECARD if row.ranked][:6]
    ours = dict(zip(titles, (0.1, 0.2, 1.0, 1.0, 1.0, 8.0), strict=True))
    text = report({title: _record(ms, torch=1.0) for title, ms in ours.items()})
    assert "6 rows: geometric mean 1.682 without our 2 best, median 1.000, most 8.00" in text
    assert f"The worst:\n* {titles[5]}: 8.00." in text
    assert "| torch |" in text


def test_shapes_are_compared_and_missing_peers_told():
    half = {**_record(0.6), "case": "attention_causal_relaxed"}
    whole = {**_record(1.0), "case": "attention_relaxed", "absent": {"flash": "RuntimeError: none"}, "title": "whole"}
    rows = {row.case: row.title for row in SCORECARD}
    text = report({rows["attention_causal_relaxed"]: half, rows["attention_relaxed"]: whole})
    assert "| attention_causal_relaxed | attention_relaxed | 0.500             | 0.600" in text
    assert "* whole, flash: RuntimeError: none" in text


def test_a_run_without_a_gpu_says_so_for_each_line(tmp_path, monkeypatch, capfd):
    asked = ["--only", "relu", "--jobs", "0"]
    monkeypatch.setattr("sys.argv", ["scorecard", "--artifacts", str(tmp_path), "--out", str(tmp_path), *asked])
    assert scorecard.main() == 1
    (record,) = json.loads((tmp_path / "scorecard.json").read_text()).values()
    assert record["text"]
    assert "relu f16 8192x8192" in capfd.readouterr().out


@pytest.mark.parametrize("status", [supervise.GPU_LOST, 0, 9])
def test_only_an_item_that_kills_its_process_is_blamed(status, monkeypatch):
    done = []

    def child(command, journal, deadline, hang):
        first = command[command.index("--") + 1]
        done.append(first)
        if status != 9 or first != "b":
            journal.write_text(json.dumps([first, {"ok": True}]) + "\n")
        return "the process ended with status 9" if status == 9 and first == "b" else ""

    monkeypatch.setattr(supervise, "_run_child", child)
    records = supervise.supervise(["module"], ["a", "b", "c"], 1e18, 1.0)
    assert done == ["a", "b", "c"]
    assert [r["ok"] for r in records.values()] == [True, status != 9, True]


def test_rows_are_ranked_unless_said_otherwise():
    assert Row("t", "c", {}).ranked
