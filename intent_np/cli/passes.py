"""`intent-np passes`: the pipeline, which is the table of contents of the compiler."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer


def passes(
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Print the whole docstring of each pass.")] = False,
) -> None:
    """List the passes in order, with the languages that each goes from and to, and its options."""
    from intent_np.cli.output import print_json, print_table
    from intent_np.passes.pipeline import PIPELINE

    rows: list[dict[str, Any]] = [
        {
            "name": step.name,
            "source": step.source.name,
            "target": step.target.name,
            "options": dict(step.options),
            "doc": inspect.cleandoc(step.doc),
        }
        for step in PIPELINE
    ]
    if as_json:
        print_json({"passes": rows})
    elif full:
        for row in rows:
            print(f"{row['name']} : {row['source']} -> {row['target']}")
            print("".join(f"    {line}\n" for line in row["doc"].splitlines()))
    else:
        print_table(
            ("pass", "from", "to", "what it does", "options"),
            [
                (
                    row["name"],
                    row["source"],
                    row["target"],
                    row["doc"].partition("\n")[0],
                    " ".join(f"{key}={value}" for key, value in row["options"].items()),
                )
                for row in rows
            ],
        )
