"""`intent-np bisect`: find the first pass behind which a kernel's results are wrong."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from intent_np.cli.compile import Check, Constexprs, Disable, Numerics, PassOption, Place


def bisect(
    place: Place,
    extent: Annotated[list[str] | None, typer.Option("--extent", "-e", help="NAME=SIZE; repeat for several.")] = None,
    given: Annotated[list[str] | None, typer.Option("--input", help="PARAMETER=FILE.npy or =NUMBER.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of generated inputs.")] = 0,
    layout: Annotated[str, typer.Option(help="Memory layout of generated arrays.")] = "contiguous",
    values: Annotated[str, typer.Option(help="Distribution of generated inputs.")] = "integers",
    holds: Annotated[
        str, typer.Option("--class", help="Launch class: generic, contiguous, bounded, …")
    ] = "small blocks",
    steps: Annotated[int, typer.Option(help="Values of its dtype that a float result may be off.")] = 0,
    reduce: Annotated[bool, typer.Option(help="Print the smallest program that the pass gets wrong.")] = True,
    constexpr: Constexprs = None,
    numerics: Numerics = "",
    disable: Disable = None,
    option: PassOption = None,
    check: Check = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Execute a kernel as captured and behind every pass with NumPy, and name the first pass that changes an output.

    Inputs are small integers, for which reordered sums are exact; --steps allows for rounding where they are not.
    The call must keep the launch class.  A kernel that a pass gets wrong is reduced to the smallest such program.
    Exits with 1 if a pass is wrong.
    """
    import numpy as np

    from intent_np.cli import FAILED
    from intent_np.cli.compile import customised, one_entry
    from intent_np.cli.output import print_json
    from intent_np.cli.run import extents_of, make_arguments
    from intent_np.compiler import CompileOptions
    from intent_np.testing.validation import CLASSES, validate

    if holds not in CLASSES:
        raise typer.BadParameter(f"'{holds}' is none of {', '.join(CLASSES)}", param_hint="--class")
    entry = customised(one_entry(place), constexpr, numerics, disable, option, check)
    arguments = make_arguments(entry, extents_of(entry, extent), given, seed, layout, values)
    options = CompileOptions(**entry.options)
    how: dict[str, Any] = {"constexprs": entry.constexprs, "options": options, "steps": steps}
    found = validate(entry.kernel, arguments, CLASSES[holds], **how)
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
        if not found and found.output and isinstance(found.expected, float | np.floating):
            print("  if only the rounding differs: --steps N allows N values of the dtype in between")
        if small is not None:
            print(f"\nthe smallest program of {small[0].tried} that it gets wrong:\n\n{small[0].text}\n{small[1]}")
    if not found:
        raise typer.Exit(FAILED)
