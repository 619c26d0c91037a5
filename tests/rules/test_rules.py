"""Every rule of every table keeps the value, on all element types that it applies to; broken ones do not."""

from __future__ import annotations

import pytest

from intent_np.rules.pattern import Rule, call, floats, indices, integers, literal, lo, predicates, rule, values
from intent_np.rules.simplify import TABLES
from intent_np.terms.core import Arena

from .harness import Refuted, examine

RULES = [(table, r) for table, rules in TABLES.items() for r in rules]
x, y = indices("x y")
m, n = integers("m n")
f, g = floats("f g")
a, b = values("a b")
p, q = predicates("p q")
c, d = literal("c d")


@pytest.mark.parametrize(("table", "r"), RULES, ids=[f"{t}-{r.name}" for t, r in RULES])
def test_the_rule_keeps_every_value(table: str, r: Rule) -> None:
    with Arena():
        assert examine(r) >= 1, "it never fires"


BROKEN = [
    rule("add-zero", f + 0.0, f),  # -0 + 0 is 0
    rule("sub-self", f - f, 0.0),
    rule("mul-zero", f * 0.0, 0.0),
    rule("max-of-nothing", call("maximum", f, 0.0), f),
    rule("max-num", call("maximum", f, g), call("maximum_num", f, g)),  # NaN
    rule("fma-to-mul", call("fma", f, g, 0.0), f * g),  # -0 + 0 is 0
    rule("abs-of-integer", call("abs", n), n),
    rule("reassociated", (f + g) - g, f),
    rule("not-lt", call("not", f < g), call("le", g, f)),
    rule("eq-reflexive", f.equals(f), True),
    rule("mod-small", x % c, x, when=[lo(x) >= 0]),  # no upper bound
    rule("floordiv-small", x // c, 0, when=[lo(x) >= -1, c > 0]),
    rule("floordiv-of-sum", (x * c + y) // c, x, when=[c > 0]),
    rule("truncating", call("ceil_div", x * c + y, c), x + y // c, when=[c > 0]),
    rule("floordiv-nest", (x // c) // d, x // (c * d), when=[c > 0]),  # -7 // 2 // -1
    rule("mod-nest", (x % c) % d, x % d, when=[c > 0, d > 0]),  # d need not divide c
    rule("lt-bounded", x < c, True, when=[lo(x) < c]),
    rule("le-wraps", n < n + 1, True),
    rule("shared-select", call("select", p, a, b), call("select", call("not", p), a, b)),
    rule("select-nested", call("select", p, call("select", q, a, b), b), call("select", call("or", p, q), a, b)),
    rule("halves", (n + n) // 2, n),
]


@pytest.mark.parametrize("r", BROKEN, ids=lambda r: r.name)
def test_a_broken_rule_is_refuted(r: Rule) -> None:
    with Arena(), pytest.raises(Refuted):
        examine(r)


@pytest.mark.parametrize(
    "name", ["mod-small", "floordiv-small", "lt-bounded", "max-small", "min-large", "le-impossible"]
)
def test_a_rule_needs_each_of_its_guards(name: str) -> None:
    """Guards are evaluated with the least that is known, so that dropping one shows."""
    (r,) = (r for _, r in RULES if r.name == name)
    for dropped in r.when:
        less = rule(r.name, r.left, r.right, when=[g for g in r.when if g is not dropped])
        with Arena(), pytest.raises(Refuted):
            examine(less)
