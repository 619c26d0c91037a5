"""The error codes, declared once.

A row is `code, class, title, why, fix` and, where one sentence always fits, `expected`.  Texts are templates:
`{name}` is filled from the keyword fields given where the error is raised.  Everything else is derived from
these tables: what is raised, how it is rendered, and the index in `specs/errors.md`.  To add an error, add a row to the
file of its kind.

Numbers: E0 use of the language outside its place, E1 names and constructs, E2 types and shapes, E3 memory and
effects, E4 calls of an artifact, E5 checking mode, E6 lower compilers and devices, E7 text forms and artifacts,
E8 rules, E9 the compiler itself.
"""

from typing import Final

from . import artifacts, calls, checking, compiler, constructs, devices, memory, outside, rules, values
from .declare import ErrorCode

_FILES = (outside, constructs, values, memory, calls, checking, devices, artifacts, rules, compiler)

ROWS: Final[tuple[ErrorCode, ...]] = tuple(row for file in _FILES for row in file.ROWS)

CODES: Final[dict[str, ErrorCode]] = {row.code: row for row in ROWS}

REMARKS: Final[dict[str, str]] = {
    "P001": "statements run in one program instance, in order",
    "P002": "NumPy arrays are copied to the device and back",
    "P003": "the generic variant runs",
    "P004": "the permission asked for was not used",
    "P005": "an input overlaps an output and is copied first",
    "P006": "elements of an output that no statement writes hold anything",
    "P007": "nothing could be validated",
    "P008": "the plan is the directed one",
    "P009": "a view is copied before each launch, since statements overwrite what they read",
    "P010": "a statement that looks inside is left out",
}
