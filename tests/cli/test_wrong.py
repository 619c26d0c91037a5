"""Commands as they go wrong: each is told as advice, with its exit code, and never as a defect of ours."""

import subprocess
import sys
from pathlib import Path

import pytest

from intent_np.cli import FAILED, OK, PROVIDER, USAGE, main

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
    "text.py": FUTURE + KERNEL.replace("I.In[I.f32", "I.In[I.f33"),
    "called.py": FUTURE + KERNEL.replace('I.In[I.f32, ("N",)]', 'I.In(I.f32, ("N",))'),
}
CPU = "--target", "cpu"

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
    (PROVIDER, "E602 the target 'sm_75' is not supported", ["build", "k.py", "--target", "sm_75", "-o", "out"]),
    (PROVIDER, "E602 the target 'nope' is not supported", ["verify", "k.py", "--machine", "nope"]),
    (USAGE, "--jobs", ["build", "k.py", "-j", "0"]),
    (USAGE, "E006 two kernels are called k.twice", ["build", "folder/a/k.py", "folder/b/k.py"]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wrong")
    for name, text in FILES.items():
        (place / name).write_text(text)
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
