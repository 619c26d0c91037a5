"""Errors as values: a code, a place in the author's source, and advice.

The texts stand in `error_codes/`; raise with `raise error("E101", span=span, name="colums")`.  Every error
renders in one format:

    softmax.py:12:12: E101 unknown name 'colums'
       12 |     y[row, colums] = value
          |            ^^^^^^
      expected: a name that is defined here
      found:    'colums'; did you mean 'columns'?
      why:      A kernel sees its parameters, the names assigned above, and immutable Python constants.
      fix:      define it, pass it as a parameter, or correct the spelling

Compile-time errors are collected in `Errors` and raised together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from intent_np.error_codes import CODES, REMARKS, ErrorCode


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the author's source.

    `line` counts from 1.  `column` and `end_column` count characters from 1; `end_column` is exclusive.
    `text` is the whole source line without its newline; a span of several lines ends with its first one.
    `caller` is the call of the helper that it stands in; two places are equal whoever called.
    """

    file: str
    line: int
    column: int
    end_column: int
    text: str = ""
    caller: Span | None = field(default=None, compare=False)

    def callers(self) -> Iterator[Span]:
        """The calls that led here, innermost first."""
        if self.caller:
            yield self.caller
            yield from self.caller.callers()

    def called(self, caller: Span) -> Span:
        """The same place in a helper, whose outermost call stands in another helper that `caller` calls."""
        return replace(self, caller=self.caller.called(caller) if self.caller else caller)

    def __str__(self) -> str:
        return f"{_shown_path(self.file)}:{self.line}:{self.column}"


def _shown_path(file: str) -> str:
    """The path relative to the working directory if it is below it: shorter, and the same in every checkout."""
    if not os.path.isabs(file):
        return file
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative


def place_in(file: str, problem: BaseException) -> Span | None:
    """Where an exception arose in the Python text `file`, or where that called what raised it; None if it did not."""
    import linecache
    import traceback

    if isinstance(problem, SyntaxError) and problem.filename == file:
        column = problem.offset or 1
        return Span(file, problem.lineno or 1, column, column + 1, (problem.text or "").rstrip("\n"))
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        if frame.filename == file and frame.lineno:
            text = linecache.getline(file, frame.lineno).rstrip("\n")
            begin = (frame.colno or 0) + 1
            end = frame.end_colno + 1 if frame.end_lineno == frame.lineno and frame.end_colno else len(text) + 1
            return Span(file, frame.lineno, begin, end, text)
    return None


class IntentError(Exception):
    """The base of every error that the project raises on purpose.

    `code` and `title` say what is wrong, `span` where, `parameter` which argument of a call.  `related` lists
    further places with a word on each.  `errors` is `(self,)`, or the members if several were collected.
    """

    code: str = "E901"
    span: Span | None = None
    parameter: str | None = None
    expected: str = ""
    found: str = ""
    why: str = ""
    fix: str = ""
    related: tuple[tuple[str, Span], ...] = ()
    detail: str = ""
    _members: tuple[IntentError, ...] = ()

    # One positional argument, everything else in `__dict__`: so errors survive pickling between processes.
    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.title = title

    def called_from(self, *calls: Span) -> None:
        """Name the calls of the helper that the place stands in, and those of the helpers that they stand in."""
        for call in calls:
            self.related = (*self.related, *(("called from", c) for c in (call, *call.callers())))

    @property
    def errors(self) -> tuple[IntentError, ...]:
        return self._members or (self,)

    def render(self) -> str:
        """The whole error in the one format, without a final newline."""
        if self._members:
            blocks = [member.render() for member in self._members]
            return "\n\n".join([*blocks, f"{len(blocks)} errors"])
        place = f"{self.span}: " if self.span else ""
        lines = [f"{place}{self.code} {self.title}"]
        if self.span:
            lines += _underlined(self.span)
        for label in ("expected", "found", "why", "fix"):
            if text := getattr(self, label):
                lines.append(f"  {label + ':':<9} {text}")
        for word, span in self.related:
            lines.append(f"  {word}: {span}")
            lines += _underlined(span)
        if self.detail:
            lines += [f"  | {line}" for line in self.detail.rstrip().splitlines()]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The same facts for `--json`."""
        if self._members:
            return {"code": self.code, "errors": [member.as_json() for member in self._members]}
        span = self.span
        return {
            "code": self.code,
            "title": self.title,
            "file": span and _shown_path(span.file),
            "line": span and span.line,
            "column": span and span.column,
            "parameter": self.parameter,
            "expected": self.expected,
            "found": self.found,
            "why": self.why,
            "fix": self.fix,
            "detail": self.detail,
        }

    __str__ = render


def _underlined(span: Span) -> list[str]:
    """The source line with the span underlined; tabs are kept so that the marks stand below the text."""
    if not span.text:
        return []
    number = f"{span.line:>5}"
    # The padding keeps the tabs of the line, so that both rows are expanded alike.
    before = "".join("\t" if letter == "\t" else " " for letter in span.text[: span.column - 1])
    end = min(span.end_column, len(span.text) + 1)
    return [f"{number} | {span.text}", f"{' ' * 5} | {before}{'^' * max(1, end - span.column)}"]


class LanguageUseError(IntentError):
    """The language or an option was used where it has no meaning."""


class CompileError(IntentError):
    """The kernel is wrong, or several errors collected while compiling it (see `errors`)."""


class CallError(IntentError):
    """An artifact was called with arguments that do not fit; nothing was launched or written."""


class CheckError(IntentError):
    """Checking mode found a result, a law or an access that is not what was promised."""


class ProviderError(IntentError):
    """A lower compiler, the driver or an optional package failed or is missing."""


_CLASSES = {cls.__name__: cls for cls in (LanguageUseError, CompileError, CallError, CheckError, ProviderError)}


class _Fields(dict[str, Any]):
    """A field that was not given stays visible: a flaw in an error must never hide the error."""

    def __missing__(self, name: str) -> str:
        return f"<{name}>"


def error(
    code: str,
    span: Span | None = None,
    *,
    parameter: str | None = None,
    expected: str = "",
    found: str = "",
    fix: str = "",
    detail: str = "",
    related: Iterable[tuple[str, Span]] = (),
    candidates: Iterable[str] = (),
    **fields: Any,
) -> IntentError:
    """Make the error declared under `code`; `fields` fill its templates.

    `expected`, `found` and `fix` replace the declared texts.  `candidates` are the names that would have been
    right: close ones to the field `name` are suggested, and all are listed if there are few.  `detail` is
    verbatim text of another tool.
    """
    row: ErrorCode = CODES[code]
    values = _Fields(fields, parameter=parameter)
    made = _CLASSES[row.kind](row.title.format_map(values))
    made.code, made.span, made.parameter = code, span, parameter
    made.expected = expected or row.expected.format_map(values)
    made.found = found
    made.why = row.why.format_map(values)
    made.fix = fix or row.fix.format_map(values)
    made.detail = detail
    made.related = tuple(related)
    made.called_from(*((span.caller,) if span and span.caller else ()))
    names = sorted(set(candidates))
    if names:
        given = str(fields.get("name", ""))
        hint = suggestion(given, names)
        made.found = made.found or repr(given)
        if hint:
            made.found += f"; did you mean {hint}?"
        elif len(names) <= 12 and not all(name in made.expected for name in names):
            made.expected = f"{made.expected}: {', '.join(names)}" if made.expected else ", ".join(names)
    return made


def article(noun: str) -> str:
    """The noun with its article: `a float`, `an int`."""
    return f"{'an' if noun[:1] in 'aeiouAEIOU' else 'a'} {noun}"


def counted(n: int, word: str) -> str:
    """`1 name`, `2 names`."""
    return f"{n} {word}{'' if n == 1 else 's'}"


def suggestion(name: str, candidates: Iterable[str]) -> str:
    """The closest candidates quoted and joined with "or"; empty if none is close."""
    import difflib

    close = difflib.get_close_matches(name, sorted(set(candidates)), n=2, cutoff=0.6)
    return " or ".join(repr(match) for match in close)


class Errors:
    """Collects the errors of one compilation, so that an author sees all of them at once."""

    def __init__(self) -> None:
        self._found: list[IntentError] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[IntentError]:
        return iter(self._found)

    def add(self, code: str | IntentError, span: Span | None = None, **fields: Any) -> None:
        """Record an error, or the members of one; the same error at the same place is kept once."""
        new = code if isinstance(code, IntentError) else error(code, span, **fields)
        for member in new.errors:
            if all((member.title, member.span) != (old.title, old.span) for old in self._found):
                self._found.append(member)

    def copy(self) -> Errors:
        """The same errors, to go on from here and possibly come back."""
        made = Errors()
        made._found = list(self._found)
        return made

    def raise_if_any(self) -> None:
        """Raise what was found, in source order: the error itself, or a `CompileError` with all of them."""
        if not self._found:
            return
        raise group(self._found)


def group(errors: Iterable[IntentError]) -> IntentError:
    """One error for several, in source order; a single one is returned as it is.  `errors` is not empty."""
    members = [member for one in errors for member in one.errors]
    members.sort(key=lambda one: (one.span.file, one.span.line, one.span.column) if one.span else ("", 0, 0))
    first = members[0]
    if len(members) == 1:
        return first
    # several of one class are one of that class: whoever catches a CheckError gets all findings
    kind = type(first) if all(type(m) is type(first) for m in members) else CompileError
    made = kind(f"{first.title}, and {len(members) - 1} more")
    made.code, made.span, made.parameter = first.code, first.span, first.parameter
    made._members = tuple(members)
    return made


@dataclass(frozen=True, slots=True)
class Remark:
    """Something true and slow that the author may want to know; never an error by itself."""

    code: str
    text: str
    span: Span | None = None

    def render(self) -> str:
        """`file:line:column: P001 title`, the source line, and the text."""
        place = f"{self.span}: " if self.span else ""
        lines = [f"{place}{self.code} {REMARKS[self.code]}", *(_underlined(self.span) if self.span else [])]
        return "\n".join([*lines, f"  note:     {self.text}"])
