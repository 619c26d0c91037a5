"""Rules over terms with fields compiled to Python: one function a class, that tries the rules whose left side is one.

A field of a pattern is a metavariable (a value, or an attribute), a constant, or another pattern; what occurs twice
must be equal.  Terms of one arena are equal when they are the same, and so are tuples of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..terms.language import Language
from .pattern import Expr, Rule


class _Matching:
    def __init__(self, classes: Mapping[str, Any]) -> None:
        self.classes = classes
        self.conditions: list[str] = []
        self.bound: dict[str, str] = {}

    def match(self, p: Expr, at: str) -> None:
        match p.head:
            case "term":
                kind, *fields = p.args
                self.conditions.append(f"type({at}) is CLASSES[{kind!r}]")
                for f, pattern in zip(self.classes[kind].fields, fields, strict=True):
                    self.match(pattern, f"{at}.{f.name}")
            case "const":
                self.conditions.append(f"{at} == {p.args[0]!r}")
            case _ if p.args[0] in self.bound:
                self.conditions.append(f"{at} == {self.bound[p.args[0]]}")
            case _:
                self.bound[p.args[0]] = at

    def build(self, e: Expr) -> str:
        match e.head:
            case "term":
                return f"CLASSES[{e.args[0]!r}]({', '.join(self.build(a) for a in e.args[1:])})"
            case "computed":
                return f"{e.args[0]}({', '.join(self.build(a) for a in e.args[1:])})"
            case "const":
                return repr(e.args[0])
        return self.bound[e.args[0]]


def classes(language: Language) -> dict[str, Any]:
    """The terms of a language by name: languages may share names."""
    return {t.__name__: t for t in language.terms}


def source(rules: Iterable[Rule], language: Language) -> dict[str, str]:
    """Python text of one matching function for each class at a root."""
    known = classes(language)
    by_root: dict[str, list[str]] = {}
    for r in rules:
        m = _Matching(known)
        m.match(r.left, "t")
        tests = [*(m.conditions[1:] or ["True"]), *(m.build(g) for g in r.when)]
        by_root.setdefault(r.left.args[0], []).extend([
            f"    if {' and '.join(tests)}:  # {r.name}",
            f"        return {m.build(r.right)}, {r.name!r}",
        ])  # fmt: skip
    return {root: "\n".join(["def step(t):", *lines, "    return None\n"]) for root, lines in by_root.items()}


def compile_rules(
    rules: Iterable[Rule], language: Language, functions: Mapping[str, Any]
) -> dict[type, Callable[[Any], Any]]:
    """`{class: step}`; a step gives (replacement, rule name) or None.  `functions` are what the rules compute with, by
    name."""
    steps, known = {}, classes(language)
    for root, text in source(rules, language).items():
        space = {"CLASSES": known, **functions}
        exec(compile(text, f"<rules for {root}>", "exec"), space)
        steps[known[root]] = space["step"]
    return steps
