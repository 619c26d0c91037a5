"""Plans of what is recomputed and kept: build several of each workload, time them, set the model against the clock.

    python -m benchmarks.plans build --out out/plans --jobs 8      # compiles for sm_90: needs Triton, no GPU
    python -m benchmarks.plans time --plans out/plans              # needs NumPy and CuPy alone

Of each workload there are the directed plan, the e-graph's choice and its next best ones with other loops,
always recompute, always keep, and the choice at other block extents and numbers of warps.
"""

from __future__ import annotations

import argparse
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
OTHERS = 3  # further plans of other loops
BLOCKS = 3  # of the chosen plan at other block extents
WARPS = (4, 8, 16, 32)
PEERS = ("directed", "recompute", "keep", "egraph")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.plans", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("do", choices=("build", "time"))
    parser.add_argument("--out", default=os.environ.get("OUT", "out"), help="where artifacts or times go")
    parser.add_argument("--plans", default="out/plans", help="folder of `build`")
    parser.add_argument("--only", nargs="*", default=[], help="names of kernels")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=25)
    options = parser.parse_args()
    if options.do == "build":
        chosen = [i for i, w in enumerate(WORKLOADS) if not options.only or w.kernel.name in options.only]
        return build(chosen, Path(options.out), options.jobs)
    return measure(Path(options.plans), Path(options.out), options.repeats, options.only)


# ---- build


def build(chosen: list[int], out: Path, jobs: int) -> int:
    """Compile all plans of the workloads; what does not compile is recorded as such."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        tasks = [(i, n, p) for i in chosen for n, p in enumerate(wanted(WORKLOADS[i]))]
        made = list(pool.map(_built, [(i, n, p, str(out / f"{i}.{n}")) for i, n, p in tasks]))
    out.mkdir(parents=True, exist_ok=True)
    (out / "plans.json").write_text(json.dumps(made, indent=1) + "\n")
    for m in made:
        print(m["workload"], m["label"], m.get("text") or f"{m['model_ms']:.4f} ms: {m['plan']}", flush=True)
    return 0


def wanted(w: Workload) -> list[dict[str, Any]]:
    """The options of the plans to measure: `label`, `policy`, `rank` and `warps`, one for each distinct plan."""
    found = _decided(w, "egraph")
    best = _signature(found[0])
    plans: list[dict[str, Any]] = [{"label": p, "policy": p} for p in ("directed", "recompute", "keep")]
    plans.append({"label": "egraph", "policy": "egraph"})
    plans += [{"label": f"warps {n}", "policy": "egraph", "warps": n} for n in WARPS if n != found[0].launch.warps]
    seen, blocks = {best}, 0
    for rank, a in enumerate(found[1:], 1):
        if _signature(a) == best and blocks < BLOCKS:
            blocks += 1
            plans.append({"label": f"blocks {blocks}", "policy": "egraph", "rank": rank})
        elif _signature(a) not in seen and len(seen) <= OTHERS:
            seen.add(_signature(a))
            plans.append({"label": f"other {len(seen) - 1}", "policy": "egraph", "rank": rank})
    return plans


def _signature(a: Any) -> Any:
    from intent_np.planning.explain import described

    return a.frame.roles, described(a.plan)


def _decided(w: Workload, policy: str) -> list[Any]:
    """The priced plans of a workload, the cheapest first."""
    from intent_np.planning.choose import decide
    from intent_np.planning.problem import Limits
    from intent_np.terms.core import Arena

    compilation, _, options = _compilation(w, {})
    Arena.__enter__(compilation.arena)
    program = compilation.lowered(compilation.normal, options=options, after="find_in_place", stop_after="form_groups")
    (group,) = program.groups
    return decide(group, program.permissions, 132, policy, dict(w.extents), Limits())


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


def _built(task: tuple[int, int, dict[str, Any], str]) -> dict[str, Any]:
    """One plan: its artifact in a folder, and what the model makes of it."""
    number, _, p, folder = task
    w = WORKLOADS[number]
    record: dict[str, Any] = {"number": number, "workload": w.title, "kernel": w.kernel.name, **p, "folder": folder}
    record["extents"], record["numerics"] = dict(w.extents), w.numerics
    try:
        record |= _modelled(w, p)
        passes = {"choose_plan": {"policy": p["policy"], "rank": p.get("rank", 0), "sizes": dict(w.extents)}}
        if p.get("warps"):
            passes["choose_launch"] = {"num_warps": p["warps"]}
        record |= _compiled(w, passes, folder)
    except Exception as problem:
        record["text"] = f"{type(problem).__name__}: {str(problem).splitlines()[0]}"
    return record


def _modelled(w: Workload, p: Mapping[str, Any]) -> dict[str, Any]:
    from intent_np.planning.choose import priced
    from intent_np.planning.explain import facts
    from intent_np.planning.work import Point

    if p["policy"] == "directed":
        return {"plan": "directed", "model_ms": float("nan")}
    found = _decided(w, p["policy"])
    a = found[min(p.get("rank", 0), len(found) - 1)]
    if p.get("warps"):
        point = Point(a.search.s, a.frame, a.blocks, 132, p["warps"])
        a.search.price(point)
        a = priced(a.search, a.frame, point, a.pick)
    told = facts(a)
    return {
        "plan": told["plan"],
        "axes": told["axes"],
        "work": list(told["work"].values()),
        "launch": told["launch"],
        "model_ms": told["ms"],
    }


def _compiled(w: Workload, passes: Mapping[str, Any], folder: str) -> dict[str, Any]:
    from intent_np.runtime.device import DeviceArtifact
    from intent_np.target import resolve

    made, holds, _ = _compilation(w, passes)
    variant = replace(made.variant(holds), ptx="", texts={})  # what a launch needs, so that all of it can be carried
    DeviceArtifact(made.plan, resolve("sm_90"), [variant]).save(folder)
    facts = variant.plan.facts
    return {"warps": variant.plan.num_warps, "registers": facts["registers"], "stack": facts["stack"]}


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
    launches, expected = {}, None
    for r in records:
        if "text" in r:
            continue
        try:
            launch = intent_np.load(plans / Path(r["folder"]).name).prepare(*arrays.values())
            launch()
            cupy.cuda.Device().synchronize()
        except Exception as problem:
            r["text"] = f"{type(problem).__name__}: {problem}"
            continue
        got = [arrays[n].astype("f4") for n in outputs]
        expected = expected or got
        r["difference"] = max(float(abs(a - b).max()) for a, b in zip(got, expected, strict=True))
        launches[r["label"]] = launch
    times = _alternating(launches, repeats)
    for r in records:
        if r["label"] in times:
            r["ms"] = statistics.median(times[r["label"]])


def _arrays(w: Workload) -> Iterator[tuple[str, Any]]:
    import cupy

    cupy.random.seed(1)
    for p in w.kernel.parameters:
        if p.kind != "view":
            continue
        shape = tuple(w.extents[str(e)] if str(e) in w.extents else int(str(e)) for e in p.shape)
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
        told = r.get("text") or f"{r['ms']:.4f} ms, model {r['model_ms']:.4f}, {r['warps']} warps: {r['plan']}"
        lines.append(f"  {r['label']:<10} {told}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
