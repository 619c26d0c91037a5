"""`intent-np run`: execute one kernel on generated or given inputs, as compiled or behind any pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from intent_np.cli.compile import Check, Constexprs, Disable, Numerics, PassOption, Place, TargetName

if TYPE_CHECKING:
    from intent_np.corpus.cases import Entry

EXECUTED = ("normal", "grouped", "blocked", "gpu")
Given = Annotated[list[str] | None, typer.Option("--input", "--array", help="PARAMETER=FILE.npy or =NUMBER.")]


def run(
    place: Place,
    target: TargetName = "auto",
    extent: Annotated[list[str] | None, typer.Option("--extent", "-e", help="NAME=SIZE; repeat for several.")] = None,
    given: Given = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of generated inputs.")] = 0,
    layout: Annotated[str, typer.Option(help="Memory layout of generated arrays.")] = "contiguous",
    values: Annotated[str, typer.Option(help="Distribution of generated inputs.")] = "normal",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the outputs to this .npz file.")] = None,
    stop_after: Annotated[str, typer.Option(help="Execute the program behind this pass with NumPy.")] = "",
    constexpr: Constexprs = None,
    numerics: Numerics = "",
    disable: Disable = None,
    option: PassOption = None,
    check: Check = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Execute a kernel and describe its outputs; a kernel of a corpus is also compared with its oracle.

    Extents that are not given are those of the first full-sized check of the corpus.  Exits with 1 if an output is
    outside its bound.
    """
    import numpy as np

    from intent_np.cli import FAILED
    from intent_np.cli.compile import customised, one_entry
    from intent_np.cli.opt import find_pass
    from intent_np.cli.output import print_json, print_table
    from intent_np.corpus.lowering import lowered_launch
    from intent_np.corpus.verify import compiled

    entry = customised(one_entry(place), constexpr, numerics, disable, option, check)
    arguments = make_arguments(entry, extent, given, seed, layout, values)
    expected = {}
    if entry.case is not None:
        with np.errstate(all="ignore"):
            expected = entry.case.expected(arguments)
    facts: dict[str, Any] = {}
    if stop_after:
        name, last = f"NumPy after {stop_after}", find_pass(stop_after)
        if last.target.name not in EXECUTED:
            told = f"behind {last.name} is a {last.target.name} program; executed are {', '.join(EXECUTED)}"
            raise typer.BadParameter(told, param_hint="--stop-after")
        launch: Any = lowered_launch(entry, last.name)
    else:
        launch = compiled(entry, target)
        name = str(launch.target)
        facts = {**launch.facts, "made_by": launch.made_by}
    launch(*arguments.values())
    rows = [
        describe(parameter.name, arguments[parameter.name], expected)
        for parameter in entry.kernel.parameters
        if parameter.kind == "view" and parameter.mode != "in"
    ]
    if out:
        with open(out, "wb") as file:  # NumPy would add .npz to another name
            np.savez(file, **{row["name"]: arguments[row["name"]] for row in rows})
    if as_json:
        print_json({"kernel": entry.title, "target": name, "facts": facts, "outputs": rows})
    else:
        print(f"{entry.title} on {name}" + (f", made by {facts['made_by']}" if facts else ""))
        print_table(tuple(rows[0]) if rows else (), [tuple(row.values()) for row in rows])
    if any(row.get("status") == "failed" for row in rows):
        raise typer.Exit(FAILED)


def usual_extents(entry: Entry) -> Mapping[str, int]:
    """The extents of the corpus: those of its first small call without an empty axis or a 1."""
    small = entry.case.small if entry.case else ()
    return next((sizes for sizes in small if min(sizes.values()) > 1), small[0] if small else {})


def named_extents(entries: list[Entry], texts: list[str] | None) -> dict[str, int]:
    """The extents of the command line; a usage error for a name that no shape of the kernels has."""
    from intent_np.cli.arguments import extents

    asked = extents(texts)
    known = {name for entry in entries if entry.case for sizes in entry.case.small for name in sizes}
    views = [p for entry in entries if entry.kernel is not None for p in entry.kernel.parameters if p.kind == "view"]
    known |= {name for p in views for size in p.shape for name in re.findall(r"[A-Za-z_]\w*", str(size))}
    if unknown := set(asked) - known:
        raise typer.BadParameter(f"no shape has {', '.join(sorted(unknown))}", param_hint="--extent")
    return asked


def make_arguments(
    entry: Entry, extent: list[str] | None, given: list[str] | None, seed: int, layout: str, values: str
) -> dict[str, Any]:
    """All arguments by name: generated from the seed, so that they keep what the kernel is promised, then those of the
    command line in their place."""
    import numpy as np

    from intent_np.testing import KINDS, LAYOUTS, arguments
    from intent_np.testing.checked import extent_names
    from intent_np.testing.promises import Promises

    for name, known, what in ((layout, LAYOUTS, "--layout"), (values, KINDS, "--values")):
        if name not in known:
            raise typer.BadParameter(f"'{name}' is none of {', '.join(known)}", param_hint=what)
    loaded, asked = inputs(entry, given), named_extents([entry], extent)
    shown = measured(entry, loaded)
    for name in asked.keys() & shown.keys():
        if asked[name] != shown[name]:
            told = f"{name}={asked[name]}, but the arrays given say {name} = {shown[name]}"
            raise typer.BadParameter(told, param_hint="--extent")
    sizes = {**usual_extents(entry), **asked, **shown}
    promises = Promises(entry.kernel, entry.constexprs) if entry.case is None else None
    if promises:
        sizes = {**promises.sizes(sizes), **sizes}
        constants = {p.name for p in entry.kernel.constexprs}
        if unsized := [n for n in extent_names(entry.kernel) if n not in sizes and n not in constants]:
            told = f"the size of {', '.join(unsized)} is not known: give --extent {unsized[0]}=SIZE"
            raise typer.BadParameter(told, param_hint="--extent")
    try:
        made = arguments(entry.case or entry.kernel, {**entry.constexprs, **sizes}, seed, layout, values)
    except (ValueError, MemoryError) as problem:
        raise typer.BadParameter(f"{problem}; sizes are given as --extent NAME=SIZE", param_hint="--extent") from None
    if promises and not promises.possible(sizes):
        told = "no arguments of these sizes keep what the kernel is promised"
        raise typer.BadParameter(told, param_hint="--extent")
    if promises:
        made = promises.kept(made, sizes, np.random.default_rng(seed))
    return {**made, **loaded}


def inputs(entry: Entry, given: list[str] | None) -> dict[str, Any]:
    """The arguments of the command line by name: arrays from files, and numbers."""
    import numpy as np

    from intent_np.cli.arguments import pairs, scalar

    found = {}
    parameters = {p.name: p for p in entry.kernel.parameters}
    for name, text in pairs(given, "--input").items():
        kind = parameters[name].kind if name in parameters else ""
        if kind in ("", "constexpr"):
            constant = f", but a constexpr: --constexpr {name}=VALUE" if kind else ""
            raise typer.BadParameter(f"no parameter {name}{constant}", param_hint="--input")
        try:
            found[name] = np.load(text) if text.endswith(".npy") else scalar(text)
        except ValueError:  # NumPy proposes to unpickle what it can't read
            raise typer.BadParameter(f"'{text}' is no .npy file of numbers", param_hint="--input") from None
        if kind == "view" and not isinstance(found[name], np.ndarray):
            raise typer.BadParameter(f"'{name}' is an array: name a FILE.npy", param_hint="--input")
    return found


def measured(entry: Entry, loaded: Mapping[str, Any]) -> dict[str, int]:
    """The extents that given arrays show."""
    found: dict[str, int] = {}
    for parameter in entry.kernel.parameters:
        shape = getattr(loaded.get(parameter.name), "shape", ())
        if parameter.kind == "view":
            found |= {
                entry: size for entry, size in zip(parameter.shape, shape, strict=False) if isinstance(entry, str)
            }
    return found


def describe(name: str, array: Any, expected: Mapping[str, Any]) -> dict[str, Any]:
    """One output in numbers, and its distance from the oracle if there is one."""
    import numpy as np

    from intent_np.testing import compare

    wide = array.astype(np.float64) if array.dtype.kind not in "biu" else array
    finite = wide[np.isfinite(wide)] if wide.dtype.kind == "f" else wide
    least, greatest = (finite.min().item(), finite.max().item()) if finite.size else (None, None)
    row = {"name": name, "dtype": str(array.dtype), "shape": array.shape, "least": least, "greatest": greatest}
    if name in expected:
        comparison = compare(array, expected[name])
        row |= {"status": "ok" if comparison.ok else "failed", "comparison": comparison.message}
    return row
