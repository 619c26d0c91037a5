"""Mutants of the functions that rules compute with, each for one rule: the others keep the right one."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from ...parsing import parse
from ...rules import scalar_attributes
from ...rules.pattern import Expr, Rule, nodes
from ...rules.rule_set import Table
from .source import Site, edited, sites

Functions = Mapping[str, Callable[..., Any]]
WRONG: Final = "_wrong"
"""Ends the name of a function that has something wrong in it."""


def changed_functions(r: Rule, table: Table) -> Iterator[tuple[str, str, Callable[[], tuple[Rule, Functions]]]]:
    """What can be wrong in what a rule computes with, guards first: the kind, the change, and what makes the rule with
    its functions."""
    functions = {**scalar_attributes.FUNCTIONS, **table.functions}
    seen: set[str] = set()
    for place, e in [*((f"of guard {i + 1}", g) for i, g in enumerate(r.when)), ("of the right side", r.right)]:
        for name in dict.fromkeys(str(x.args[0]) for x in nodes(e) if x.head == "computed"):
            module = sys.modules[functions[name].__module__]
            for below in _below(module, name):
                if below in seen or not _of(module, below):
                    continue
                seen.add(below)
                for site in sites(_of(module, below)[0]):
                    made = _maker(r, module, below, site)
                    yield f"{site.kind} in {below} {place}", f"{below}: {site.before}", made


def _maker(r: Rule, module: types.ModuleType, name: str, site: Site) -> Callable[[], tuple[Rule, Functions]]:
    return lambda: _made(r, module, name, site)


def _made(r: Rule, module: types.ModuleType, name: str, site: Site) -> tuple[Rule, Functions]:
    """The rule that computes with a copy of the module in which the site is wrong."""
    tree = _tree(module)
    code = compile(edited(tree, _of(module, name)[0], site.edit), str(module.__file__), "exec", dont_inherit=True)
    space = {"__name__": module.__name__, "__package__": module.__package__, "__file__": module.__file__}
    exec(code, space)
    own: dict[str, Any] = space["FUNCTIONS"]  # type: ignore[assignment]

    def renamed(e: Expr) -> Expr:
        args = tuple(renamed(a) if isinstance(a, Expr) else a for a in e.args)
        if e.head == "computed" and args[0] in own:
            args = (f"{args[0]}{WRONG}", *args[1:])
        return Expr(e.head, args)

    new = replace(r, right=renamed(r.right), when=tuple(map(renamed, r.when)))
    return new, {f"{n}{WRONG}": f for n, f in own.items()}


@cache
def _tree(module: types.ModuleType) -> ast.Module:
    return parse(Path(str(module.__file__)).read_text())


def _of(module: types.ModuleType, name: str) -> list[ast.FunctionDef]:
    """The definition of a function of a module, if it is one of its own."""
    return [n for n in _tree(module).body if isinstance(n, ast.FunctionDef) and n.name == name]


def _below(module: types.ModuleType, name: str) -> Iterator[str]:
    """A function, and those of its module that it calls."""
    found, stack = dict[str, None](), [name]
    while stack:
        one = stack.pop()
        if one not in found and _of(module, one):
            found[one] = None
            stack += [n.id for n in ast.walk(_of(module, one)[0]) if isinstance(n, ast.Name)]
    return iter(found)
