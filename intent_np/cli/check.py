"""`intent-np check`: execute kernels in checking mode and say what no execution may depend on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from intent_np.cli.compile import Constexprs, Numerics
from intent_np.cli.run import Given

if TYPE_CHECKING:
    from intent_np.corpus.cases import Entry

Places = Annotated[list[str], typer.Argument(metavar="FILE[:KERNEL]...", help="Python files or folders of kernels.")]


def check(
    places: Places,
    extent: Annotated[list[str] | None, typer.Option("--extent", "-e", help="NAME=SIZE; repeat for several.")] = None,
    given: Given = None,
    constexpr: Constexprs = None,
    numerics: Numerics = "",
    thorough: Annotated[bool, typer.Option(help="Each size with every layout and distribution of values.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Execute kernels in checking mode, on the calls of their corpus, on given arrays, or on generated ones.

    Found are invalid operations whose outcome is used, reads of what nobody wrote, accesses outside an array, races of
    unordered points, combines that break their laws, and broken promises.  Exits with 1 if anything is found.
    """
    from intent_np.cli import FAILED
    from intent_np.cli.compile import customised
    from intent_np.cli.output import print_json
    from intent_np.cli.run import named_extents
    from intent_np.corpus.cases import entries

    results = []
    found_entries = entries(places)
    named_extents(found_entries, extent)
    for plain in found_entries:
        entry = customised(plain, constexpr, numerics, None, None, False)
        calls = list(calls_of(entry, extent, given, thorough))
        results.append((entry, len(calls), checked(entry, calls)))
    if as_json:
        print_json({"kernels": [as_record(entry, count, found) for entry, count, found in results]})
    else:
        for entry, count, found in results:
            state = "ok" if found.ok else f"{len(found.findings)} findings"
            few = "" if count else ": no arguments of these sizes keep what the kernel is promised"
            print(f"{entry.title}: {state} in {count} calls{few}")
            for one in (*found.findings, *found.remarks):
                print(f"\n{one.render()}\n")
    if any(not found.ok for _, _, found in results):
        raise typer.Exit(FAILED)


def checked(entry: Entry, calls: Any) -> Any:
    """The findings of all calls of an entry."""
    import intent_np
    from intent_np.testing import check_calls

    options = intent_np.CompileOptions(**entry.options)
    return check_calls(entry.kernel, calls, entry.constexprs, permissions=options.permissions)


def as_record(entry: Entry, count: int, found: Any) -> dict[str, Any]:
    """One kernel for `--json`."""
    return {
        "kernel": entry.title,
        "calls": count,
        "status": "ok" if found.ok else "failed",
        "findings": [one.as_json() for one in found.findings],
        "remarks": [{"code": r.code, "text": r.text, "line": r.span and r.span.line} for r in found.remarks],
    }


def calls_of(
    entry: Entry, extent: list[str] | None, given: list[str] | None, thorough: bool
) -> Iterator[tuple[str, Any]]:
    """The calls to check, with names: the one of given arrays, those of a case, or generated ones."""
    from intent_np.cli.arguments import extents
    from intent_np.cli.run import make_arguments
    from intent_np.corpus import verify
    from intent_np.testing import arguments, generated_calls

    sizes = extents(extent)
    if given:
        yield " ".join(given), make_arguments(entry, extent, given, 0, "contiguous", "normal")
    elif entry.case is None:
        yield from generated_calls(entry.kernel, entry.constexprs, sizes)
    else:
        for call in verify.calls(entry.case, thorough):
            yield str(call), arguments(entry.case, {**call.extents, **sizes}, call.seed, call.layout, call.values)
