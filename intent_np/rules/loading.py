"""Tables of rules from outside the package: a file that is named, and what installed packages offer.

    # what I know of my kernels
    x = indices("x")
    RULES = (rule("minus-itself", x - x, 0),)

An installed package offers such a module under the entry point group `intent_np.rules`.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from ..errors import Span, error, place_in
from ..terms.language import Language
from .pattern import Expr, Rule, nodes
from .rule_set import RuleSet, Table, active
from .structures import classes
from .tables import BUILTIN

GROUP: Final = "intent_np.rules"


def rule_set(paths: Iterable[str] = (), without: Iterable[str] = ()) -> RuleSet:
    """The rules in force (the built-in ones and those of installed packages, where nothing else is put in force) and
    those of these files, less the rules named `without`.

    Raises E801 (a name that is none), E802 (a name given twice) and E803 (no table).
    """
    base = _installed() if active() is BUILTIN else active()
    return base.extended(*(load(p) for p in paths)).without(*without)


def admitted(paths: Iterable[str] = (), without: Iterable[str] = ()) -> RuleSet:
    """`rule_set`, once each rule from outside is proved or tried; E804 for a wrong one, E805 where nothing proves."""
    rules = rule_set(paths, without)
    added = [r.name for t in rules.tables if t.name not in _BUILT_IN for r in t.rules]
    if added:
        from ..testing.rules import needed

        needed()
        from ..testing.rules.kept import verdicts

        for verdict in verdicts(rules, added):
            if not verdict.ok:
                raise error("E804", name=verdict.rule, found=verdict.detail, detail=verdict.program)
    return rules


_BUILT_IN = {t.name for t in BUILTIN.tables}


@cache
def _installed() -> RuleSet:
    """The built-in rules and those of installed packages."""
    return BUILTIN.extended(*(_table(module, name, path) for name, path, module in offered(GROUP, "E803")))


def offered(group: str, code: str) -> Iterator[tuple[str, str, ModuleType]]:
    """The modules that installed packages offer under an entry point group, by name, each with where it is; the error
    of this code says which one can't be imported."""
    for e in sorted(entry_points(group=group), key=lambda e: (e.name, e.value)):
        try:
            yield e.name, e.value, e.load()
        except Exception as problem:
            found = f"{type(problem).__name__}: {problem}"
            how = f"repair the package {e.dist.name if e.dist else e.value} that offers it, or uninstall it"
            raise error(code, path=e.value, found=found, how=how) from problem


def load(path: str) -> Table:
    """The table that a Python file declares; E803 if it declares none."""
    return _table(module_of(path, "E803", "rules"), Path(path).stem, path)


def module_of(path: str, code: str, what: str) -> ModuleType:
    """The module in a Python file that declares `what`; the error of this code says why there is none."""
    file = Path(path)
    if not file.is_file():
        raise error(code, path=path, found="there is no such file", how="check the path")
    # A name of its own: the file may be called as something that is imported already.
    spec = importlib.util.spec_from_file_location(f"{what} from {file.resolve()}", file)
    if spec is None or spec.loader is None:
        raise error(code, path=path, found="no Python file", how="name it *.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as e:
        span, found = place_in(spec.origin or path, e), f"{type(e).__name__}: {e}"
        raise error(code, span, path=path, found=found, how="it must be imported without error") from e
    finally:
        del sys.modules[spec.name]
    return module


def _table(module: ModuleType, name: str, path: str) -> Table:
    rules = getattr(module, "RULES", None)
    if not isinstance(rules, tuple) or not rules or not all(isinstance(r, Rule) for r in rules):
        found = "no RULES" if rules is None else f"RULES is {type(rules).__name__} of other things, or empty"
        raise error("E803", _line(module, "RULES"), path=path, found=found, how="RULES = (rule(...), ...)")
    language: Language | None = None
    given: dict[str, Any] = {}
    if any(r.left.head == "term" for r in rules):
        like = _like(rules)
        language = like.language
        own = getattr(module, "FUNCTIONS", {})
        given = {"functions": {**like.functions, **own}, "measure": getattr(module, "MEASURE", like.measure)}
    for r in rules:
        if (r.left.head == "term") != (language is not None):
            found = f"{r.name} is of another kind"
            raise error("E803", _line(module, r.name), path=path, found=found, how="split the table in two")
        if (what := wrong_with(r, language, given.get("functions", {}))) is not None:
            found = f"{r.name}: {what}"
            raise error("E803", _line(module, r.name), path=path, found=found, how="correct the rule")
    return Table.of(module, name, language=language, **given)


def _line(module: ModuleType, name: str) -> Span | None:
    """Where the text of a module says a name first, as one that it assigns or as the text that names a rule."""
    try:
        text = Path(module.__file__ or "").read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value == name or isinstance(node, ast.Name) and node.id == name:
            line = text.splitlines()[node.lineno - 1]
            return Span(str(module.__file__), node.lineno, node.col_offset + 1, (node.end_col_offset or 0) + 1, line)
    return None


def _like(rules: Iterable[Rule]) -> Table:
    """A built-in table over the language that has all terms of the rules, the author's where several have them."""
    named = {e.args[0] for r in rules for side in (r.left, r.right) for e in nodes(side) if e.head == "term"}
    over = [(t, classes(t.language)) for t in reversed(BUILTIN.tables) if t.language is not None]
    return next((t for t, known in over if named <= known.keys()), over[0][0])


def wrong_with(r: Rule, language: Language | None, functions: Any) -> str | None:
    """What makes a rule no rule: an unknown head, or something on the right that the left does not bind."""
    known, computable = (classes(language) if language else {}), set(functions)
    bound = _names(r.left)
    for e in (r.left, r.right, *r.when):
        for sub in nodes(e):
            if sub.head == "term" and sub.args[0] not in known:
                return f"there is no term {sub.args[0]}"
            if sub.head == "term" and len(sub.args) - 1 != len(known[sub.args[0]].fields):
                return f"{sub.args[0]} has {len(known[sub.args[0]].fields)} fields"
            if sub.head == "computed" and sub.args[0] not in computable:
                return f"there is no function {sub.args[0]}"
            if sub.head in ("var", "literal", "attribute") and e is not r.left and sub.args[0] not in bound:
                return f"'{sub.args[0]}' is not on the left"
    return None if r.left.head not in ("var", "literal", "const", "attribute") else "its left side is no operation"


def _names(e: Expr) -> set[str]:
    return {n.args[0] for n in nodes(e) if n.head in ("var", "literal", "attribute")}
