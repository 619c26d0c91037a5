"""Each error code has an example, and the example is told as that error."""

import dataclasses
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

import intent_np as intent
from intent_np.documentation import errors
from intent_np.documentation.examples import Example, examples
from intent_np.error_codes import CODES
from intent_np.target import SM_80
from tests.sources import executed

FILL = '@intent.kernel\ndef fill(y: I.Out[I.f32, ("N",)]):\n    y[:] = 1.0\n'


def test_every_code_has_an_example_and_no_other() -> None:
    assert [*examples()] == sorted(CODES)


@pytest.mark.parametrize("code", sorted(CODES))
def test_an_example_gives_its_error(code: str) -> None:
    said = examples()[code].told()
    assert "Traceback" not in said
    assert "/tmp" not in errors.lasting(said)


@pytest.mark.parametrize("code", sorted(CODES))
def test_an_example_is_small(code: str) -> None:
    assert len(examples()[code].text.splitlines()) <= 25


def test_an_example_of_another_error_is_refused() -> None:
    with pytest.raises(ValueError, match="the example of E102 gives E005 'int' is no kernel"):
        Example("E102", "intent.compile(int)\n").told()
    with pytest.raises(ValueError, match="the example of E102 gives no error"):
        Example("E102", "x = 1\n").told()


def test_an_example_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.getcwd(), [*sys.path], dict(os.environ)
    examples()["E008"].told()
    assert (os.getcwd(), [*sys.path], dict(os.environ)) == before
    assert not [name for name in sys.modules if "example" in name and name.startswith("intent_np_script")]


def test_source_that_is_refused_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fill = executed(FILL)["fill"]
    with pytest.raises(intent.ProviderError) as caught:
        intent.compile(fill, target=dataclasses.replace(SM_80, name="sm_35", capability=(3, 5)))
    (path,) = re.findall(r"source, (.*)", caught.value.fix)
    assert "@triton.jit" in Path(path).read_text()
    intent.compile(fill, target="sm_80")
    assert [*tmp_path.glob("intent-np-*")] == [Path(path).parent]
