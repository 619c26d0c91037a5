"""Mutants of the passes: of each module of `intent_np.passes` some, of as many kinds and functions as it has."""

from __future__ import annotations

import ast
import builtins
import hashlib
import pkgutil
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from ... import passes as package
from ...parsing import parse
from .source import Mutant, Site, compiled, living, sites, with_code

NO_MEANING: Final = {
    "base": "what passes are, not what they do",
    "pipeline": "the order of passes",
    "choose_launch": "warps and stages: time alone",
    "blocks": "sizes of blocks: time alone",
}
"""Modules that decide nothing about results, and why."""

BEHIND: Final = {"inline_calls": "intent_np/terms/logical/inlining.py"}
"""What passes leave to a module of terms."""

FIRST: Final = {
    "lost mask": 0, "wrong bound": 0, "wrong operator": 1, "swapped operands": 2, "dropped condition": 2,
    "wrong comparison": 3, "wrong constant": 3, "dropped statement": 4, "off by one": 4, "forgotten pass": 9,
}  # fmt: skip
"""Kinds that give programs, and other ones, go before those that mostly crash or change nothing."""


def pass_mutants(of_each: int | None, wanted: Callable[[str, str], bool] = lambda name, change: True) -> list[Mutant]:
    """So many mutants of each module that shapes programs, or all; those that are `wanted` by name and change."""
    found = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda i: i.name):
        if info.name not in NO_MEANING:
            found += _of_module(import_module(f"{package.__name__}.{info.name}"), of_each, wanted)
    for name, file in BEHIND.items():
        found += _of_module(import_module(file.removesuffix(".py").replace("/", ".")), of_each, wanted, name)
    return found


def _of_module(
    module: types.ModuleType, most: int | None, wanted: Callable[[str, str], bool], owner: str = ""
) -> list[Mutant]:
    """Some of all that can be wrong in a module: kinds and functions that it has few of go first, then by a hash."""
    tree, every = _known(module, owner)
    every = [c for c in every if wanted(c.name, c.site.before)]
    kinds: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    chosen: list[Mutant] = []
    while every and (most is None or len(chosen) < most):
        best = min(
            every, key=lambda c: (functions[c.qualified] + 2 * kinds[c.site.kind] + FIRST[c.site.kind], _hash(c.name))
        )
        every.remove(best)
        if (made := _made(module, tree, best)) is not None:
            kinds[made.kind] += 1
            functions[best.qualified] += 1
            chosen.append(made)
    return chosen


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A site in a function of a module."""

    name: str
    qualified: str
    function: ast.FunctionDef
    site: Site


def _made(module: types.ModuleType, tree: ast.Module, chosen: _Candidate) -> Mutant | None:
    """The mutant of a candidate, if it compiles."""
    alive = living(module, chosen.qualified)
    code = compiled(module, tree, chosen.function, chosen.site.edit)
    if alive is None or code is None or code.co_freevars != alive.__code__.co_freevars:
        return None
    known = {*alive.__globals__, *dir(builtins), *alive.__code__.co_names}
    if not set(code.co_names) <= known:  # a name that the module does not have
        return None
    place = (str(module.__file__), *chosen.site.lines)
    return Mutant(chosen.name, chosen.site.kind, chosen.site.before, with_code(alive, code), place)


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


@cache
def _known(module: types.ModuleType, owner: str) -> tuple[ast.Module, list[_Candidate]]:
    tree = parse(Path(str(module.__file__)).read_text())
    return tree, list(_every(owner or module.__name__.rpartition(".")[2], tree))


def _every(short: str, tree: ast.Module) -> Iterator[_Candidate]:
    """All that can be wrong in a module."""
    for qualified, function in _functions(tree):
        same: Counter[str] = Counter()
        for site in sites(function):
            same[site.kind] += 1
            yield _Candidate(f"{short}.{qualified}: {site.kind} {same[site.kind]}", qualified, function, site)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of the module and of its classes, with their qualified names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name != "__repr__":
                    yield f"{node.name}.{inner.name}", inner
