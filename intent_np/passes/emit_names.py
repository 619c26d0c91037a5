"""The names of statements: each value has one in the scope that computes it, called as the author calls the value.

Used by `emit`.
"""

from __future__ import annotations

from typing import Any

from ..terms.blocked import BlockedProgram, Branch
from ..terms.core import arena, children, find, inherit, walk
from ..terms.gpu import ContractInto, Let, Var, variable
from ..terms.index import Extent, Physical, Stride, is_op
from ..terms.normal import Contract, Coord, Load, Reduce, Scan, builtin_name
from ..terms.text import reserved
from .scopes import Scope

PROGRAM = "program"
"""Names the number of an instance, where execution groups share a launch."""


class Naming:
    """The scopes under construction, and the names in them."""

    def __init__(self, program: BlockedProgram) -> None:
        self.names = arena().names
        self.taken = {p.name for p in program.parameters} | {"pid", "grid", PROGRAM}  # type: ignore[attr-defined]
        self.taken |= {t.name for t in find(program, (Physical, Stride, Extent))}  # type: ignore[arg-type]
        self.placed: dict[Any, Scope] = {}  # loops with effects
        self.aside: set[Any] = set()  # what one side of a branch alone is made of

    def enter(self, effects: tuple[Any, ...]) -> Scope:
        """Begin the statements of an execution group."""
        self.root = self.scope = Scope(None, None, None, effects)
        self.open = [self.root]  # scopes under construction, whose names are visible or may become so
        self.root.taken = set(self.taken)
        always = lambda t: (t.condition, t.otherwise) if isinstance(t, Branch) else children(t)  # noqa: E731
        self.aside = set(walk(*(t.value for t in find(effects, Branch)))) - set(walk(*effects, below=always))
        return self.root

    def fresh(self, hint: str, scope: Scope | None = None) -> str:
        """A name that no visible value has; bodies of different loops may use one name for what they have in common."""
        hint = hint if hint.isidentifier() else "t"
        home = scope or self.scope
        i = home.first_free(hint)
        name = f"{hint}_{i}" if i else hint
        # a hoisted value stands before the loops in hand, whose complete inner loops must not assign its name
        inner = self.open[self.open.index(home) + 1 :] if home in self.open else []
        while reserved(name) or any(name in s.taken for s in self.open) or any(name in s.below for s in inner):
            i += 1
            name = f"{hint}_{i}"
        home.taken.add(name)
        return name

    def home(self, t: Any) -> Scope:
        """The scope that a term is computed in: the innermost that it needs; a loop with effects stays in its place."""
        if t in self.placed:
            return self.placed[t]
        s = self.scope
        while s.parent is not None and s.slice not in t.needs:
            s = s.parent
        return s

    def let(self, value: Any, hint: str, scope: Scope) -> Var:
        var = variable(self.fresh(hint, scope), value.type, value.lanes)
        scope.body.append(Let(var, value))
        return inherit(value, var)  # type: ignore[return-value]

    def hint(self, t: Any) -> str:
        """The author's name for a value, or what it is."""
        if t in self.names:
            return self.names[t]
        if isinstance(t, Coord) and t.axis in self.names:
            return self.names[t.axis]
        if isinstance(t, Load):
            return f"{t.view.name}_value"
        if isinstance(t, Reduce):
            return {"max": "largest", "min": "least", "sum": "total"}.get(builtin_name(t.combine) or "", "reduced")
        if isinstance(t, Scan):
            return "prefix"
        if isinstance(t, (Contract, ContractInto)):
            return "product"
        if isinstance(t, Branch):
            return self.hint(t.otherwise)
        if is_op(t, "lt") and isinstance(t.args[0], Coord) and t.args[0].axis in self.names:
            return f"in_{self.names[t.args[0].axis]}"
        if is_op(t, "lt", "le", "and", "eq"):
            return "inside"
        return "t"
