"""Host time of one launch, with three CuPy arrays: `python -m benchmarks.launch [--busy N]`.

Bursts are short, so that the launch queue never fills and the host never waits for the device; the device is idle
before each.  The first figure is the fastest burst, since everything else on the machine only adds; the second is the
median burst.  With `--busy N`, N processes count beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import intent_np as intent
from kernels.broadcast import bias_relu
from kernels.pointwise import axpby

BURST, BURSTS = 100, 200


def microseconds(call: Callable[[], Any]) -> tuple[float, float]:
    """Host time of `call` in the fastest burst and in the median one."""
    import cupy

    for _ in range(20):
        call()
    found = []
    for _ in range(BURSTS):
        cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        for _ in range(BURST):
            call()
        found.append((time.perf_counter() - start) / BURST * 1e6)
    return min(found), statistics.median(found)


@contextlib.contextmanager
def beside(count: int) -> Iterator[None]:
    """Processes that do nothing but count."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def measure() -> dict[str, tuple[float, float]]:
    """Microseconds by what is called."""
    import cupy

    x, y, z = (cupy.zeros((1, 1024), "float16") for _ in range(3))
    first, bias, last = x[0], y[0], z[0]
    plain, scaled = intent.compile(bias_relu), intent.compile(axpby)
    prepared = plain.prepare(x, bias, z)
    resolved = prepared._launch  # type: ignore[attr-defined]
    block = resolved.packed([x.data.ptr, bias.data.ptr, z.data.ptr])
    launch, handle = plain.driver.launch, resolved.handle  # type: ignore[attr-defined]
    element_wise = cupy.ElementwiseKernel("float16 x, float16 y", "float16 z", "z = x + y")
    found = {
        "direct": microseconds(lambda: plain(x, bias, z)),
        "direct, and two scalars": microseconds(lambda: scaled(2.0, first, 3.0, bias, last)),
        "prepared": microseconds(prepared),
        "run, output allocated": microseconds(lambda: plain.run(x, bias)),
        "the driver alone": microseconds(lambda: launch(handle, 1, 1, 1, 128, 1, 1, 0, 0, block.address, 0)),
        "CuPy: ElementwiseKernel": microseconds(lambda: element_wise(x, y, z)),
        "CuPy: add": microseconds(lambda: cupy.add(x, y, z)),
    }
    try:
        import torch
    except ImportError:
        return found
    p, q, r = (torch.zeros((1, 1024), device="cuda", dtype=torch.float16) for _ in range(3))
    vector = q[0]
    found["direct, torch tensors"] = microseconds(lambda: plain(p, vector, r))
    found["torch: add"] = microseconds(lambda: torch.add(p, q, out=r))
    return found


def main() -> int:
    from intent_np.target import resolve

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="processes that count beside the measured one")
    busy = parser.parse_args().busy
    if not resolve("auto").is_gpu:
        print("no GPU on this machine, or no CuPy: nothing to measure", file=sys.stderr)
        return 3
    with beside(busy):
        found = measure()
    width = max(map(len, found))
    print(f"us, fastest and median burst, {busy} busy processes beside")
    for name, (fastest, median) in found.items():
        print(f"{name:<{width}}  {fastest:6.2f}  {median:6.2f}")
    out = Path(os.environ.get("OUT", "out"))
    out.mkdir(parents=True, exist_ok=True)
    (out / "launch.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
