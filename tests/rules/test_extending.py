"""The page about extending is executed: its files are written, its commands run, and print what it shows."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from intent_np import CompileOptions, compile
from intent_np.cli import main
from intent_np.corpus.cases import entries
from intent_np.errors import IntentError

PAGE = (Path(__file__).parents[2] / "specs" / "extending.md").read_text()
FILES = re.findall(r"```python file=(\S+)\n(.*?)```", PAGE, re.DOTALL)
CONSOLES = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside the project with the files of the page, and a cache of its own."""
    for name, text in FILES:
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def ran(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and what was printed."""
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command)[1:])
    told = capsys.readouterr()
    code = ended.value.code
    return (code if isinstance(code, int) else 0), told.out + told.err


def test_the_page(outside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for console in CONSOLES:
        expected: list[str] = []
        printed = ""
        for line in console.splitlines():
            if line.startswith("$ "):
                _, printed = ran(line[2:], capsys)
            else:
                expected = line.split()
                assert any(_begins(shown.split(), expected) for shown in printed.splitlines()), (line, printed)


def _begins(words: list[str], expected: list[str]) -> bool:
    rest = iter(words)
    return all(any(w.startswith(e) for w in rest) for e in expected)


def test_a_rule_from_outside_rewrites(outside: Path) -> None:
    (entry,) = entries(["toggle.py"])
    plain = compile(entry.kernel, "cpu").ir("gpu")
    ruled = compile(entry.kernel, "cpu", options=CompileOptions(rules=("my_rules.py",))).ir("gpu")
    assert plain.count("^") == 2
    assert ruled.count("^") == 0


def test_a_refuted_rule_is_refused(outside: Path) -> None:
    (entry,) = entries(["toggle.py"])
    with pytest.raises(IntentError, match="E804 the rule 'difference-of-itself' is wrong") as caught:
        compile(entry.kernel, "cpu", options=CompileOptions(rules=("wrong.py",)))
    assert "def rule_difference_of_itself" in caught.value.detail


def test_a_rule_is_left_out(outside: Path) -> None:
    (entry,) = entries(["toggle.py"])
    options = CompileOptions(rules=("my_rules.py",), without_rules=("xor-twice",))
    assert compile(entry.kernel, "cpu", options=options).ir("gpu").count("^") == 2
    with pytest.raises(IntentError, match="E801 there is no rule 'xor-thrice'"):
        compile(entry.kernel, "cpu", options=CompileOptions(without_rules=("xor-thrice",)))


BAD = {
    "x = 1": "no RULES",
    "RULES = ()": "empty",
    "RULES = [1]": "list",
    "1/0": "ZeroDivisionError",
    "RULES = (rule('r', m + n, k),)": "'k' is not on the left",
    "RULES = (rule('r', m, m),)": "its left side is no operation",
    "RULES = (rule('r', call('plus', m, n), m),)": "there is no operator 'plus'",
    "RULES = (rule('r', call('maximum', m), m),)": "'maximum' takes 2 operands, not 1",
    "RULES = (rule('r', structure('Transposed', m), m),)": "there is no term Transposed",
    "RULES = (rule('r', structure('Transpose', m), m),)": "has 2 fields",
    "RULES = (rule('r', structure('Transpose', m, n), computed('f', m)),)": "there is no function f",
    "RULES = (rule('mod-small', m + n, m),)": "E802 the rule 'mod-small' is declared twice",
}
HEAD = "from intent_np.rules.pattern import *\nm, n, k = integers('m n k')\n"


@pytest.mark.parametrize("text", BAD)
def test_bad_files_are_told(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.py"
    file.write_text(HEAD + text)
    code, printed = ran(f"intent-np rules list --rules {file}", capsys)
    placeless = text == "x = 1" or "E802" in BAD[text]  # nothing in the file is at fault alone
    assert code == (2 if placeless else 1)
    assert ("bad.py:3:" in printed) != placeless
    assert BAD[text] in printed
    assert "Traceback" not in printed


def test_a_missing_file_and_an_unknown_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no such file" in ran("intent-np rules list --rules nowhere.py", capsys)[1]
    assert "did you mean 'mod-small'" in ran("intent-np rules show mod-smal", capsys)[1]


def test_json(outside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, printed = ran("intent-np rules check mod-small --json", capsys)
    (row,) = json.loads(printed)["rules"]
    assert (row["name"], row["status"]) == ("mod-small", "proved-int")
    _, printed = ran("intent-np rules trace toggle.py --rules my_rules.py --json", capsys)
    rows = [r for r in json.loads(printed)["firings"] if r["rule"] == "xor-twice"]
    assert rows
    assert {r["line"] for r in rows} <= {9, 10}
    assert all(r["pass"] and r["before"].count("^") == 2 and "^" not in r["after"] for r in rows)
    _, printed = ran("intent-np rules ablate toggle.py --rules my_rules.py --rule xor-twice --json", capsys)
    (row,) = json.loads(printed)["kernels"]
    assert row["before"]["operations"] < row["after"]["operations"]
    assert row["lines"] > 0
