"""How the time of the passes grows with a program: kernels of a few hundred to five thousand terms.

    python -m benchmarks.scaling [--save]

Each shape is compiled at growing sizes; an exponent is fitted to time over terms, of all passes together and of each
that takes its part.  1 is linear.  `--save` keeps the table and a plot in benchmarks/results.
"""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

SIZES = (150, 300, 600, 1200, 2500)
"""Operations of a kernel, about."""
REPEATS = 3
PART = 0.03
"""Passes that take less of the time at the largest size are not told one by one."""
RESULTS = Path(__file__).parent / "results"

HEAD = "import intent_np as intent\nimport intent_np.language as I\n\n\n@intent.kernel\n"
SHAPES: Mapping[str, Callable[[int], str]] = {
    "chain": lambda n: (
        'def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):\n    a = x[:]\n'
        + "".join(f"    a = a * {1 + i % 7}.5 + {i % 5}.25\n" for i in range(n))
        + "    y[:] = a\n"
    ),
    "shared": lambda n: (
        'def k(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):\n    a = x[:]\n    b = a + 1.0\n'
        + "".join(f"    a, b = a * b + {i % 5}.25, a - b\n" for i in range(n // 2))
        + "    y[:] = a + b\n"
    ),
    "branches": lambda n: (
        'def k(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):\n    a = x[:]\n'
        + "".join(f"    a = I.select(a > {i % 50}, a + {i % 9}, a ^ {i % 13})\n" for i in range(n // 2))
        + "    y[:] = a\n"
    ),
    "stores": lambda n: (
        f'def k(x: I.In[I.f32, ({n}, "N")], y: I.Out[I.f32, ({n}, "N")]):\n'
        + "".join(f"    y[{i}, :] = x[{i}, :] * {1 + i % 7}.5 + {i % 5}.25\n" for i in range(2 * n // 5))
    ),
    "in place": lambda n: (
        'def k(y: I.InOut[I.f32, ("N",)]):\n'
        + "".join(f"    y[:] = y[:] * {1 + i % 7}.5 + {i % 5}.25\n" for i in range(2 * n // 5))
    ),
    "two in place": lambda n: (
        'def k(y: I.InOut[I.f32, ("N",)], z: I.InOut[I.f32, ("N",)]):\n'
        + "".join(f"    y[:] = y[:] * {1 + i % 7}.5 + z[:]\n    z[:] = z[:] - y[:]\n" for i in range(n // 5))
    ),
    "row after row": lambda n: (
        f'def k(y: I.InOut[I.f32, ({n}, "N")]):\n'
        + "".join(f"    y[{i + 1}, :] = y[{i}, :] * {1 + i % 7}.5 + {i % 5}.25\n" for i in range(2 * n // 5))
    ),
    "loads": lambda n: (
        f'def k(x: I.In[I.f32, ({n}, "N")], y: I.Out[I.f32, ("N",)]):\n    a = x[0, :]\n'
        + "".join(f"    a = a * {i % 5}.5 + x[{i + 1}, :]\n" for i in range(n // 2))
        + "    y[:] = a\n"
    ),
    "reductions": lambda n: (
        f'def k(x: I.In[I.f32, ({n}, "N")], y: I.Out[I.f32, ({n},)]):\n'
        + "".join(f"    y[{i}] = I.reduce.sum(x[{i}, :] * {1 + i % 7}.5, axis=0)\n" for i in range(n // 8))
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Point:
    """A kernel of so many terms, and the seconds of each pass, capture and printing among them."""

    terms: int
    seconds: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def measured(text: str) -> Point:
    """The best of some compilations of a kernel's text, to Triton source."""
    best: Point | None = None
    for _ in range(REPEATS):
        gc.collect()
        point = _compiled(text)
        if best is None or point.total < best.total:
            best = point
    assert best is not None
    return best


def _compiled(text: str) -> Point:
    import linecache
    import time

    from intent_np.backends.triton.printer import print_triton
    from intent_np.passes.pipeline import PIPELINE, Trace, run
    from intent_np.terms.core import Arena, walk

    module = ModuleType("scaling")
    name = f"<scaling {hash(text)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), module.__dict__)
    kernel: Any = module.k
    trace = Trace()
    with Arena():
        start = time.process_time()
        program = kernel.capture({})
        captured = time.process_time() - start
        launch = run(program, trace=trace)
        start = time.process_time()
        print_triton(launch.function)
        printed = time.process_time() - start
        terms = len(walk(trace.programs[next(p.name for p in PIPELINE if p.target.name == "normal")]))
    return Point(terms, {"capture": captured, **trace.seconds, "print": printed})


def exponent(points: list[Point], of: Callable[[Point], float]) -> float:
    """The slope of log time over log terms, by least squares."""
    logs = [(math.log(p.terms), math.log(max(of(p), 1e-6))) for p in points]
    x, y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def report(shape: str, points: list[Point]) -> list[str]:
    """A table: milliseconds at each size, and the exponent."""
    last = points[-1]
    passes = [name for name, s in last.seconds.items() if s >= PART * last.total]
    lines = [f"{shape:30}" + "".join(f"{p.terms:>9}" for p in points) + "   exponent"]
    rows: list[tuple[str, Callable[[Point], float]]] = [("all", lambda p: p.total)]
    rows += [
        (name, lambda p, name=name: p.seconds[name]) for name in sorted(passes, key=last.seconds.__getitem__)[::-1]
    ]  # type: ignore[misc]
    for name, of in rows:
        times = "".join(f"{of(p) * 1e3:9.1f}" for p in points)
        lines.append(f"  {name:28}{times}   {exponent(points[1:], of):8.2f}")
    return lines


def plot(found: Mapping[str, list[Point]]) -> str:
    """An SVG: milliseconds over terms, both logarithmic, with a line of slope 1."""
    width, height, margin = 560, 400, 60
    every = [(p.terms, p.total * 1e3) for points in found.values() for p in points]
    low, high = [min(v) for v in zip(*every, strict=True)], [max(v) for v in zip(*every, strict=True)]

    def at(terms: float, ms: float) -> tuple[float, float]:
        x = math.log(terms / low[0]) / math.log(high[0] / low[0])
        y = math.log(ms / low[1]) / math.log(high[1] / low[1])
        return round(margin + x * (width - 2 * margin), 1), round(height - margin - y * (height - 2 * margin), 1)

    def line(points: list[tuple[float, float]], style: str) -> str:
        return f'<polyline fill="none" {style} points="{" ".join(f"{x},{y}" for x, y in points)}"/>'

    colours = (
        "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e"
    )  # fmt: skip
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        ' font-family="sans-serif" font-size="12">'
    ]
    steps = min(high[0] / low[0], high[1] / low[1])
    straight = [at(low[0], low[1]), at(low[0] * steps, low[1] * steps)]
    parts.append(line(straight, 'stroke="#999" stroke-dasharray="4"'))
    for i, (shape, points) in enumerate(found.items()):
        colour = colours[i % len(colours)]
        parts.append(line([at(p.terms, p.total * 1e3) for p in points], f'stroke="{colour}" stroke-width="2"'))
        parts.append(f'<text x="{margin + 10}" y="{margin + 16 * i}" fill="{colour}">{shape}</text>')
    parts.append(f'<text x="{width // 2 - 60}" y="{height - 15}">terms ({low[0]} to {high[0]})</text>')
    parts.append(f'<text x="10" y="20">ms ({low[1]:.0f} to {high[1]:.0f}); dashed: linear</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    found = {}
    lines: list[str] = []
    measured(HEAD + SHAPES["chain"](SIZES[0]))  # warms up
    for shape, text in SHAPES.items():
        found[shape] = [measured(HEAD + text(n)) for n in SIZES]
        lines += [*report(shape, found[shape]), ""]
        print("\n".join(report(shape, found[shape])), flush=True)
    if "--save" in sys.argv:
        (RESULTS / "scaling.txt").write_text(
            "\n".join(["milliseconds of passes over terms of the program", "", *lines])
        )
        (RESULTS / "scaling.svg").write_text(plot(found))


if __name__ == "__main__":
    main()
