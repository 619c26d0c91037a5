"""The scorecard names sizes that the corpus has, and the device run reports whatever becomes of its items."""

import json

import pytest

import kernels
from benchmarks import device
from benchmarks.peers import SCORECARD
from benchmarks.work import Settings, items


def test_every_large_size_of_the_corpus_is_a_row_and_the_reverse():
    listed = {(row.case, tuple(row.extents.items())) for row in SCORECARD}
    assert listed == {(case.name, tuple(size.items())) for case in kernels.cases() for size in case.large}
    assert len({row.title for row in SCORECARD}) == len(SCORECARD)
    assert all(next(iter(row.peers)) == "torch" for row in SCORECARD)


def test_items_are_chosen_by_section_and_kernel(tmp_path):
    settings = Settings(tmp_path)
    assert items(["check"], ["broadcast"], settings)[:2] == ["check:bias_relu", "check:outer_add_mask"]
    chosen = items(["time", "overhead"], ["relu"], settings)
    assert [SCORECARD[int(item[5:])].case for item in chosen[:-1]] == ["relu"]
    assert chosen[-1] == "overhead"


def test_a_run_without_artifacts_says_so_for_each_item(tmp_path, monkeypatch, capfd):
    only = ["--only", "softmax_relaxed", "relu", "--sections", "check"]
    monkeypatch.setattr("sys.argv", ["device", "--artifacts", str(tmp_path), "--out", str(tmp_path), *only])
    assert device.main() == 1
    records = json.loads((tmp_path / "device.json").read_text())
    assert sorted(records) == ["check:relu", "check:softmax_relaxed"]
    assert all(f"no artifact of {name[6:]}" in record["text"] for name, record in records.items())
    assert "no artifact of softmax_relaxed" in capfd.readouterr().out


def test_tables_show_what_was_measured():
    time = {
        "ok": True, "ms": {"ours": 0.07, "torch": 0.1, "flash": 0.2}, "ratio": 0.7, "tb_per_s": 3.8, "tflop_per_s": 1.0,
    }  # fmt: skip
    text = device._tables(
        {
            "check:relu": {"ok": True, "calls": 33, "max_error": 0.0, "max_ratio": 0.0},
            "check:softmax": {"ok": False, "text": "2 of 33 calls wrong"},
            "large:0": {"ok": True, "max_error": 1e-3, "max_ratio": 0.5},
            "time:0": time,
            "overhead": {"ok": True, "direct_us": 6.04, "prepared_us": 2.5},
        }
    )
    assert "| relu    | 33    | 0         | 0            |" in text
    assert "2 of 33 calls wrong" in text
    assert "| relu f16 8192x8192 | 0.07    | 0.1      | 0.70       | flash 0.200 |" in text
    assert "direct 6.0 us, prepared 2.5 us" in text


@pytest.mark.parametrize("status", [device.GPU_LOST, 0, 9])
def test_only_an_item_that_kills_its_process_is_blamed(status, tmp_path, monkeypatch):
    class Options:
        artifacts, rounds, repeats = tmp_path, 1, 1

    done = []

    def child(pending, options, journal, deadline):
        first = pending[0]
        done.append(first)
        if status != 9 or first != "b":
            journal.write_text(json.dumps([first, {"ok": True}]) + "\n")
        return "the process ended with status 9" if status == 9 and first == "b" else ""

    monkeypatch.setattr(device, "_run_child", child)
    records = device._supervise(["a", "b", "c"], Options, 1e18)
    assert done == ["a", "b", "c"]
    assert [r["ok"] for r in records.values()] == [True, status != 9, True]
