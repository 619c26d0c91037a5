"""A kernel as a text of its own, with the helpers and constants that it names; and such a text executed."""

from __future__ import annotations

import ast
import enum
import itertools
import linecache
import types
from collections.abc import Iterator, Mapping
from typing import Any

from ...language import Kernel
from ...language.definition import Helper
from ...parsing import parse

HEADER = "import intent_np as intent\nimport intent_np.language as I\n"
_COUNT = itertools.count()


def execute(text: str, space: Mapping[str, Any] | None = None, file: str = "") -> dict[str, Any]:
    """The names that `text` defines over those of `space`.  Spans of errors show its lines, as those of `file`."""
    file = file or f"<kernel {next(_COUNT)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = dict(space or {})
    exec(compile(text, file, "exec"), names)
    return names


def kernel_of(text: str, space: Mapping[str, Any] | None = None, name: str = "") -> Kernel:
    """The kernel that `text` defines: the last one, or that of a name.  `LookupError` where there is none."""
    known = dict(space or {})
    made = execute(text, known)
    found = [v for n, v in made.items() if isinstance(v, Kernel) and v is not known.get(n)]
    found = [v for v in found if not name or v.name == name]
    if not found:
        raise LookupError("the text defines no kernel")
    return found[-1]


def standalone(kernel: Kernel, constexprs: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    """The text, and the names of the author's module that it still needs, since they have no literal form.

    Constexprs get the values given as their defaults, and stand behind the other parameters."""
    lines: dict[str, str] = {}
    space: dict[str, Any] = {}
    functions: dict[str, str] = {}
    _gather(kernel.function, _bound(kernel, constexprs or {}), lines, functions, space)
    imports = dict.fromkeys([*HEADER.splitlines(), *(x for x in lines.values() if x.startswith("import "))])
    constants = [x for x in lines.values() if not x.startswith("import ")]
    return "\n".join([*imports, *constants, "", "", *functions.values()]).rstrip() + "\n", space


def _bound(kernel: Kernel, constexprs: Mapping[str, Any]) -> str:
    """The kernel's text with defaults for its constexprs."""
    values = {n: ast.Constant(v) for n, v in constexprs.items() if isinstance(v, bool | int | float)}
    if not values:
        return kernel.source.text
    function = parse(kernel.source.text).body[0]
    given = function.args.args
    defaults = dict(
        zip([a.arg for a in given[len(given) - len(function.args.defaults) :]], function.args.defaults, strict=True)
    )
    defaults |= values
    function.args.args = sorted(given, key=lambda a: a.arg in defaults)
    function.args.defaults = [defaults[a.arg] for a in function.args.args if a.arg in defaults]
    return ast.unparse(ast.fix_missing_locations(function))


def _gather(
    function: types.FunctionType, text: str, lines: dict[str, str], functions: dict[str, str], space: dict[str, Any]
) -> None:
    """Collect what a function names, before the function itself."""
    if function.__name__ in functions:
        return
    for name, value in _named(function, text):
        match value:
            case Helper():
                _gather(value.function, value.source.text, lines, functions, space)
                if value.name != name:
                    functions[name] = f"{name} = {value.name}\n\n"
            case types.ModuleType():
                lines[name] = f"import {value.__name__} as {name}"
            case bool() | int() | float() | str() if not isinstance(value, enum.Enum) and value == value:
                lines[name] = f"{name} = {value!r}"
            case _:
                space[name] = value
    functions[function.__name__] = f"{text.rstrip()}\n\n"


def _named(function: types.FunctionType, text: str) -> Iterator[tuple[str, Any]]:
    """What a text names outside of itself, in order: globals, and variables of the functions around."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    outside = {**function.__globals__, **{n: c.cell_contents for n, c in cells}}
    found = {node.id: None for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}
    return ((n, outside[n]) for n in found if n in outside and n != function.__name__)
