"""Plans of what is recomputed and kept: build several of each workload, time them, set the model against the clock.

    python -m benchmarks.plans build --out out/plans --jobs 8      # compiles for sm_90: needs Triton, no GPU
    python -m benchmarks.plans time --plans out/plans              # needs NumPy and CuPy alone
    python -m benchmarks.plans report --plans out                  # the table and what it shows

Of each workload there are the plan by rule, always recompute, always keep, the e-graph's choice, what is taken unasked,
every candidate (of many the best by the model), and the choice at other block extents, warps and registers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from .plans_kernels import WORKLOADS, Workload

FLUSHED = 256 << 20  # bytes overwritten before a timed call
FEW = 8  # candidates that are all measured
PROCESSORS = 132
POINTS = 6  # at which the chosen plan is measured, and half as many of the others with other roles
PEERS = ("directed", "recompute", "keep", "egraph", "auto")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.plans", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("do", choices=("build", "time", "report"))
    parser.add_argument("--out", default=os.environ.get("OUT", "out"), help="where artifacts or times go")
    parser.add_argument("--plans", default="out/plans", help="folder of `build`, or of `time` for a report")
    parser.add_argument("--only", nargs="*", default=[], help="names of kernels")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=25)
    options = parser.parse_args()
    if options.do == "build":
        chosen = [i for i, w in enumerate(WORKLOADS) if not options.only or w.kernel.name in options.only]
        return build(chosen, Path(options.out), options.jobs)
    if options.do == "time":
        return measure(Path(options.plans), Path(options.out), options.repeats, options.only)
    from .plans_report import report

    print(report(json.loads((Path(options.plans) / "plans.json").read_text())))
    return 0


# ---- build


def build(chosen: list[int], out: Path, jobs: int) -> int:
    """Compile all plans of the workloads; what does not compile is recorded as such."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found = dict(zip(chosen, pool.map(_wanted, chosen), strict=True))
        tasks = [(i, p, str(out / f"{i}.{n}")) for i in chosen for n, p in enumerate(found[i])]
        made = list(pool.map(_built, tasks))
    out.mkdir(parents=True, exist_ok=True)
    (out / "plans.json").write_text(json.dumps(made, indent=1) + "\n")
    for m in made:
        print(m["workload"], m["label"], m.get("text") or f"{m['model_ms']} ms: {m['plan']}", flush=True)
    return 0


def _wanted(number: int) -> list[dict[str, Any]]:
    return wanted(WORKLOADS[number])


def wanted(w: Workload) -> list[dict[str, Any]]:
    """The plans to measure, each with the options that make it and what the model sees in it."""
    found, candidates = _told(w, "egraph"), _told(w, "every")
    most = {"candidates": len(candidates), "optimum_ms": min(p["model_ms"] for p in [*found, *candidates])}
    rule = {"plan": "by rule", "axes": {}, "model_ms": None}
    plans: list[dict[str, Any]] = []
    for policy in PEERS:
        told = rule if policy in ("directed", "auto") else found[0] if policy == "egraph" else _told(w, policy)[0]
        plans.append({"label": policy, "policy": policy, **told})
    plans.append({**plans[PEERS.index("egraph")], "label": "free", "option": {"registers": 255}})
    for rank, told in enumerate(candidates[:FEW]):
        plans.append({"label": f"candidate {rank + 1}", "policy": "every", "rank": rank, **told})
    points: dict[Any, int] = {}
    for rank, told in enumerate(found):
        roles = tuple(text.partition(" ")[0] for text in told["axes"].values())
        points[roles] = points.get(roles, 0) + 1
        if points[roles] <= (POINTS if rank == 0 or roles == next(iter(points)) else POINTS // 2):
            plans.append({"label": f"point {rank}", "policy": "egraph", "rank": rank, **told})
    unlike: dict[Any, dict[str, Any]] = {}
    for p in plans:  # a plan that several labels stand for is built once, for each of the peers
        key = (
            p["label"]
            if p["label"] in PEERS or "option" in p
            else (p["plan"], *p["axes"].items(), *p["launch"].items())
        )
        unlike.setdefault(key, p)
    return [p | most for p in unlike.values()]


def _told(w: Workload, policy: str) -> list[dict[str, Any]]:
    """The plans of a workload, the cheapest first, as the model sees them."""
    from intent_np.planning.choose import decide, every
    from intent_np.planning.explain import facts
    from intent_np.planning.problem import Limits
    from intent_np.planning.registers import limit

    compilation, _, options = _compilation(w, {})
    with compilation.arena:
        program = compilation.lowered(
            compilation.normal, options=options, after="find_in_place", stop_after="form_groups"
        )
        (group,) = program.groups
        given = (group, program.permissions, PROCESSORS)
        most = Limits()
        found = every(*given, w.extents, most) if policy == "every" else decide(*given, policy, w.extents, most)
        return [
            {
                **{k: told[k] for k in ("plan", "axes", "work", "launch")},
                "model_ms": told["ms"],
                "limit": limit(a.launch, PROCESSORS),
            }
            for a in found
            for told in (facts(a),)
        ]


def _compilation(w: Workload, passes: Mapping[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    from intent_np.compiler import Compilation, CompileOptions
    from intent_np.plans import class_options
    from intent_np.runtime.examples import class_of
    from intent_np.target import resolve

    bounds = {"bind_class": {"bounds": {n: w.extents[n] for n in w.bounded}}} if w.bounded else {}
    options = CompileOptions(numerics=w.numerics, passes={**bounds, **passes})
    made = Compilation(w.kernel, resolve("sm_90"), dict(w.constexprs), options)
    holds = class_of(made.plan, dict(w.extents))
    return made, holds, class_options(made.plan, holds)


def _built(task: tuple[int, dict[str, Any], str]) -> dict[str, Any]:
    """One plan: its artifact in a folder, and what the model makes of it."""
    number, p, folder = task
    w = WORKLOADS[number]
    record: dict[str, Any] = {
        "number": number,
        "workload": w.title,
        "kernel": w.kernel.name,
        **p,
        "folder": Path(folder).name,
    }
    record["extents"], record["numerics"] = dict(w.extents), w.numerics
    try:
        passes = {"choose_plan": {"policy": p["policy"], "rank": p.get("rank", 0), "sizes": dict(w.extents)}}
        record |= _compiled(w, {**passes, "choose_launch": p.get("option", {})}, folder)
    except Exception as problem:
        record["text"] = f"{type(problem).__name__}: {str(problem).splitlines()[0]}"
        return record
    if "launch" in record and not record["launch"]["tensor"]:  # as they are: no more than the limit, often fewer
        record["launch"] = {**record["launch"], "registers": record["registers"], "spilled": record["stack"] / 4}
    return record


def _compiled(w: Workload, passes: Mapping[str, Any], folder: str) -> dict[str, Any]:
    from intent_np.runtime.device import DeviceArtifact
    from intent_np.target import resolve

    made, holds, _ = _compilation(w, passes)
    variant = replace(made.variant(holds), ptx="", texts={})  # what a launch needs, so that all of it can be carried
    DeviceArtifact(made.plan, resolve("sm_90"), [variant]).save(folder)
    facts = variant.plan.facts
    return {
        "warps": variant.plan.num_warps,
        "registers": facts["registers"],
        "stack": facts["stack"],
        "code": hashlib.sha256(variant.cubin).hexdigest()[:16],
    }


# ---- time


def measure(plans: Path, out: Path, repeats: int, only: list[str]) -> int:
    """Time the plans of each workload in turns, with a cold cache, against the first one's outputs."""
    records = json.loads((plans / "plans.json").read_text())
    numbers = dict.fromkeys(r["number"] for r in records if not only or r["kernel"] in only)
    for number in numbers:
        own = [r for r in records if r["number"] == number]
        try:
            _timed(own, plans, repeats)
        except Exception as problem:
            print(own[0]["workload"], f"{type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
        print(table(own), flush=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "plans.json").write_text(json.dumps([r for r in records if "ms" in r], indent=1) + "\n")
    return 0


def _timed(records: list[dict[str, Any]], plans: Path, repeats: int) -> None:
    import cupy

    import intent_np

    workload = WORKLOADS[records[0]["number"]]
    arrays = dict(_arrays(workload))
    outputs = [p.name for p in workload.kernel.parameters if p.kind == "view" and p.mode == "out"]
    launches: dict[str, Any] = {}
    expected = None
    for r in records:
        if "text" in r or r["code"] in launches:  # of what is the same the time is one
            continue
        try:
            launch = intent_np.load(plans / r["folder"]).prepare(*arrays.values())
            launch()
            cupy.cuda.Device().synchronize()
        except Exception as problem:
            r["text"] = f"{type(problem).__name__}: {problem}"
            continue
        got = [arrays[n].astype("f4") for n in outputs]
        expected = expected or got
        r["difference"] = max(float(abs(a - b).max()) for a, b in zip(got, expected, strict=True))
        launches[r["code"]] = launch
    times = _alternating(launches, repeats)
    for r in records:
        if r.get("code") in times:
            r["ms"] = statistics.median(times[r["code"]])


def _arrays(w: Workload) -> Iterator[tuple[str, Any]]:
    import cupy

    cupy.random.seed(1)
    for p in w.kernel.parameters:
        if p.kind != "view":
            continue
        shape = tuple(w.extents[str(e)] if str(e) in w.extents else int(str(e)) for e in p.shape)
        if p.dtype.name == "i64":  # indices of the last axis of the first array
            yield p.name, cupy.random.randint(0, w.extents["N"], shape)
            continue
        name = {"f16": "f2", "f32": "f4"}[p.dtype.name]
        yield p.name, cupy.random.standard_normal(shape, dtype="f4").astype(name)


def _alternating(functions: Mapping[str, Any], repeats: int) -> dict[str, list[float]]:
    """Milliseconds of every call, the functions taking turns, with a cold L2 cache."""
    import cupy

    scratch = cupy.empty(FLUSHED, dtype="u1")
    for f in functions.values():
        for _ in range(3):
            f()
    marks: dict[str, list[Any]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, f in functions.items():
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            scratch.fill(0)
            begin.record()
            f()
            end.record()
            marks[name].append((begin, end))
    cupy.cuda.Device().synchronize()
    return {n: [cupy.cuda.get_elapsed_time(a, b) for a, b in pairs] for n, pairs in marks.items()}


def table(records: list[dict[str, Any]]) -> str:
    """The plans of one workload, the fastest first."""
    lines = [records[0]["workload"]]
    for r in sorted(records, key=lambda r: r.get("ms", float("inf"))):
        axes = ", ".join(f"{name} {role}" for name, role in r["axes"].items())
        model = "     –" if r["model_ms"] is None else f"{r['model_ms']:.4f}"
        took = f"{r['warps']} warps, {r['registers']} registers, stack {r['stack']}" if "warps" in r else ""
        told = r.get("text") or f"{r['ms']:.4f} ms, model {model}, {took}: {r['plan']}; {axes}"
        lines.append(f"  {r['label']:<12} {told}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
