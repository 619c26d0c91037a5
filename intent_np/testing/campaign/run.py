"""The loop of a campaign: seeds to workers, failures to reductions, everything into the journal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...corpus.workers import run_isolated
from ...errors import error
from ..oracles import Failure
from .jobs import Reduce, Seed, failure_as_json, failure_from, text_of, work
from .journal import Journal
from .regression import save
from .report import summary, write
from .settings import Settings

REDUCTION_SECONDS = 900.0
REPORT_SECONDS = 30.0
"""So often the report is written while a campaign runs."""


class Campaign:
    """A campaign in a folder, which goes on where an earlier process left off.

    first:    the first seed
    count:    so many seeds, or None
    minutes:  so long, or None: nothing new begins then, and reductions end with what they have
    """

    def __init__(
        self, folder: Path, settings: Settings, first: int = 0, count: int | None = None, minutes: float | None = None
    ) -> None:
        self.folder, self.settings, self.first, self.count = folder, settings, first, count
        self.journal = Journal(folder / "journal.jsonl")
        given = {**settings.as_json(), "first": first}
        if self.journal.settings is None:
            self.journal.add({"campaign": given})
        elif self.journal.settings != given:
            was = self.journal.settings
            changed = ", ".join(n for n in given if was.get(n) != given[n])
            raise error(
                "E006", what=f"{folder} holds a campaign with other settings ({changed})",
                how="give the same options to go on with it, or another --out",
            )  # fmt: skip
        self.deadline = None if minutes is None else time.monotonic() + 60 * minutes

    def run(self, jobs: int = 2, progress: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
        """Examine and reduce until all is done or the time is over; the summary, which is written to the folder too."""
        work_left = _Work(self)
        limit = 2 * self.settings.seconds + 30.0  # a seed that takes too long is examined on smaller calls
        written = time.monotonic()
        for outcome in run_isolated(work, work_left, workers=jobs, time_limit=max(limit, REDUCTION_SECONDS)):
            if outcome.status == "ok" and outcome.value is not None:
                line = outcome.value
            else:
                line = self._lost(outcome)
            self.journal.add(line)
            if "reduced" in line:
                save(self.folder / "findings", line, self.journal.settings or {})
                progress(f"reduced {line['reduced']}")
            elif "failure" in line:
                progress(f"seed {line['seed']}: {line['failure']['key']}")
            if time.monotonic() > written + REPORT_SECONDS:
                self.report()
                written = time.monotonic()
        for key, lines in self.journal.findings.items():
            if key not in self.journal.reduced:  # not in the journal: the next process may reduce it
                whole = self._whole(lines[0]["seed"], lines[0]["failure"], "the time was over")
                save(self.folder / "findings", whole, self.journal.settings or {})
        return self.report()

    def _whole(self, seed: int, failure: dict[str, Any], why: str) -> dict[str, Any]:
        """The line of a failure that was not reduced."""
        return {"reduced": failure["key"], "seed": seed, "text": text_of(self.settings.source(seed)),
                "failure": failure, "why": why}  # fmt: skip

    def _lost(self, outcome: Any) -> dict[str, Any]:
        """The line for a job whose worker was lost, with the fork that should have saved it."""
        job = outcome.job
        if isinstance(job, Reduce):
            why = f"the reduction ended by itself ({outcome.status}): {outcome.text}"
            return self._whole(job.seed, failure_as_json(job.failure), why)
        lost = Failure("worker", outcome.status, "", "", outcome.text)
        return {"seed": job.seed, "status": "finding", "calls": 0, "seconds": {}, "failure": failure_as_json(lost)}

    def report(self) -> dict[str, Any]:
        """The summary of all that is in the journal, written as JSON and as a page."""
        made = summary(self.journal)
        write(self.folder, made)
        return made


class _Work(Iterator[Any]):
    """What is to be done next, as outcomes come in: failures that are new before seeds that are not done."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.given: set[Any] = set()
        self.next_seed = campaign.first
        self.done = set(campaign.journal.seeds)

    def __next__(self) -> Any:
        c = self.campaign
        if c.deadline is not None and time.monotonic() >= c.deadline:
            raise StopIteration
        known = c.journal.reduced
        for key, lines in c.journal.findings.items():
            if key not in known and key not in self.given:
                self.given.add(key)
                return Reduce(c.settings, lines[0]["seed"], failure_from(lines[0]["failure"]), c.deadline)
        while self.next_seed in self.done:
            self.next_seed += 1
        if c.count is not None and self.next_seed >= c.first + c.count:
            raise StopIteration
        self.next_seed += 1
        return Seed(c.settings, self.next_seed - 1)
