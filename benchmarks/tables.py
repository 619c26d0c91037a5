"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """The lines of a table, its columns as wide as their widest cell."""
    texts = [tuple(head), *(tuple(map(str, row)) for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in texts
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def short(record: Mapping[str, Any], key: str) -> str:
    """A number with three digits, or nothing where there is none."""
    return f"{float(record[key]):.3g}" if key in record else ""


def said(record: Mapping[str, Any]) -> str:
    """What went wrong, or why nothing was done."""
    return str(record.get("text", "")).partition("\n")[0][:160]
