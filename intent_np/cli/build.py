"""`intent-np build`: compile many kernels, each apart from the others, and write a manifest and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from intent_np.cli.compile import PassOption

if TYPE_CHECKING:
    from intent_np.corpus.build import Job

Corpus = Annotated[list[str], typer.Argument(metavar="CORPUS...", help="A folder, FILE.py, or FILE.py:KERNEL.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Kernels at a time.")]
Limit = Annotated[float, typer.Option("--time-limit", min=1.0, help="Seconds that one kernel may take.")]
Thorough = Annotated[bool, typer.Option("--thorough", help="Verify every size with every layout and distribution.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")]


def build(
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path("out"),
    target: Annotated[str, typer.Option(help="sm_80, sm_90, sm_100, or auto for this machine's GPU.")] = "sm_90",
    verify: Annotated[bool, typer.Option("--verify", help="Also run each kernel against its oracle.")] = False,
    thorough: Thorough = False,
    workers: Jobs = 2,
    time_limit: Limit = 300.0,
    option: PassOption = None,
    as_json: AsJson = False,
) -> None:
    """Compile every kernel of CORPUS into OUT; one bad kernel never stops the rest.

    Writes OUT/<module>.<kernel>/, OUT/manifest.json and OUT/index.html.  A construct that TARGET can't execute yet is
    no failure but told: that kernel is `reference only`.  One that was to be verified and can't be has `no oracle`.
    Exits with 1 if any other kernel is not ok.
    """
    from intent_np.cli import FAILED
    from intent_np.cli.opt import pass_options
    from intent_np.cli.output import print_json
    from intent_np.corpus.build import FINE, jobs, write_manifest
    from intent_np.corpus.cases import entries
    from intent_np.corpus.report import write_report
    from intent_np.passes.pipeline import PIPELINE
    from intent_np.target import resolve

    resolve(target)  # a wrong name is told once, not for every kernel
    passes = pass_options(option, list(PIPELINE))
    work = jobs(entries(corpus, keep_going=True), target, out, machines() if verify else (), thorough, passes)
    out.mkdir(parents=True, exist_ok=True)
    records = run_with_progress(work, workers, time_limit)
    manifest = write_manifest(records, target, out)
    page = write_report(manifest, out)
    if as_json:
        print_json(manifest)
    else:
        print_records(records)
        print(f"\n{summary(manifest['summary'])}; {page}")
    if any(record["status"] not in FINE for record in records):
        raise typer.Exit(FAILED)


def machines() -> tuple[str, ...]:
    """The machines that execute kernels here, from meaning to metal."""
    from intent_np.target import resolve

    here = resolve("auto")
    return ("reference", "cpu", here.name) if here.is_gpu else ("reference", "cpu")


def run_with_progress(work: list[Job], workers: int, time_limit: float) -> list[dict[str, Any]]:
    """Run the jobs with a bar on a terminal, or a line for each where there is none; records in the order of jobs."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from intent_np.cli.output import console
    from intent_np.corpus.build import build as run

    target = console(to_error=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    records: dict[tuple[str, str], dict[str, Any]] = {}
    with Progress(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=target, disable=not target.is_terminal
    ) as progress:
        task = progress.add_task("kernels", total=len(work))
        for record in run(work, workers=workers, time_limit=time_limit):
            title = f"{record['module']}.{record['kernel']}"
            records[record["module"], record["kernel"]] = record
            progress.update(task, advance=1, description=title)
            if not target.is_terminal:
                target.print(f"[{len(records)}/{len(work)}] {title} {record['status']}", markup=False)
    return [records[job.module, job.name] for job in work]


def print_records(records: list[dict[str, Any]]) -> None:
    """The table of kernels, then what went wrong with each that is not ok."""
    from intent_np.cli.output import print_table

    rows = [
        (
            f"{record['module']}.{record['kernel']}",
            record["status"],
            f"{record['seconds']:.2f}" if record["files"] else "",
            " ".join(f"{check['machine']}:{check['status']}" for check in record["checks"]),
            sum(check["cases"] for check in record["checks"]) or "",
            f"{max((float(check['max_ratio']) for check in record['checks']), default=0.0):.2f}",
        )
        for record in records
    ]
    print_table(("kernel", "status", "seconds", "verified on", "calls", "error/bound"), rows)
    for record in records:
        texts = [
            record["text"],
            *(f"{check['machine']}: {check['text']}" for check in record["checks"] if check["text"]),
        ]
        if record["status"] == "reference only":
            print(f"{record['module']}.{record['kernel']}: reference only: {next(filter(None, texts))}")
        elif record["status"] != "ok":
            print(f"\n{record['module']}.{record['kernel']}: {record['status']}")
            print("\n".join(f"  {line}" for text in texts for line in text.splitlines()))


def summary(counts: dict[str, int]) -> str:
    """`12 ok, 1 crashed`."""
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no kernels"
