"""What ptxas compiles wrongly of 16-bit integers does not reach it."""

import re
from pathlib import Path

from intent_np.backends.triton import compiler
from intent_np.backends.triton.compiler import compile_source
from intent_np.backends.triton.short_integers import rewritten
from intent_np.target import SM_90

LANES = """\
import triton
import triton.language as tl


@triton.jit
def k(y, n, BLOCK: tl.constexpr):
    p = 1 + tl.arange(0, BLOCK).to(tl.int64)
    tl.store(y + p, p, mask=p < n)
"""
SIGNS = """\
import triton
import triton.language as tl


@triton.jit
def k(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(y + i, tl.abs(v).to(tl.int32))
    tl.store(y + BLOCK + i, (-tl.load(x + BLOCK + i)).to(tl.int32))
"""


def ptx(source: str, arguments: list[tuple[str, str]], folder: Path) -> str:
    return compile_source(source, "k", arguments, {"BLOCK": 1024}, {}, SM_90, 4, 1, folder).ptx


def test_small_lane_numbers_are_added_one_by_one(tmp_path, monkeypatch) -> None:
    arguments = [("y", "*i64"), ("n", "i64")]
    found = ptx(LANES, arguments, tmp_path)
    assert "16x2" not in found
    monkeypatch.setattr(compiler, "rewritten", lambda text: text)
    raw = ptx(LANES, arguments, tmp_path)
    assert raw.count("add.s16x2") * 2 == found.count("add.s16 ") - raw.count("add.s16 ") > 0
    assert found == rewritten(raw)
    assert found.count("\n") == raw.count("\n")


def test_negation_and_magnitude_wrap(tmp_path, monkeypatch) -> None:
    arguments = [("x", "*i16"), ("y", "*i32")]
    wrong = re.compile(r"(abs|neg)\.s16|sub\.s16\s+%rs\d+, 0,")
    found = ptx(SIGNS, arguments, tmp_path)
    assert not wrong.search(found)
    monkeypatch.setattr(compiler, "rewritten", lambda text: text)
    raw = ptx(SIGNS, arguments, tmp_path)
    assert len(wrong.findall(raw)) == found.count("mul.lo.s16") - raw.count("mul.lo.s16") == 16
    assert found.count("max.s16") - raw.count("max.s16") == 8
