"""`intent-np compile`: one kernel to source, intermediate programs, and an artifact on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from intent_np.cli.arguments import scalars

if TYPE_CHECKING:
    from intent_np.corpus.cases import Entry
    from intent_np.passes.base import Pass

Place = Annotated[str, typer.Argument(metavar="FILE[:KERNEL]", help="A Python file, and a kernel in it.")]
TargetName = Annotated[str, typer.Option(help="auto, cpu, reference, or a GPU such as sm_90.")]
Constexprs = Annotated[list[str] | None, typer.Option("--constexpr", "-c", help="NAME=VALUE; repeat for several.")]
Numerics = Annotated[str, typer.Option(help="strict, relaxed_normalization, relaxed_algebra or relaxed.")]
Disable = Annotated[list[str] | None, typer.Option(help="A pass to leave out; repeat for several.")]
Check = Annotated[bool, typer.Option("--check", help="Verify the program after every pass.")]
PassOption = Annotated[
    list[str] | None, typer.Option("--option", help="PASS.key=value, or PASS.key.member=value; repeat for several.")
]


def compile(
    place: Place,
    target: TargetName = "auto",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the artifact in this folder.")] = None,
    show: Annotated[list[str] | None, typer.Option("--print", help="A level, or a pass to print after.")] = None,
    stop_after: Annotated[str, typer.Option(help="Print the program behind this pass and go no further.")] = "",
    extent: Annotated[list[str] | None, typer.Option("--extent", "-e", help="NAME=SIZE of the arrays to fit.")] = None,
    constexpr: Constexprs = None,
    numerics: Numerics = "",
    disable: Disable = None,
    option: PassOption = None,
    check: Check = False,
    rules: Annotated[list[str] | None, typer.Option("--rules", help="A file of rewrite rules to use as well.")] = None,
    passes: Annotated[list[str] | None, typer.Option("--passes", help="A file of passes to run as well.")] = None,
    validate: Annotated[
        bool, typer.Option("--validate", help="Execute the program before and after every pass on generated arguments.")
    ] = False,
    plans: Annotated[
        bool, typer.Option("--plans", help="Print the plans of each execution group and their costs, and no program.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compile a kernel, or all of a file, and print its source, or the levels asked for.

    Levels are logical, normal, grouped, blocked, gpu, triton, launch, source and ptx.  A GPU target gets the generic
    variant and one for contiguous arrays of the sizes given, or of the first that the corpus times.
    """
    from intent_np.cli.output import print_json
    from intent_np.cli.run import named_extents
    from intent_np.corpus.cases import entries

    if validate and stop_after:
        raise typer.BadParameter("a whole compilation is validated", param_hint="--validate")
    if stop_after and (show or out):
        told = "only the program behind it is printed: leave out --print and --out"
        raise typer.BadParameter(told, param_hint="--stop-after")
    if plans and (show or out or stop_after):
        told = "only the plans are printed: leave out --print, --out and --stop-after"
        raise typer.BadParameter(told, param_hint="--plans")
    found = entries([place])
    sizes = named_extents(found, extent)
    results: list[dict[str, Any]] = []
    for plain in found:
        entry = customised(plain, constexpr, numerics, disable, option, check)
        if rules:
            entry = replace(entry, options={**entry.options, "rules": tuple(rules)})
        if passes:
            entry = replace(entry, options={**entry.options, "more_passes": tuple(passes)})
        entry = replace(entry, options={**entry.options, "validate": True}) if validate else entry
        folder = out if out is None or len(found) == 1 else out / entry.title
        if plans:
            texts = {"plans": plans_text(entry, sizes)}
        elif stop_after:
            texts = {f"after {stop_after}": lowered_text(entry, stop_after)}
        else:
            texts = compiled_texts(entry, target, sizes, show or [], folder)
        results.append({"kernel": entry.title, "target": target, "texts": texts, "saved": folder and str(folder)})
    if as_json:
        print_json({"kernels": results})
        return
    for result in results:
        for name, text in result["texts"].items():
            if len(results) > 1 or len(result["texts"]) > 1:
                print(f"# {result['kernel']}: {name}")
            print(str(text).rstrip())


def compiled_texts(
    entry: Entry, target: str, sizes: Mapping[str, int], show: list[str], folder: Path | None
) -> dict[str, str]:
    """Compile, save if there is a folder, and give the texts asked for; without any, what the target executes."""
    from intent_np.corpus.verify import compiled
    from intent_np.passes.pipeline import PIPELINE

    sizes = {**next(iter(entry.sizes), {}), **sizes}
    artifact = compiled(entry, target, [sizes] if sizes else [])
    if folder:
        artifact.save(folder)
    passes = {step.name for step in PIPELINE}
    texts = {name: lowered_text(entry, name) if name in passes else artifact.ir(name) for name in show}
    if texts:
        return texts
    return {"source": artifact.source} if artifact.source else dict(list(artifact.texts.items())[-1:])


def customised(
    entry: Entry,
    constexpr: list[str] | None,
    numerics: str,
    disable: list[str] | None,
    option: list[str] | None,
    check: bool,
) -> Entry:
    """The entry with what the command line says over its own constexprs and options."""
    from intent_np.cli.opt import find_pass, pass_options
    from intent_np.passes.pipeline import PIPELINE

    options: dict[str, Any] = dict(entry.options)
    if numerics:
        options["numerics"] = numerics
    if disable:
        options["disable"] = tuple(optional_pass(find_pass(name)) for name in disable)
    if option:
        options["passes"] = pass_options(option, list(PIPELINE))
    if check:
        options["check"] = True
    return replace(entry, constexprs=constants(entry, constexpr), options=options)


def optional_pass(step: Pass) -> str:
    """The name of a pass that the pipeline can do without."""
    if not step.optional:
        raise typer.BadParameter(f"{step.name} {step.needed}: it cannot be left out", param_hint="--disable")
    return step.name


def constants(entry: Entry, constexpr: list[str] | None) -> dict[str, Any]:
    """The entry's constexprs with those of the command line over them; a member of an enum is given by its name."""
    values = {**entry.constexprs, **scalars(constexpr, "--constexpr")}
    types = {parameter.name: parameter.type for parameter in entry.kernel.constexprs}
    for name, value in values.items():
        members = getattr(types.get(name), "__members__", {})
        values[name] = members.get(str(value), value)
    return values


def lowered_text(entry: Entry, stop_after: str) -> str:
    """The program behind the pass `stop_after` as text."""
    from intent_np.cli.opt import find_pass
    from intent_np.corpus.lowering import lowered
    from intent_np.terms.core import Arena
    from intent_np.terms.text import show

    with Arena():
        return show(lowered(entry, find_pass(stop_after).name))


def plans_text(entry: Entry, given: Mapping[str, int]) -> str:
    """What could be recomputed or kept in each group, with its costs on an H200, the cheapest first.

    For contiguous arrays of the given extents; those that are not given are long.  The policies of `choose_plan` that
    allow some plans only, and its limits, hold.
    """
    from intent_np.compiler import LAST_OF_ALL, Compilation, CompileOptions
    from intent_np.planning.choose import POLICIES
    from intent_np.planning.explain import explained, text
    from intent_np.planning.problem import limits_of
    from intent_np.plans import class_options
    from intent_np.runtime.examples import class_of
    from intent_np.runtime.plan import generic_class
    from intent_np.target import SM_90

    made = Compilation(entry.kernel, SM_90, dict(entry.constexprs), CompileOptions(**entry.options))
    sizes = {**next(iter(entry.sizes), {}), **given}
    holds = class_of(made.plan, sizes) if sizes else generic_class(made.plan)
    options = class_options(made.plan, holds)
    with made.arena:
        program = made.lowered(made.normal, options=options, after=LAST_OF_ALL, stop_after="split_reductions")
        told = made.options.passes.get("choose_plan", {})
        policy = told.get("policy", "")
        limits = limits_of(told.get("limits", {}))
        return text(explained(program, policy if policy in POLICIES else "egraph", sizes, limits))


def one_entry(place: str) -> Entry:
    """The kernel that `place` names; a usage error if it names several."""
    from intent_np.corpus.cases import entries

    found = entries([place])
    if len(found) > 1:
        names = ", ".join(entry.name for entry in found)
        raise typer.BadParameter(f"name one kernel: {place}:NAME with one of {names}", param_hint="FILE:KERNEL")
    return found[0]
