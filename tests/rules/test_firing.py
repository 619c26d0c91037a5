"""Every rule is for something: it rewrites a kernel of the corpus, or the one that is named after it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from intent_np.corpus.cases import Entry, entries
from intent_np.corpus.firings import firings
from intent_np.rules.pattern import Rule
from intent_np.rules.tables import BUILTIN
from intent_np.testing.rules.example import example_text

ROOT = Path(__file__).parents[2]
NAMED = {e.name: e for e in entries([str(Path(__file__).parent / "named_kernels.py")])}


@cache
def in_the_corpus() -> frozenset[str]:
    return fired(entries([str(ROOT / "kernels")]))


def fired(kernels: Iterable[Entry]) -> frozenset[str]:
    return frozenset(f.rule for e in kernels for f in firings(e, BUILTIN))


def name(r: Rule) -> str:
    return r.name.replace("-", "_")


@pytest.mark.parametrize("r", [r for r in BUILTIN.rules if name(r) in NAMED], ids=lambda r: r.name)
def test_a_rule_fires_in_its_kernel(r: Rule) -> None:
    assert r.name in fired([NAMED[name(r)]])


def test_every_rule_fires_somewhere(tmp_path: Path) -> None:
    idle = []
    for r in BUILTIN.rules:
        if name(r) in NAMED or r.name in in_the_corpus():
            continue
        file = tmp_path / f"{name(r)}.py"
        file.write_text(example_text(r))
        if r.name not in fired(entries([str(file)])):
            idle.append(r.name)
    assert not idle


def test_named_kernels_are_named_after_rules() -> None:
    assert set(NAMED) <= {name(r) for r in BUILTIN.rules}


def test_there_are_enough_rules() -> None:
    assert len(BUILTIN.rules) >= 150
