"""What orders statements is told by as few pairs as there are statements, and by no fewer than that takes."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intent_np as intent
import intent_np.language as I
from intent_np.passes.dependences import alike, changing, dependences, meeting
from intent_np.passes.pipeline import run
from intent_np.passes.syncs import synced
from intent_np.terms.core import Arena
from intent_np.terms.grouped import Sync
from intent_np.terms.ordered import loads

POSITIONS = st.lists(st.integers(0, 7), min_size=1).map(sorted)
Pairs = Iterable[tuple[int, int]]


def connected(pairs: Pairs) -> set[frozenset[int]]:
    """The positions that pairs connect."""
    found: set[frozenset[int]] = set()
    for pair in pairs:
        touched = {c for c in found if not c.isdisjoint(pair)}
        found = (found - touched) | {frozenset(pair).union(*touched)}
    return found


@settings(max_examples=400, deadline=None)
@given(POSITIONS, POSITIONS, st.booleans(), st.sets(st.integers(0, 7)))
def test_some_pairs_connect_what_all_pairs_connect(
    here: list[int], there: list[int], any_order: bool, recurring: set[int]
) -> None:
    every = {(i, k) for i in here for k in there if any_order or k < i or i == k and i in recurring}
    some = meeting(here, there, any_order, recurring)
    assert set(some) <= every
    assert connected(some) == connected(every)
    assert len(some) <= 2 * (len(here) + len(there))


@intent.kernel
def in_place(y: I.InOut[I.f32, ("N + 1",)], z: I.InOut[I.f32, ("N + 1",)]):
    y[:] = y[:] * 2.0
    z[:] = y[:] + 1.0
    y[:] = z[:] * y[:]
    z[1:] = y[1:] - 1.0
    y[:] = y[:] + 3.0


@pytest.fixture
def effects() -> Iterable[tuple[object, ...]]:
    with Arena():
        yield run(in_place.capture({}), stop_after="forward_stores").effects


def test_accesses_that_nothing_tells_apart_stand_together(effects: tuple[object, ...]) -> None:
    stores = [(i, s) for i, e in enumerate(effects) for s in changing(e)]
    assert [where for where, _ in alike(stores)] == [[0, 2, 4], [1], [3]]
    assert {frozenset((d.first, d.second)) for d in dependences(effects)}
    assert connected((d.first, d.second) for d in dependences(effects)) == {frozenset(range(5))}


def test_a_sync_stands_between_stores_to_other_lanes(effects: tuple[object, ...]) -> None:
    """z[1:] is stored by other lanes than z[:] was: one of all pairs needs a sync, and gets one."""
    after = synced(effects)
    names = ["sync" if isinstance(e, Sync) else e.view.name for e in after]  # type: ignore[attr-defined]
    assert names.index("sync") == 3
    assert names.count("sync") == 1
    assert loads(after[0])
