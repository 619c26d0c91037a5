"""What stands behind the colon of a parameter: views, scalars, constexprs, and the promises of a view."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from intent_np.errors import error, suggestion

from .advice import caller


@dataclass(frozen=True)
class Constraints:
    """Promises about a view: strides in elements (an int, a name, or None for unknown), its alias group, that it
    overlaps nothing (`noalias`), that it holds neither NaN nor infinity (`finite`)."""

    strides: tuple[int | str | None, ...] | None = None
    alias: str | None = None
    noalias: bool = False
    finite: bool = False


_PROMISES = ("strides", "alias", "noalias", "finite")


def constraints(
    *wrong: Any,
    strides: tuple[int | str | None, ...] | None = None,
    alias: str | None = None,
    noalias: bool = False,
    finite: bool = False,
    **unknown: Any,
) -> Constraints:
    """The third item of `I.In[...]`: promises that the call is checked against."""
    if wrong or unknown:
        name = next(iter(unknown), "")
        hint = suggestion(name, _PROMISES)
        found = f"{name}={unknown[name]!r}{hint and f'; did you mean {hint}?'}" if name else repr(wrong[0])
        raise error("E125", caller(), name="I.constraints", expected=f"{'=, '.join(_PROMISES)}=", found=found)
    return Constraints(strides, alias, noalias, finite)


@dataclass(frozen=True)
class ViewAnnotation:
    """`I.In[dtype, shape, constraints]` as written; the signature check judges it."""

    mode: str
    items: tuple[Any, ...]

    def __or__(self, other: Any) -> Alternatives:
        return Alternatives(self, other)

    __ror__ = __or__

    def __repr__(self) -> str:
        word = {"in": "In", "out": "Out", "inout": "InOut"}[self.mode]
        return f"I.{word}[{', '.join(map(repr, self.items))}]"


@dataclass(frozen=True)
class Alternatives:
    """`I.In[...] | None` as written, which no parameter can be."""

    view: ViewAnnotation
    other: Any

    def __repr__(self) -> str:
        return f"{self.view!r} | {self.other!r}"


class _Mode:
    """`I.In`, `I.Out`, `I.InOut`: subscripted with dtype, shape and, optionally, constraints."""

    def __init__(self, name: str, mode: str, about: str) -> None:
        self.name, self.mode, self.__doc__ = name, mode, about

    def __getitem__(self, items: Any) -> ViewAnnotation:
        return ViewAnnotation(self.mode, items if isinstance(items, tuple) else (items,))

    def __call__(self, *items: Any, **_: Any) -> Any:
        raise error("E125", caller(), name=self.name, expected=f"I.{self.name}[dtype, shape]", found="round brackets")

    def __repr__(self) -> str:
        return f"I.{self.name}"


In = _Mode("In", "in", "A view that the kernel only reads.")
Out = _Mode("Out", "out", "A view that the kernel writes before it reads it.")
InOut = _Mode("InOut", "inout", "A view whose contents the kernel keeps and changes.")


@dataclass(frozen=True)
class ConstexprAnnotation:
    """`I.Constexpr[type]` as written."""

    type: Any


class _Constexpr:
    """A parameter that specialises the program: `I.Constexpr[int]`, float, bool or an `I.Enum`."""

    def __getitem__(self, item: Any) -> ConstexprAnnotation:
        return ConstexprAnnotation(item)

    def __call__(self, *items: Any, **_: Any) -> Any:
        raise error("E125", caller(), name="I.Constexpr", expected="I.Constexpr[int]", found="round brackets")

    def __repr__(self) -> str:
        return "I.Constexpr"


Constexpr = _Constexpr()


class Enum(enum.Enum):
    """Base of enumerations that a kernel may compare and take as constexprs."""
