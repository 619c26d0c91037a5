"""The tables themselves: names, readable sources, no rule that another one makes superfluous."""

from __future__ import annotations

from typing import Any

import pytest

from intent_np.rules.matcher import compile_rules, source
from intent_np.rules.pattern import Rule
from intent_np.rules.simplify import TABLES
from intent_np.terms.core import Arena

from .harness import instances, metavariables, rng_of

RULES = [r for rules in TABLES.values() for r in rules]


def test_names_are_given_once_and_read_like_names() -> None:
    names = [r.name for r in RULES]
    assert len(set(names)) == len(names)
    assert all(n.replace("-", "").isalpha() and n == n.lower() for n in names)


def test_a_rule_uses_what_it_matches() -> None:
    for r in RULES:
        known = metavariables(r.left)
        for e in (r.right, *r.when):
            assert set(metavariables(e)) <= set(known), r.name


def test_rules_are_exact() -> None:
    """A rule that needs a permission belongs into a pass that has it."""
    assert {r.numerics for r in RULES} == {"exact"}


@pytest.mark.parametrize("r", RULES, ids=lambda r: r.name)
def test_no_other_rule_does_the_same(r: Rule) -> None:
    """A more general rule would make this one superfluous: it fires wherever this one does, with the same result."""
    others = {o.name: compile_rules([o]) for o in RULES if o is not r and o.left.head == r.left.head}
    mine = compile_rules([r])[r.left.head]
    with Arena():
        left = [(t, found[0]) for t, _ in instances(r, rng_of(0)) if (found := mine(t, lambda u: u)) is not None]
        for name, steps in others.items():
            results = [steps[r.left.head](t, lambda u: u) for t, _ in left]
            assert any(new is None or new[0] is not found for new, (_, found) in zip(results, left, strict=True)), name


def size(t: Any) -> int:
    """Nodes of the tree."""
    return 1 + sum(map(size, t.children()))


@pytest.mark.parametrize("r", RULES, ids=lambda r: r.name)
def test_a_rule_makes_terms_smaller_or_moves_them_on(r: Rule) -> None:
    """So that rewriting ends: fewer nodes, or as many with fewer negations or less above constants."""
    with Arena():
        step = compile_rules([r])[r.left.head]
        fired = [(t, new[0]) for t, _ in instances(r, rng_of(0)) if (new := step(t, lambda u: u)) is not None]
        for before, after in fired[:20]:
            assert size(after) <= size(before), r.name
            assert size(after) < size(before) or weight(after) < weight(before), r.name


def weight(t: Any) -> int:
    """Nodes by their distance from the root: lower means that operators have moved to the leaves."""
    total, level, depth = 0, [t], 0
    while level:
        total, level, depth = total + depth * len(level), [c for u in level for c in u.children()], depth + 1
    return -total


def test_sources_are_readable_python() -> None:
    text = source(RULES)["mod"]
    assert text.startswith("# mod\ndef step(t, node):\n")
    assert "return t.args[0], 'mod-small'" in text
    assert all(f"# {r.name}" in source(RULES)[r.left.head] for r in RULES)


def test_the_written_form_of_a_rule() -> None:
    (r,) = (r for r in RULES if r.name == "mod-nest")
    assert (str(r.left), str(r.right), str(r.when[2])) == ("x % c % d", "x % d", "c % d == 0")
    assert all(str(r.left) and str(r.right) for r in RULES)
