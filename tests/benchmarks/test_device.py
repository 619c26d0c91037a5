"""The device run reports whatever becomes of its items."""

import json

from benchmarks import device
from benchmarks.work import LARGE, items


def test_items_are_chosen_by_section_and_kernel():
    assert items(["check"], ["broadcast"])[:2] == ["check:bias_relu", "check:outer_add_mask"]
    chosen = items(["large", "overhead"], ["relu"])
    assert [LARGE[int(item[6:])].case for item in chosen[:-1]] == ["relu"]
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
    text = device._tables(
        {
            "check:relu": {"ok": True, "calls": 33, "max_error": 0.0, "max_ratio": 0.0},
            "check:softmax": {"ok": False, "text": "2 of 33 calls wrong"},
            "large:0": {"ok": True, "max_error": 1e-3, "max_ratio": 0.5},
            "overhead": {"ok": True, "direct_us": 6.04, "prepared_us": 2.5},
        }
    )
    assert "| relu    | 33    | 0         | 0            |" in text
    assert "2 of 33 calls wrong" in text
    assert "| relu   | 8192x8192 | 0.001     | 0.5          |" in text
    assert "direct 6.0 us, prepared 2.5 us" in text
