"""The index of errors."""

from __future__ import annotations

from intent_np.error_codes import CODES, REMARKS

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
    lines: list[str] = []
    for prefix, chapter in _CHAPTERS.items():
        lines += [f"## {prefix}: {chapter}", ""]
        for row in CODES.values():
            if row.code.startswith(prefix):
                lines += [f"**{row.code}** {row.title} · `{row.kind}`", "", f"{row.why}"]
                lines += [f"*Expected:* {row.expected}"] if row.expected else []
                lines += [f"*Fix:* {row.fix.replace('{{', '{').replace('}}', '}')}", ""]
    lines += ["## P: Remarks", ""]
    lines += [f"**{code}** {text}" for code, text in REMARKS.items()]
    return "\n".join(lines)
