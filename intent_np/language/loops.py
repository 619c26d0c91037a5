"""Loops: which kind a `for` or `while` is; unordered `parallel` loops, and loops over a tuple that is known now."""

from __future__ import annotations

import ast
import keyword
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from intent_np.errors import error
from intent_np.terms.logical import Domain, LoopVar, Parallel

from . import exits, races
from .calls import Enumerated
from .context import capture, fail
from .elaborate import describe
from .frames import POISON, Frame, Missing


@dataclass(frozen=True)
class Points:
    """`I.parallel(domains)`: what a for loop iterates unordered."""

    domains: tuple[Domain, ...]
    single: bool
    about: ClassVar[str] = "I.parallel(domains)"


def loop(f: Frame, s: ast.For | ast.While, collect: bool) -> None:
    """`for target in iterable`: parallel, ordered, or unrolled over a tuple that is known now; and `while`."""
    from .expressions import evaluate
    from .ordered import ordered

    if isinstance(s, ast.While):
        return ordered(f, s, None, collect)
    over = evaluate(f, s.iter)
    if isinstance(over, Points):
        return _parallel(f, s, over, collect)
    if isinstance(over, Domain | Enumerated):
        return ordered(f, s, over, collect)
    if isinstance(over, tuple):
        outside = {n: f.names[n] for n in (exits.BREAK, exits.CONTINUE) if n in f.names}
        f.names = exits.iteration(f.names)
        _unrolled(f, s, over, collect)
        f.names = {n: v for n, v in f.names.items() if n not in (exits.BREAK, exits.CONTINUE)} | outside
        return None
    raise fail(
        "E102",
        construct=f"a loop over {describe(over)}",
        suggestion="iterate a domain, range(...), I.parallel(domain) or a tuple",
    )


def _unrolled(f: Frame, s: ast.For, members: tuple[Any, ...], collect: bool) -> bool:
    """The body once for each member, as long as no earlier one left."""
    from . import statements

    for i, member in enumerate(members):
        statements.assign(f, s.target, member)
        statements.execute(f, s.body, collect)
        f.names[exits.CONTINUE] = False
        gone = exits.left(f.names, exits.BREAK, exits.RETURN)
        if gone is True:
            return True
        if gone is not False:
            rest = members[i + 1 :]
            return exits.unless_left(f, gone, partial(_unrolled, f, s, rest, collect))
    return False


# ---- parallel ----------------------------------------------------------------------------------------------------


def _parallel(f: Frame, s: ast.For, over: Points, collect: bool) -> None:
    from . import statements

    state = capture()
    if state.pure:
        raise fail("E306", effect="I.parallel", found=state.pure)
    targets = list(s.target.elts) if isinstance(s.target, ast.Tuple | ast.List) else [s.target]
    if len(targets) != len(over.domains) or over.single and isinstance(s.target, ast.Tuple | ast.List):
        names, given = statements.counted(len(targets), "name"), statements.counted(len(over.domains), "domain")
        hint = "name a point of each domain: for i, j in I.parallel((rows, columns))"
        raise fail("E116", names=names, given=given, found=given, fix=hint)
    before = dict(f.names)
    points: list[LoopVar] = []
    for target, domain in zip(targets, over.domains, strict=True):
        if isinstance(target, ast.Name):
            depth = sum(p.domain is domain for p in (*state.loops, *points))
            points.append(LoopVar(domain, depth))
        else:
            raise fail("E102", construct="this loop target", suggestion="name the point: for row in I.parallel(rows)")
    changed = [n for n in statements.assigned(s.body) if n in f.names]
    for n in changed:
        f.names[n] = Missing("E114", {"name": n})
    f.names = exits.forbidden(f.names)
    with state.block(points=tuple(points)) as effects:
        for target, p in zip(targets, points, strict=True):
            statements.assign(f, target, p)
        statements.execute(f, s.body, collect)
    own = {t.id for t in targets if isinstance(t, ast.Name)}
    inside = [n for n in f.names if n.isidentifier() and not keyword.iskeyword(n)]
    inside = [n for n in inside if n not in before or n in changed or n in own]
    said = {e.title for e in state.errors}
    carried = [n for n in changed if error("E114", name=n).title in said]
    f.names = before | {n: Missing("E120", {"name": n}) for n in inside} | dict.fromkeys(carried, POISON)
    if effects:
        made = Parallel(tuple(points), tuple(effects))
        for problem in races.kept_apart(made):
            state.errors.add(problem)
        state.emit(made)
