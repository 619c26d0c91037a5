"""The index of errors, each with its example and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from intent_np.documentation.examples import Example, examples
from intent_np.error_codes import CODES, REMARKS, ErrorCode

_CHAPTERS = {
    "E0": "The language used outside its place",
    "E1": "Names and constructs",
    "E2": "Types and shapes",
    "E3": "Memory and effects",
    "E4": "Calls of an artifact",
    "E5": "Checking mode",
    "E6": "Lower compilers and devices",
    "E7": "Text forms, passes and artifacts",
    "E8": "Rules",
    "E9": "The compiler itself",
}


def error_index() -> str:
    """All errors by chapter, then the remarks."""
    shown = examples()
    lines: list[str] = []
    for prefix, chapter in _CHAPTERS.items():
        lines += [f"## {prefix}: {chapter}", ""]
        for row in CODES.values():
            if row.code.startswith(prefix):
                lines += [*_shown(row, shown[row.code]), ""]
    lines += ["## P: Remarks", ""]
    lines += [f"**{code}** {text}" for code, text in REMARKS.items()]
    return "\n".join(lines)


def _shown(row: ErrorCode, example: Example) -> Iterator[str]:
    """What is declared, as far as the message of the example does not say it, then the example and its message."""
    said = lasting(example.told())
    yield from (f"**{row.code}** {row.title} · `{row.kind}`", "")
    texts = {"": row.why, "*Expected:* ": row.expected, "*Fix:* ": row.fix.replace("{{", "{").replace("}}", "}")}
    declared = [label + text for label, text in texts.items() if text and text not in said]
    yield from (*declared, "") if declared else ()
    if example.text:
        yield from (f"```{'python' if example.file.endswith('.py') else 'text'}", example.text.rstrip(), "```", "")
    yield from ("```console", f"$ {example.command}") if example.command else ("```text",)
    yield from (said, "```")


def lasting(said: str) -> str:
    """What is said, less what differs from run to run, or with each change of a line elsewhere: addresses, the place of
    a kept file, and the line of a defect."""
    said = re.sub(r"\b0x[0-9a-f]+", "0x…", said)
    said = re.sub(r"\S*/(?=kernel\.py)", "…/", said)
    return re.sub(r"(?m)^(E901 .*\.py):\d+$", r"\1:…", said)
