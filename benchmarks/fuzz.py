"""Campaigns of random kernels as a table: `python -m benchmarks.fuzz FOLDER...`, each the `--out` of `intent-np fuzz`.

The journals are read, so that a campaign that was ended early counts with what it had done.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import tables

COLUMNS = (
    "oracles",
    "calls of each",
    "seeds from",
    "kernels",
    "agreed",
    "reference only",
    "no call",
    "slow",
    "findings",
)


def row(folder: Path) -> list[str]:
    """The counts of a campaign: `no call` are kernels none of whose calls has a meaning, `slow` those examined on
    smaller calls, which are counted as agreed or findings as well."""
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines() if line.endswith("}")]
    settings = lines[0]["campaign"]
    seeds: list[dict[str, Any]] = [line for line in lines if "status" in line]
    count = {s: sum(line["status"] == s for line in seeds) for s in ("ok", "reference only", "no call", "finding")}
    oracles = f"`{','.join(settings['oracles'])}{' --validate' if settings['each_pass'] else ''}`"
    cells = [oracles, settings["calls"], settings["first"], len(seeds), count["ok"], count["reference only"],
             count["no call"], sum("slow" in line for line in seeds), count["finding"]]  # fmt: skip
    return [str(c) for c in cells]


def table(folders: Iterable[Path]) -> str:
    """The campaigns as a table of Markdown, each in a line."""
    return "\n".join(tables.table(COLUMNS, [row(folder) for folder in folders]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of campaigns")
    print(table(parser.parse_args().folders))
