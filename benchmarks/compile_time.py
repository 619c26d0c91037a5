"""Time from Python kernel to Triton source, for every kernel of the corpus, after warm-up; and of `import intent_np`.

    python -m benchmarks.compile_time

Needs no GPU and does not run Triton: what a lower compiler takes comes on top.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import kernels


def seconds(case: kernels.Case) -> float:
    """One compilation, from the function to the text of its module."""
    import intent_np
    from intent_np.backends.triton.printer import Printer
    from intent_np.compiler import Compilation
    from intent_np.runtime.examples import class_of
    from intent_np.target import resolve

    start = time.perf_counter()
    options = intent_np.CompileOptions(**case.options)
    made = Compilation(case.kernel, resolve("sm_90"), dict(case.constexprs), options)
    launch, _ = made.launch(class_of(made.plan, (case.large or case.small[-1:])[0]))
    Printer(launch.function, 90).module()
    return time.perf_counter() - start


def import_seconds() -> float:
    """`import intent_np` in a fresh process, the best of five."""
    code = "import time; t = time.perf_counter(); import intent_np; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


def main() -> None:
    cases = kernels.cases()
    for case in cases:
        seconds(case)
    times = {case.name: min(seconds(case) for _ in range(3)) for case in cases}
    for name, value in times.items():
        print(f"{name:28} {value * 1e3:7.1f} ms")
    values = list(times.values())
    print(f"median {statistics.median(values) * 1e3:.1f} ms, largest {max(values) * 1e3:.1f} ms")
    print(f"import intent_np {import_seconds() * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
