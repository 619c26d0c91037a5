"""Measure what every operator and conversion computes on this machine's GPU, as it is spelled in Triton.

    python -m benchmarks.numerics                       # compile, run, judge: two minutes
    python -m benchmarks.numerics --cubins out/cubins   # compiled before, by the same with --build and no GPU
    python -m benchmarks.numerics --exhaustive          # and every f32 function on every bit pattern

f32 functions are run on every 257th bit pattern, 16-bit and 8-bit types on all; f64 functions are judged by mpmath,
the others by f64 on the host; arithmetic, integers and conversions have to be bit for bit what `intent_np.numerics`
says.  A bound is a number of steps between the result and the correctly rounded one; the distance from the exact value
in units of its last place stands beside it.  Exits with 1 where a bound is exceeded.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from intent_np.backends.triton.compiler import compile_source
from intent_np.numerics.storage import Array, storage
from intent_np.target import Target, resolve
from intent_np.terms.dtypes import f32

from .numerics_cases import BLOCK, Item, Verdict, describe, items, judge
from .numerics_exhaustive import Count, every_pattern, table

COLUMNS = ("f32", "f64", "f16", "bf16", "f8e4m3fn", "f8e5m2")
Launch = Callable[[bytes, Item, tuple[Array, ...]], Array]
Run = Callable[[bytes, Item, tuple[Any, ...]], Any]


def main() -> int:
    options = _options()
    target = resolve(options.target)
    folder = Path(options.cubins) if options.cubins else Path(tempfile.mkdtemp())
    wanted = options.only or [""]
    work = [item for item in items(target.compute_capability) if any(part in item.name for part in wanted)]
    started = time.monotonic()
    cubins = _compile(work, target, folder)
    print(f"{len(work)} kernels compiled in {time.monotonic() - started:.0f} s", flush=True)
    if options.build:
        return 0
    run = device()

    def launch(cubin: bytes, item: Item, operands: tuple[Array, ...]) -> Array:
        return on_host(run, cubin, item, operands)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = {item.name: _measure(item, cubin, launch, pool) for item, cubin in zip(work, cubins, strict=True)}
    text = _table(work, verdicts)
    ok = all(v.ok for v in verdicts.values())
    if options.exhaustive:
        counts, bounds = _exhaustive(work, cubins, run)
        text += "\n\n" + table(counts, bounds)
        ok = ok and all(c.steps <= bounds[name] for name, c in counts.items())
    text += f"\n{time.monotonic() - started:.0f} s"
    print(text)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "numerics.json").write_text(json.dumps({n: vars(v) for n, v in verdicts.items()}, indent=1))
    (out / "numerics.txt").write_text(text + "\n")
    return 0 if ok else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.numerics", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", default="auto", help="as in sm_90; of a GPU that is here by default")
    parser.add_argument("--cubins", default="", help="folder of compiled kernels, kept and used again")
    parser.add_argument("--build", action="store_true", help="compile only")
    parser.add_argument("--exhaustive", action="store_true", help="every f32 bit pattern too, judged on the device")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names: exp-f32, f8e5m2, saturate")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"), help="where numerics.json and numerics.txt go")
    return parser.parse_args()


def _compile(work: list[Item], target: Target, folder: Path) -> list[bytes]:
    """The cubins, from the folder where they are there; in processes, since most of a compilation holds the GIL."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = [item.module(target.compute_capability) for item in work]
    keys = [hashlib.sha256(f"{target.name} {source}".encode()).hexdigest()[:16] for source in sources]
    paths = [folder / f"{item.name}-{key}.cubin" for item, key in zip(work, keys, strict=True)]
    missing = [i for i, path in enumerate(paths) if not path.exists()]
    jobs = [(sources[i], work[i].signature, target, paths[i]) for i in missing]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        list(pool.map(_compile_one, jobs, chunksize=8))
    return [path.read_bytes() for path in paths]


def _compile_one(job: tuple[str, list[tuple[str, str]], Target, Path]) -> None:
    source, signature, target, path = job
    with tempfile.TemporaryDirectory() as work:
        path.write_bytes(compile_source(source, "kernel", signature, {}, {}, target, 4, 1, work).cubin)


def device() -> Run:
    """Runs a kernel on arrays of bytes of the current GPU: CuPy has neither bf16 nor fp8."""
    import cupy

    @cache
    def loaded(cubin: bytes) -> Any:
        module = cupy.cuda.function.Module()
        module.load(cubin)
        return module.get_function("kernel")

    def run(cubin: bytes, item: Item, inputs: tuple[Any, ...]) -> Any:
        n = inputs[0].size // item.sources[0].bytes
        out = cupy.zeros(n * item.result.bytes, np.uint8)
        args = (*inputs, out, np.int32(n), np.uint64(0), np.uint64(0))
        loaded(cubin)((-(-n // BLOCK), 1, 1), (128, 1, 1), args)
        return out

    return run


def on_host(run: Run, cubin: bytes, item: Item, operands: tuple[Array, ...]) -> Array:
    """The results of a kernel on arrays of the host."""
    import cupy

    out = run(cubin, item, tuple(cupy.asarray(o.view(np.uint8)) for o in operands))
    result: Array = cupy.asnumpy(out).view(storage(item.result))
    return result


def _exhaustive(work: list[Item], cubins: list[bytes], run: Run) -> tuple[dict[str, Count], dict[str, float]]:
    """Counts and bounds of every f32 function of one operand that is in `work` together with its f64 form."""
    import cupy

    by_name = {item.name: (item, cubin) for item, cubin in zip(work, cubins, strict=True)}
    counts, bounds = {}, {}
    for item, cubin in by_name.values():
        exact = by_name.get(f"{item.text.removesuffix('_approx')}-f64")
        if item.group != "functions" or item.sources != (f32,) or exact is None:
            continue

        def called(x: Any, one: Item, compiled: bytes) -> Any:
            return run(compiled, one, (x.view(np.uint8),)).view(storage(one.result))

        single = partial(called, one=item, compiled=cubin)
        double = partial(called, one=exact[0], compiled=exact[1])
        counts[item.text] = every_pattern(cupy, item.text, single, double)
        bounds[item.text] = item.bound
    return counts, bounds


def _measure(item: Item, cubin: bytes, launch: Launch, pool: ThreadPoolExecutor) -> Verdict:
    operands = item.operands()
    return judge(item, launch(cubin, item, operands), operands, pool)


def _table(work: list[Item], verdicts: dict[str, Verdict]) -> str:
    """Functions by type, with the steps and the error of the worst result; then what is exact, or not."""
    rows: dict[str, dict[str, str]] = {}
    for item in work:
        if item.group == "functions":
            rows.setdefault(item.text, {})[item.sources[0].name] = describe(verdicts[item.name])
    lines = [
        "most steps to the correctly rounded value (and the largest distance from the exact one, in units of its last",
        "place); `> n`: the bound is n steps",
        "",
    ]
    lines.append("| function | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    lines += [f"| {name} | " + " | ".join(row.get(c, "") for c in COLUMNS) + " |" for name, row in rows.items()]
    for group in ("arithmetic", "conversions"):
        names = [item.name for item in work if item.group == group]
        wrong = [name for name in names if not verdicts[name].ok]
        lines += ["", f"{group}: {len(names) - len(wrong)} of {len(names)} kernels bit for bit right"]
        lines += [f"  {name} at {verdicts[name].at}" for name in wrong]
    bad = [item.name for item in work if item.group == "functions" and not verdicts[item.name].ok]
    lines += ["", *(f"{n}: {verdicts[n].steps:g} steps at {verdicts[n].at}, bound {verdicts[n].bound:g}" for n in bad)]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
