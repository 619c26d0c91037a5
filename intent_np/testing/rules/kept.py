"""Verdicts that outlive the process: each in a file named by a hash of the rule and of all that judged it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from ... import environment
from ...rules.pattern import Rule
from ...rules.rule_set import RuleSet
from .verdict import Verdict, judge


def verdicts(rules: RuleSet, names: Iterable[str] | None = None, jobs: int = 1, again: bool = False) -> list[Verdict]:
    """The verdict on each rule (or those of these names), in order; what is kept is not judged `again`.

    Scalar rules are spread over `jobs` processes when these are built in: a process finds them by name.
    """
    wanted = [r for r in rules.rules if names is None or r.name in set(names)]
    known = {} if again else {r.name: v for r in wanted if (v := _read(rules, r)) is not None}
    missing = [r.name for r in wanted if r.name not in known]
    for verdict in _judged(rules, missing, jobs):
        known[verdict.rule] = verdict
        _write(rules, rules.rule(verdict.rule), verdict)
    return [known[r.name] for r in wanted]


def _judged(rules: RuleSet, names: list[str], jobs: int) -> list[Verdict]:
    from ...rules.tables import BUILTIN

    if jobs < 2 or rules is not BUILTIN or len(names) < 2 * jobs:
        return judge(rules, names)
    shares = [names[i::jobs] for i in range(jobs)]  # slow rules stand together in a table
    with ProcessPoolExecutor(jobs) as pool:
        return [v for share in pool.map(_builtin, shares) for v in share]


def _builtin(names: list[str]) -> list[Verdict]:
    from ...rules.tables import BUILTIN

    return judge(BUILTIN, names)


def key(rules: RuleSet, r: Rule) -> str:
    """The hash that a verdict is kept by: the rule's text, its table's language, and the code that judges."""
    table = rules.table(r)
    functions = sorted(table.functions) if table.language else []
    said = [r.name, repr(r.left), repr(r.right), repr(r.when), _kinds(r), r.numerics, str(table.language), *functions]
    judges = _hash(*SCALAR_JUDGES) if table.language is None else _hash(*SCALAR_JUDGES, *PROGRAM_JUDGES)
    return hashlib.sha256("\n".join([*said, judges]).encode()).hexdigest()[:32]


def _kinds(r: Rule) -> str:
    from .instances import metavariables

    return repr([(n, v.head, v.args[1]) for n, v in metavariables(r.left).items()])


SCALAR_JUDGES = (
    "testing/rules",
    "rules/matcher.py",
    "rules/facts.py",
    "rules/affine.py",
    "rules/scalar_attributes.py",
    "terms/operators.py",
    "terms/index.py",
    "numerics",
)
PROGRAM_JUDGES = ("rules", "terms", "backends/reference", "backends/program", "passes/compose_shapes.py")
"""Sources that a verdict depends on, below the package."""


@cache
def _hash(*places: str) -> str:
    """A hash of files, and of all those in folders."""
    import intent_np

    root = Path(intent_np.__file__).parent
    found = hashlib.sha256()
    for place in places:
        file = root / place
        for one in [file] if file.is_file() else sorted(file.rglob("*.py")):
            found.update(one.read_bytes())
    return found.hexdigest()


def _place(rules: RuleSet, r: Rule) -> Path:
    return environment.cache_folder() / "rules" / f"{key(rules, r)}.json"


def _read(rules: RuleSet, r: Rule) -> Verdict | None:
    try:
        found = Verdict(**json.loads(_place(rules, r).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return replace(found, table=rules.table(r).name)


def _write(rules: RuleSet, r: Rule, verdict: Verdict) -> None:
    place = _place(rules, r)
    try:  # a cache that can't be written only costs time
        place.parent.mkdir(parents=True, exist_ok=True)
        whole = place.with_suffix(f".{os.getpid()}")
        whole.write_text(json.dumps(asdict(verdict)))
        os.replace(whole, place)
    except OSError:
        pass
