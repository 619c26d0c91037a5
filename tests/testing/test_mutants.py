"""Mutants: one thing is wrong while they are applied, each guard and pass has some, and a suite notices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intent_np.passes import narrow_ranges
from intent_np.passes.pipeline import PIPELINE
from intent_np.rules.rule_set import active
from intent_np.rules.tables import BUILTIN
from intent_np.testing.mutants import Witness, mutants, pass_mutants, rule_mutants, witnesses
from intent_np.testing.mutants.campaign import Campaign
from intent_np.testing.mutants.hunt import DIFFERS, hunt, is_right, look, reaching
from intent_np.testing.mutants.passes import NO_MEANING
from intent_np.testing.mutants.rates import summary
from intent_np.testing.mutants.reach import reach
from intent_np.testing.mutants.reasons import NO_MUTANT, UNWITNESSED
from intent_np.testing.mutants.rules import mutated
from intent_np.testing.mutants.source import Mutant
from intent_np.testing.mutants.suite import Trial
from intent_np.testing.mutants.witnesses import key
from intent_np.testing.mutants.written import WRITTEN

RULES = rule_mutants(None)


def of_rule(name: str) -> Mutant:
    return next(m for m in RULES if m.name == f"rule {name}")


def of_pass(function: str, change: str) -> Mutant:
    (found, *_) = pass_mutants(None, lambda name, text: name.startswith(f"{function}:") and change in text)
    return found


def test_every_guard_and_every_module_of_passes_has_candidates() -> None:
    names = {m.name for m in RULES}
    for r in BUILTIN.rules:
        assert {f"rule {r.name}: dropped guard {i + 1}" for i in range(len(r.when))} <= names
    modules = {p.module.rpartition(".")[2] for p in PIPELINE} - set(NO_MEANING)
    assert modules <= {m.name.partition(".")[0] for m in pass_mutants(1)}
    assert len(names) == len(RULES)


def test_each_mutant_has_a_witness_and_each_guard_and_pass_a_mutant() -> None:
    found = mutants()
    known = {w.key for w in witnesses()}
    assert len(found) >= 200
    assert len(found) >= 0.97 * len(known), "passes have changed: python -m benchmarks.mutants --search"
    excused = UNWITNESSED | set(NO_MUTANT)
    places = {m.name.partition(":")[0] for m in found}
    assert {p.module.rpartition(".")[2] for p in PIPELINE} <= {p.partition(".")[0] for p in places} | excused
    for r in BUILTIN.rules:
        own = [m.kind for m in found if m.name.startswith(f"rule {r.name}:")]
        assert len(own) <= 3
        for i in range(len(r.when)):
            guard = f"guard {i + 1}"
            assert any(guard in kind for kind in own) or f"rule {r.name} {guard}" in excused, f"{r.name}, {guard}"


def shown(witness: Witness) -> bool:
    """Whether a witness shows its mutant to be wrong: programs of their languages, and another result."""
    known = {witness.key}
    found = [*pass_mutants(None, lambda name, change: key(name, change) in known), *RULES]
    mutant = next((m for m in found if key(m.name, m.change) == witness.key), None)
    seen = look(mutant, Trial(witness.trial))[0] if mutant else None
    return seen is not None and seen.how == DIFFERS and is_right(seen)


def test_some_witnesses_show_what_they_do() -> None:
    every = witnesses()
    some = [every[(i * len(every) + 1) // 6] for i in range(6)]
    assert sum(map(shown, some)) >= 5, "passes have changed: python -m benchmarks.mutants --search"


@pytest.mark.slow
def test_every_witness_shows_what_it_does() -> None:
    missing = [w.name for w in witnesses() if not shown(w)]
    assert len(missing) <= 0.03 * len(witnesses()), missing


def test_a_mutant_is_in_force_for_a_while_and_no_longer() -> None:
    before = {n: f.__code__ for n, f in vars(narrow_ranges).items() if hasattr(f, "__code__")}
    changed = 0
    for mutant in pass_mutants(None, lambda name, change: name.startswith("narrow_ranges._bound:")):
        with mutant.applied():
            changed += {n: f.__code__ for n, f in vars(narrow_ranges).items() if hasattr(f, "__code__")} != before
        assert {n: f.__code__ for n, f in vars(narrow_ranges).items() if hasattr(f, "__code__")} == before
    assert changed
    guardless = of_rule("mod-small: dropped guard 2")
    assert len(mutated(guardless).when) == 1
    assert len(active().rule("mod-small").when) == 2


def test_a_function_is_wrong_for_one_rule_and_no_other() -> None:
    wrong = of_rule("take-indices: dropped condition in is_part of guard 1")
    assert mutated(wrong).when[0].args[0] == "is_part_wrong"
    with wrong.applied():
        assert active().rule("take-index") is BUILTIN.rule("take-index")
    assert active().rule("take-indices") is BUILTIN.rule("take-indices")
    seen = look(wrong, Trial("written last_of_all"))[0]
    assert seen is not None
    assert seen.how == DIFFERS
    assert is_right(seen)


def test_what_is_printed_is_executed_as_well() -> None:
    (wrong, *_) = [m for m in RULES if m.name == "rule truth-of-cast: dropped guard 1"]
    seen, differs = look(wrong, Trial("written truths_of_bytes"))
    assert differs
    assert seen is not None
    trial = Trial(seen.trial)
    with wrong.applied():
        made = trial.compiled()
    assert any(trial.triton(made, call) for call in trial.calls())
    assert not any(trial.triton(trial.compiled(), call) for call in trial.calls()[:2])


def test_debug_statements_are_compared_with_what_the_reference_says() -> None:
    trial = Trial("written reported_rows")
    made, calls = trial.compiled(), trial.calls()
    assert not any(trial.machine(made, call) for call in calls)
    silent = replace(made, reports=made.reports[:1])
    assert any("debug statements say" in trial.machine(silent, call) for call in calls)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_a_written_kernel_is_right(name: str) -> None:
    trial = Trial(f"written {name}")
    made = trial.compiled(check=True)
    assert trial.calls()
    for call in trial.calls():
        assert (trial.machine(made, call), trial.triton(made, call)) == ("", ""), call[0]


def test_a_trial_reaches_what_runs_and_what_occurs() -> None:
    found = reach(Trial("rule mod-nest 0"))
    assert found is not None
    assert "mod-nest" in found.occurs
    assert found.fired <= found.occurs | {"mod-nest"}
    assert of_rule("mod-nest: dropped guard 2").name in {
        m.name for m in RULES if m.name.startswith("rule mod-nest") and reaching(m, [found])
    }
    assert reaching(of_pass("compose_shapes.rewritten", ""), [found])
    assert not reaching(of_pass("lower_compressed._sum", ""), [found])


def test_a_kernel_notices_what_it_reaches() -> None:
    trials = [t for i in range(3) if (t := reach(Trial(f"rule max-nested {i}"))) is not None]
    mutant = of_rule("max-nested: wrong operator")
    found = hunt(mutant, reaching(mutant, trials), 60.0)
    assert found.seen is not None
    assert found.seen.how == DIFFERS
    assert is_right(found.seen)
    assert look(mutant, Trial(found.seen.trial))[0] == found.seen


def test_a_campaign_goes_on_where_it_ended(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [of_rule("max-nested: wrong operator"), of_rule("min-nested: wrong operator")]
    monkeypatch.setattr("intent_np.testing.mutants.campaign.mutants", lambda: wrong)
    monkeypatch.setattr("intent_np.testing.mutants.campaign.corpus", list)
    first = Campaign(tmp_path, jobs=1).measure(count=4)
    again = Campaign(tmp_path, jobs=1).measure(count=4)
    assert first == again
    assert first["measured"] == 2
    assert len(Campaign(tmp_path).journal.lines) >= 2


def test_survivors_lower_the_rate() -> None:
    those = RULES[:3]
    line = {"name": "a", "kind": "k", "how": "", "change": ""}
    random = {m.name: {**line, "name": m.name, "how": DIFFERS if i == 0 else ""} for i, m in enumerate(those)}
    rest = {those[1].name: {**line, "name": those[1].name, "how": DIFFERS}}
    made = summary(those, random, rest, 4, 4)
    assert (made["measured"], made["random"], made["killed"]) == (3, 1, 2)
    assert made["rate"] == 0.6667
    assert len(made["survivors"]) == 2
