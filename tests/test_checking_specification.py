"""The page on checking mode is executed: its kernels are checked, and what it says is found is found."""

import re
from pathlib import Path

import pytest

from intent_np.language import Kernel
from intent_np.testing import check_kernel
from tests.sources import executed

PAGE = Path(__file__).parents[1] / "specs" / "checking.md"
BLOCKS = list(re.finditer(r"^```python([^\n]*)\n(.*?)^```$", PAGE.read_text(), re.M | re.S))


def kernel_of(block: re.Match[str]) -> tuple[Kernel, dict[str, object]] | None:
    """The last kernel of a block and its arguments, if it defines any; the first block's imports come before."""
    space: dict[str, object] = {}
    for part in (BLOCKS[0], block):
        line = part.string[: part.start(2)].count("\n")
        source = "\n" * line + part[2]
        name = f"{PAGE.name}@{line}"
        executed(source, name, space)
    kernels = [v for v in space.values() if isinstance(v, Kernel)]
    return (kernels[-1], space["arguments"]) if kernels else None  # type: ignore[return-value]


@pytest.mark.parametrize("block", BLOCKS[1:], ids=lambda b: b[2].split("def ")[-1].split("(")[0])
def test_blocks_show_what_is_found(block: re.Match[str]) -> None:
    found = kernel_of(block)
    assert found is not None
    checked = check_kernel(*found)
    promised = dict(re.findall(r"(\w+)=(\S+)", block[1]))
    for key, given in (("finds", checked.findings), ("remarks", checked.remarks)):
        assert sorted({one.code for one in given}) == [c for c in promised.get(key, "").split(",") if c]
    for one in checked.findings:
        assert one.span is not None
        assert one.render().startswith("checking.md@")
