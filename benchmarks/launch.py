"""Host time of one launch, with three CuPy arrays: `python -m benchmarks.launch`.

Bursts are short, so that the launch queue never fills and the host never waits for the device; the device is idle
before each.  The figure is the fastest burst, since everything else on the machine only adds.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import intent_np as intent
from kernels.broadcast import bias_relu
from kernels.pointwise import axpby

BURST, BURSTS = 100, 200


def microseconds(call: Callable[[], Any]) -> float:
    """Host time of `call` in the fastest burst."""
    import cupy

    for _ in range(20):
        call()
    best = float("inf")
    for _ in range(BURSTS):
        cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        for _ in range(BURST):
            call()
        best = min(best, time.perf_counter() - start)
    return best / BURST * 1e6


def measure() -> dict[str, float]:
    """Microseconds by what is called."""
    import cupy

    x, y, z = (cupy.zeros((1, 1024), "float16") for _ in range(3))
    first, bias, last = x[0], y[0], z[0]
    plain, scaled = intent.compile(bias_relu), intent.compile(axpby)
    prepared = plain.prepare(x, bias, z)
    block, launch = prepared._block, plain.driver.launch  # type: ignore[attr-defined]
    handle = prepared._launch.handle  # type: ignore[attr-defined]
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

    if not resolve("auto").is_gpu:
        print("no GPU on this machine, or no CuPy: nothing to measure", file=sys.stderr)
        return 3
    found = measure()
    width = max(map(len, found))
    for name, value in found.items():
        print(f"{name:<{width}}  {value:6.2f} us")
    out = Path(os.environ.get("OUT", "out"))
    out.mkdir(parents=True, exist_ok=True)
    (out / "launch.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
