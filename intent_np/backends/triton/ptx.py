"""PTX without the traces of where it was made.

Triton writes source locations into PTX, with the path of the generated file and of its own installation.  They
would make the cubin depend on the directory and, for library functions, on the machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_FILE: Final = re.compile(r'(\s*\.file\s+(\d+)\s+)(?:"(.*)"\s+)?"(.*)"')
_LOCATION: Final = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+\d+")
_DEBUG_LABEL: Final = re.compile(r"\$L__(?:tmp|func_begin|func_end|info_string|debug_)\w*:")
_DEBUG_SECTION: Final = re.compile(r"\s*\.section\s+\.debug_")


@dataclass(frozen=True, slots=True)
class Located:
    """PTX text, and for each of its lines the line of the generated source that it came from, or 0."""

    text: str
    lines: tuple[int, ...]


def clean(ptx: str, source_name: str, line_info: bool) -> Located:
    """Remove debug sections and, unless `line_info`, the line table; names in it lose their directories.

    source_name:  base name of the generated file; its lines are what `Located.lines` reports.
    """
    files = {match[2] for match in map(_FILE.match, ptx.split("\n")) if match and _base(match[4]) == source_name}
    kept: list[str] = []
    origins: list[int] = []
    origin, inside_debug = 0, False
    for line in ptx.split("\n"):
        if inside_debug:
            inside_debug = "}" not in line
            continue
        if _DEBUG_SECTION.match(line):
            inside_debug = "}" not in line
            continue
        if match := _LOCATION.match(line):
            # A location inside a library function keeps the origin of the call before it.
            origin = int(match[2]) if match[1] in files else origin
            if not line_info:
                continue
            line = match[0]  # what follows may refer to strings in a debug section
        elif match := _FILE.match(line):
            if not line_info:
                continue
            line = f'{match[1]}"{_base(match[4])}"'
        elif _DEBUG_LABEL.match(line):
            continue
        kept.append(line)
        origins.append(origin)
    return Located("\n".join(kept), tuple(origins))


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]
