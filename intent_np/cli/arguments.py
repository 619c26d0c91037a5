"""Reading `NAME=VALUE` from the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer


def pairs(texts: Iterable[str] | None, what: str) -> dict[str, str]:
    """`["M=4", "N=8"]` as a dictionary; anything else is a usage error that names the option `what`."""
    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"'{text}' is not NAME=VALUE", param_hint=what)
        if name in found:
            raise typer.BadParameter(f"'{name}' is given twice", param_hint=what)
        found[name] = value
    return found


def integers(texts: Iterable[str] | None, what: str) -> dict[str, int]:
    """`NAME=INTEGER` for each text."""
    return {name: _integer(value, what) for name, value in pairs(texts, what).items()}


def extents(texts: Iterable[str] | None, what: str = "--extent") -> dict[str, int]:
    """`NAME=SIZE` for each text; no size is negative."""
    found = integers(texts, what)
    for name, size in found.items():
        if size < 0:
            raise typer.BadParameter(f"'{name}={size}': an extent is 0 or more", param_hint=what)
    return found


def _integer(value: str, what: str) -> int:
    try:
        return int(value, 0)
    except ValueError:
        raise typer.BadParameter(f"'{value}' is no integer", param_hint=what) from None


def scalar(text: str) -> bool | int | float | str:
    """`true` and `false`, an integer, a float, else the text itself: its meaning is decided where it is used."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (lambda value: int(value, 0), float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def scalars(texts: Iterable[str] | None, what: str) -> dict[str, Any]:
    """`NAME=VALUE` with each value as `scalar` reads it."""
    return {name: scalar(value) for name, value in pairs(texts, what).items()}
