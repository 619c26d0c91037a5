"""The exported rules are an egglog program: it loads, and derives what the rules say and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from intent_np.cli import main
from intent_np.rules.egglog_text import exportable, program
from intent_np.rules.tables import BUILTIN

RULES = [r for t in BUILTIN.tables if t.language is None for r in t.rules]
LEAVES = """
(let $x (Leaf "x" "index")) (set (lower $x) 0) (set (upper $x) 7)
(let $y (Leaf "y" "index")) (set (lower $y) 8) (set (upper $y) 99)
(let $i (Leaf "i" "i32"))
(let $f (Leaf "f" "f32"))
(let $p (Leaf "p" "bool"))
"""
ZERO, EIGHT = '(Whole 0 "index")', '(Whole 8 "index")'
EQUAL = [
    (f"(Mod (Add $x {ZERO}) {EIGHT})", "$x"),
    (f"(Mod (Add {ZERO} $x) $y)", "$x"),
    (f"(Floordiv (Add (Mul {EIGHT} $y) $x) {EIGHT})", "$y"),
    (f"(Minimum $y (Mod $x {EIGHT}))", "$x"),
    ('(Sub (Add $i (Whole 3 "i32")) (Whole 3 "i32"))', "$i"),
    ('(Add $f (Real "-0.0" "f32"))', "$f"),
    ("(Neg (Neg (Maximum $f $f)))", "$f"),
    ("(And (Lt $x $y) (Not (Not $p)))", "$p"),
    ("(Select (Not (Lt $x $y)) $i (Leaf \"j\" \"i32\"))", '(Leaf "j" "i32")'),
]  # fmt: skip
UNEQUAL = [
    (f"(Mod $y {EIGHT})", "$y"),
    ('(Add $f (Real "0.0" "f32"))', "$f"),
    ("(Sub $f $f)", '(Real "0.0" "f32")'),
    ("(Eq $f $f)", "(Truth true)"),
]


def loaded(extra: str) -> Any:
    bindings = pytest.importorskip("egglog.bindings")
    graph = bindings.EGraph()
    graph.run_program(*graph.parse_program(program(RULES) + LEAVES + extra))
    return graph


@pytest.mark.parametrize(("a", "b"), EQUAL, ids=[a for a, _ in EQUAL])
def test_equalities_are_derived(a: str, b: str) -> None:
    graph = loaded(f"(let $a {a}) (let $b {b}) (run 6)")
    graph.run_program(*graph.parse_program("(check (= $a $b))"))


@pytest.mark.parametrize(("a", "b"), UNEQUAL, ids=[a for a, _ in UNEQUAL])
def test_what_no_rule_says_is_not_derived(a: str, b: str) -> None:
    graph = loaded(f"(let $a {a}) (let $b {b}) (run 6)")
    with pytest.raises(Exception, match=r"[Cc]heck"):
        graph.run_program(*graph.parse_program("(check (= $a $b))"))


def test_every_rule_that_can_be_said_is_there() -> None:
    text = program(RULES)
    said = [r for r in RULES if exportable(r)]
    assert all(f"; {r.name}: " in text for r in said)
    assert len(said) >= 150
    assert not any(r.opaque or r.name.startswith("cast-") for r in said)
    assert program(RULES) == text


def test_the_command_prints_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rules", "export", "--egglog"])
    assert not ended.value.code
    assert capsys.readouterr().out == program(RULES)
