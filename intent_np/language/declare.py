"""What the language consists of: operations, declared once.

    @intrinsic
    def clamp(value: Operand, low: Operand, high: Operand) -> Value:
        '''`value` limited to low..high; NaN stays NaN.'''
        ...

The body is the capture meaning: it takes captured values and returns terms.  The signature and the docstring are what
documentation, binding of arguments and suggestions in errors derive from.  Called as Python, an operation refuses:
its name has a meaning only in source that is read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

from intent_np.errors import LanguageUseError, error


class Intrinsic:
    """An operation of the language.  Members (`I.reduce.sum`) are operations of their own."""

    def __init__(self, name: str, meaning: Callable[..., Any], home: str = "I.") -> None:
        self.name = name
        self.home = home  # how its name is spelled: the language's own are names of `I`
        self.meaning = meaning
        self.signature = inspect.signature(meaning)
        self.members: dict[str, Intrinsic] = {}
        self.__doc__ = inspect.getdoc(meaning)

    @cached_property
    def usage(self) -> str:
        """How a call is spelled: `I.clamp(value, low, high)`."""
        return f"{self.home}{self.name}({_spelled(self.signature)})"

    @property
    def is_namespace(self) -> bool:
        """Whether only its members are operations."""
        return bool(self.members) and all(p.name == "_" for p in self.signature.parameters.values())

    def __call__(self, *_: Any, **__: Any) -> Any:
        from .advice import caller

        raise error("E001", caller(), name=self.name)

    def __getattr__(self, name: str) -> Intrinsic:
        if name.startswith("__"):
            raise AttributeError(name)
        member = self.__dict__.get("members", {}).get(name)
        if member is None:
            raise unknown(f"{self.name}.{name}", [f"{self.name}.{m}" for m in self.__dict__.get("members", {})])
        return member

    def __repr__(self) -> str:
        return f"<operation {self.usage}>"


class UnknownName(LanguageUseError, AttributeError):
    """E002, which `hasattr` and `from ... import` understand too."""


def unknown(name: str, candidates: list[str]) -> UnknownName:
    """The error for `I.name`."""
    from .advice import caller, foreign

    fix = foreign(name.rpartition(".")[2])
    members = [n for n in OPERATIONS if "." in n and n.rpartition(".")[2] == name]
    if fix:
        plain = error("E002", caller(), name=name, found=f"'{name}'", fix=fix)
    elif members:
        hint = " or ".join(f"I.{n}" for n in members)
        plain = error(
            "E002",
            caller(),
            name=name,
            found=f"'{name}'; did you mean {hint}?",
            fix=f"use {OPERATIONS[members[0]].usage}",
        )
    else:
        plain = error("E002", caller(), name=name, candidates=candidates)
    made = UnknownName(plain.title)
    made.__dict__.update(plain.__dict__)
    return made


def _spelled(signature: inspect.Signature) -> str:
    parts, keyword_only = [], False
    for p in signature.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
            keyword_only = True
        stars = "**" if p.kind is p.VAR_KEYWORD else "*" if p.kind is p.VAR_POSITIONAL else ""
        name = stars + p.name
        parts.append(name if p.default is p.empty else f"{p.name}={p.default!r}")
    return ", ".join(parts)


OPERATIONS: dict[str, Intrinsic] = {}


def declared(name: str, meaning: Callable[..., Any]) -> Intrinsic:
    """Declare an operation; a dotted name makes it a member of another one."""
    made = OPERATIONS[name] = Intrinsic(name, meaning)
    if "." in name:
        parent, member = name.rsplit(".", 1)
        OPERATIONS[parent].members[member] = made
    return made


def intrinsic(meaning: Callable[..., Any]) -> Intrinsic:
    """Declare an operation under its function's name."""
    return declared(meaning.__name__, meaning)


def member_of(parent: Intrinsic) -> Callable[[Callable[..., Any]], Intrinsic]:
    """Declare an operation as a member of another one: `I.reduce.sum`."""
    return lambda meaning: declared(f"{parent.name}.{meaning.__name__.strip('_')}", meaning)
