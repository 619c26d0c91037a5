"""Helpers: statements and results over parameters, called where they stand, inlined by a pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..core import Term, arena, children, inherit, replace, term
from ..dtypes import DType
from ..index import Value
from ..normal import Effect, Memory
from .statements import After, Outcome
from .tensors import Read
from .types import SHAPING, TensorType, element, formed, shape_of


@term
class Passed(Value):
    """A value that a procedure is called with: a scalar, or a tensor of these extents."""

    name: str
    position: int
    dtype: DType
    extents: tuple[Value, ...] = ()
    scalar: bool = False
    syntax = "passed {position} {dtype}[{extents}]{ scalar|scalar|}"
    binds = True

    def infer(self) -> Any:
        return self.dtype if self.scalar else TensorType(self.dtype, self.extents)


@term
class PassedView(Memory):
    """A view or a buffer that a procedure is called with."""

    name: str
    position: int
    mode: str
    dtype: DType
    shape: tuple[Value, ...]
    syntax = "lent {position} {mode} {dtype}[{shape}]"
    binds = True

    def infer(self) -> DType:
        return self.dtype


@term
class PassedEffect(Effect):
    """The statement behind which a procedure is called, where a read in it sees what that wrote."""

    position: int
    syntax = "earlier {position}"


@term
class Procedure(Term):
    """A helper: its statements, if it has any, and its results, over what it is called with and over nothing else but
    constants and parameters of the program."""

    name: str
    formals: tuple[Term, ...]
    body: tuple[Effect, ...]
    results: tuple[Value, ...] = ()
    syntax = "procedure ({formals}){ gives |results|}{body:block}"
    binds = True

    def infer(self) -> None:
        for f in self.formals:
            if not isinstance(f, (Passed, PassedView, PassedEffect)):
                raise TypeError(f"a procedure is called with what is passed, not with a {type(f).__name__}")


@term
class Perform(Effect):
    """A procedure at its arguments, as one statement: a read that sees what its statements wrote names it."""

    procedure: Procedure
    args: tuple[Term, ...]
    syntax = "perform {procedure}({args})"

    def infer(self) -> None:
        _check_arguments(self)


def _check_arguments(call: Any) -> None:
    for f, a in zip(call.procedure.formals, call.args, strict=True):
        fits = isinstance(a, Effect) if isinstance(f, PassedEffect) else _alike(f, a)
        if not fits:
            raise TypeError(f"{call.procedure.name} is called with {a} for {f}")


def _alike(formal: Any, a: Any) -> bool:
    if isinstance(formal, PassedView):
        return isinstance(a, Memory) and a.dtype is formal.dtype and len(a.shape) == len(formal.shape)
    scalar = not isinstance(a.type, TensorType)
    fits = element(a.type) is formal.dtype and len(shape_of(a)) == len(formal.extents)
    return isinstance(a, Value) and scalar == formal.scalar and fits


@term
class Returned(Value):
    """What a call gives: a result of its procedure."""

    call: Perform
    position: int
    syntax = "result {position} of {call}"

    def infer(self) -> Any:
        return given(self).type


@term
class Call(Value):
    """What a procedure without statements gives at its arguments: result `position` of it."""

    procedure: Procedure
    args: tuple[Term, ...]
    position: int = 0
    syntax = "call {procedure}({args}){ result |position|}"

    def infer(self) -> Any:
        _check_arguments(self)
        if self.procedure.body:
            raise TypeError(f"{self.procedure.name} performs statements")
        return given(self).type


class Opened(NamedTuple):
    """A procedure with the arguments of a call in the place of its formals."""

    body: tuple[Any, ...]
    results: tuple[Any, ...]


def opened(call: Perform | Call) -> Opened:
    """What a call performs and gives, each found once in an arena."""
    known = arena().facts
    key: Any = (Opened, call.procedure, call.args)
    if key not in known:
        known[key] = over(call)
    return known[key]  # type: ignore[no-any-return]


def given(t: Call | Returned) -> Value:
    """The result of a call that a value is."""
    return opened(t if isinstance(t, Call) else t.call).results[t.position]  # type: ignore[no-any-return]


def over(call: Perform | Call, settled: Callable[[Any], Any] = lambda t: t) -> Opened:
    """The same, with a step for each term that the arguments make another one."""
    p = call.procedure
    made = substituted(call, (*p.body, *p.results), dict(zip(p.formals, call.args, strict=True)), settled)
    return Opened(made[: len(p.body)], made[len(p.body) :])


def substituted(
    call: Term, roots: tuple[Any, ...], known: Mapping[Any, Any], settled: Callable[[Any], Any] = lambda t: t
) -> tuple[Any, ...]:
    """What is called, with arguments for formals; what other procedures are called with is theirs.  New terms stand
    where the old ones do, and are called from where `call` stands."""
    done: dict[Any, Any] = dict(known)
    space, stack = arena(), list(reversed(roots))
    callers = space.spans.get(call, ())[:1]
    while stack:
        t = stack[-1]
        if isinstance(t, Procedure):
            done.setdefault(t, t)
        below = () if t in done else children(t)
        if waiting := [c for c in below if c not in done]:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        if t not in done:
            new = _formed(t, t.rebuild(done))
            done[t] = new if new is t else settled(new)
            if done[t] is not t:
                fresh = done[t] not in space.spans
                inherit(t, done[t], space)
                if fresh and callers and t in space.spans:
                    space.spans[done[t]] = tuple(s.called(callers[0]) for s in space.spans[t])
    return tuple(done[r] for r in roots)


def _formed(old: Any, new: Any) -> Any:
    """A term over other parts, with what shapes it in normal form again."""
    changes = {}
    for f in old.fields if new is not old else ():
        if f.name in SHAPING and f.kind != "attribute" and (value := getattr(old, f.name)) is not None:
            parts = getattr(new, f.name)
            several = f.kind == "terms"
            changes[f.name] = tuple(map(formed, value, parts)) if several else formed(value, parts)
    return replace(new, **changes) if changes else new


def performed(*roots: Term) -> list[Term]:
    """The terms that performing statements evaluates: all below them, but not the earlier statements that reads and
    results of loops name.  A call performs the statements of its procedure, with its arguments in their place."""
    seen: dict[Term, None] = {}
    stack: list[Term] = list(reversed(roots))
    while stack:
        t = stack.pop()
        if t not in seen:
            seen[t] = None
            below = tuple(c for c in children(t) if not (isinstance(t, Read) and c is t.after))
            if isinstance(t, Perform):
                below = opened(t).body
            elif isinstance(t, Call | Returned):
                below = (given(t),)
            elif isinstance(t, Outcome) and not (isinstance(t, After) and not t.loop.body):
                below = ()
            stack.extend(reversed(below))
    return list(seen)
