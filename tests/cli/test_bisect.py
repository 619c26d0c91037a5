"""`intent-np bisect`: the pass that changes what a kernel computes, and no other."""

import json

import numpy as np

from intent_np.cli import FAILED, OK, USAGE

from .command import run


def test_bisect_gives_whole_numbers_to_scalars(capsys, tmp_path) -> None:
    file = tmp_path / "average.py"
    file.write_text(AVERAGE)
    code, text, _ = run(capsys, "bisect", f"{file}:average", "-e", "M=3", "-e", "N=9")
    assert code == OK, text


AVERAGE = """
import intent_np as intent
import intent_np.language as I


@intent.kernel
def average(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], a: I.f32):
    for row in I.parallel(I.domain(0, x.shape[0])):
        h: I.f32 = 0.0
        for t in I.domain(0, x.shape[1]):
            h = a * h + (1.0 - a) * x[row, t]
            y[row, t] = h
"""


PROMISED = """
import intent_np as intent
import intent_np.language as I


@intent.kernel
def picked(x: I.In[I.f32, ("M",)], at: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[I.assume_in_bounds(at[:], x)]
"""


def test_run_and_bisect_keep_what_a_kernel_is_promised(capsys, tmp_path) -> None:
    file = tmp_path / "promised.py"
    file.write_text(PROMISED)
    for command in ("run", "bisect"):
        code, _, err = run(capsys, command, f"{file}:picked", "-e", "M=3", "-e", "N=40")
        assert code == OK, err
        code, _, err = run(capsys, command, f"{file}:picked", "-e", "M=0", "-e", "N=40")
        assert code == USAGE
        assert "no arguments of these sizes keep what the kernel is promised" in err


def test_bisect_blames_arguments_without_meaning_and_no_pass(capsys, tmp_path) -> None:
    file = tmp_path / "promised.py"
    file.write_text(PROMISED)
    np.save(tmp_path / "at.npy", np.int32([0, 7]))
    code, text, err = run(capsys, "bisect", f"{file}:picked", "-e", "M=3", "--input", f"at={tmp_path / 'at.npy'}")
    assert (code, text) == (FAILED, "")
    assert "E510 'an index' is not in bounds, as was promised" in err


def test_bisect_allows_what_rounding_explains(capsys, tmp_path) -> None:
    file = tmp_path / "average.py"
    file.write_text(AVERAGE)
    code, text, _ = run(capsys, "bisect", f"{file}:average", "-e", "M=3", "-e", "N=40", "--values", "normal")
    assert code == OK, text
    assert "contract_fma" in text  # which rounds less often


def test_bisect_names_a_wrong_pass(capsys, monkeypatch) -> None:
    from intent_np.passes import pipeline
    from intent_np.passes.base import Pass
    from intent_np.terms.blocked import Loop
    from intent_np.terms.core import replace, rewrite

    place = "kernels/reductions.py:row_sum"
    code, text, _ = run(capsys, "bisect", place, "-e", "M=3", "-e", "N=40")
    assert code == OK
    assert "every pass keeps the results" in text

    def narrow_ranges(program):  # forgets the rest of each range
        first = lambda t: replace(t, segments=t.segments[:1]) if isinstance(t, Loop) else t  # noqa: E731
        return rewrite((old(program),), first)[0]

    old = pipeline.by_name("narrow_ranges")
    steps = tuple(Pass(narrow_ranges, p.source, p.target, p.needed) if p is old else p for p in pipeline.PIPELINE)
    monkeypatch.setattr(pipeline, "PIPELINE", steps)
    code, text, _ = run(capsys, "bisect", place, "-e", "M=3", "-e", "N=40", "--json")
    assert code == FAILED
    assert json.loads(text)["wrong"] == "narrow_ranges"
    assert run(capsys, "bisect", place, "--class", "other")[0] == USAGE
