"""The generated parts of the specification are what the declarations say now."""

from pathlib import Path

import pytest

from intent_np.cli.docs import PARTS, regenerate

SPECS = Path(__file__).parent.parent / "specs"


@pytest.mark.parametrize("page", sorted({part.page for part in PARTS}))
def test_generated_parts_are_current(page: str) -> None:
    text = (SPECS / page).read_text()
    assert regenerate(page, text) == text, "run `make specs`"


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="has 0 parts named 'codes'"):
        regenerate("errors.md", "no marks here")
