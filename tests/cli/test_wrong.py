"""Commands as they go wrong: each is told as advice, with its exit code, and never as a defect of ours."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from intent_np.cli import FAILED, OK, USAGE, main

KERNEL = """import intent_np as intent
import intent_np.language as I


@intent.kernel
def twice(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:] * 2.0
"""
FUTURE = "from __future__ import annotations\n"
FILES = {
    "k.py": KERNEL,
    "ünï cödé.py": KERNEL,
    "empty.py": "",
    "syntax.py": "def k(:\n",
    "missing.py": "import nothing_there\n",
    "exits.py": "raise SystemExit(3)\n",
    "nul.py": "x = 1\0\n",
    "number.py": "CASES = 3\n",
    "numbers.py": "CASES = [42]\n",
    "x.npy": "no array",
    "scaled.py": KERNEL.replace(")]):", ")], K: I.Constexpr[int]):"),
    "text.py": FUTURE + KERNEL.replace("I.In[I.f32", "I.In[I.f33"),
    "called.py": FUTURE + KERNEL.replace('I.In[I.f32, ("N",)]', 'I.In(I.f32, ("N",))'),
}
CPU = "--target", "cpu"
FUZZ = (
    ("--seed", "-1"),
    ("--count", "0"),
    ("--minutes", "-1"),
    ("--calls", "0"),
    ("--limit", "-1"),
    ("--attempts", "-1"),
)

COMMANDS = [
    (USAGE, "there is no such file or folder", ["compile", "nothere.py"]),
    (USAGE, "E008 'empty.py' has no kernel\n", ["compile", "empty.py"]),
    (USAGE, "E008 'folder' has no kernel\n", ["check", "folder"]),
    (USAGE, "E008 'k.py' has no kernel 'a:b'", ["compile", "k.py:a:b"]),
    (FAILED, "syntax.py:1:7: E007", ["compile", "syntax.py"]),
    (FAILED, "missing.py:1:1: E007 'missing.py' cannot be loaded: ModuleNotFoundError", ["compile", "missing.py"]),
    (FAILED, "exits.py:1:1: E007 'exits.py' cannot be loaded: SystemExit: 3", ["compile", "exits.py"]),
    (USAGE, "E007 'nul.py' cannot be loaded: ", ["compile", "nul.py"]),
    (USAGE, "E007 'x.npy' cannot be loaded: it is no Python file", ["compile", "x.npy"]),
    (USAGE, "CASES is a list of intent_np.testing.Case, and 3 is none", ["compile", "number.py"]),
    (USAGE, "CASES is a list of intent_np.testing.Case, and 42 is none", ["check", "numbers.py"]),
    (FAILED, "text.py:7:14: E002 the language has no I.f33", ["compile", "text.py", *CPU]),
    (FAILED, "called.py:7:14: E125 In in an annotation", ["compile", "called.py", *CPU]),
    (OK, "kernel @twice", ["compile", "ünï cödé.py", *CPU]),
    (USAGE, "E010 'k.py/saved' cannot be read or written: ", ["compile", "k.py", *CPU, "-o", "k.py/saved/a"]),
    (USAGE, "E010 'no/o.npz'", ["run", "k.py", "-e", "N=3", *CPU, "-o", "no/o.npz"]),
    (USAGE, "E010 'k.py' cannot be read or written: File exists", ["build", "k.py", "-o", "k.py"]),
    (USAGE, "only the program behind it is printed", ["compile", "k.py", "--stop-after", "emit", "--print", "gpu"]),
    (USAGE, "no shape has Q", ["compile", "k.py", *CPU, "-e", "Q=3"]),
    (USAGE, "no shape has Q", ["check", "k.py", "-e", "Q=3"]),
    (USAGE, "no shape has Q", ["run", "k.py", *CPU, "-e", "Q=3"]),
    (USAGE, "Unable to allocate", ["run", "k.py", *CPU, "-e", f"N={10**15}"]),
    (USAGE, "--seed", ["run", "k.py", *CPU, "-e", "N=3", "--seed", "-1"]),
    (USAGE, "--seed", ["bisect", "k.py", "-e", "N=3", "--seed", "-1"]),
    (USAGE, "no .npy file of numbers", ["run", "k.py", *CPU, "-e", "N=3", "--input", "x=x.npy"]),
    (USAGE, "E602 the target 'sm_75' is not supported", ["build", "k.py", "--target", "sm_75", "-o", "out"]),
    (USAGE, "E602 the target 'nope' is not supported", ["verify", "k.py", "--machine", "nope"]),
    (USAGE, "--jobs", ["build", "k.py", "-j", "0"]),
    (USAGE, "'N' is given twice", ["run", "k.py", *CPU, "-e", "N=3", "-e", "N=4"]),
    (USAGE, "the size of N is not known: give --extent N=SIZE", ["run", "k.py", *CPU]),
    (USAGE, "N=5, but the arrays given say N = 3", ["run", "k.py", *CPU, "-e", "N=5", "--input", "x=three.npy"]),
    (USAGE, "'x.npy' is no .npy file of numbers", ["run", "k.py", *CPU, "--input", "x=x.npy"]),
    (USAGE, "E010 'nothing.npy' cannot be read", ["run", "k.py", *CPU, "--input", "x=nothing.npy"]),
    (USAGE, "E010 'nothing.gpu' cannot be read", ["opt", "nothing.gpu"]),
    (USAGE, "no parameter q", ["run", "k.py", *CPU, "--input", "q=three.npy"]),
    (USAGE, "a constexpr: --constexpr K=VALUE", ["run", "scaled.py", *CPU, "-c", "K=2", "--input", "K=3"]),
    (FAILED, "E110 constexpr 'K' has no value", ["check", "scaled.py"]),
    (FAILED, "E110 constexpr 'K' has no value", ["run", "scaled.py", *CPU, "-e", "N=3"]),
    (FAILED, "'k.py' is no artifact that this version can load", ["compile", "k.py", *CPU, "-o", "k.py"]),
    (USAGE, "only the plans are printed", ["compile", "k.py", "--plans", "--print", "gpu"]),
    (USAGE, "name one of its axes: n", ["compile", "k.py", *CPU, "--option", "block_axes.sizes.nope=32"]),
    *((USAGE, f"'{o}'", ["fuzz", o, v]) for o, v in FUZZ),
    (USAGE, "is no function as MODULE:FUNCTION", ["fuzz", "--generator", "os:nothing"]),
    (USAGE, "'nowhere:f' cannot be imported", ["fuzz", "--generator", "nowhere:f"]),
    (USAGE, "E006 two kernels are called k.twice", ["build", "folder/a/k.py", "folder/b/k.py"]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wrong")
    for name, text in FILES.items():
        (place / name).write_text(text)
    np.save(place / "three.npy", np.zeros(3, np.float32))
    for name in ("a", "b"):
        (place / "folder" / name).mkdir(parents=True)
        (place / "folder" / name / "k.py").write_text(KERNEL)
    return place


@pytest.mark.parametrize(("code", "words", "arguments"), COMMANDS)
def test_a_wrong_command_is_told(code, words, arguments, folder, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    said = out + err
    assert words in said, said
    assert ended.value.code == code
    assert "Traceback" not in said
    assert "E901" not in said


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("No such option: --nope", ["run", "k.py", "--nope", "--json"]),
        ("Missing argument", ["check", "--json"]),
        ("--seed", ["run", "k.py", "--seed", "x", "--json"]),
        ("N=-1", ["run", "k.py", *CPU, "--json", "-e", "N=-1"]),
    ],
)
def test_a_program_is_told_of_a_wrong_command_line_in_json(words, arguments, folder, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    told = json.loads(out)["error"]
    assert (ended.value.code, told["code"], err) == (USAGE, "E011", "")
    assert words in told["title"]
    assert told["fix"] == f"see intent-np {arguments[0]} --help"


def test_with_json_a_failed_check_keeps_its_exit_code(folder, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    outside = KERNEL.replace("x[:] * 2.0", "x[:]").replace(
        "    y[:]", "    y[I.assume_in_bounds(-1, y)] = 0.0\n    y[:]"
    )
    (folder / "outside.py").write_text(outside)
    with pytest.raises(SystemExit) as ended:
        main(["check", "outside.py", "-e", "N=3", "--json"])
    out, _ = capsys.readouterr()
    assert (ended.value.code, json.loads(out)["kernels"][0]["status"]) == (FAILED, "failed")


def test_outputs_go_to_the_file_that_is_named(folder, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main(["run", "k.py", *CPU, "-e", "N=3", "-o", "outputs.bin"])
    assert ended.value.code == OK
    assert np.load("outputs.bin")["y"].shape == (3,)
    assert not Path("outputs.bin.npz").exists()


def test_one_bad_file_never_stops_the_rest(folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    bad = ["syntax.py", "missing.py", "exits.py", "nul.py", "number.py", "text.py"]
    with pytest.raises(SystemExit) as ended:
        main(["build", *bad, "k.py", *CPU, "-o", "several"])
    assert ended.value.code == FAILED
    out, _ = capsys.readouterr()
    assert "1 ok" in out
    assert "6 failed" in out
    assert "Traceback" not in out


def test_files_called_as_modules_of_python_do_no_harm(tmp_path: Path) -> None:
    for name in ("select.py", "socket.py", "random.py"):
        (tmp_path / name).write_text(KERNEL)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "intent-np").write_text(
        "from intent_np.cli import main\n\nif __name__ == '__main__':\n    main()\n"
    )
    command = [sys.executable, str(tmp_path / "bin" / "intent-np"), "build", "select.py", *CPU]
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [*command, "-o", "out"], cwd=tmp_path, env={"PYTHONPATH": str(root)}, capture_output=True, text=True
    )
    assert ended.returncode == OK, ended.stdout + ended.stderr
    assert "1 ok" in ended.stdout
