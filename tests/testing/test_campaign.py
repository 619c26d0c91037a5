"""Campaigns: every way to fail is a finding, findings are reduced to tests, and nothing is lost when one is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from intent_np.errors import IntentError
from intent_np.testing.campaign import Campaign, Settings, jobs
from intent_np.testing.campaign.journal import Journal
from intent_np.testing.oracles import Failure, Outcome

from .stand_in import __name__ as STAND_IN

ROOT = Path(__file__).parents[2]


def campaign(folder: Path, generator: str, count: int, jobs: int = 2, **more: object) -> dict:
    settings = Settings(generator=f"{STAND_IN}:{generator}", **more)  # type: ignore[arg-type]
    return Campaign(folder, settings, count=count).run(jobs)


def test_each_way_to_fail_is_a_finding(tmp_path: Path) -> None:
    made = campaign(tmp_path, "troubled", 8, seconds=3.0, attempts=4, calls=1)
    assert made["kernels"] == 8
    assert made["status"] == {"finding": 4, "ok": 4}
    found = {tuple(one["seeds"]): (one["failure"]["stage"], one["failure"]["code"]) for one in made["differences"]}
    assert found == {
        (2,): ("generator", "ValueError"),
        (5,): ("generator", "timeout"),
        (6,): ("generator", "crashed"),
        (7,): ("capture", "E101"),
    }
    page = (tmp_path / "report.html").read_text()
    assert "4 findings" in page
    assert "http" not in page
    assert json.loads((tmp_path / "report.json").read_text()) == made


def test_a_wrong_pass_is_found_reduced_and_saved_as_a_test(tmp_path: Path) -> None:
    made = campaign(tmp_path, "broken", 4, attempts=200)
    assert len(made["differences"]) == 1, [one["key"] for one in made["differences"]]
    (one,) = made["differences"]
    assert one["seeds"] == [0, 1, 2]
    assert (one["failure"]["code"], one["failure"]["place"]) == ("different", "narrow_ranges")
    assert len(one["text"].splitlines()) <= 9, one["text"]
    test = tmp_path / one["test"]
    # with the compiler as it is the kernel is right; with the broken one the test fails and says why
    right = subprocess.run([sys.executable, "-m", "pytest", "-q", str(test)], cwd=ROOT, capture_output=True, text=True)
    assert right.returncode == 0, right.stdout
    bad = (
        f"from {STAND_IN} import broken\nbroken(0)\nimport pytest\nraise SystemExit(pytest.main(['-q', {str(test)!r}]))"
    )
    wrong = subprocess.run([sys.executable, "-c", bad], cwd=ROOT, capture_output=True, text=True)
    assert wrong.returncode == 1, wrong.stdout
    assert "different in narrow_ranges" in wrong.stdout


def test_a_killed_campaign_goes_on_and_repeats_nothing_that_is_done(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "intent_np.cli", "fuzz", "--count", "9", "--out", str(tmp_path), "--calls", "1"]
    command += ["--generator", f"{STAND_IN}:kernel"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    journal = tmp_path / "journal.jsonl"
    deadline = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = journal.read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    assert 3 <= before.count(b"\n") < 10
    with open(journal, "ab") as torn:
        torn.write(b'{"seed": 8, "sta')
    done = subprocess.run([*command, "--json"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = journal.read_bytes()
    assert after.startswith(before)
    seeds = [json.loads(line)["seed"] for line in after.splitlines()[1:]]
    assert sorted(seeds) == list(range(9))
    report = json.loads(done.stdout)
    assert (report["kernels"], report["seed"], report["differences"]) == (9, 0, [])
    assert "reference" in report["oracles"]


def test_a_seed_gives_the_same_line_in_every_campaign(tmp_path: Path) -> None:
    lines = []
    for name in ("a", "b"):
        campaign(tmp_path / name, "broken", 2, jobs=1, attempts=8, calls=1)
        found = Journal(tmp_path / name / "journal.jsonl")
        seeds = [{n: v for n, v in line.items() if n != "seconds"} for line in found.seeds.values()]
        lines.append((seeds, found.reduced))
    assert lines[0] == lines[1]


def test_another_campaign_does_not_write_into_the_folder(tmp_path: Path) -> None:
    campaign(tmp_path, "kernel", 0)
    with pytest.raises(IntentError, match="other settings"):
        campaign(tmp_path, "kernel", 0, calls=7)


def test_calls_that_take_too_long_are_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    def examined(job: jobs.Seed) -> Outcome:
        late = job.settings.points > jobs.SMALL or job.settings.seconds <= Settings().seconds
        return Outcome("finding", Failure("machine", "timeout")) if late else Outcome(calls=1)

    monkeypatch.setattr(jobs, "_examined", examined)
    assert jobs.examined(jobs.Seed(Settings(), 0)) == Outcome(calls=1, slow="machine")


def test_nothing_begins_when_the_time_is_over_and_what_was_found_is_saved(tmp_path: Path) -> None:
    settings = Settings(generator=f"{STAND_IN}:kernel")
    late = Campaign(tmp_path, settings, minutes=0)
    failure = jobs.failure_as_json(Failure("machine", "crashed"))
    late.journal.add({"seed": 0, "status": "finding", "calls": 0, "seconds": {}, "failure": failure})
    made = late.run(1)
    assert made["kernels"] == 1
    (one,) = made["differences"]
    assert "It was not reduced: the time was over." in (tmp_path / one["test"]).read_text()
    assert not late.journal.reduced  # the next process may
