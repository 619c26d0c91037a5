"""What a pass is: a named function from one language to another, with typed options.

    @nanopass(BLOCKED, BLOCKED)
    def narrow_ranges(program, *, peel: bool = True): ...

Keyword-only parameters are the pass' options (`--option narrow_ranges.peel=false`); the docstring says what the pass
does, why it stands here, and what it preserves.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import error
from ..terms.language import Language

Allowed = Mapping[str, Sequence[Any]]
"""The values of options by name: a tuple, or a range of numbers."""


class Pass:
    """A pass with its languages; call it like the function that it is."""

    def __init__(
        self,
        function: Callable[..., Any],
        source: Language,
        target: Language,
        needed: str = "",
        permission: str = "",
        allowed: Allowed | None = None,
        after: str = "",
    ) -> None:
        self.function, self.source, self.target, self.permission = function, source, target, permission
        self.after = after  # of a pass from outside: the pass that it stands behind
        leads = f"leads from {source.name} to {target.name}"
        self.needed = needed or ("" if source is target else leads)  # why the pipeline can't do without it
        self.name = function.__name__
        self.doc = inspect.getdoc(function) or ""
        self.module = function.__module__
        parameters = inspect.signature(function).parameters.values()
        self.options: dict[str, Any] = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        self.allowed = dict(allowed or {})

    def __call__(self, program: Any, **options: Any) -> Any:
        self.judge(options)
        if self.permission and self.permission not in program.permissions:
            return program
        return self.function(program, **options)

    def judge(self, options: Mapping[str, Any]) -> None:
        """E006 for an option that the pass does not have, or a value that it can't take."""
        for unknown in sorted(set(options) - set(self.options)):
            how = f"choose one of {', '.join(self.options)}" if self.options else "leave it out"
            raise error("E006", what=f"the pass {self.name} has no option '{unknown}'", how=how)
        for key, value in options.items():
            default = self.options[key]
            if not isinstance(value, Mapping if isinstance(default, Mapping) else type(default)):
                kind = "a mapping" if isinstance(default, Mapping) else f"of type {type(default).__name__}"
                what = f"the option '{key}' of the pass {self.name} is no {value!r}"
                raise error("E006", what=what, how=f"give it a value that is {kind}, such as {default!r}")
            for member, one in value.items() if isinstance(value, Mapping) else (("", value),):
                if key in self.allowed and not _is_one_of(one, self.allowed[key]):
                    name = f"{key}.{member}" if member else key
                    what = f"the option '{name}' of the pass {self.name} can't be {one!r}"
                    raise error("E006", what=what, how=f"choose {_told(self.allowed[key])}")

    @property
    def optional(self) -> bool:
        """Whether the pipeline is complete without it: it stays in one language, and no later pass needs it."""
        return not self.needed

    def __repr__(self) -> str:
        return f"<pass {self.name}: {self.source.name} -> {self.target.name}>"


def _is_one_of(value: Any, values: Sequence[Any]) -> bool:
    return value in values and type(value) is type(values[0])


def _told(values: Sequence[Any]) -> str:
    if isinstance(values, range):
        return f"a whole number from {values[0]} to {values[-1]}"
    return f"one of {', '.join(map(str, values))}"


def nanopass(
    source: Language,
    target: Language,
    *,
    needed: str = "",
    permission: str = "",
    allowed: Allowed | None = None,
    after: str = "",
) -> Callable[[Callable[..., Any]], Pass]:
    """Declare a function to be a pass from `source` to `target`.

    needed:      what a later pass needs it for, where it stays in its language and can't be left out all the same
    permission:  what the program must permit; without it the pass returns the program as it is
    allowed:     the values that options take, or the members of those that are mappings
    after:       the pass that one from outside the package stands behind
    """
    return lambda function: Pass(function, source, target, needed, permission, allowed, after)
