"""Places are found as they are written, and mistakes are told."""

from pathlib import Path

import pytest

from intent_np.corpus.cases import entries
from intent_np.errors import LanguageUseError

SCRIPT = """
import intent_np as intent
import intent_np.language as I
from kernels.pointwise import relu

@intent.kernel
def copy(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:]
"""


def test_a_folder_keeps_the_order_of_its_families() -> None:
    titles = [entry.title for entry in entries(["kernels"])]
    assert titles[:2] == ["pointwise.axpby", "pointwise.relu"]
    assert titles.index("softmax.softmax") < titles.index("matmul.matmul_f16")
    assert len(set(titles)) == len(titles)


def test_a_file_and_a_kernel_are_found_once() -> None:
    found = entries(["kernels/softmax.py:softmax", "kernels/softmax.py"])
    assert [entry.name for entry in found] == ["softmax", "softmax_relaxed", "masked_softmax"]
    assert found[1].options == {"numerics": "relaxed_normalization"}


def test_kernels_of_a_script_are_those_it_defines(tmp_path: Path) -> None:
    file = tmp_path / "select.py"
    file.write_text(SCRIPT)
    found = entries([str(file)])
    assert [(entry.module, entry.name, entry.case) for entry in found] == [("select", "copy", None)]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere.py", "E007 'nowhere.py' cannot be loaded: there is no such file or folder"),
        ("kernels/softmax.py:sofmax", "did you mean 'softmax'"),
    ],
)
def test_a_place_that_is_not_there(place: str, message: str) -> None:
    with pytest.raises(LanguageUseError) as caught:
        entries([place])
    assert message in str(caught.value)


def test_a_file_that_fails_shows_why(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("x = 1\nx = x / 0\n")
    with pytest.raises(LanguageUseError) as caught:
        entries([str(file)])
    assert "ZeroDivisionError: division by zero" in str(caught.value)
    assert caught.value.span is not None
    assert (caught.value.span.file, caught.value.span.line) == (str(file), 2)
    assert (caught.value.span.line, caught.value.span.text) == (2, "x = x / 0")
    file.write_text("import json\n\njson.loads('{')\n")
    with pytest.raises(LanguageUseError) as caught:
        entries([str(file)])
    assert caught.value.span is not None
    assert caught.value.span.line == 3
    assert "json/decoder.py" in caught.value.detail  # what it calls, behind it
    assert "cases.py" not in caught.value.detail
