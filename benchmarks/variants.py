"""Random calls on the variant of their class beside one compiled for exactly them: `python -m benchmarks.variants`.

Classes are coarse so that variants stay few; this measures what that costs.  An exact variant knows the contiguous
dimension of every array, the largest alignment of each call and the power of two above a resident length.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from intent_np.compiler import Compilation, CompileOptions, compile
from intent_np.runtime.binding import bind
from intent_np.runtime.classes import CallFacts, classify, covers
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.plan import KernelPlan, VariantClass, ViewPlan
from intent_np.target import Target, resolve
from kernels.matmul import matmul_f16
from kernels.softmax import softmax

FLUSHED = 256 << 20  # bytes overwritten before a timed call
LARGE = (1000, 1024, 1536, 2000, 2047, 2048, 3000, 4096, 4100, 4104)


class Layout(NamedTuple):
    """How a random matrix lies in memory: transposed, extra elements a row, elements before the first."""

    transposed: bool
    padding: int
    offset: int


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.variants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=20, help="timed calls of each kernel")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    target = resolve("auto")
    if not target.is_gpu:
        print("no GPU on this machine, or no CuPy: nothing to measure", file=sys.stderr)
        return 3
    chance = random.Random(options.seed)
    records = []
    for kernel, sample in ((matmul_f16, sample_matmul), (softmax, sample_softmax)):
        calls = [sample(chance) for _ in range(options.calls)]
        records += compare(kernel, calls, target)
    out = Path(os.environ.get("OUT", "out"))
    out.mkdir(parents=True, exist_ok=True)
    (out / "variants.json").write_text(json.dumps(records, indent=1) + "\n")
    return 0


def sample_matmul(chance: random.Random) -> list[tuple[tuple[int, int], Layout]]:
    m, n, k = (chance.choice(LARGE) for _ in range(3))
    return [((m, k), _layout(chance, True)), ((k, n), _layout(chance, True)), ((m, n), _layout(chance, False))]


def sample_softmax(chance: random.Random) -> list[tuple[tuple[int, int], Layout]]:
    columns = chance.choice([100, 128, 500, 513, 1000, 1023, 2048, 4000, 4097, 8190, 20000, 65536])
    shape = (1 << 26) // columns, columns
    return [(shape, _layout(chance, False)), (shape, _layout(chance, False))]


def _layout(chance: random.Random, may_transpose: bool) -> Layout:
    transposed = may_transpose and chance.random() < 0.4
    return Layout(transposed, chance.choice([0, 0, 0, 8, 1]), chance.choice([0, 0, 0, 8, 4, 1]))


def compare(kernel: Any, calls: list[list[tuple[tuple[int, int], Layout]]], target: Target) -> list[dict[str, Any]]:
    """Time every call both ways, and print a row for each."""
    coarse = compile(kernel, target)
    compilation = Compilation(kernel, target, {}, CompileOptions())
    records = []
    for call in calls:
        arrays = [array(shape, layout) for shape, layout in call]
        facts = bind(coarse.kernel, arrays).facts()
        holds = exact_class(coarse.kernel, facts)
        assert covers(holds, coarse.kernel, facts)
        exact = DeviceArtifact(coarse.kernel, target, [compilation.variant(holds)])
        coarse(*arrays)
        chosen = coarse._held.choose(facts).name  # type: ignore[attr-defined]
        ms = milliseconds(coarse.prepare(*arrays)), milliseconds(exact.prepare(*arrays))
        record = {
            "kernel": coarse.kernel.name,
            "extents": dict(facts.extents),
            "class": chosen,
            "exact": holds.name,
            "ms": ms[0],
            "exact_ms": ms[1],
            "ratio": ms[0] / ms[1],
        }
        records.append(record)
        sizes = " ".join(f"{name}={value}" for name, value in facts.extents.items())
        print(
            f"{sizes:<24} {chosen:<22} {ms[0]:8.4f} ms  {holds.name:<22} {ms[1]:8.4f} ms  {ms[0] / ms[1]:5.2f}",
            flush=True,
        )
    worst = max(records, key=lambda one: one["ratio"])
    print(
        f"{coarse.kernel.name}: {len(coarse.variants)} variants, at worst {worst['ratio']:.2f} of exact\n", flush=True
    )
    return records


def exact_class(kernel: KernelPlan, facts: CallFacts) -> VariantClass:
    """The class that says all that a compiler could use about one call."""
    units = {view.name: facts.views[view.name].unit(False) for view in kernel.views}

    def alignment(view: ViewPlan) -> int:
        unit = units[view.name]
        return 1 if unit is None else facts.views[view.name].alignment(unit, view.itemsize)

    # The alignment of a class is joint: a result that would lower that of the operands is better left unknown.
    align = min(alignment(view) for view in kernel.views if view.operand or not kernel.contracts)
    units |= {view.name: None for view in kernel.views if alignment(view) < align}
    divisible = {
        view.shape[unit]: min(16, extent & -extent)
        for view in kernel.views
        if (unit := units[view.name]) is not None and (extent := facts.views[view.name].extents[unit])
    }
    bounds = {name: 1 << max(facts.extents[name] - 1, 0).bit_length() for name in kernel.resident}
    bounds |= {name: bound for name, bound in classify(kernel, facts).bucket if name in kernel.short}
    return VariantClass(
        unit=tuple(sorted(units.items())),
        align=align,
        divisible=tuple(sorted(divisible.items())),
        bucket=tuple(sorted((name, bound if bound <= 8192 else None) for name, bound in bounds.items())),
        index_bits=32 if facts.fits_32_bits(1024) else 64,
    )


def array(shape: tuple[int, int], layout: Layout) -> Any:
    """A CuPy matrix of f16 with this layout, of small values."""
    import cupy

    rows, columns = shape[::-1] if layout.transposed else shape
    width = columns + layout.padding
    memory = cupy.random.standard_normal(rows * width + layout.offset, dtype="float32").astype("float16")
    matrix = memory[layout.offset :].reshape(rows, width)[:, :columns]
    return matrix.T if layout.transposed else matrix


def milliseconds(launch: Callable[[], None], repeats: int = 15) -> float:
    """Median device time with a cold L2 cache."""
    import cupy

    scratch = cupy.empty(FLUSHED, "int8")
    for _ in range(3):
        launch()
    marks = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        scratch.fill(0)
        begin.record()
        launch()
        end.record()
        marks.append((begin, end))
    cupy.cuda.runtime.deviceSynchronize()
    return statistics.median(cupy.cuda.get_elapsed_time(begin, end) for begin, end in marks)


if __name__ == "__main__":
    sys.exit(main())
