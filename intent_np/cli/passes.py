"""`intent-np passes`: the pipeline, which is the table of contents of the compiler."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer


def passes(
    place: Annotated[
        str | None, typer.Argument(metavar="[FILE[:KERNEL]]", help="Also time each pass on these kernels.")
    ] = None,
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
            "permission": step.permission,
            "doc": inspect.cleandoc(step.doc),
        }
        for step in PIPELINE
    ]
    if place:
        times = milliseconds(place)
        rows = [{**row, "ms": times[row["name"]]} for row in rows]
    if as_json:
        print_json({"passes": rows})
    elif full:
        for row in rows:
            print(f"{row['name']} : {row['source']} -> {row['target']}")
            print("".join(f"    {line}\n" for line in row["doc"].splitlines()))
    else:
        columns = ("pass", "from", "to", "what it does", "options")
        print_table(
            (*columns, "ms") if place else columns,
            [
                (
                    row["name"],
                    row["source"],
                    row["target"],
                    row["doc"].partition("\n")[0],
                    " ".join(f"{key}={value}" for key, value in row["options"].items()),
                    *([f"{row['ms']:.2f}"] if place else []),
                )
                for row in rows
            ],
        )


def milliseconds(place: str) -> dict[str, float]:
    """The time that each pass takes on the kernels of `place`, summed over them, after a warm-up."""
    from collections import Counter

    from intent_np.corpus.cases import entries
    from intent_np.corpus.lowering import lowered
    from intent_np.passes.pipeline import PIPELINE, Trace
    from intent_np.terms.core import Arena

    total: Counter[str] = Counter({step.name: 0 for step in PIPELINE})
    for entry in entries([place]):
        for trace in (Trace(), Trace()):
            with Arena():
                lowered(entry, PIPELINE[-1].name, trace=trace)
        total.update({name: 1000 * seconds for name, seconds in trace.seconds.items()})
    return dict(total)
