"""Names: what one means in a kernel, and which Python values from around the function may be meant."""

from __future__ import annotations

import builtins
import enum
import keyword
import numbers
import types
from typing import Any

import numpy as np

from intent_np.errors import IntentError, article
from intent_np.terms.dtypes import DType
from intent_np.terms.normal import Memory

from . import calls
from .advice import instead
from .context import capture, fail
from .declare import OPERATIONS, Intrinsic
from .frames import POISON, Frame, Missing, Poisoned


def lookup(f: Frame, name: str) -> Any:
    """What a name means: assigned above, captured from around the function, or one of few builtins."""
    if name in f.names:
        found = f.names[name]
        if isinstance(found, Missing):
            if found is POISON:
                raise Poisoned
            raise fail(found.code, **found.fields)
        return found
    cells = dict(zip(f.function.__code__.co_freevars, f.function.__closure__ or (), strict=False))
    if name in cells:
        try:
            return captured(name, capture().surroundings.cell(cells[name]))
        except ValueError:
            raise fail(
                "E101", name=name, found=f"'{name}', which has no value yet where the kernel is compiled"
            ) from None
    if name in f.function.__globals__:
        return captured(name, capture().surroundings.member(f.function.__globals__, name))
    if name in calls.BUILTINS:
        return getattr(builtins, name)
    if hasattr(builtins, name):
        hint = _BUILTIN_HINTS.get(name) or instead(name) or "write it with the operations of intent_np.language"
        raise fail("E102", construct=f"the builtin {name}", suggestion=hint)
    if name in OPERATIONS:
        raise fail("E101", name=name, found=f"'{name}'; did you mean I.{name}?", fix=f"write I.{name}")
    own = [n for n in f.names if n.isidentifier() and not keyword.iskeyword(n)]
    around = [*own, *cells, *_useful(f.function.__globals__)]
    raise fail("E101", name=name, candidates=around, fix=instead(name) or _extent(f, name))


def _extent(f: Frame, name: str) -> str:
    """How to get at an extent that only the annotations name."""
    for n, v in f.names.items():
        if isinstance(v, Memory):
            for axis, e in enumerate(v.shape):  # type: ignore[attr-defined]
                if getattr(e, "name", None) == name:
                    return f"take it from the view that has it: {n}.shape[{axis}]"
    return ""


_BUILTIN_HINTS = {
    "sum": "use I.reduce.sum(value, axis=...)",
    "sorted": "use I.sort(value, axis=-1)",
    "divmod": "use a // b and a % b",
    "tuple": "write the components: (a, b); slices and + of tuples give tuples",
    "list": "write a tuple: (a, b)",
    "print": 'use I.debug_print("x = {}", x), which the reference prints',
}


def _useful(space: dict[str, Any]) -> list[str]:
    return [n for n, v in space.items() if not n.startswith("_") and _capturable(v)]


def captured(name: str, v: Any) -> Any:
    """A Python value from outside the function, if it can't change under the compiled kernel."""
    if not _capturable(v):
        raise _uncapturable(name, v)
    return v


def _uncapturable(name: str, v: Any) -> IntentError:
    """E105, or E102 for what could never be one."""
    library, _, last = name.rpartition(".")
    if library == "intent_np.language":
        return fail("E102", construct=f"I.{last} in the body of a kernel", suggestion="write it in the signature")
    if isinstance(v, type) and not library:
        hint = "hold constants in names of the module, or in a class that is derived from I.Enum"
        return fail("E102", construct=f"the Python class {name}", suggestion=hint)
    if callable(v):
        own = "decorate it with @intent.fn" if isinstance(v, types.FunctionType) else "write a helper, @intent.fn"
        hint = instead(last) or "compute it outside, and pass it as a parameter" if library else own
        return fail("E102", construct=f"the Python function {name}", suggestion=hint)
    fix = ""
    if isinstance(v, list):
        fix = f"make it a tuple, or pass {name} as a parameter"
    elif isinstance(v, np.generic | numbers.Number):
        kind = "int" if isinstance(v, np.integer) else "float"
        fix = f"make it a Python number, {last} = {kind}({last}), or pass it as a parameter"
    found = f"a tuple that holds {_inside(v)}" if isinstance(v, tuple) else article(type(v).__name__)
    return fail("E105", name=name, found=found, fix=fix)


def _inside(v: tuple[Any, ...]) -> str:
    """What of a tuple is no constant."""
    part = next(x for x in v if not _capturable(x))
    return _inside(part) if isinstance(part, tuple) else article(type(part).__name__)


def _capturable(v: Any) -> bool:
    if isinstance(v, tuple):
        return all(_capturable(x) for x in v)
    if v is None or isinstance(
        v, bool | int | float | str | DType | enum.Enum | Intrinsic | types.ModuleType | calls.Callee
    ):
        return True
    return calls.is_mathematics(v) or isinstance(v, type) and issubclass(v, enum.Enum)
