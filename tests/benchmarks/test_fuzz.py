"""A campaign as a line of a table."""

from pathlib import Path

from benchmarks.fuzz import table
from intent_np.testing.campaign import Settings, jobs
from intent_np.testing.campaign.journal import Journal
from intent_np.testing.oracles import Outcome


def test_kernels_are_counted_by_how_they_fared(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.add({"campaign": {**Settings(oracles=("reference", "machine"), each_pass=True).as_json(), "first": 40}})
    for seed, outcome in enumerate([Outcome(), Outcome(slow="machine"), Outcome("finding"), Outcome("no call")], 40):
        journal.add({"seed": seed, **jobs.as_json(outcome)})
    journal.close()
    with open(tmp_path / "journal.jsonl", "a") as torn:
        torn.write('{"seed": 44')
    cells = [cell.strip() for cell in table([tmp_path]).splitlines()[-1].strip("|").split("|")]
    assert cells == ["`reference,machine --validate`", "3", "40", "4", "2", "0", "1", "1", "1"]
