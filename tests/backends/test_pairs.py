"""Sums of pairs of 16-bit integers do not reach ptxas, which loses their constant behind a loop."""

from pathlib import Path

from intent_np.backends.triton import compiler
from intent_np.backends.triton.compiler import compile_source
from intent_np.backends.triton.pairs import apart
from intent_np.target import SM_90

SOURCE = """\
import triton
import triton.language as tl


@triton.jit
def k(y, n, BLOCK: tl.constexpr):
    p = 1 + tl.arange(0, BLOCK).to(tl.int64)
    tl.store(y + p, p, mask=p < n)
"""


def ptx(folder: Path) -> str:
    return compile_source(SOURCE, "k", [("y", "*i64"), ("n", "i64")], {"BLOCK": 1024}, {}, SM_90, 4, 1, folder).ptx


def test_small_lane_numbers_are_added_one_by_one(tmp_path, monkeypatch) -> None:
    found = ptx(tmp_path)
    assert "16x2" not in found
    monkeypatch.setattr(compiler, "apart", lambda text: text)
    raw = ptx(tmp_path)
    assert raw.count("add.s16x2") * 2 == found.count("add.s16 ") - raw.count("add.s16 ") > 0
    assert found == apart(raw)
    assert found.count("\n") == raw.count("\n")
