"""`intent-np compile`: one kernel to source, intermediate programs, and an artifact on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from intent_np.corpus.cases import Entry
    from intent_np.passes.base import Pass

Place = Annotated[str, typer.Argument(metavar="FILE[:KERNEL]", help="A Python file, and a kernel in it.")]
TargetName = Annotated[str, typer.Option(help="auto, cpu, reference, or a GPU such as sm_90.")]
Constexprs = Annotated[list[str] | None, typer.Option("--constexpr", "-c", help="NAME=VALUE; repeat for several.")]
Numerics = Annotated[str, typer.Option(help="strict, relaxed_normalization, relaxed_algebra or relaxed.")]
Disable = Annotated[list[str] | None, typer.Option(help="A pass to leave out; repeat for several.")]
PassOption = Annotated[list[str] | None, typer.Option("--option", help="PASS.key=value; repeat for several.")]


def compile(
    place: Place,
    target: TargetName = "auto",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the artifact in this folder.")] = None,
    show: Annotated[list[str] | None, typer.Option("--print", help="A level to print; repeat for several.")] = None,
    stop_after: Annotated[str, typer.Option(help="Print the program behind this pass and go no further.")] = "",
    constexpr: Constexprs = None,
    numerics: Numerics = "",
    disable: Disable = None,
    option: PassOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compile a kernel, or all of a file, and print its source, or the levels asked for.

    Levels are logical, normal, grouped, blocked, gpu, triton and launch.
    """
    from intent_np.cli.output import print_json
    from intent_np.corpus.cases import entries

    found = entries([place])
    results: list[dict[str, Any]] = []
    for entry in found:
        options = compile_options(entry, numerics, disable, option)
        saved = None
        if stop_after:
            texts = {f"after {stop_after}": lowered_text(entry, constexpr, options, stop_after)}
        else:
            artifact = compiled(entry, target, constexpr, options)
            texts = {level: artifact.ir(level) for level in show or ()} or {"source": artifact.source}
            if out:
                saved = out if len(found) == 1 else out / entry.title
                artifact.save(saved)
        results.append({"kernel": entry.title, "target": target, "texts": texts, "saved": saved and str(saved)})
    if as_json:
        print_json({"kernels": results})
        return
    for result in results:
        for name, text in result["texts"].items():
            if len(results) > 1 or len(result["texts"]) > 1:
                print(f"# {result['kernel']}: {name}")
            print(str(text).rstrip())


def compile_options(entry: Entry, numerics: str, disable: list[str] | None, option: list[str] | None) -> dict[str, Any]:
    """The fields of `CompileOptions`: the entry's own, with those of the command line over them."""
    from intent_np.cli.opt import find_pass, pass_options
    from intent_np.passes.pipeline import PIPELINE

    given: dict[str, Any] = dict(entry.options)
    if numerics:
        given["numerics"] = numerics
    if disable:
        given["disable"] = tuple(optional_pass(find_pass(name)) for name in disable)
    if option:
        given["passes"] = pass_options(option, list(PIPELINE))
    return given


def optional_pass(step: Pass) -> str:
    """The name of a pass that the pipeline can do without."""
    if not step.optional:
        change = f"{step.name} leads from {step.source.name} to {step.target.name}"
        raise typer.BadParameter(f"{change}: it cannot be left out", param_hint="--disable")
    return step.name


def constants(entry: Entry, constexpr: list[str] | None) -> dict[str, Any]:
    """The entry's constexprs with those of the command line over them; a member of an enum is given by its name."""
    from intent_np.cli.arguments import scalars

    values = {**entry.constexprs, **scalars(constexpr, "--constexpr")}
    types = {parameter.name: parameter.type for parameter in entry.kernel.constexprs}
    for name, value in values.items():
        members = getattr(types.get(name), "__members__", {})
        values[name] = members.get(str(value), value)
    return values


def compiled(entry: Entry, target: str, constexpr: list[str] | None, options: dict[str, Any]) -> Any:
    """The artifact of an entry."""
    import intent_np

    chosen = intent_np.CompileOptions(**options)
    return intent_np.compile(entry.kernel, target=target, constexprs=constants(entry, constexpr), options=chosen)


def lowered_text(entry: Entry, constexpr: list[str] | None, options: dict[str, Any], stop_after: str) -> str:
    """The program behind the pass `stop_after` as text."""
    from intent_np.cli.opt import find_pass
    from intent_np.corpus.lowering import lowered
    from intent_np.terms.core import Arena
    from intent_np.terms.text import show

    with Arena():
        return show(lowered(entry, find_pass(stop_after).name, constants(entry, constexpr), options))


def one_entry(place: str) -> Entry:
    """The kernel that `place` names; a usage error if it names several."""
    from intent_np.corpus.cases import entries

    found = entries([place])
    if len(found) > 1:
        names = ", ".join(entry.name for entry in found)
        raise typer.BadParameter(f"name one kernel: {place}:NAME with one of {names}", param_hint="FILE:KERNEL")
    return found[0]
