"""The tables themselves: names, readable sources, no rule that another one makes superfluous."""

from __future__ import annotations

import numpy as np
import pytest

from intent_np.rules.matcher import compile_rules, source
from intent_np.rules.pattern import Rule
from intent_np.rules.tables import BUILTIN
from intent_np.terms.core import Arena
from intent_np.terms.index import is_op
from intent_np.testing.rules.conversions import typed_instances
from intent_np.testing.rules.instances import instances, metavariables, typed

RULES = [r for t in BUILTIN.tables if t.language is None for r in t.rules]


def test_names_are_given_once_and_read_like_names() -> None:
    names = [r.name for r in BUILTIN.rules]
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
        if typed(r):
            terms = [i.left for i in typed_instances(r)]
        else:
            terms = [t for t, *_ in instances(r, np.random.default_rng(0)) if is_op(t, r.left.head)]
        left = [(t, found[0]) for t in terms if (found := mine(t, lambda u: u)) is not None]
        for name, steps in others.items():
            results = [steps[r.left.head](t, lambda u: u) for t, _ in left]
            assert any(new is None or new[0] is not found for new, (_, found) in zip(results, left, strict=True)), name


def test_sources_are_readable_python() -> None:
    text = source(RULES)["mod"]
    assert text.startswith("# mod\ndef step(t, node):\n")
    assert "return t.args[0], 'mod-small'" in text
    assert all(f"# {r.name}" in source(RULES)[r.left.head] for r in RULES)


def test_the_written_form_of_a_rule() -> None:
    (r,) = (r for r in RULES if r.name == "mod-nest")
    assert (str(r.left), str(r.right), str(r.when[1])) == ("x % c % d", "x % d", "c % d == 0")
    assert all(str(r.left) and str(r.right) for r in RULES)
