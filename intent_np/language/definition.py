"""`@intent.kernel` and `@intent.fn`: Python functions whose text is the program.

A decorated function is only kept.  Its signature is judged when it is first asked for, its body when it is captured.
"""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from intent_np.errors import article, error
from intent_np.rules.simplify import substitute
from intent_np.terms.core import Term, named
from intent_np.terms.index import Apply, Param, Value, const, le
from intent_np.terms.logical import LogicalProgram, performed, written
from intent_np.terms.normal import Target, View

from .advice import caller
from .calls import Callee
from .context import Capture, Equal, capturing, fail
from .frames import Frame
from .outline import outlined
from .signature import Constexpr, Parameter, Scalar, ViewParameter, parameters, shape_terms, stride_terms
from .source import Source, lines_of, read
from .surroundings import Surroundings


class Helper(Callee):
    """A function decorated with `@intent.fn`, which kernels call."""

    is_helper = True

    def __init__(self, function: types.FunctionType) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__
        self._file = lines_of(function)

    @cached_property
    def source(self) -> Source:
        return read(self.function, self._file)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise error("E004", caller(), name=self.name, fix="call it from a kernel", found="a call from Python")

    def __repr__(self) -> str:
        return f"<helper {self.name}>"


class Kernel(Callee):
    """A function decorated with `@intent.kernel`: one launch a call, compiled by `intent_np.compile`."""

    is_helper = False

    def __init__(self, function: types.FunctionType) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__
        self._file = lines_of(function)
        self.surroundings = Surroundings()  # what the last capture used from around the function

    @cached_property
    def source(self) -> Source:
        """The text and where it stands."""
        return read(self.function, self._file)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in declaration order; raises what is wrong with the signature."""
        return parameters(self.function, self.source)

    @property
    def constexprs(self) -> tuple[Constexpr, ...]:
        """The parameters that specialise the program."""
        return tuple(p for p in self.parameters if isinstance(p, Constexpr))

    def bind(self, constexprs: Mapping[str, Any]) -> dict[str, Any]:
        """Every constexpr with its value, defaults filled in; E109 to E111."""
        known = {p.name: p for p in self.constexprs}
        for n in constexprs:
            if n not in known:
                raise error("E109", name=n, kernel=self.name, candidates=known)
        values = {}
        for n, p in known.items():
            span = self.source.span(self._node(n))
            if n not in constexprs and p.default is Constexpr.REQUIRED:
                raise error("E110", span, name=n)
            v = constexprs.get(n, p.default)
            if not p.accepts(v):
                kind = getattr(p.type, "__name__", p.type)
                found = f"{v if isinstance(v, enum.Enum) else repr(v)}, {article(type(v).__name__)}"
                raise error("E111", span, name=n, expected=f"a value of type {kind}", found=found)
            values[n] = v if not isinstance(v, int) or isinstance(v, enum.Enum) else p.type(v)
        return values

    def capture(
        self, constexprs: Mapping[str, Any] | None = None, permissions: Iterable[str] = (), target: Target | None = None
    ) -> LogicalProgram:
        """The kernel as a logical program in the arena in force; every error found is raised at once."""
        return self.settled(constexprs or {}, permissions, target)[0]

    def settled(
        self, constexprs: Mapping[str, Any], permissions: Iterable[str] = (), target: Target | None = None
    ) -> tuple[LogicalProgram, dict[Value, Value]]:
        """The program, and the extents that it requires to be others, with what each has to be."""
        bound, equal = self.bind(constexprs), dict[Value, Value]()
        while True:
            try:
                return self._captured(bound, equal, permissions, target), equal
            except Equal as found:
                equal = {n: substitute(v, {found.extent: found.value}) for n, v in equal.items()}
                equal[found.extent] = found.value

    def _captured(
        self, bound: Mapping[str, Any], equal: Mapping[Value, Value], permissions: Iterable[str], target: Target | None
    ) -> LogicalProgram:
        from . import exits, statements

        with capturing(Capture(self.name)) as state, state.at(self.source, self.source.tree):
            self.surroundings = state.surroundings
            terms = self._terms(bound, equal)
            state.facts = _promises(terms.values())
            names = {p.name: bound[p.name] if isinstance(p, Constexpr) else terms[p.name] for p in self.parameters}
            frame = Frame(self.source, self.function, names | exits.entered())
            statements.execute(frame, self.source.tree.body)
            if frame.names[exits.RESULT] not in (None, exits.NOTHING):
                given = [r for r in exits.returns(self.source.tree.body) if r.value is not None]
                state.errors.add(fail("E108", name=self.name, span=self.source.span(given[0])))
            self._written(state)
            state.errors.raise_if_any()
            body = outlined(tuple(state.effects), state.called, state.frames)
            return LogicalProgram(self.name, tuple(terms.values()), body, tuple(sorted(permissions)), target)

    def _written(self, state: Capture) -> None:
        """E312 for an output that nothing writes; asked only where all statements could be read."""
        touched = {written(t) for t in performed(*state.effects)}
        for p in self.parameters:
            if isinstance(p, ViewParameter) and p.mode == "out" and not state.errors:
                if not any(isinstance(v, View) and v.name == p.name for v in touched):
                    state.errors.add("E312", self.source.span(self._node(p.name)), name=p.name)

    def _terms(self, bound: Mapping[str, Any], equal: Mapping[Value, Value]) -> dict[str, Term]:
        """The parameters that exist at run time, as terms; `equal` says what extents were required to be."""
        made: dict[str, Term] = {}
        shared: dict[str, Value] = {}  # what each name of a stride stands for
        views = [p for p in self.parameters if isinstance(p, ViewParameter)]
        shapes = {p.name: shape_terms(p, bound, self.source.span(self._node(p.name))) for p in views}
        shapes = {n: tuple(substitute(e, equal) for e in shape) for n, shape in shapes.items()}
        for shape in shapes.values():
            shared |= {e.name: e for e in shape if hasattr(e, "name")}
        for p in self.parameters:
            if isinstance(p, ViewParameter):
                strides = stride_terms(p, bound, shared)
                group = p.constraints.alias
                same = tuple(q.name for q in views if group and q.constraints.alias == group and q is not p)
                made[p.name] = View(p.name, p.mode, p.dtype, shapes[p.name], strides, p.constraints.finite, same=same)
            elif isinstance(p, Scalar):
                made[p.name] = Param(p.name, p.dtype)
        return {n: named(t, n) for n, t in made.items()}

    def _node(self, name: str) -> Any:
        args = self.source.tree.args
        return next((a for a in (*args.posonlyargs, *args.args, *args.kwonlyargs) if a.arg == name), self.source.tree)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise error("E004", caller(), name=self.name)

    def __getitem__(self, grid: Any) -> Any:
        raise error("E004", caller(), name=self.name, found=f"a grid of {grid!r}; the compiler chooses the grid")

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


def _promises(parameters: Iterable[Term]) -> tuple[Value, ...]:
    """What the check of the arguments makes certain: an extent such as N - 1 is not negative."""
    extents = (e for v in parameters if isinstance(v, View) for e in v.shape if isinstance(e, Apply))
    return tuple(dict.fromkeys(le(const(0), e) for e in extents))


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Kernel:
    """Make a Python function a kernel: its text is compiled, it is never run."""
    return Kernel(plain(function, "kernel", options))


def fn(function: Callable[..., Any] | None = None, **options: Any) -> Helper:
    """Make a Python function a helper that kernels may call."""
    return Helper(plain(function, "fn", options))


def plain(function: Any, decorator: str, options: Mapping[str, Any] = MappingProxyType({})) -> types.FunctionType:
    """The function that a decorator is given, or E006."""
    what = ""
    if function is None or options:
        what = f"is given {', '.join(options) or 'nothing'}"
    elif not isinstance(function, types.FunctionType):
        what = f"decorates a {type(function).__name__}"
        if isinstance(function, type):
            what = f"decorates the class {function.__name__}"
        elif isinstance(function, Callee):
            what = f"decorates {function.name}, which is decorated already"
    elif function.__name__ == "<lambda>":
        what = "decorates a lambda"
    elif function.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        what = f"decorates the async function {function.__name__}"
    if what:
        how = f"decorate a def with @intent.{decorator} alone, without arguments and without other decorators"
        if decorator == "jit" and isinstance(function, str):
            how = f"name what it is: @intent.jit(target={function!r})"
        raise error("E006", caller(), what=f"@intent.{decorator} {what}", how=how)
    return function  # type: ignore[no-any-return]
