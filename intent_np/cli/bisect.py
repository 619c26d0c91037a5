"""`intent-np bisect`: find the first pass behind which a kernel's results are wrong."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from intent_np.cli.compile import Check, Constexprs, Disable, Numerics, PassOption, Place


def bisect(
    place: Place,
    extent: Annotated[list[str] | None, typer.Option("--extent", "-e", help="NAME=SIZE; repeat for several.")] = None,
    given: Annotated[list[str] | None, typer.Option("--input", help="PARAMETER=FILE.npy or =NUMBER.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of generated inputs.")] = 0,
    layout: Annotated[str, typer.Option(help="Memory layout of generated arrays.")] = "contiguous",
    values: Annotated[str, typer.Option(help="Distribution of generated inputs.")] = "integers",
    holds: Annotated[
        str, typer.Option("--class", help="Launch class: generic, contiguous, bounded, …")
    ] = "small blocks",
    reduce: Annotated[bool, typer.Option(help="Print the smallest program that the pass gets wrong.")] = True,
    constexpr: Constexprs = None,
    numerics: Numerics = "",
    disable: Disable = None,
    option: PassOption = None,
    check: Check = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Execute a kernel as captured and behind every pass with NumPy, and name the first pass that changes an output.

    A result may be off by what rounding explains, as with compile --validate; inputs are small integers, for which
    that is little.  The call must keep the launch class.  A kernel that a pass gets wrong is reduced to the smallest
    such program.  Exits with 1 if a pass is wrong, or if the kernel has no meaning on the inputs.
    """
    import numpy as np

    from intent_np.cli import FAILED
    from intent_np.cli.compile import customised, one_entry
    from intent_np.cli.output import print_json
    from intent_np.cli.run import make_arguments
    from intent_np.compiler import CompileOptions
    from intent_np.errors import group
    from intent_np.testing.validated import wanted_of
    from intent_np.testing.validation import CLASSES, validate

    if holds not in CLASSES:
        raise typer.BadParameter(f"'{holds}' is none of {', '.join(CLASSES)}", param_hint="--class")
    entry = customised(one_entry(place), constexpr, numerics, disable, option, check)
    arguments = make_arguments(entry, extent, given, seed, layout, values)
    options = CompileOptions(**entry.options)
    results = wanted_of(entry.kernel, entry.constexprs, arguments, bool(options.permissions))
    if isinstance(results, tuple):
        raise group(results)
    how: dict[str, Any] = {"constexprs": entry.constexprs, "options": options}
    found = validate(entry.kernel, arguments, CLASSES[holds], expected=results, **how)
    small = None
    if not found and reduce and not entry.is_host_program:
        from intent_np.testing.reduction import reduced_behind_pass

        small = reduced_behind_pass(entry.kernel, arguments, CLASSES[holds], found, **how)
    if as_json:
        at: dict[str, Any] = {"output": found.output, "at": found.at}
        pair = {"expected": str(found.expected), "found": str(found.found)}
        told = {} if found else at | pair
        if small is not None:
            told |= {"program": small[0].text}
        print_json({"kernel": entry.title, "wrong": found.wrong, "passed": found.passed, **told})
    else:
        print(found)
        for name, one in results.items():
            if found and (open_ := int(np.isinf(one.bound).sum())):
                print(f"  {open_} of {one.value.size} elements of {name} may hold anything, and were not compared")
        if small is not None:
            print(f"\nthe smallest program of {small[0].tried} that it gets wrong:\n\n{small[0].text}\n{small[1]}")
    if not found:
        raise typer.Exit(FAILED)
