"""No rule over terms does what the others do without it; one that does is found, wherever it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intent_np.rules import folds
from intent_np.rules.folds import a, f, i
from intent_np.rules.folds import v as view
from intent_np.rules.pattern import Rule, attributes, computed, rule, structure, tensors
from intent_np.rules.rule_set import RuleSet
from intent_np.rules.tables import BUILTIN
from intent_np.testing.rules.structured import try_all
from intent_np.testing.rules.subsumed import subsumed

v = tensors("v")
p, q, s, x, d = attributes("p q s x d")


def transposed(value: object, permutation: object) -> object:
    return structure("Transpose", value, permutation)


REDUNDANT = {
    "as another one": ("shapes", rule("transpose-nothing", transposed(v, p), v, when=[computed("is_identity", p)])),
    "a special case": (
        "shapes",
        rule(
            "transpose-same-twice", transposed(transposed(v, p), p), transposed(v, computed("composed", p, p)),
            when=[computed("is_identity", p)],
        ),
    ),
    "what several do together": (
        "shapes",
        rule(
            "transpose-filled-twice", transposed(transposed(structure("Filled", x, s), p), q),
            structure("Filled", x, computed("permuted", computed("permuted", s, p), q)),
        ),
    ),
    "of the lower languages": (
        "folds",
        rule("load-fill", structure("Load", view, i, folds.FALSE, f, a), computed("filled", view, f)),
    ),
}  # fmt: skip


def with_rule(table: str, r: Rule, *, first: bool) -> RuleSet:
    def more(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return (r, *rules) if first else (*rules, r)

    return RuleSet(tuple(replace(t, rules=more(t.rules)) if t.name == table else t for t in BUILTIN.tables))


def test_every_rule_over_terms_is_needed() -> None:
    assert subsumed(BUILTIN) == []


@pytest.mark.parametrize("first", [True, False], ids=["in front", "behind"])
@pytest.mark.parametrize("kind", REDUNDANT)
def test_a_rule_that_adds_nothing_is_found(kind: str, first: bool) -> None:
    table, r = REDUNDANT[kind]
    rules = with_rule(table, r, first=first)
    if first:  # it is right, and fires: only that nobody needs it is wrong about it
        fired, broken = try_all(rules, [r.name])
        assert fired[r.name]
        assert not broken
    found = subsumed(rules)
    assert r.name in found
    twins = {"transpose-nothing": "transpose-identity", "load-fill": "load-never"}
    assert set(found) <= {r.name, twins.get(r.name)}


def test_a_rule_is_needed_once_the_one_that_does_its_work_is_gone() -> None:
    table, r = REDUNDANT["as another one"]
    rules = with_rule(table, r, first=True)
    assert subsumed(rules) == [r.name, "transpose-identity"]
    assert subsumed(rules.without("transpose-identity")) == []
