"""Every rule is proved, or tried where it can't be; a wrong one is refuted by a program that shows it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from intent_np.rules.pattern import Rule, call, floats, indices, integers, literal, lo, predicates, rule, values
from intent_np.rules.tables import BUILTIN
from intent_np.testing.rules.kept import verdicts
from intent_np.testing.rules.order import ends
from intent_np.testing.rules.verdict import PROVED, Verdict, judge_scalar

from ..sources import executed

SCALAR = [r for t in BUILTIN.tables if t.language is None for r in t.rules]
TEMPTING = [r for t in BUILTIN.tables for r in t.tempting]
MERELY_TESTED = {
    "fma-to-mul",  # z3 does not finish on two multipliers of 24 and 53 bits
    "fma-to-add",
    "fma-of-negs",
    "div-of-negs",  # nor on two dividers
    "div-by-power",
    "floor-of-integer",  # nor on 64 bits rounded to 53
    "ceil-of-integer",
    "round-of-integer",
}
"""Rules that could be written for z3, and that it does not decide."""
OPAQUE = {"floordiv-of-terms", "ceil-div-of-terms", "mod-of-terms"}
"""Rules whose right side a function computes, which nothing proves."""


@pytest.mark.parametrize("r", SCALAR, ids=lambda r: r.name)
def test_the_rule_is_proved(r: Rule) -> None:
    (verdict,) = verdicts(BUILTIN, [r.name])
    allowed = ("tested",) if r.name in MERELY_TESTED | OPAQUE else (*PROVED, "exhaustive")
    assert verdict.status in allowed, verdict


def test_few_rules_are_merely_tested() -> None:
    assert MERELY_TESTED.issubset(r.name for r in SCALAR)
    assert len(MERELY_TESTED) <= 10
    assert {r.name for r in SCALAR if r.opaque} == OPAQUE
    assert len(OPAQUE) <= 5


x, y = indices("x y")
m, n = integers("m n")
f, g = floats("f g")
p, q = predicates("p q")
a, b = values("a b")
c, d = literal("c d")

BROKEN = [
    rule("mod-small", x % c, x, when=[lo(x) >= -1]),
    rule("ceil-div-truncates", call("ceil_div", x * c + y, c), x + y // c, when=[c > 0]),
    rule("floordiv-of-sum-any", (x * c + y) // c, x, when=[c > 0]),
    rule("floordiv-nest-sum", (x // c) // d, x // (c + d), when=[c > 0, d > 0]),
    rule("le-wraps", n < n + 1, True),
    rule("add-constants-twice", (m + c) + d, m + (c + c)),
    rule("sub-swapped", m - n + n, n),
    rule("neg-once", call("neg", call("neg", m)), call("neg", m)),
    rule("shared-select", call("select", p, a, b), call("select", call("not", p), a, b)),
    rule("select-or", call("select", p, call("select", q, a, b), b), call("select", call("or", p, q), a, b)),
    rule("select-wrong-side", call("select", p, a, call("select", p, b, a)), call("select", p, a, b)),
    rule("de-morgan", call("not", call("and", p, q)), call("and", call("not", p), call("not", q))),
    rule("max-is-min", call("maximum", call("minimum", x, y), y), x),
    rule("abs-of-neg-signed", call("abs", call("neg", f)), f),
    rule("infinite-identity", call("minimum", f, float("-inf")), f),
    rule("one-is-no-identity", f + 1.0, f),
    rule("negative-zero", f - (-0.0), f),
    rule("shift", call("shl", m, 1), m),
    rule("xor", call("bit_xor", m, n), call("bit_or", m, n)),
    rule("half-open", x < c, True, when=[lo(x) < c]),
]


def shown(verdict: Verdict) -> tuple[str, str]:
    """What the program of a refuted rule prints: the two sides."""
    out = io.StringIO()
    with redirect_stdout(out):
        executed(verdict.program)
    before, after = out.getvalue().split()
    return before, after


@pytest.mark.parametrize("r", [*BROKEN, *TEMPTING], ids=lambda r: r.name)
def test_a_wrong_rule_is_refuted_by_a_program(r: Rule) -> None:
    verdict = judge_scalar(r)
    assert verdict.status == "refuted"
    before, after = shown(verdict)
    assert before != after, verdict


def test_what_never_ends_or_never_fires_is_refuted() -> None:
    assert "may not end" in judge_scalar(rule("commute", m + n, n + m)).detail
    assert "may not end" in judge_scalar(rule("grow", m + n, (m + n) + 0)).detail
    assert "never fires" in judge_scalar(rule("contradiction", x % c, x, when=[c > 0, c < 0])).detail
    assert "never fires" in judge_scalar(rule("no-type", call("exp", m), m)).detail


def test_the_order_of_terms() -> None:
    assert ends(rule("smaller", (m + n) - n, m))
    assert ends(rule("constant", (m + c) + d, m + (c + d)))
    assert not ends(rule("copies", m * 2, m + m))
    assert not ends(rule("same", m - n, n - m))


def test_a_guard_that_divides_by_zero_fails() -> None:
    r = rule("multiple", (x // c) // d, 0, when=[(c % d).equals(0)])
    assert judge_scalar(r).status == "refuted"  # and nothing raises


def test_verdicts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names = ["mod-small", "select-not"]
    first = verdicts(BUILTIN, names)
    assert [v.status for v in first] == ["proved-int", "proved-any"]
    assert verdicts(BUILTIN, names) == first
    files = sorted((tmp_path / "intent-np" / "rules").iterdir())
    assert len(files) == 2
    changed = {**json.loads(files[0].read_text()), "detail": "from the file"}
    files[0].write_text(json.dumps(changed))
    assert "from the file" in [v.detail for v in verdicts(BUILTIN, names)]
    files[0].write_text("{")  # damaged: judged again
    assert {(v.rule, v.status, v.detail) for v in verdicts(BUILTIN, names)} == {
        (v.rule, v.status, v.detail) for v in first
    }
    again = verdicts(BUILTIN, names, again=True)
    assert [v.status for v in again] == ["proved-int", "proved-any"]
