"""Programs as newcomers get them wrong, and the one thing that each is told.

`wrong/*.txt` hold the programs.  A faulty line ends in `#! CODE title | beginning of the advice`; a program with two
such lines is told both.  What is not marked must not be said.
"""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.errors import IntentError
from intent_np.testing import check_kernel
from tests.sources import executed

MARK = re.compile(r" *#! (E\d+) (.*?) \| (.*)")
INTERNAL = re.compile(
    r"Traceback|<class|object at 0x|<operation|<function|NoneType|the result of|\bextent\d|Points\(|Annotation\("
    r"|\bneg\("
)


def programs() -> list[Any]:
    found = []
    for path in sorted((Path(__file__).parent / "wrong").glob("*.txt")):
        names = re.split(r"(?m)^== (\w+)\n", path.read_text())[1:]
        found += [
            pytest.param(text, id=f"{path.stem}-{name}") for name, text in zip(names[::2], names[1::2], strict=True)
        ]
    return found


def compiled(text: str) -> None:
    """Execute a program, and compile the kernel that it defines."""
    space = executed(text, space={"intent": intent, "I": I, "np": np, "math": math})
    kernel = space["Model"].kernel if "Model" in space else space.get("kernel")
    if kernel is not None:
        chosen = {p.name: p.type(1) for p in kernel.constexprs if p.default is p.REQUIRED}
        intent.compile(kernel, target="reference", constexprs=chosen)


@pytest.mark.parametrize("text", programs())
def test_a_wrong_program_is_told_what_is_wrong_where_and_what_to_do(text: str) -> None:
    lines = text.splitlines()
    marks = [(n, *m.groups()) for n, line in enumerate(lines, 1) for m in [MARK.search(line)] if m]
    assert marks
    with pytest.raises(IntentError) as caught:
        compiled("\n".join(MARK.sub("", line) for line in lines) + "\n")
    told = [
        (e.span and e.span.line, e.code, e.title, e.fix[: len(mark[3])])
        for e, mark in zip(caught.value.errors, marks, strict=False)
    ]
    assert told == marks, str(caught.value)
    assert len(caught.value.errors) == len(marks), str(caught.value)
    for e in caught.value.errors:
        assert e.why
        assert e.fix
        assert not INTERNAL.search(str(e)), str(e)


def test_there_are_many() -> None:
    assert len(programs()) >= 400


# ---- calls -------------------------------------------------------------------------------------------------------

CALLED = """
class Mode(I.Enum):
    PLAIN = 0

@intent.kernel
def scaled(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], s: I.f32, K: I.Constexpr[int] = 1):
    y[:, :] = x[:, :] * s * K

@intent.jit(target="reference")
def quick(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], s: I.f32, K: I.Constexpr[int] = 1):
    y[:, :] = x[:, :] * s * K

@intent.jit(target="reference")
def even(x: I.In[I.f32, ("2 * N",)], y: I.Out[I.f32, ("2 * N",)], m: I.Constexpr[Mode] = Mode.PLAIN):
    y[:] = x[:]

@intent.jit(target="reference")
def filled(y: I.Out[I.f32, ("N",)]):
    y[:] = 1.0

@intent.jit(target="reference")
def four(y: I.Out[I.f32, (4,)]):
    y[:] = 1.0

@intent.jit(target="reference")
def kept(at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    own = I.buffer((4,), I.f32, 0.0)
    for i in range(at.shape[0]):
        own[I.assume_in_bounds(at[i], own)] = 1.0
    y[:] = own[1]

@intent.jit(target="reference")
def moved(x: I.InOut[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:]
    x[:] = 0.0
"""
X = np.ones((2, 3), np.float32)
LONG = np.zeros(12, np.float32)
READ_ONLY = np.zeros((2, 3), np.float32)
READ_ONLY.flags.writeable = False
OVERLAPPING = np.lib.stride_tricks.as_strided(np.zeros(6, np.float32), (2, 3), (4, 4))
UNALIGNED = np.frombuffer(bytes(25), np.uint8)[1:].view(np.float32).reshape(2, 3)

# code, words, call
CALLS: list[tuple[str, str, str]] = [
    ("E402", "found:    float64", "scaled(X.astype(np.float64), Y, 2.0)"),
    ("E402", "found:    complex64", "scaled(X.astype(np.complex64), Y, 2.0)"),
    ("E402", "found:    >f4", "scaled(X.astype('>f4'), Y, 2.0)"),
    ("E403", "rank 1, shape (3,)", "scaled(X[0], Y, 2.0)"),
    ("E404", "M = 2, from axis 0 of x", "scaled(X, np.zeros((3, 3), np.float32), 2.0)"),
    ("E404", "2 * N, for some N", "even(LONG[:5], LONG[5:10])"),
    ("E404", "2 * N, for some N", "even.run(LONG[:5])"),
    ("E406", "a read-only numpy array", "scaled(X, READ_ONLY, 2.0)"),
    ("E409", "found:    list", "scaled([[1.0]], Y, 2.0)"),
    ("E409", "found:    NoneType", "scaled(None, Y, 2.0)"),
    ("E401", "takes 3 arguments, not 2", "scaled(X, Y)"),
    ("E401", "takes 3 arguments, not 4", "scaled(X, Y, 2.0, 3)"),
    ("E401", "found:    s by name", "scaled(X, Y, s=2.0)"),
    ("E401", "takes 2 arguments, not 3", "scaled.run(X, Y, 2.0)"),
    ("E401", "found:    y by name", "scaled.run(X, 2.0, y=Y)"),
    ("E401", "found:    x, s by name", "scaled.run(x=X, s=2.0)"),
    ("E006", "did you mean 'check'?", "intent.CompileOptions(chek=True)"),
    ("E006", "choose one of numerics, disable", "intent.CompileOptions(device='gpu')"),
    ("E006", "write disable=('block_axes',)", "intent.CompileOptions(disable='block_axes')"),
    ("E006", "is a mapping, not", "intent.CompileOptions(passes=('block_axes',))"),
    ("E006", "is a bool, not 'yes'", "intent.CompileOptions(check='yes')"),
    ("E006", "the extent M can't be -1", "intent.compile(KERNEL, target='cpu', examples=[{'M': -1, 'N': 3}])"),
    ("E401", "'scale', which is no parameter", "quick(X, Y, scale=2.0)"),
    ("E401", "'x' twice", "quick(X, Y, 2.0, x=X)"),
    ("E401", "no 'y', 's'", "quick(X)"),
    ("E410", "the extents are M, N", "scaled.run(X, 2.0, extents={'Q': 3})"),
    ("E411", "'two' (str)", "scaled(X, Y, 'two')"),
    ("E411", "1e+300 (float)", "scaled(X, Y, 1e300)"),
    ("E411", "True (bool)", "scaled(X, Y, True)"),
    ("E111", "1.5, a float", "quick(X, Y, 2.0, K=1.5)"),
    ("E111", "True, a bool", "quick(X, Y, 2.0, K=True)"),
    ("E111", "a value of type Mode", "even(LONG[:4], LONG[4:8], m=0)"),
    ("E109", "expected: K", "intent.compile(KERNEL, target='reference', constexprs={'k': 1})"),
    ("E413", "address", "scaled(UNALIGNED, Y, 2.0)"),
    ("E414", "strides (4, 4) bytes", "scaled(X, OVERLAPPING, 2.0)"),
    ("E415", "are both written and overlap", "moved(LONG[:8], LONG[4:])"),
    ("E602", "did you mean 'cpu'?", "intent.compile(KERNEL, target='gpu')"),
    ("E006", "not 3", "intent.load(3)"),
    ("E006", "not None", "intent.compile(KERNEL, target='reference').save(None)"),
    ("E006", 'constexprs={"BLOCK": 64}', "intent.compile(KERNEL, target='reference', constexprs=3)"),
    ("E401", "no 'y', 's'", "quick.prepare(X)"),
    ("E005", "no kernel", "intent.compile(None)"),
    ("E005", "'softmax' is no kernel", "intent.compile('softmax')"),
    ("E006", "did you mean 'target'?", "intent.compile(KERNEL, tgt='cpu')"),
    ("E006", "did you mean 'target'?", "intent.jit(tgt='cpu')"),
    ("E006", "CompileOptions(check=True)", "intent.compile(KERNEL, target='cpu', options={'check': True})"),
    ("E006", "write passes={'block_axes'", "intent.CompileOptions(passes={'block_axes': 3})"),
    ("E006", "name what it is: @intent.jit(target='cpu')", "intent.jit('cpu')"),
    ("E703", "'nope'", "intent.compile(KERNEL, target='reference', options=intent.CompileOptions(disable=('nope',)))"),
    ("E401", "takes arguments x, y, s by name, not z", "check_kernel(KERNEL, {'x': X, 'y': Y, 's': 1.0, 'z': 3})"),
    ("E401", "takes arguments x, y, s by name, not a tuple", "check_kernel(KERNEL, (X, Y, 1.0))"),
    ("E502", "an access to 'own' is outside", "kept(np.int32([1, 9]), Y[0, :2])"),
    ("E401", "by position, not X by name", "scaled(X=X)"),
    ("E401", "choose K where it is compiled", "scaled(X, Y, 2.0, K=2)"),
    ("E401", "choose K where it is compiled", "scaled(X, Y, 2.0, 2)"),
    ("E401", "takes 3 arguments by position", "intent.compile(KERNEL, target='sm_90')(X, Y, 2.0, K=2)"),
    ("E401", "all by position", "intent.compile(KERNEL, target='sm_90').prepare(X, out=Y)"),
    ("E401", "all by position", "scaled.prepare(X, out=Y)"),
    ("E409", "a masked array", "scaled(np.ma.masked_array(X, mask=X > 0), Y, 2.0)"),
    ("E411", "s.item()", "scaled(X, Y, np.array(2.0))"),
    ("E411", "a float, or an int that f32 holds exactly", "scaled(X, Y, 2**60 + 1)"),
    ("E410", "a whole number of 0 or more", "filled.run(extents={'N': -1})"),
    ("E410", "a whole number of 0 or more", "filled.run(extents={'N': 2.5})"),
    ("E410", "a whole number of 0 or more", "filled.run(extents={'N': 10**30})"),
    ("E006", "extents is a mapping, not 3", "filled.run(extents=3)"),
    ("E419", "shape (4611686018427387904,)", "filled.run(extents={'N': 2**62})"),
    ("E412", "leave N out of extents", "quick.run(X, 2.0, extents={'N': 4})"),
    ("E404", "expected: 4\n", "four(LONG)"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "words", "call"), CALLS, ids=lambda v: v if str(v)[0] == "E" else "")
def test_a_wrong_call_is_told_before_anything_is_written(code: str, words: str, call: str) -> None:
    space = executed(CALLED)
    space |= {"KERNEL": space["scaled"], "scaled": intent.compile(space["scaled"], target="reference"), "np": np}
    space |= {"check_kernel": check_kernel}
    y = np.zeros((2, 3), np.float32)
    space |= {"X": X, "Y": y, "LONG": LONG, "READ_ONLY": READ_ONLY, "OVERLAPPING": OVERLAPPING, "UNALIGNED": UNALIGNED}
    with pytest.raises(IntentError) as caught:
        eval(call, space)
    (e,) = caught.value.errors
    assert e.code == code, str(e)
    assert words in str(e), str(e)
    assert e.fix
    assert not y.any()


def test_text_that_nothing_keeps_is_told_how_to_be_kept() -> None:
    space: dict[str, Any] = {"intent": intent, "I": I}
    exec("@intent.kernel\ndef k(y: I.Out[I.f32, (1,)]):\n    y[0] = 1.0\n", space)
    with pytest.raises(intent.LanguageUseError) as caught:
        intent.compile(space["k"], target="reference")
    assert caught.value.code == "E003"
    assert "linecache" in str(caught.value)


# ---- the command line --------------------------------------------------------------------------------------------

COMMANDS = [
    ("E007", ["compile", "nothing.py:k"]),
    ("broken.py:1:", ["compile", "broken.py:k"]),
    ("E008", ["compile", "good.py:kernal"]),
    ("E602", ["compile", "good.py:kernel", "--target", "gpuu"]),
]


@pytest.mark.parametrize(("code", "arguments"), COMMANDS)
def test_the_command_line_tells_without_a_traceback(code, arguments, tmp_path, monkeypatch, capsys) -> None:
    from intent_np.cli import main

    monkeypatch.chdir(tmp_path)
    good = "import intent_np as intent\nimport intent_np.language as I\n\n@intent.kernel\n"
    good += "def kernel(y: I.Out[I.f32, ('N',)]):\n    y[:] = 1.0\n"
    (tmp_path / "good.py").write_text(good)
    (tmp_path / "broken.py").write_text("def k(:\n")
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code
    said = "".join(capsys.readouterr())
    assert code in said, said
    assert "Traceback" not in said
