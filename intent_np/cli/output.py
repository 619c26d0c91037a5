"""What the commands share in printing: one console, tables, and JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

STYLES = {"ok": "green", "missing": "red", "failed": "red", "refuted": "red", "warning": "yellow", "absent": "dim"}


def console(to_error: bool = False) -> Console:
    """A console that is plain and never wraps where no person reads it; rich itself honours NO_COLOR."""
    stream = sys.stderr if to_error else sys.stdout
    return Console(stderr=to_error, highlight=False, width=None if stream.isatty() else 10_000)


def print_json(value: Any) -> None:
    """Print `value` as JSON, with keys in the order given."""
    print(json.dumps(value, indent=2, default=str))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print a table; a column named `status` is coloured.  In a pipe the columns are as wide as they need."""
    table = Table(*columns, title=title or None, title_justify="left", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(_cell(column, value) for column, value in zip(columns, row, strict=True)))
    console().print(table)


def _cell(column: str, value: object) -> Any:
    from rich.text import Text

    style = STYLES.get(str(value), "") if column == "status" else ""
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return Text(text, style=style)
