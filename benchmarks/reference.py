"""Time of the reference: two kernels of known size, and every call of the corpus that checks it.

    python -m benchmarks.reference

Needs no GPU and uses one core.  Times are those of the process, which a busy machine changes less than those of the
clock; of the two kernels the best of seven.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # before NumPy is imported

import numpy as np

import intent_np
import kernels
from intent_np.corpus.verify import calls
from intent_np.testing import Case, arguments, launching
from intent_np.testing.host import HostProgram, compiled_once

LIMITS = {"softmax 4096x1024": 0.08, "attention 2x4x256x64": 0.2, "corpus": 90.0}
"""Seconds that each line should stay below."""


def launcher(case: Case) -> Callable[..., None]:
    """The case on the reference, called with all arguments in order."""
    options = intent_np.CompileOptions(**case.options)
    made = compiled_once(
        lambda kernel, constants: intent_np.compile(kernel, "reference", constexprs=dict(constants), options=options)
    )

    def launch(*given: object) -> None:
        if isinstance(case.kernel, HostProgram):
            with launching(made):
                case.kernel(*given, **case.constexprs)
        else:
            made(case.kernel, given, case.constexprs)

    return launch


def seconds(work: Callable[[], None], times: int = 1) -> float:
    """The least time of the process that `work` takes."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def single(name: str, shape: dict[str, int], **constants: float) -> float:
    """One kernel of the corpus at a size."""
    case = next(case for case in kernels.cases(name) if case.name == name)
    made = intent_np.compile(case.kernel, "reference", constexprs={**case.constexprs, **constants})
    given = arguments(case.kernel, {**shape, **constants})
    return seconds(lambda: made(*given.values()), times=7)


def corpus(case: Case) -> tuple[int, float]:
    """All checking calls of a case: how many, and the time that the kernels take, without arguments and oracles."""
    launch, total, count = launcher(case), 0.0, 0
    for call in calls(case):
        given = arguments(case, call.extents, call.seed, call.layout, call.values)
        total += seconds(lambda given=given: launch(*given.values()))  # type: ignore[misc]
        count += 1
    return count, total


def main() -> None:
    found = {
        "softmax 4096x1024": single("softmax", {"M": 4096, "N": 1024}),
        "attention 2x4x256x64": single("attention", {"B": 2, "H": 4, "Q": 256, "K": 256}, D=64, SCALE=0.125),
    }
    each = {case.name: corpus(case) for case in kernels.cases()}
    for name, (count, spent) in sorted(each.items(), key=lambda item: -item[1][1])[:10]:
        print(f"  {name:28} {spent:7.2f} s in {count} calls")
    found["corpus"] = sum(spent for _, spent in each.values())
    for name, spent in found.items():
        told = f"{spent * 1e3:7.0f} ms" if spent < 1 else f"{spent:7.1f} s "
        print(f"{name:28} {told} of {LIMITS[name]:g} s")
    print(f"{len(each)} cases, {sum(count for count, _ in each.values())} calls, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
