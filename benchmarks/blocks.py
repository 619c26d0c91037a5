"""Time block extents, warps and stages of corpus kernels on this machine's GPU.

    python -m benchmarks.blocks --out out            # every sweep below
    python -m benchmarks.blocks --only attention_causal_relaxed col_sum

Each point is compiled by the whole pipeline in a worker process, checked against the default choice's output, and
timed in turns with it; the table is sorted by time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from .cases import case_of
from .rows import SCORECARD

Point = dict[str, Any]  # axis -> block extent, "pass.option" -> value, "warps", "stages" (0: the compiler decides)


def grid(**values: tuple[int, ...]) -> list[Point]:
    """All combinations."""
    return [dict(zip(values, point, strict=True)) for point in itertools.product(*values.values())]


SWEEPS: dict[str, list[Point]] = {
    "attention_relaxed": grid(q=(128,), k=(64, 128), warps=(4, 8), stages=(2, 3)),
    "attention_causal_relaxed": [
        *grid(queries=(128,), keys=(64, 128), warps=(4, 8), stages=(2, 3)),
        {"lower_to_triton.descending": True},
        {"lower_to_triton.descending": True, "lower_to_triton.instances": 132},
    ],
    "attention_window_256": grid(queries=(64, 128), keys=(64, 128), warps=(4, 8), stages=(2, 3)),
    "attention_fold_causal": grid(queries=(64, 128), keys=(64, 128), warps=(4, 8), stages=(2,)),
    "triangular_matmul": [{"lower_to_triton.descending": True}],
    "col_sum": grid(n=(32, 64, 128), m=(32, 64, 128, 256), warps=(4, 8)),
    "row_sum": grid(n=(2048, 4096, 8192), warps=(4, 8, 16)),
    "softmax_approximate": grid(row=(1, 2, 4, 8), warps=(2, 4, 8)),
    "philox_dropout": grid(places=(1024, 2048, 4096), warps=(4, 8)),
    "count_bytes": grid(n=(2048, 4096, 8192, 16384), warps=(4, 8, 16)),
    "cumsum": grid(columns=(1024, 2048, 4096), warps=(4, 8, 16)),
    "cross_entropy_relaxed": grid(columns=(2048, 4096, 8192), warps=(4, 8, 16)),
    "max_argmax": grid(columns=(1024, 2048, 4096), warps=(4, 8)),
    "layer_norm": grid(row=(1, 2), warps=(4, 8, 16)),
    "swiglu": grid(n=(1024, 2048, 4096), warps=(4, 8)),
    "relu": grid(n=(1024, 2048, 4096, 8192), warps=(4, 8)),
    "transpose": grid(m=(32, 64), n=(32, 64, 128), warps=(4, 8)),
    "matmul_f16": grid(m=(128,), n=(128, 256), k=(32, 64), warps=(4, 8), stages=(3, 4)),
    "matmul_f32": grid(m=(64, 128), n=(64, 128), k=(16, 32), warps=(4, 8), stages=(2, 3)),
    "split_k": [
        point | {"split_reductions.instances": instances}
        for point in grid(m=(16,), n=(32, 64, 128), k=(64, 128, 256), warps=(4,), stages=(3, 4, 5))
        for instances in (1, 132, 264, 528)  # 1: no product is split
    ],
    "sum_all": [
        point | {"split_reductions.instances": instances, "split_reductions.parts": 4096}
        for point in grid(n=(2048, 4096, 8192), warps=(4, 8, 16))
        for instances in (264, 528, 1056, 2112)
    ],
    "max_argmax_all": [
        point | {"split_reductions.instances": instances}
        for point in grid(n=(1024, 2048, 4096), warps=(4, 8))
        for instances in (528, 1056)
    ],
    "grouped_matmul": [
        point | {"spread_members.spare": spare, "lower_to_triton.index_bits": bits}
        for point in grid(i=(128,), n=(256,), k=(64,), warps=(8,), stages=(3, 4))
        for spare in (1, 2)
        for bits in (32, 64)
    ],
    "matmul_bias_gelu_bf16": grid(m=(128,), n=(128, 256), k=(64,), warps=(4, 8), stages=(3, 4)),
}


def compiled(case_name: str, extents: dict[str, int], point: Point) -> Any:
    """The artifact of one point, or the reason why there is none."""
    import intent_np
    from intent_np.compiler import Compilation
    from intent_np.runtime.examples import class_of
    from intent_np.target import resolve

    case = case_of(case_name)
    sizes = {name: n for name, n in point.items() if name not in ("warps", "stages") and "." not in name}
    launch = {"num_warps": point.get("warps", 0), "num_stages": point.get("stages", 0)}
    passes = {"block_axes": {"sizes": sizes}, "choose_launch": launch} if point else {}
    for name in (name for name in point if "." in name):
        of, option = name.split(".")
        passes.setdefault(of, {})[option] = point[name]
    options = intent_np.CompileOptions(**{**case.options, "passes": passes})
    try:
        made = Compilation(case.kernel, resolve("sm_90"), dict(case.constexprs), options)
        return made.plan, made.variant(class_of(made.plan, extents))
    except Exception as problem:
        return f"{type(problem).__name__}: {str(problem).splitlines()[0]}"


def sweep(row: Any, points: list[Point], jobs: list[Future[Any]], repeats: int) -> Iterator[dict[str, Any]]:
    """Time every point that compiles, fits and agrees with the default."""
    import torch

    from intent_np.runtime.device import DeviceArtifact
    from intent_np.target import resolve

    from .built import tensors as drawn
    from .timing import alternating

    case = case_of(row.case)
    tensors = drawn(case, row.extents)
    calls, facts, expected = {}, {}, None
    for point, job in zip([{}, *points], jobs, strict=True):
        made = job.result()
        label = " ".join(f"{k}={v}" for k, v in point.items()) or "default"
        if isinstance(made, str):
            yield {"point": label, "text": made}
            continue
        plan, variant = made
        facts[label] = {k: variant.plan.facts[k] for k in ("registers", "stack")} | {
            "shared": variant.plan.shared_bytes
        }
        launch = DeviceArtifact(plan, resolve("sm_90"), [variant]).prepare(*tensors.values())
        try:
            launch()
            torch.cuda.synchronize()
        except Exception as problem:
            yield {"point": label, "text": f"{type(problem).__name__}: {problem}"}
            continue
        got = tensors[case.outputs[0]].float().clone()
        expected = got if expected is None else expected
        worst = float((got - expected).abs().max())
        calls[label] = launch
        facts[label]["difference"] = worst
    times = alternating(calls, repeats)
    for label, values in sorted(times.items(), key=lambda pair: statistics.median(pair[1])):
        yield {"point": label, "ms": statistics.median(values), **facts[label]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.blocks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    parser.add_argument("--only", nargs="*", default=[], help="names of cases")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    results: dict[str, Any] = {}
    Path(options.out).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        chosen = [r for r in SCORECARD if r.case in SWEEPS and (not options.only or r.case in options.only)]
        made = [
            [pool.submit(compiled, row.case, dict(row.extents), p) for p in [{}, *SWEEPS[row.case]]] for row in chosen
        ]
        for row, jobs in zip(chosen, made, strict=True):
            results[row.title] = list(sweep(row, SWEEPS[row.case], jobs, options.repeats))
            print(f"\n{row.title}")
            for r in results[row.title][:12]:
                print(
                    "  " + "  ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in r.items()),
                    flush=True,
                )
            Path(options.out, "blocks.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
