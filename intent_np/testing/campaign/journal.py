"""What a campaign has done, a JSON line for each thing, written once and for all.

The first line is the campaign's settings.  A line counts once its newline is on the disk: what a killed process left
of its last line is cut off by the next one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Journal:
    """The lines of a campaign in a folder; those of an earlier process are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[dict[str, Any]] = []
        self.settings: dict[str, Any] | None = None
        """What the campaign does, if one has begun."""
        self._seeds: dict[int, dict[str, Any]] = {}
        self._failed: dict[int, dict[str, Any]] = {}
        self.reduced: dict[str, dict[str, Any]] = {}
        """The reduced failures by key."""
        path.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes() if path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.splitlines():
            self._note(json.loads(line))
        self._file = open(path, "ab")  # noqa: SIM115 - lives as long as the journal
        if len(whole) < len(data):
            self._file.truncate(len(whole))

    def _note(self, line: dict[str, Any]) -> None:
        self.lines.append(line)
        if "campaign" in line:
            self.settings = line["campaign"]
        elif "status" in line:
            self._seeds[line["seed"]] = line
            if "failure" in line:
                self._failed[line["seed"]] = line
        elif "reduced" in line:
            self.reduced[line["reduced"]] = line

    def add(self, line: Mapping[str, Any]) -> None:
        """Write a line; it is on the disk when this returns."""
        self._note(dict(line))
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()

    @property
    def seeds(self) -> dict[int, dict[str, Any]]:
        """The finished seeds, in the order of their numbers."""
        return dict(sorted(self._seeds.items()))

    @property
    def findings(self) -> dict[str, list[dict[str, Any]]]:
        """Lines of the seeds that failed, by the key of the failure, each in the order of seeds."""
        found: dict[str, list[dict[str, Any]]] = {}
        for _, line in sorted(self._failed.items()):
            found.setdefault(line["failure"]["key"], []).append(line)
        return found
