"""`intent-np fuzz`: random kernels held against every oracle, failures reduced to small ones and saved as tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer


def fuzz(
    minutes: Annotated[float | None, typer.Option(min=0, help="No new seed begins after so long.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="So many seeds.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes.")] = 2,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of journal, report and tests.")] = Path("fuzz"),
    oracles: Annotated[
        str, typer.Option(help="Comma-separated: reference, machine, text, triton, cubin, device.")
    ] = "",
    validate: Annotated[bool, typer.Option(help="Execute the program behind each pass.")] = False,
    triton: Annotated[bool, typer.Option(help="Also run the printed Triton in Triton's interpreter.")] = False,
    device: Annotated[bool, typer.Option(help="Also run the compiled kernel on this machine's GPU.")] = False,
    numerics: Annotated[
        str, typer.Option(help="strict, relaxed_normalization, relaxed_algebra or relaxed.")
    ] = "strict",
    calls: Annotated[int, typer.Option(min=1, help="Calls of each kernel.")] = 3,
    limit: Annotated[float, typer.Option(min=1, help="Seconds for the examination of a seed.")] = 60.0,
    attempts: Annotated[int, typer.Option(min=0, help="Candidates of a reduction.")] = 600,
    generator: Annotated[str, typer.Option(help="MODULE:FUNCTION from a seed to a kernel's text.")] = "",
    mutants: Annotated[bool, typer.Option("--mutants", help="Measure the suite by mutants of the compiler.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Examine random kernels, sort what fails into findings, reduce each and save it as a test.

    OUT/journal.jsonl has a line for each finished seed: the same command goes on where an earlier one ended, however
    it ended.  OUT/report.html and OUT/report.json tell everything; OUT/findings holds a pytest file for each finding.
    Without --minutes and --count it runs for 10 minutes.  Exits with 1 if there is a finding.
    """
    from intent_np.cli import FAILED
    from intent_np.cli.output import print_json
    from intent_np.permissions import NUMERICS
    from intent_np.testing.campaign import Campaign, Settings
    from intent_np.testing.oracles import DEFAULT, ORACLES

    if mutants:
        from intent_np.testing.mutants.campaign import Campaign as Measurement
        from intent_np.testing.mutants.rates import told

        measurement = Measurement(out, jobs, minutes or 60.0, lambda line: print(line, file=sys.stderr, flush=True))
        rates = measurement.measure(count or 2000)
        print_json(rates) if as_json else print(told(rates))
        return
    chosen = [o.strip() for o in oracles.split(",")] if oracles else list(DEFAULT)
    chosen += [o for o, asked in (("triton", triton), ("device", device)) if asked and o not in chosen]
    for name in chosen:
        if name not in ORACLES:
            raise typer.BadParameter(f"'{name}' is none of {', '.join(ORACLES)}", param_hint="--oracles")
    if numerics not in NUMERICS:
        raise typer.BadParameter(f"'{numerics}' is none of {', '.join(NUMERICS)}", param_hint="--numerics")
    given: dict[str, Any] = {"generator": generated_by(generator)} if generator else {}
    settings = Settings(
        oracles=tuple(chosen),
        each_pass=validate,
        numerics=numerics,
        calls=calls,
        seconds=limit,
        attempts=attempts,
        **given,
    )
    if minutes is None and count is None:
        minutes = 10.0
    campaign = Campaign(out, settings, seed, count, minutes)
    made = campaign.run(jobs, lambda line: print(line, file=sys.stderr, flush=True))
    if as_json:
        print_json(made)
    else:
        states = ", ".join(f"{n} {state}" for state, n in made["status"].items())
        print(f"{made['kernels']} kernels ({states}), {made['calls']} calls compared by {', '.join(chosen)}")
        for one in made["differences"]:
            print(f"\n{one['key']}\n  {len(one['seeds'])} kernels; {out / one['test']}")
        print(f"\n{out / 'report.html'}")
    if made["differences"]:
        raise typer.Exit(FAILED)


def generated_by(place: str) -> str:
    """MODULE:FUNCTION, which can be imported."""
    from importlib import import_module

    module, colon, name = place.partition(":")
    try:
        found = getattr(import_module(module), name, None) if colon else None
    except (ImportError, ValueError) as problem:
        raise typer.BadParameter(f"'{place}' cannot be imported: {problem}", param_hint="--generator") from None
    if not callable(found):
        raise typer.BadParameter(f"'{place}' is no function as MODULE:FUNCTION", param_hint="--generator")
    return place
