"""The command line: help, exit codes, JSON, and errors without tracebacks."""

import json

import pytest

from intent_np.cli import FAILED, OK, PROVIDER, USAGE, docs, doctor, exit_code, main
from intent_np.errors import IntentError, error

from .command import run


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
