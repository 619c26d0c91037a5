"""A build leaves a folder for each kernel, a manifest and a page; a bad kernel is told and stops nothing."""

import hashlib
import json
from pathlib import Path

import pytest

import intent_np as intent
from intent_np.cli import FAILED, OK, main
from intent_np.corpus.build import build, jobs, write_manifest
from intent_np.corpus.cases import entries
from intent_np.corpus.report import write_report
from intent_np.errors import LanguageUseError

BAD = """
import intent_np as intent
import intent_np.language as I

@intent.kernel
def wrong(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = z[:]

@intent.kernel
def right(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:] + 1.0
"""


def test_a_kernel_becomes_a_folder_of_readable_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    work = jobs(entries(["kernels/pointwise.py:relu"]), "sm_90", out, ("cpu",))
    records = list(build(work))
    manifest = write_manifest(records, "sm_90", out)
    assert manifest["summary"] == {"ok": 1}
    record = manifest["kernels"][0]
    folder = out / record["folder"]
    assert folder.name == "pointwise.relu"
    assert "generic" in record["variants"]
    assert {"logical.txt", "metadata.json"} <= set(record["files"])
    for variant in record["variants"]:
        assert {
            f"{variant}/{file}" for file in ("gpu.txt", "kernel.py", "kernel.ptx", "kernel.cubin", "metadata.json")
        } <= set(record["files"])
    for name, facts in record["files"].items():
        content = (folder / name).read_bytes()
        assert facts == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert [check["status"] for check in record["checks"]] == ["ok"]
    assert json.loads((out / "manifest.json").read_text()) == manifest
    assert intent.load(folder).target.name == "sm_90"
    page = write_report(manifest, out).read_text()
    assert "pointwise.relu" in page
    assert "@triton.jit" in page
    assert "http" not in page.replace("http-equiv", "")  # self-contained


def test_a_bad_kernel_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mixed.py"
    file.write_text(BAD)
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as stopped:
        main(["build", str(file), "--out", str(out)])
    assert stopped.value.code == FAILED
    text = capsys.readouterr().out
    assert "mixed.py:7:12: E101 unknown name 'z'" in text
    assert "1 failed, 1 ok" in text
    assert (out / "mixed.right" / "generic" / "kernel.cubin").exists()
    assert not (out / "mixed.wrong").exists()
    kernels = {kernel["kernel"]: kernel for kernel in json.loads((out / "manifest.json").read_text())["kernels"]}
    assert kernels["wrong"]["error"]["code"] == "E101"
    assert kernels["wrong"]["error"]["line"] == 7
    assert "E101" in (out / "index.html").read_text()


def test_a_file_that_cannot_be_read_stops_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "broken.py").write_text("x = (\n")
    (folder / "fine.py").write_text(BAD.partition("@intent.kernel\ndef right")[0].replace("z[:]", "x[:]"))
    records = list(build(jobs(entries([str(folder)], keep_going=True), "sm_90", tmp_path / "out")))
    found = {(record["module"], record["kernel"]): record for record in records}
    assert found["fine", "wrong"]["status"] == "ok"
    assert found["broken", "(file)"]["status"] == "failed"
    assert "E007" in found["broken", "(file)"]["text"]


def test_two_kernels_do_not_share_a_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.py").write_text(BAD)
    found = entries([str(tmp_path / "a"), str(tmp_path / "b")])
    with pytest.raises(LanguageUseError, match=r"two kernels are called same\.wrong, same\.right"):
        jobs(found, "sm_90", tmp_path / "out")


def test_the_json_of_build_is_its_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["build", "kernels/broadcast.py:transpose", "--out", str(tmp_path / "out"), "--json"])
    assert stopped.value.code == OK
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "out" / "manifest.json").read_text())
