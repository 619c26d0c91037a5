"""The search against all picks of small problems; and costs that change the plan."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

import intent_np as intent
from intent_np.compiler import Compilation, CompileOptions
from intent_np.passes.choose_plan import choose_plan
from intent_np.planning import machine, work
from intent_np.planning.choose import better, decide, directed
from intent_np.planning.explain import described, explained, text
from intent_np.planning.problem import Limits
from intent_np.planning.search import Search
from intent_np.target import SM_90
from intent_np.terms.core import Arena, find
from intent_np.terms.grouped import GROUPED, Sync
from intent_np.terms.normal import Axis, Load, Recur, View
from kernels.losses import fused_linear_cross_entropy

from .ordered_rows import eliminated, found_place, iterated, weighed_steps
from .rows import CASES, both_ways, chain, planned, small_point, softmax

LONG = {"M": 512, "N": 131072}


@pytest.mark.parametrize("name", CASES)
def test_the_search_finds_what_is_cheapest_of_all_picks(name: str) -> None:
    p = planned(name, keep=False)
    with p.space:
        for frame in p.saturated.frames:
            if frame.number not in p.saturated.graph.roots:
                continue
            search = Search(p.saturated, frame.number, 10**9)
            search.price(small_point(p.saturated, frame))
            found = search.best().cost
            every = [search.cost(pick) for pick in search.graph.every(3000)]
            assert found <= min(every) * (1 + 1e-9)


def chosen(kernel: Any, sizes: Mapping[str, int], numerics: str = "strict", policy: str = "egraph") -> str:
    """The plan of a kernel in one line."""
    with Arena():
        program = grouped(kernel, numerics)
        (group,) = program.groups
        best = decide(group, program.permissions, 132, policy, sizes, Limits())[0]
        return described(best.plan)


def grouped(kernel: Any, numerics: str = "strict") -> Any:
    from intent_np.passes.pipeline import run
    from intent_np.permissions import NUMERICS

    return run(kernel.capture({}, permissions=NUMERICS[numerics]), stop_after="form_groups")


def with_costs(monkeypatch: pytest.MonkeyPatch, **changed: Any) -> None:
    found = {**machine.costs(), **changed}
    for module in (machine, work):
        monkeypatch.setattr(module, "costs", lambda: found)


def test_a_dear_value_is_kept_and_a_cheap_one_is_computed_again() -> None:
    assert "keeps tanh" in chosen(chain, LONG)
    assert "keeps" not in chosen(softmax, LONG)


def test_slow_memory_turns_keeping_into_computing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with_costs(monkeypatch, memory=machine.costs()["memory"] / 8)
    assert "keeps" not in chosen(chain, LONG)


def test_a_dear_exponential_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    issue = machine.costs()["issue"]
    with_costs(monkeypatch, issue={**issue, "exp": 40 * issue["exp"]})
    assert "keeps exp" in chosen(softmax, LONG)


def test_what_no_iteration_changes_is_kept_in_front_of_an_ordered_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {**LONG, "T": 64}
    assert "t@4/n@2; keeps tanh by n@2" in chosen(iterated, sizes)
    with_costs(monkeypatch, memory=machine.costs()["memory"] / 64, l2=machine.costs()["l2"] / 64)
    assert "keeps" not in chosen(iterated, {**sizes, "T": 1})


def test_an_iteration_overwrites_what_it_keeps_behind_a_sync() -> None:
    with Arena():
        program = choose_plan(grouped(weighed_steps), policy="keep", sizes=LONG)
        assert GROUPED.check(program) == []
        (loop,) = find(program, Recur)
        first, keeping, second, *_ = loop.effects
        assert [isinstance(e, Sync) for e in (first, keeping, second)] == [True, False, True]
        assert keeping.view.mode == "workspace"
        assert any(t.view is keeping.view and t.after is second for t in find(loop, Load))


def test_statements_behind_a_sync_have_a_plan() -> None:
    assert compilation(both_ways).remarks == {}


def test_permission_to_rescale_saves_a_loop() -> None:
    assert chosen(softmax, LONG).count("@") == 3
    assert chosen(softmax, LONG, "relaxed").count("columns") < 3
    assert "online" in chosen(softmax, LONG, "relaxed")


@pytest.mark.parametrize("policy", ["recompute", "keep"])
def test_policies_take_what_they_say(policy: str) -> None:
    assert ("keeps" in chosen(chain, LONG, policy=policy)) is (policy == "keep")


@pytest.mark.parametrize(("kernel", "sizes"), [(chain, LONG), (softmax, LONG), (softmax, {"M": 1024, "N": 65536})])
def test_unasked_another_plan_is_taken_where_it_is_better(kernel: Any, sizes: Mapping[str, int]) -> None:
    with Arena():
        program = choose_plan(grouped(kernel), sizes=sizes)
        assert any(a.role for a in find(program, Axis))


def test_unasked_the_rules_decide_where_no_plan_is_better() -> None:
    with Arena():
        (group,) = grouped(softmax).groups
        found = decide(group, (), 132, "egraph", LONG, Limits())
        ruled = directed(found[0].search.s, 132)
        assert ruled is not None
        assert better(found, 132) is found[0]
        assert better([ruled], 132) is None
        assert better([ruled._replace(seconds=1.01 * ruled.seconds)], 132) is None


def test_unasked_no_more_memory_is_taken_than_arguments_have() -> None:
    with Arena():
        program = choose_plan(grouped(fused_linear_cross_entropy))
        assert not any(a.role for a in find(program, Axis))
        program = choose_plan(grouped(fused_linear_cross_entropy), policy="egraph")
        assert any(v.mode == "workspace" for v in find(program, View))


def test_alternatives_are_shown_with_their_costs() -> None:
    with Arena():
        shown = explained(grouped(chain), sizes=LONG)
        assert "keeps tanh" in text(shown)
        costs = [p["ms"] for p in shown[0]["plans"]]
        assert costs == sorted(costs)
        assert all(p["work"]["memory"] > 0 for p in shown[0]["plans"])


def compilation(kernel: Any, **options: Any) -> Compilation:
    passes = {"choose_plan": {"policy": "egraph", **options}}
    made = Compilation(kernel, SM_90, {}, CompileOptions(passes=passes))
    with made.arena:
        made.program = made.lowered(made.logical, stop_after="choose_plan")  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize(
    ("kernel", "options", "why"),
    [
        (found_place, {}, "it asks what an update found"),
        (eliminated, {}, "it overwrites what other members of an axis read"),
        (softmax, {"limits": {"nodes": 10}}, "it has more than 10 e-nodes"),
        (softmax, {"limits": {"executions": 10}}, "it has more than 10 values at places"),
        (softmax, {"limits": {"values": 3}}, "it has more than 3 values"),
    ],
)
def test_a_group_without_a_plan_says_why(kernel: Any, options: dict[str, Any], why: str) -> None:
    made = compilation(kernel, **options)
    assert [(r.code, r.text.rpartition(": ")[2]) for r in made.remarks] == [("P008", why)]
    assert not any(a.role for a in find(made.program, Axis))  # type: ignore[attr-defined]


def test_a_limit_is_told_where_the_compiler_decides() -> None:
    """By default nothing is said of groups that no plan could be right for, and of those that are too much is."""
    assert not compilation(eliminated, policy="auto").remarks
    (remark,) = compilation(softmax, policy="auto", limits={"nodes": 10}).remarks
    assert (remark.code, remark.text.rpartition(": ")[2]) == ("P008", "it has more than 10 e-nodes")


def test_without_egglog_the_directed_plan_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from intent_np.planning import saturate

    saturate._engine.cache_clear()
    monkeypatch.setitem(sys.modules, "egglog", None)
    made = compilation(softmax)
    assert [r.code for r in made.remarks] == ["P008"]
    assert "egglog" in next(iter(made.remarks)).text
    saturate._engine.cache_clear()


def test_an_unknown_policy_is_refused() -> None:
    with Arena(), pytest.raises(intent.LanguageUseError, match="'policy' of the pass choose_plan can't be 'best'"):
        choose_plan(grouped(softmax), policy="best")


@pytest.mark.slow
def test_the_plan_is_the_same_in_any_process() -> None:
    code = (
        "from tests.planning.test_search import *\n"
        "from tests.planning.rows import attention, chain, norm_matmul, softmax\n"
        "from intent_np.terms.text import show\n"
        "for k in (softmax, chain, attention, norm_matmul):\n"
        "    with Arena(): print(show(choose_plan(grouped(k, 'relaxed'), policy='egraph')))\n"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(5)
    }
    assert len(shown) == 1
