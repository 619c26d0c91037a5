"""Every kernel of the corpus, executed by the reference, against its oracle; and how far down each comes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from intent_np.corpus.cases import Entry, entries
from intent_np.corpus.verify import Call, calls, launcher
from intent_np.documentation.corpus import reached
from intent_np.terms.core import Arena
from intent_np.terms.logical import LOGICAL
from intent_np.terms.parse import parse
from intent_np.terms.text import show
from intent_np.testing import check

ENTRIES = entries([str(Path(__file__).parents[2] / "kernels")])
every_kernel = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


def agrees(entry: Entry, some: Iterable[Call]) -> None:
    launch = launcher(entry, "reference")
    for call in some:
        report = check(entry.case, launch, call.extents, call.seed, call.layout, call.values)
        assert report.ok, f"{call}: {report}"


@every_kernel
def test_the_reference_meets_the_oracle(entry: Entry) -> None:
    agrees(entry, calls(entry.case))


@pytest.mark.slow
@every_kernel
def test_the_reference_meets_the_oracle_on_all_values(entry: Entry) -> None:
    agrees(entry, (call for call in calls(entry.case, thorough=True) if call.layout in ("contiguous", "random")))


@every_kernel
def test_programs_are_well_formed_and_read_back(entry: Entry) -> None:
    for one in entry.launches:
        with Arena():
            program = one.kernel.capture(one.constexprs)
            assert LOGICAL.check(program) == []
            assert parse(show(program), LOGICAL) is program


def test_what_reached_triton_still_does(request: pytest.FixtureRequest) -> None:
    """Nothing that lowers may stop to.  `--update-golden` adds kernels to the list, and takes those off that are gone;
    it never takes one off that is there and has lost its way: that is done by hand, for a reason."""
    path = Path(__file__).parent / "golden" / "reaches_triton.txt"
    way: dict[str, Any] = {entry.title: {reached(one) for one in entry.launches} for entry in ENTRIES}
    listed = path.read_text().split()
    if request.config.getoption("--update-golden"):
        path.write_text("".join(f"{t}\n" for t, ends in way.items() if ends == {"launch"} or t in listed))
    lost = {title: sorted(way.get(title, {"gone"})) for title in listed if way.get(title) != {"launch"}}
    assert not lost, "these kernels no longer reach Triton; what stands behind each is the last language of a program"
