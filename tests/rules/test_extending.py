"""The page about extending is executed: its files are written, its commands run, and print what it shows."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
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


def outside_the_project() -> dict[str, str]:
    """The environment, in which the package is found from any folder."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def ran(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and what was printed."""
    program, *rest = shlex.split(command)
    if program == "python":
        done = subprocess.run([sys.executable, *rest], capture_output=True, text=True, env=outside_the_project())
        return done.returncode, done.stdout + done.stderr
    with pytest.raises(SystemExit) as ended:
        main(rest)
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


OVER_SHAPES = """
from intent_np.rules.pattern import attributes, rule, structure, tensors

v, p = tensors("v"), attributes("p")

RULES = (rule("any-permutation", structure("Transpose", v, p), v),)
"""


WRONG = {
    "difference-of-itself": "wrong.py",
    "load-anyway": "wrong_terms.py",
    "any-permutation": "wrong_shapes.py",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_refutes_a_rule_is_saved_and_runs(name: str, outside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over scalars a kernel that prints both sides in one line; over terms of either language, one line for each."""
    (outside / "wrong_shapes.py").write_text(OVER_SHAPES)
    code, printed = ran(f"intent-np rules check {name} --rules {WRONG[name]} --out refuted", capsys)
    assert code == 1
    (saved,) = (outside / "refuted").iterdir()
    assert f"# {name} is refuted\n{saved.read_text()}" in printed
    code, sides = ran(f"python refuted/{name}.py", capsys)
    assert code == 0, sides
    before, after = sides.split() if WRONG[name] == "wrong.py" else sides.splitlines()
    assert before != after


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


def test_a_pass_from_outside_runs_where_it_says(outside: Path) -> None:
    (entry,) = entries(["lengths.py"])
    plain = compile(entry.kernel, "cpu")
    more = compile(entry.kernel, "cpu", options=CompileOptions(more_passes=("my_passes.py",)))
    assert "rsqrt" not in plain.ir("gpu")
    assert "rsqrt" in more.ir("gpu")
    options = CompileOptions(more_passes=("my_passes.py",), passes={"root_by_reciprocal": {"enough": 0}})
    assert compile(entry.kernel, "cpu", options=options).ir("gpu") == plain.ir("gpu")
    left_out = CompileOptions(more_passes=("my_passes.py",), disable=("root_by_reciprocal",))
    assert compile(entry.kernel, "cpu", options=left_out).ir("gpu") == plain.ir("gpu")
    x, y, z = np.float32([3, 5]), np.float32([4, 12]), np.zeros(2, np.float32)
    more(x, y, z)
    np.testing.assert_allclose(z, [5, 13], rtol=1e-6)


PASS = """
from intent_np.extending import nanopass
from intent_np.terms.core import replace
from intent_np.terms.gpu import GPU
from intent_np.terms.blocked import BLOCKED

@nanopass({languages}, after="{after}")
def mine(program):
    return {result}

PASSES = (mine,)
"""
PLACES = {
    "no such pass": ("GPU, GPU", "contract_fmas", "program", "E807", "after='contract_fmas'"),
    "another language": ("BLOCKED, BLOCKED", "contract_fma", "program", "E807", "which gives gpu"),
    "leads elsewhere": ("BLOCKED, GPU", "order_programs", "program", "E807", "from blocked to gpu"),
    "wrong result": (
        "GPU, GPU",
        "contract_fma",
        "replace(program, coordinates=())",
        "E702",
        "used before it is defined",
    ),
}


@pytest.mark.parametrize("case", PLACES)
def test_a_wrong_pass_is_refused(case: str, outside: Path) -> None:
    languages, after, result, code, told = PLACES[case]
    (outside / "mine.py").write_text(PASS.format(languages=languages, after=after, result=result))
    (entry,) = entries(["lengths.py"])
    with pytest.raises(IntentError) as caught:
        compile(entry.kernel, "cpu", options=CompileOptions(more_passes=("mine.py",)))
    assert caught.value.code == code
    assert told in str(caught.value)


def test_an_operation_from_outside_is_called_by_its_name(outside: Path) -> None:
    (outside / "wrong_call.py").write_text((outside / "lengths.py").read_text().replace(", y[:])", ")"))
    (entry,) = entries(["wrong_call.py"])
    with pytest.raises(IntentError, match="E113") as caught:
        compile(entry.kernel, "cpu")
    assert "hypot(a, b)" in str(caught.value)
    assert "I.hypot" not in str(caught.value)
