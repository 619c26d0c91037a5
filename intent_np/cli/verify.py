"""`intent-np verify`: run kernels on every machine that is here and compare with their oracles."""

from __future__ import annotations

from typing import Annotated

import typer

from intent_np.cli.build import AsJson, Corpus, Jobs, Limit, Thorough


def verify(
    corpus: Corpus,
    machine: Annotated[list[str] | None, typer.Option(help="reference, cpu, a GPU, or a level such as gpu.")] = None,
    thorough: Thorough = False,
    workers: Jobs = 2,
    time_limit: Limit = 300.0,
    as_json: AsJson = False,
) -> None:
    """Run every kernel of CORPUS on adversarial sizes, layouts and values, and compare with its oracle.

    Exits with 1 if any result is outside its bound.  A kernel without an oracle is told as such, and is not ok.
    """
    from intent_np.cli import FAILED
    from intent_np.cli.build import machines, print_records, run_with_progress, summary
    from intent_np.cli.output import print_json
    from intent_np.corpus.build import FINE, counted, jobs
    from intent_np.corpus.cases import entries
    from intent_np.corpus.lowering import LEVELS
    from intent_np.target import resolve

    chosen = tuple(machine) if machine else machines()
    for one in chosen:
        if one not in LEVELS:
            resolve(one)  # a wrong name is told once, not for every kernel
    work = jobs(entries(corpus, keep_going=True), "", None, chosen, thorough)
    records = run_with_progress(work, workers, time_limit)
    if as_json:
        print_json({"machines": list(chosen), "summary": counted(records), "kernels": records})
    else:
        print_records(records)
        print(f"\n{summary(counted(records))} on {', '.join(chosen)}")
    if any(record["status"] not in FINE for record in records):
        raise typer.Exit(FAILED)
