"""Errors are declared once, render in one format, and are collected."""

import pickle
import string

import pytest

import intent_np
from intent_np import errors
from intent_np.error_codes import CODES, REMARKS, ROWS
from intent_np.errors import CallError, CompileError, Errors, LanguageUseError, Remark, Span, error, group, suggestion

SPAN = Span("softmax.py", 12, 12, 18, "    y[row, colums] = value")


def test_the_one_format() -> None:
    found = error("E101", SPAN, name="colums", candidates=["columns", "row", "y"])
    assert str(found) == (
        "softmax.py:12:12: E101 unknown name 'colums'\n"
        "   12 |     y[row, colums] = value\n"
        "      |            ^^^^^^\n"
        "  expected: a name that is defined here\n"
        "  found:    'colums'; did you mean 'columns'?\n"
        "  why:      A kernel sees its parameters, the names assigned above, and immutable Python constants.\n"
        "  fix:      define it, pass it as a parameter, or correct the spelling"
    )


def test_underline_keeps_tabs_and_stays_inside_the_line() -> None:
    marked = error("E101", Span("k.py", 3, 2, 99, "\tlong"), name="long").render().splitlines()
    assert marked[1:3] == ["    3 | \tlong", "      | \t^^^^"]


def test_every_code_is_declared_once_and_renders() -> None:
    assert len(CODES) == len(ROWS)
    for row in ROWS:
        names = {
            name
            for template in (row.title, row.why, row.fix, row.expected)
            for _, name, _, _ in string.Formatter().parse(template)
            if name
        }
        made = error(row.code, SPAN, **{name: f"the {name}" for name in names})
        assert type(made).__name__ == row.kind
        assert made.why
        assert made.fix
        assert "<" not in made.render()


def test_a_missing_field_does_not_hide_the_error() -> None:
    assert "unknown name '<name>'" in error("E101").render()


def test_few_candidates_are_listed_if_none_is_close() -> None:
    found = error("E703", name="zzz", candidates=["peel_tails", "fold_constants"])
    assert found.expected == "fold_constants, peel_tails"
    assert suggestion("peel_tail", ["peel_tails", "fold"]) == "'peel_tails'"


def test_errors_are_collected_in_source_order() -> None:
    later, earlier = SPAN, Span("softmax.py", 4, 1, 2, "x")
    errors = Errors()
    errors.raise_if_any()
    errors.add("E101", later, name="a")
    errors.add("E101", earlier, name="b")
    errors.add("E101", earlier, name="b")
    with pytest.raises(CompileError) as caught:
        errors.raise_if_any()
    assert [one.span for one in caught.value.errors] == [earlier, later]
    assert str(caught.value).endswith("\n\n2 errors")
    assert caught.value.code == "E101"


def test_a_single_error_is_raised_as_itself() -> None:
    one = error("E403", parameter="x", expected="rank 2", found="rank 1")
    assert isinstance(one, CallError)
    assert group([one]) is one
    assert one.errors == (one,)
    assert one.render().startswith("E403 argument 'x' has the wrong rank\n  expected: rank 2\n  found:    rank 1")


def test_errors_survive_pickling() -> None:
    both = group([error("E101", SPAN, name="a"), error("E102", SPAN, construct="try", suggestion="use if")])
    copy = pickle.loads(pickle.dumps(both))
    assert str(copy) == str(both)
    assert copy.as_json() == both.as_json()


def test_json_has_the_same_facts() -> None:
    assert error("E101", SPAN, name="a").as_json() == {
        "code": "E101",
        "title": "unknown name 'a'",
        "file": "softmax.py",
        "line": 12,
        "column": 12,
        "parameter": None,
        "expected": "a name that is defined here",
        "found": "",
        "why": CODES["E101"].why,
        "fix": CODES["E101"].fix,
        "detail": "",
    }


def test_paths_below_the_working_directory_are_shown_relative(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(Span(str(tmp_path / "a" / "k.py"), 1, 2, 3)) == "a/k.py:1:2"
    assert str(Span("/elsewhere/k.py", 1, 2, 3)) == "/elsewhere/k.py:1:2"


def test_related_places_and_foreign_text_are_shown() -> None:
    text = error("E601", SPAN, provider="ptxas", kernel="k", related=[("defined here", SPAN)], detail="line\nline 2")
    assert "  defined here: softmax.py:12:12\n" in text.render()
    assert text.render().endswith("  | line\n  | line 2")


@pytest.mark.parametrize("code", sorted(REMARKS))
def test_remarks_render(code: str) -> None:
    shown = Remark(code, "split the kernel", SPAN).render()
    assert shown.startswith(f"softmax.py:12:12: {code} {REMARKS[code]}\n")
    assert shown.endswith("note:     split the kernel")


def test_public_classes() -> None:
    for name in ("LanguageUseError", "CompileError", "CallError", "CheckError", "ProviderError"):
        assert issubclass(getattr(errors, name), errors.IntentError)


def test_only_a_kernel_is_compiled() -> None:
    with pytest.raises(LanguageUseError, match="'len' is no kernel"):
        intent_np.compile(len, target="cpu")
