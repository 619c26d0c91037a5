"""What is run against mutants: kernels with calls, by name, so that any process makes the same.

random 17                 a random kernel, in the launch class of its number
softmax                   a kernel of a corpus, on small calls, against its own oracle
rule mod-small 3          a kernel in which the left side of a rule occurs
written ragged            a kernel that somebody has written for a mutant, in `written`
"""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...terms.index import Const, Extent
from ...terms.normal import View, same_arrays
from ..arguments import Arguments, arguments, launched
from ..checked import Recipe, made, recipes
from ..compare import Expected, compare
from ..generator import random_kernel
from ..generator.kernels import executed
from ..host import HostProgram
from ..shared import SHARED, separated, twins
from ..validated import wanted_of
from ..validation import CLASSES, SMALL, Stages, calls, validate
from ..views import LAYOUTS
from .reports import statements, unsaid
from .witnesses import KEPT, kernel_text
from .written import WRITTEN

Call = tuple[str, Arguments, Mapping[str, Expected]]
POINTS: Final = 2**9
"""Product of the extents of a call of a random kernel."""
TURNS: Final = (
    "small blocks", "small blocks", "whole blocks", "small blocks", "bounded", "in parts", "generic", "contiguous",
)  # fmt: skip
"""Launch classes of random kernels, in turn."""


@dataclass(frozen=True)
class Compiled:
    """A kernel's last program above a provider, its launch and its Triton source; texts as digests."""

    space: Any
    program: Any
    launch: Any
    source: str
    digests: tuple[str, str]
    reports: tuple[Any, ...] = ()
    """Its debug statements."""


@dataclass(frozen=True)
class Trial:
    """A kernel and how it is compiled and called."""

    name: str

    @cached_property
    def _made(self) -> tuple[Any, Mapping[str, Any], Any, str]:
        """Kernel, constexprs, options and launch class."""
        from ...compiler import CompileOptions

        kind, _, rest = self.name.partition(" ")
        if kind == "random":
            return random_kernel(int(rest)).kernel, {}, CompileOptions(), TURNS[int(rest) % len(TURNS)]
        if self.name.startswith(KEPT):
            number = int(self.name.rpartition(" ")[2])
            which = TURNS[number % len(TURNS)] if " random " in self.name else "small blocks"
            return executed(kernel_text(self.name), f"<{self.name}>"), {}, CompileOptions(), which
        if kind == "written":
            one = WRITTEN[rest]
            passes = {"report_debug": {"report": True}} if one.reports else {}
            return one.kernel, {}, CompileOptions(passes=passes), one.which
        if kind == "rule":
            return _of_rule(rest), {}, CompileOptions(), "small blocks"
        case = _corpus()[self.name]
        return case.kernel, case.constexprs, CompileOptions(**case.options), "small blocks"

    @property
    def is_generated(self) -> bool:
        return self.name.startswith(("random ", "rule ", "written ", KEPT))

    @property
    def kernel(self) -> Any:
        return self._made[0]

    def compiled(self, check: bool = False) -> Compiled:
        """By the rules and passes in force."""
        from ...backends.triton.printer import print_triton
        from ...compiler import LAST_SHARED
        from ...passes.pipeline import run
        from ...rules.magnitude import large_indices
        from ...rules.rule_set import active, using
        from ...terms.core import Arena
        from ...terms.text import show

        kernel, constexprs, options, which = self._made
        space, disable = Arena(), set(options.disable)
        with space, using(active()):
            logical = kernel.capture(dict(constexprs), options.permissions)
            given = {n: dict(o) for n, o in options.passes.items()}
            normal = run(logical, options=given, disable=disable, check=check, stop_after="forward_stores")
            together = {n: dict(o) for n, o in CLASSES[which].options(normal).items()}
            if "aligned" in together.get("bind_class", {}):  # rows of other lengths begin anywhere
                whole = {v.name for v in normal.parameters if isinstance(v, View) and all(map(_is_whole, v.shape[1:]))}
                aligned = together["bind_class"]["aligned"]
                together["bind_class"]["aligned"] = {n: a for n, a in aligned.items() if n in whole}
            if any(t is None for t in large_indices(normal.effects)):
                together["lower_to_triton"] = {"index_bits": 64}
            for name, more in given.items():
                together[name] = together.get(name, {}) | more
            program = run(
                normal, options=together, disable=disable, check=check, after="forward_stores", stop_after=LAST_SHARED
            )
            launch = run(program, options=together, disable=disable, check=check)
            source = print_triton(launch.function)
            reports = statements(logical, given) if "report_debug" in given else ()
            texts = f"{show(program)}{reports}", show(launch) + source
            digests = sha256(texts[0].encode()).hexdigest(), sha256(texts[1].encode()).hexdigest()
        return Compiled(space, program, launch, source, digests, reports)

    def calls(self, kept: Path | None = None) -> list[Call]:
        """Calls on which the kernel has a meaning, each with what its outputs may hold."""
        kernel, constexprs, options, _ = self._made
        file = kept / f"{self.name}.pickle" if kept else None
        known = pickle.loads(file.read_bytes()) if file and file.exists() else {}
        found, new = [], False
        for text, given in self._calls():
            if text not in known:
                new = True
                if self.is_generated:
                    with np.errstate(all="ignore"), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        wanted = wanted_of(kernel, constexprs, given, bool(options.permissions))
                    known[text] = wanted if isinstance(wanted, dict) else None
                else:
                    known[text] = _corpus()[self.name].expected(given)
            if known[text] is not None:
                found.append((text, given, known[text]))
        if file and new:
            own = file.with_suffix(f".{os.getpid()}")
            own.write_bytes(pickle.dumps(known))
            own.replace(file)  # others may read it
        return found

    def _calls(self) -> Sequence[tuple[str, Arguments]]:
        kernel, constexprs, _, which = self._made
        if not self.is_generated:
            case = _corpus()[self.name]
            every = [c for c in calls(case, CLASSES["small blocks"], 2**13) if all(c.extents.values())]
            chosen = sorted(every, key=lambda c: prod(c.extents.values()))[
                -1 : -len(every) - 1 : -max(len(every) // 3, 1)
            ]
            return [(str(c), arguments(case, c.extents, c.seed, c.layout, c.values)) for c in chosen]
        number, whole = self.name.rpartition(" ")[2], which in ("whole blocks", "contiguous")
        first = int(number) if number.isdigit() else 0
        extents = {n: SMALL * (1 + (first + i) % 3) for i, n in enumerate("KMN")} if whole else {}
        more: dict[str, Any] = {"layouts": ("contiguous",)} if whole else {}
        count = 3 if number.isdigit() else len(LAYOUTS)
        several = [*recipes(kernel, constexprs, extents, count, points=2**14 if whole else POINTS, first=first, **more)]
        found = [(str(r), made(kernel, r, constexprs)) for r in several]
        for r in sorted(several, key=lambda r: -sum(r.extents.values()))[:1]:
            for seed in range(1 if number.isdigit() else 4):
                shared = Recipe(r.extents, SHARED, "integers", r.seed + seed)
                if _overlap(given := made(kernel, shared, constexprs)):
                    found.append((str(shared), given))
        return found

    def machine(self, compiled: Compiled, call: Call) -> str:
        """What is wrong with the results of the program, by NumPy."""
        _, given, wanted = call
        if compiled.reports:
            return unsaid(self.kernel, compiled.space, compiled.program, compiled.reports, given)
        stages = Stages(self.kernel, compiled.space, {"last": compiled.program})
        found = validate(self.kernel, given, made=stages, expected=wanted, strict=True)
        if found:
            return ""
        if not found.output:
            return f"the program is {found.found}"[:200]
        return f"{found.output}{list(found.at)} is {found.found}, not {found.expected}"[:200]

    def triton(self, compiled: Compiled, call: Call) -> str:
        """What is wrong with the results of the printed Triton, by its interpreter."""
        from ..triton_interpreter import interpret

        _, given, wanted = call
        if compiled.reports:
            return ""
        copies = twins(given)
        views = {n: v for n, v in copies.items() if isinstance(v, np.ndarray)}
        modes = {p.name: p.mode for p in launched(self.kernel) if p.kind == "view"}
        passed, own = separated(same_arrays(compiled.program.parameters), views, modes)
        with compiled.space:
            interpret(compiled.launch, compiled.source, passed, {n: v for n, v in copies.items() if n not in views})
        for n in own:
            copies[n][...] = passed[n]
        for name, one in wanted.items():
            if not (found := compare(copies[name], one)):
                return f"{name}: {found.message}"[:200]
        return ""


def _overlap(given: Arguments) -> bool:
    """Whether two arrays share memory."""
    arrays = [v for v in given.values() if isinstance(v, np.ndarray)]
    return any(np.may_share_memory(v, w) for i, v in enumerate(arrays) for w in arrays[:i])


def _is_whole(extent: Any) -> bool:
    """Whether an extent is a multiple of a block in every call of its launch class."""
    return isinstance(extent, Extent) or isinstance(extent, Const) and extent.value % SMALL == 0


@cache
def _corpus() -> dict[str, Any]:
    from kernels import cases

    return {c.name: c for c in cases() if not isinstance(c.kernel, HostProgram)}


def corpus() -> list[str]:
    """The names of the trials of the corpus."""
    return list(_corpus())


def _of_rule(text: str) -> Any:
    """A kernel of instances of one rule over scalars."""
    from ...rules.tables import BUILTIN
    from ..generator.algebra import of_rule

    name, _, number = text.rpartition(" ")
    return executed(of_rule(BUILTIN.rule(name), int(number)), f"<rule {text}>")


__all__ = ["Call", "Compiled", "Trial", "corpus"]
