"""Building many kernels: a folder for each, a manifest of all.

`OUT/<module>.<kernel>/` is the saved artifact, a folder for each variant; of a host program it holds the artifact of
each kernel that is launched.  `OUT/manifest.json` lists every kernel with
its status, its files (size and SHA-256) and its verdicts; `OUT/index.html` shows the same to a person.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from intent_np.corpus.cases import Entry, entries
from intent_np.corpus.lowering import reference_only
from intent_np.corpus.verify import compiled, verify
from intent_np.corpus.workers import Outcome, run_isolated
from intent_np.errors import IntentError, error


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel to build, in words that another process understands.  `machines` are those to verify it on, `passes`
    options of passes over those of the kernel."""

    path: str
    name: str
    module: str
    target: str
    folder: str
    machines: tuple[str, ...] = ()
    thorough: bool = False
    passes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


NOTHING: Final[dict[str, Any]] = {"variants": [], "files": {}, "checks": []}
"""What there is to tell about a kernel that was not built."""


FINE: Final = frozenset({"ok", "reference only", "no oracle"})
"""What no build fails for: `reference only` is a kernel with a construct that the target can't execute yet, `no oracle`
one that was to be verified and has nothing to be compared with."""


def jobs(
    found: Sequence[Entry],
    target: str,
    out: Path | None,
    machines: tuple[str, ...] = (),
    thorough: bool = False,
    passes: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> list[Job]:
    """A job for each entry, with its folder below `out`; without `out` the kernels are only verified.

    Raises `LanguageUseError` E006 when two entries would have one folder.
    """
    titles = Counter(entry.title for entry in found)
    if twice := [title for title, count in titles.items() if count > 1]:
        raise error("E006", what=f"two kernels are called {', '.join(twice)}", how="build them separately")
    return [
        Job(
            str(entry.path),
            entry.name,
            entry.module,
            target,
            str(out / entry.title) if out else "",
            machines,
            thorough,
            dict(passes),
        )
        for entry in found
    ]


def build(work: Sequence[Job], *, workers: int = 2, time_limit: float = 300.0) -> Iterator[dict[str, Any]]:
    """Run the jobs apart from each other and yield the manifest entry of each as it ends."""
    for outcome in run_isolated(run_job, work, workers=workers, time_limit=time_limit):
        yield _record(outcome)


def run_job(job: Job) -> dict[str, Any]:
    """Compile, save and verify one kernel; in the process of a worker.

    A kernel without a folder is verified only.
    """
    entry = entries([f"{job.path}:{job.name}"])[0]
    if job.passes:
        entry = replace(entry, options={**entry.options, "passes": {**entry.options.get("passes", {}), **job.passes}})
    record: dict[str, Any] = {"seconds": 0.0, **NOTHING}
    if job.folder:
        try:
            _saved(entry, job, record)
        except IntentError as problem:
            record["text"] = reference_only(problem)
            if not record["text"]:
                raise
    record["checks"] = [verify(entry, machine, job.thorough).as_json() for machine in job.machines]
    return record


def _saved(entry: Entry, job: Job, record: dict[str, Any]) -> None:
    """Compile the entry, save it in its folder and note what is there."""
    started = time.perf_counter()
    if entry.is_host_program:
        launches = enumerate(entry.launches)
        artifacts = {f"/{number}.{one.name}": compiled(one, job.target, one.sizes) for number, one in launches}
    else:
        artifacts = {"": compiled(entry, job.target, entry.sizes)}
    record["seconds"] = time.perf_counter() - started
    for place, artifact in artifacts.items():
        artifact.save(job.folder + place)
    record["variants"] = [f"{n}/{v.name}".removeprefix("/") for n, a in artifacts.items() for v in a.variants]
    record["files"] = _files(Path(job.folder))


def _files(folder: Path) -> dict[str, dict[str, Any]]:
    """Every file below `folder` by its relative path, with its size in bytes and its hash; the outermost first."""
    found = {}
    for path in sorted(folder.rglob("*"), key=lambda path: (len(path.parts), path)):
        if path.is_file():
            content = path.read_bytes()
            name = path.relative_to(folder).as_posix()
            found[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return found


def placed(outcome: Outcome[Job, dict[str, Any]]) -> str:
    """What went wrong; where a process died or was ended, also with which kernel, and in which stage of its way."""
    said = outcome.text.partition("\n")
    if not outcome.stack or not said[0]:
        return outcome.text
    job, stage = outcome.job, stage_of(outcome.stack)
    line = next((n for n, t in enumerate(_lines(job.path), 1) if re.match(rf"\s*def {re.escape(job.name)}\(", t)), 0)
    place = f"{job.path}:{line or job.name}"
    return "".join((f"{said[0]} in {stage or 'no stage'}, of {place}", *said[1:]))


def stage_of(stack: str) -> str:
    """The pass, or the stage of the lower compiler, that the stack of a process is in; nothing if in none."""
    from intent_np.passes.pipeline import steps

    passes = {p.name for p in steps()}
    for file, function in re.findall(r'File "(.+)", line \d+ in (\w+)', stack):
        if function in passes and "intent_np" in Path(file).parts:
            return f"the pass {function}"
        if "triton" in Path(file).parts and (stage := re.fullmatch(r"make_(ir|ttir|ttgir|llir|ptx|cubin)", function)):
            return f"the stage {stage[1]} of Triton"
    return ""


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def _record(outcome: Outcome[Job, dict[str, Any]]) -> dict[str, Any]:
    """The manifest entry: `status` is the worker's, `wrong` after a verdict that is not fine, `reference only`, or
    `no oracle` where the kernel was to be verified and could not be."""
    job, value = outcome.job, outcome.value or {"seconds": outcome.seconds, **NOTHING}
    verdicts = {check["status"] for check in value["checks"]}
    if "text" in value:
        verdicts.add("reference only")
    status = "wrong" if verdicts - FINE else next((s for s in ("reference only", "no oracle") if s in verdicts), "ok")
    return {
        "module": job.module,
        "kernel": job.name,
        "target": job.target,
        "folder": Path(job.folder).name,
        "status": outcome.status if outcome.status != "ok" else status,
        "text": placed(outcome),
        "error": outcome.error,
        **value,
    }


def counted(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many kernels ended with each status."""
    return dict(Counter(record["status"] for record in records))


def write_manifest(records: Sequence[Mapping[str, Any]], target: str, out: Path) -> dict[str, Any]:
    """Write `out/manifest.json` about all records, in the order given, and return it."""
    import intent_np

    manifest = {
        "format": 1,
        "version": intent_np.__version__,
        "target": target,
        "summary": counted(records),
        "kernels": list(records),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    return manifest
