"""name_repeated: triton -> triton.  What a block of lines computes more than once gets a name; so does a long mask.

    lhs = tl.load(…, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
    s = tl.where((m[:, None] < M) & (k[None, :] < K), lhs, 1.0)
->
    mask = (m[:, None] < M) & (k[None, :] < K)
    …

A name is bound just before the first line that needs it, in the outermost block where its operands do not change; what
lines of one branch need, in the branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..backends.triton.names import Names
from ..terms.core import Term, arena, children, replace, rewrite, walk
from ..terms.dtypes import bool_
from ..terms.triton import (
    TRITON,
    Assign,
    AtomicAt,
    Block,
    ConvertTo,
    Dot,
    Expr,
    ForRange,
    Function,
    Helper,
    HistogramCall,
    IfThen,
    LoadAt,
    Name,
    Pointwise,
    ReduceCall,
    ScanCall,
    StoreAt,
    assigned,
    bodies,
    expressions,
    inner,
    names,
    rebound,
)
from .base import nanopass

SHORT = 3
"""Index and predicate arithmetic of fewer operators is read again more easily than looked up."""

LONG = 6
"""A mask of more operators is named even if it is used once."""

WORK = (Pointwise, ConvertTo, ReduceCall, ScanCall, HistogramCall, Dot, LoadAt)


@nanopass(TRITON, TRITON)
def name_repeated(function: Function) -> Function:
    """Bind a name to each expression that is worth one, so that the text says and computes everything once.

    Stands last before the ABI: earlier passes see whole expressions.
    Preserves values: only pure expressions move, loads never across a store nor out of a loop or branch.
    """
    helper = lambda t: replace(t, body=_named(t.body, t)) if isinstance(t, Helper) else t  # noqa: E731
    (function,) = rewrite((function,), helper, Helper)
    body = _named(function.body, function)
    return replace(function, body=body) if body != function.body else function  # type: ignore[no-any-return]


def _named(body: tuple[Any, ...], scope: Term) -> tuple[Any, ...]:
    return _Naming(Names(str(getattr(t, "name", "")) for t in walk(scope))).block(body)


class _Uses:
    """Where the expressions of a block are used: by how many parents, in which of its lines, as masks."""

    def __init__(self, body: tuple[Any, ...], inside: dict[Any, list[Any]]) -> None:
        self.count: dict[Any, int] = {}
        self.lines: dict[Any, list[int]] = {}
        self.masks: set[Any] = set()
        parents: set[Term] = set()
        for i, line in enumerate(body):
            for s in _deep(line):
                roots = expressions(s)
                if s not in inside:
                    inside[s] = [t for t in inner(*roots) if _may_be_named(t) or any(map(_may_be_named, children(t)))]
                if isinstance(s, (StoreAt, AtomicAt)):
                    self.masks.add(s.mask)
                for e in roots:
                    self.count[e] = self.count.get(e, 0) + 1
                for t in inside[s]:
                    self.lines.setdefault(t, []).append(i)
                    if t not in parents:
                        parents.add(t)
                        if isinstance(t, LoadAt):
                            self.masks.add(t.mask)
                        for c in children(t):
                            self.count[c] = self.count.get(c, 0) + 1


class _Naming:
    def __init__(self, fresh: Names) -> None:
        self.fresh = fresh
        self.weights: dict[Any, int] = {}
        self.inside: dict[Any, list[Any]] = {}  # the subexpressions of a line that matter

    def block(self, body: tuple[Any, ...]) -> tuple[Any, ...]:
        while (best := self._largest(body)) is not None:
            body = self._bind(body, *best)
        return tuple(replace(s, body=self.block(s.body)) if bodies(s) else s for s in body)

    def _largest(self, body: tuple[Any, ...]) -> tuple[Any, int] | None:
        """The largest expression that should have a name bound in this block, and the first line that uses it."""
        uses = _Uses(body, self.inside)
        found = [
            (self.weight(e), -lines[0], e)
            for e, lines in uses.lines.items()
            if self.worth(e, uses.count.get(e, 0), e in uses.masks) and _movable(e, body, lines)
        ]
        if not found:
            return None
        _, line, e = max(found, key=lambda f: f[:2])
        return e, -line

    def _bind(self, body: tuple[Any, ...], e: Any, start: int) -> tuple[Any, ...]:
        first = body[start]
        if isinstance(first, Assign) and first.value is e:  # it has a name already
            name, above = first.target, body[: start + 1]
        else:
            hint = arena().names.get(e) or ("mask" if e.type.dtype is bool_ else "t")
            name = Name(self.fresh.fresh(hint), e.type.dtype, e.type.shape)
            above = (*body[:start], Assign(name, e))
        rest = body[start + (above[-1] is first) :]
        return (*above, *rewrite(rest, lambda t: name if t is e else t, type(e)))

    def worth(self, e: Any, uses: int, mask: bool) -> bool:
        """Whether an expression with this many uses should have a name."""
        if not _may_be_named(e):
            return False
        if mask and self.weight(e) > LONG:
            return True
        costs = e.type.dtype.is_float or isinstance(e, (ReduceCall, ScanCall, HistogramCall, Dot, LoadAt))
        return uses > 1 and (costs or self.weight(e) >= SHORT)

    def weight(self, e: Any) -> int:
        """The number of operators in an expression, as printed."""
        if e not in self.weights:
            self.weights[e] = isinstance(e, WORK) + sum(self.weight(c) for c in children(e) if isinstance(c, Expr))
        return self.weights[e]


def _may_be_named(e: Any) -> bool:
    """Whether an expression is work on a block; where some positions only broadcast, the whole that it is part of may
    be worth a name."""
    return isinstance(e, WORK) and isinstance(e.type, Block) and all(isinstance(x, Term) for x in e.type.shape)


def _movable(e: Any, body: tuple[Any, ...], lines: list[int]) -> bool:
    """Whether `e` has one value in all these lines, which is known in front of the first."""
    first, last = lines[0], lines[-1]
    if first == last and isinstance(body[first], IfThen) and e not in inner(body[first].condition):
        return False  # what a branch alone needs is computed in it
    bound = set().union(*(assigned(s) for s in body[first:last]), *(rebound(bodies(s)) for s in body[first : last + 1]))
    if isinstance(body[last], ForRange):
        bound.update(assigned(body[last]))
    if isinstance(body[first], Assign) and body[first].value is e:
        # called by the name that the first line binds, which has to last
        if first == last or body[first].target in bound - set(assigned(body[first])) or _again(body, first):
            return False
        bound -= set(assigned(body[first])) - names(e)
    elif any(isinstance(s, Assign) and s.value is e for s in body[first : last + 1]):
        return False
    if names(e) & bound:
        return False
    if any(isinstance(t, LoadAt) for t in inner(e)):
        between = [t for s in body[first:last] for t in _deep(s)]
        return not any(bodies(body[i]) for i in lines) and not any(isinstance(t, (StoreAt, AtomicAt)) for t in between)
    return True


def _again(body: tuple[Any, ...], line: int) -> bool:
    """Whether the name that a line binds is bound again later in this block."""
    return bool(set(assigned(body[line])) & rebound(body[line + 1 :]))


def _deep(s: Any) -> Iterator[Any]:
    """A line and the lines inside it."""
    yield s
    for line in bodies(s):
        yield from _deep(line)
