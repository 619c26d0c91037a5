"""A language: the terms it consists of, stated whole or as the difference from another one, and its check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from .core import Literal, Term, arena, children, walk
from .dtypes import DType
from .operators import Op


class Language:
    """A named grammar.  `extend` gives the next one as a delta, in nanopass style."""

    def __init__(
        self,
        name: str,
        *,
        root: type[Term],
        terms: tuple[type[Term], ...],
        about: str = "",
        base: Language | None = None,
        added: tuple[type[Term], ...] = (),
        removed: tuple[type[Term], ...] = (),
        rules: tuple[Callable[[Any], Iterator[str]], ...] = (),
    ) -> None:
        self.name, self.root, self.terms, self.about = name, root, terms, about
        self.base, self.added, self.removed, self.rules = base, added, removed, rules
        self.allowed = frozenset(terms)

    def extend(
        self,
        name: str,
        *,
        root: type[Term],
        add: tuple[type[Term], ...] = (),
        remove: tuple[type[Term], ...] = (),
        about: str = "",
        rules: tuple[Callable[[Any], Iterator[str]], ...] = (),
    ) -> Language:
        """The language that has these terms more and those less; `rules` are checks of whole programs."""
        missing = [t.__name__ for t in remove if t not in self.terms]
        if missing:
            raise ValueError(f"{name}: {self.name} has no {', '.join(missing)}")
        kept = tuple(t for t in self.terms if t not in remove)
        return Language(
            name, root=root, terms=(*kept, *add), about=about, base=self, added=add, removed=remove, rules=rules
        )

    def check(self, program: Term) -> list[str]:
        """Everything that makes `program` no member of this language, each with the smallest offending term.

        What was found to be right once is right wherever it stands: only terms that are new in the arena are looked at.
        """
        space = arena()
        if (self, program) in space.programs:
            return []
        known, problems = space.members.setdefault(self, set()), []
        if not isinstance(program, self.root):  # a root may be a sort
            problems.append(f"{self.name}: a program is a {self.root.__name__}, not a {type(program).__name__}")
        new = [t for t in walk(program, below=lambda t: () if t in known else children(t)) if t not in known]
        for t in new:
            if type(t) not in self.allowed:
                problems.append(f"{self.name} has no {type(t).__name__}: {_short(t)}")
            problems.extend(f"{type(t).__name__}.{m}: {_short(t)}" for m in _sorts(t))
        if not problems:
            known.update(new)
            for rule in self.rules:
                problems.extend(rule(program))
        if not problems:
            space.programs.add((self, program))
        return problems

    def __repr__(self) -> str:
        return f"<language {self.name}>"


def _sorts(t: Term) -> Iterator[str]:
    for f in t.fields:
        v = getattr(t, f.name)
        if f.kind == "term" and not isinstance(v, f.sort):
            yield f"{f.name} is a {type(v).__name__}, not a {f.sort.__name__}"
        elif f.kind == "maybe" and v is not None and not isinstance(v, f.sort):
            yield f"{f.name} is a {type(v).__name__}, not a {f.sort.__name__} or nothing"
        elif f.kind == "terms" and not (isinstance(v, tuple) and all(isinstance(x, f.sort) for x in v)):
            yield f"{f.name} holds something that is no {f.sort.__name__}"
        elif f.sort is Literal and type(v) not in (bool, int, float):
            yield f"{f.name} is {v!r}, no number"
        elif f.sort in (DType, Op, str, int, bool) and type(v) is not f.sort:
            yield f"{f.name} is {v!r}, not {f.sort.__name__}"


def _short(t: Term) -> str:
    from .text import brief

    where = "; ".join(str(s) for s in arena().spans.get(t, ()))
    return brief(t) + (f"  ({where})" if where else "")


def declared_in(module: ModuleType) -> tuple[type[Term], ...]:
    """The terms that a module declares, in order: a file of a language lists itself."""
    return tuple(
        t
        for t in vars(module).values()
        if isinstance(t, type) and issubclass(t, Term) and t.__module__ == module.__name__ and "syntax" in vars(t)
    )
