"""The one normal form: constants folded, the exact rules of every table applied, structured identities used.

`simplify` works bottom-up; `substitute` replaces and simplifies on the way, so that what a replaced predicate decides
disappears.  Both are sharing-linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..terms.accesses import Effect
from ..terms.blocked import Fold, Loop, Segment, Slice, Traverse
from ..terms.core import Term, arena, children, inherit, walk
from ..terms.dtypes import DType, bool_, index
from ..terms.index import Apply, Cast, Const, Value, apply, const, is_op
from ..terms.normal import Axis, Combine, Contract, Coord, Load, Part, Reduce, Region, Scan
from ..terms.ordered import Rewritten
from .rule_set import active, fired


def node(t: Any) -> Any:
    """Normal form of a term whose children are in normal form."""
    analyses, asked = arena().analyses, (node, active())
    left = analyses.get(asked)  # terms that no rule changes
    if left is None:
        left = analyses[asked] = set()
    for _ in range(32):  # every rule shrinks the term; the bound only guards against a wrong table
        if t in left:
            return t
        new = _node_once(t)
        if new is t:
            left.add(t)
            return t
        inherit(t, new)
        t = new
    return t


def _node_once(t: Any) -> Any:
    if type(t) is Apply:
        if t.op.arity < 0:
            new = apply(t.op, *t.args)
            return new if new is not t else _by_rules(t, t.op.name)
        if all(type(a) is Const for a in t.args):
            return _fold(t)
        new = _by_rules(t, t.op.name)
        return _affine(t) if new is t and t.type is index and t.op.name in ("add", "sub", "mul") else new
    if type(t) is Cast:
        new = _by_rules(t, "cast")
        return _cast(t) if new is t else new
    step = active().folds.get(type(t))
    return t if step is None else _told(t, step(t))


def _by_rules(t: Value, head: str) -> Value:
    """What the first rule that fits makes of a scalar term."""
    step = active().scalar.get(head)
    return t if step is None else _told(t, step(t, node))  # type: ignore[no-any-return]


def _told(t: Any, found: Any) -> Any:
    if found is None:
        return t
    new, name = found
    fired(name, t, new)
    return new


def _fold(t: Apply) -> Value:
    """An operator on constants, in the dtype's own arithmetic; an invalid operation stays as it is written."""
    import numpy as np

    from .. import numerics

    d: DType = t.args[-1].type  # type: ignore[assignment]
    arrays = [np.asarray(a.value, dtype=numerics.storage(a.dtype)) for a in t.args]  # type: ignore[attr-defined]
    if bool(np.any(numerics.invalid(t.op, *arrays, dtype=d))):
        return t
    result = numerics.apply(t.op, *arrays, dtype=d)
    out: DType = t.type  # type: ignore[assignment]
    return const(bool(result) if out is bool_ else float(result) if out.is_float else int(result), out)


def _affine(t: Apply) -> Value:
    """Sums of index terms in one canonical order, so that equal sums are one term."""
    from .affine import expanded, from_affine

    form, complete = expanded(t)
    return from_affine(form) if complete and all(abs(c) <= index.range[1] for c in form.values()) else t


def _cast(t: Cast) -> Value:
    v = t.value
    if t.mode == "wrap" and isinstance(v, Const):
        import numpy as np

        from .. import numerics

        source = np.asarray(v.value, dtype=numerics.storage(v.dtype))
        if not bool(np.any(numerics.invalid_cast(source, t.dtype, v.dtype))):
            r = numerics.cast(source, t.dtype, v.dtype)
            return const(bool(r) if t.dtype is bool_ else float(r) if t.dtype.is_float else int(r), t.dtype)
    if t.mode == "wrap" and isinstance(v, Apply) and v.op.name == "select" and isinstance(v.args[2], Const):
        other = node(Cast(v.args[2], t.dtype))
        if isinstance(other, Const):  # masks move outwards, where they meet
            return node(apply("select", v.args[0], node(Cast(v.args[1], t.dtype)), other))
    return t


def simplify(t: Any) -> Any:
    """`t` in normal form."""
    return simplify_all((t,))[0]


def simplify_all(roots: Iterable[Any]) -> tuple[Any, ...]:
    """Several values, simplified with what they share.  The statement that a read comes after is the one that was
    performed, whatever is simplified here: it is not entered.

    Terms that were found to be in normal form, with all that is in them, stand in the arena and aren't entered again.
    """
    roots = tuple(roots)
    space = arena()
    normal = space.analyses.setdefault((simplify, active()), set())
    if all(r in normal for r in roots):
        return roots
    done: dict[Any, Any] = {}
    left = lambda t: t in normal or isinstance(t, Effect) and t not in roots  # noqa: E731
    for t in walk(*roots, below=lambda t: () if left(t) else children(t)):
        if left(t):
            done[t] = t
            continue
        new = done[t] = node(t.rebuild(done))  # type: ignore[attr-defined]
        if new is not t:
            inherit(t, new, space)
        elif all(map(left, children(t))):
            normal.add(t)
    return tuple(done[r] for r in roots)


# ---- substitution ------------------------------------------------------------------------------------------------


def binder(t: Term) -> Any:
    """The axis whose coordinate `t` binds, if it binds one.

    A reduction over a fragment axis works on the block in hand, whose coordinate the loop around it binds.
    """
    if isinstance(t, (Reduce, Scan, Contract)):
        return t.axis if isinstance(t.axis, (Axis, Part)) else None
    if isinstance(t, (Fold, Traverse, Loop)):
        return t.slice
    return t.axis if isinstance(t, Region) else None


def substitute(t: Any, mapping: Mapping[Any, Any], everywhere: bool = False) -> Any:
    """Simultaneous replacement, simplified; capture-avoiding unless the facts hold `everywhere`.

    Below a binder, keys that vary along (or need) the bound axis mean another value and stay.
    """
    return substitute_all((t,), mapping, everywhere)[0]


def substitute_all(roots: Iterable[Any], mapping: Mapping[Any, Any], everywhere: bool = False) -> tuple[Any, ...]:
    """Several terms, substituted with what they share."""
    replaced = _Substitution(everywhere)
    return tuple([replaced.run(t, mapping) for t in roots])


class _Substitution:
    """What was replaced by each of the mappings that hold below some binder."""

    def __init__(self, everywhere: bool) -> None:
        self.everywhere = everywhere
        self.done: dict[frozenset[Any], dict[Any, Any]] = {}

    def run(self, root: Any, mapping: Mapping[Any, Any]) -> Any:
        done = self.done.setdefault(frozenset(mapping), {})
        kinds = {k.kinds for k in mapping}

        def below(t: Any) -> tuple[Any, ...]:
            has = t.kinds
            if t in mapping or t in done or not any(k & has == k for k in kinds):
                return ()  # no key is in it
            return () if self._bound(t, mapping) else _own(t)

        for t in walk(root, below=below):
            if t in done:
                continue
            if t in mapping:
                done[t] = inherit(t, mapping[t])
                continue
            has = t.kinds
            if not any(k & has == k for k in kinds):
                done[t] = t
                continue
            parts: dict[Any, Any] = done
            if bound := self._bound(t, mapping):
                inner = {k: v for k, v in mapping.items() if k not in bound}
                parts = Rewritten({c: self.run(c, inner) for c in _own(t)})
            elif type(t) is Load:
                parts = Rewritten({c: done[c] for c in _own(t)})
            new = t.rebuild(parts)  # type: ignore[attr-defined]
            done[t] = t if new is t else inherit(t, node(new))
        return done[root]

    def _bound(self, t: Any, mapping: Mapping[Any, Any]) -> set[Any]:
        """The keys that mean something else below `t`."""
        axis = None if self.everywhere else binder(t)
        if axis is None:
            return set()
        bound = {axis, axis.axis} if isinstance(axis, Slice) else {axis}
        return {k for k in mapping if k in bound or (k.lanes | k.needs) & bound}


def _own(t: Any) -> tuple[Any, ...]:
    """What a replacement enters: the effect that a load reads after is the one that is performed, whatever its
    coordinates are here."""
    return t.parts if type(t) is not Load or t.after is None else tuple(c for c in t.parts if c is not t.after)


def uses(roots: Iterable[Term]) -> dict[Term, int]:
    """How many terms below the roots use each term."""
    roots = tuple(roots)
    count: dict[Term, int] = {}
    for t in walk(*roots):
        for c in dict.fromkeys(children(t)):
            count[c] = count.get(c, 0) + 1
    for r in roots:
        count[r] = count.get(r, 0) + 1
    return count


__all__ = [
    "Combine", "Coord", "Segment", "arena", "binder", "is_op", "node", "simplify", "simplify_all",
    "substitute", "substitute_all", "uses",
]  # fmt: skip
