"""`@intent.jit`: a kernel that compiles itself where it is called, and keeps what it compiled.

@intent.jit
def scaled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], FACTOR: I.Constexpr[int] = 2): ...

scaled(x, y, FACTOR=3)
y = scaled.run(x)
"""

from __future__ import annotations

import inspect
import threading
import types
from collections.abc import Callable, Mapping
from typing import Any, Never

from intent_np.errors import counted, error, suggestion

from .advice import caller
from .definition import Kernel, plain
from .signature import Constexpr, ViewParameter
from .surroundings import Surroundings


class Jit(Kernel):
    """A kernel called like a function: arguments by position in declaration order or by name, constexprs among them.

    `target` and `options` are those of `intent_np.compile`.  One artifact is kept for each choice of constexprs, and
    in it one variant for each class of arguments."""

    def __init__(self, function: types.FunctionType, target: Any = "auto", options: Any = None) -> None:
        super().__init__(function)
        self.target, self.options = target, options
        self.artifacts: dict[tuple[Any, ...], Any] = {}
        self._used: dict[tuple[Any, ...], Surroundings] = {}  # what each took over from around the function
        self._lock = threading.Lock()

    def artifact(self, **constexprs: Any) -> Any:
        """The artifact for these constexprs, defaults filled in; compiled at the first request, and again where a name
        from around the function has got another value."""
        from intent_np.compiler import compile

        bound = self.bind(constexprs)
        key = tuple((n, type(v), repr(v)) for n, v in bound.items())
        with self._lock:
            if key not in self.artifacts or self._used[key].changed():
                self.artifacts[key] = compile(self, self.target, bound, self.options)
                self._used[key] = self.surroundings
            return self.artifacts[key]

    def __call__(self, *args: Any, **named: Any) -> None:
        """Run on all parameters.  Raises `CompileError`, or `CallError` before anything is launched or written."""
        constexprs, rest = self._split(args, named, outputs=True)
        self.artifact(**constexprs)(*rest)

    def prepare(self, *args: Any, **named: Any) -> Callable[[], None]:
        """Check and bind all parameters once; the result runs the kernel on the same arrays again."""
        constexprs, rest = self._split(args, named, outputs=True)
        return self.artifact(**constexprs).prepare(*rest)  # type: ignore[no-any-return]

    def run(self, *args: Any, extents: Mapping[str, int] | None = None, **named: Any) -> Any:
        """Run with the `I.Out` parameters allocated: returns none, one, or a tuple of them in declaration order.

        extents:  values of extents that only outputs name"""
        constexprs, rest = self._split(args, named, outputs=False)
        return self.artifact(**constexprs).run(*rest, extents=extents)

    def _split(self, args: tuple[Any, ...], named: dict[str, Any], outputs: bool) -> tuple[dict[str, Any], list[Any]]:
        """The constexprs, and the other arguments in declaration order."""
        wanted = [p for p in self.parameters if outputs or not (isinstance(p, ViewParameter) and p.mode == "out")]
        parts = []
        for p in wanted:
            default = getattr(p, "default", Constexpr.REQUIRED)
            default = inspect.Parameter.empty if default is Constexpr.REQUIRED else default
            parts.append(inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=default))
        by_name = dict(zip((p.name for p in wanted), args, strict=False))
        signature = f"{self.name}({', '.join(p.name for p in wanted)})"
        twice = [n for n in named if n in by_name]
        unknown = [n for n in named if all(n != p.name for p in wanted)]
        given = by_name | named
        missing = [p.name for p in parts if p.default is p.empty and p.name not in given]
        if len(args) > len(wanted) or twice or unknown or missing:
            words = {"no {}": missing, "{} twice": twice, "{}, which is no parameter": unknown}
            found = "; ".join(w.format(", ".join(map(repr, ns))) for w, ns in words.items() if ns)
            raise error(
                "E401",
                kernel=self.name,
                takes=counted(len(wanted), "argument"),
                given=len(args) + len(named),
                signature=signature,
                found=found,
            )
        constant = {p.name for p in self.constexprs}
        values = {p.name: given[p.name] for p in parts if p.name in given}
        return (
            {n: v for n, v in values.items() if n in constant},
            [v for n, v in values.items() if n not in constant],
        )

    def __repr__(self) -> str:
        return f"<jit kernel {self.name}>"


def jit(
    function: Callable[..., Any] | None = None, *, target: Any = "auto", options: Any = None, **unknown: Never
) -> Jit | Callable[[Callable[..., Any]], Jit]:
    """Make a Python function a kernel that is called as one: `@intent.jit`, or `@intent.jit(target="sm_90")`."""
    for name in unknown:
        close = suggestion(name, ("target", "options"))
        how = f"did you mean {close}?" if close else "give it target= or options="
        raise error("E006", caller(), what=f"@intent.jit is given {name}", how=how)
    if function is None:
        return lambda f: Jit(plain(f, "jit"), target, options)
    return Jit(plain(function, "jit"), target, options)
