"""`compile`: from a kernel to an artifact.

The front half (capture, coordinates) runs once; everything behind `bind_class` runs once a variant, at compile time for
the classes that are asked for, and at a call for a class that is new.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import inspect
import json
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Never

from . import __version__
from .errors import IntentError, Remark, error, suggestion
from .passes.base import Pass
from .passes.block_axes import block_axes
from .passes.copy_first import copy_remarks
from .passes.emit import emit
from .passes.form_groups import form_groups, lone_loop_remarks, serial_remarks
from .passes.loading import passes_of
from .passes.pipeline import PIPELINE, Trace, adding, by_name, extended, run
from .passes.report_debug import report_debug
from .permissions import NUMERICS, Lines, note, replaced
from .plans import class_options, debug_statements, kernel_plan, target_term, variant_plan
from .rules.loading import admitted
from .rules.rule_set import using
from .rules.tables import BUILTIN
from .runtime.artifact import Artifact, Variant
from .runtime.debug import Reporting, Statement, debug_json, reports
from .runtime.examples import class_of
from .runtime.plan import KernelPlan, VariantClass, generic_class
from .target import Target, resolve
from .terms.core import Arena, find
from .terms.launch import constants, divisibility, signature
from .terms.normal import Axis
from .terms.text import show

SPILLED = 32
"""Bytes of a thread that may go to memory where a plan limits its registers: layer_norm of rows of 16384 takes .077 ms
with 8 of them and two instances on a processor, .115 with none and one."""

SHARED_LEVELS: Final = ("logical", "normal")


@dataclass(frozen=True)
class CompileOptions:
    """How to compile.

    numerics:  what the caller allows beyond exact numerics: strict, relaxed_normalization, relaxed_algebra, relaxed
    disable:   names of optional passes to leave out
    passes:    options of passes, `{"narrow_ranges": {"peel": False}}`
    check:     verify the program after every pass; the target `reference` executes in checking mode
    validate:  execute the program before and after every pass on generated arguments, and refuse one that changes a
               result; it takes seconds, for many axes a minute
    debug:     perform `I.debug_assert` and `I.debug_print` on every target: a call waits for its launch, prints, and
               raises E520; the reference always performs them
    serial:    what becomes of statements that only one instance can perform in order: `remark` (right, slow, and said)
               or `error`
    rules:     files of rewrite rules, used once each of them is found to be right; see specs/extending.md
    without_rules: names of rules to leave out
    more_passes: files of passes of your own, each behind the pass that it names; see specs/extending.md
    """

    numerics: str = "strict"
    disable: tuple[str, ...] = ()
    passes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    check: bool = False
    validate: bool = False
    debug: bool = False
    serial: str = "remark"
    rules: tuple[str, ...] = ()
    without_rules: tuple[str, ...] = ()
    more_passes: tuple[str, ...] = ()

    def __new__(cls, *_: Any, **named: Any) -> CompileOptions:
        """Refuse what is no option: E006 with the close ones."""
        known = [one.name for one in dataclasses.fields(cls)]
        for name in named:
            if name not in known:
                close = suggestion(name, known)
                how = f"did you mean {close}?" if close else f"choose one of {', '.join(known)}"
                raise error("E006", what=f"there is no compile option '{name}'", how=how)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """E006 for a value of another type: a name in the place of a tuple of names, for one."""
        for one in dataclasses.fields(self):
            value, usual = getattr(self, one.name), getattr(CompileOptions, one.name, {})
            if not isinstance(value, Mapping if isinstance(usual, dict) else type(usual)):
                kind = "a mapping" if isinstance(usual, dict) else f"a {type(usual).__name__}"
                what = f"the compile option {one.name} is {kind}, not {value!r}"
                single = isinstance(usual, tuple) and isinstance(value, str)
                raise error("E006", what=what, how=f"write {one.name}=({value!r},)" if single else f"give it {kind}")
        for name, values in self.passes.items():
            if not isinstance(values, Mapping):
                what = f"the options of the pass {name} are a mapping, not {values!r}"
                raise error("E006", what=what, how=f"write passes={{{name!r}: {{'option': value}}}}")

    @property
    def facts(self) -> dict[str, Any]:
        """Those that shape the program, as JSON values."""
        shaping = {name: getattr(self, name) for name in ("numerics", "disable", "passes", "serial", "without_rules")}
        shaping |= {"debug": True} if self.debug else {}
        made: dict[str, Any] = json.loads(json.dumps(shaping, default=str))
        return made

    @property
    def permissions(self) -> tuple[str, ...]:
        """The permissions, by the names that programs carry."""
        if self.numerics not in NUMERICS:
            raise error(
                "E006", what=f"there are no numerics {self.numerics!r}", how=f"choose one of {', '.join(NUMERICS)}"
            )
        return NUMERICS[self.numerics]


def compile(
    kernel: Any,
    target: str | Target = "auto",
    constexprs: Mapping[str, Any] | None = None,
    options: CompileOptions | None = None,
    classes: Iterable[VariantClass] = (),
    examples: Iterable[Any] = (),
    **unknown: Never,
) -> Artifact:
    """Compile `kernel` for `target`.

    target:      `auto` (this machine's GPU, else the program machine), `cpu`, `reference`, `sm_90`, …, or a `Target`
    constexprs:  values of the kernel's constexprs; defaults fill in
    classes:     variants to compile ahead beside the generic one
    examples:    tuples of arguments whose classes are compiled ahead

    Raises `CompileError` with every error found, E711 of a pass that validation refutes; `ProviderError` from the lower
    compiler.
    """
    if not hasattr(kernel, "capture"):
        name = getattr(kernel, "name", None) or getattr(kernel, "__name__", None) or str(kernel)
        raise error("E005", name=name, found=_kind(kernel))
    if options is not None and not isinstance(options, CompileOptions):
        how = "write options=intent.CompileOptions(check=True), for example"
        raise error("E006", what=f"options is a CompileOptions, not {options!r}", how=how)
    if constexprs is not None and not isinstance(constexprs, Mapping):
        how = 'write constexprs={"BLOCK": 64}, for example'
        raise error("E006", what=f"constexprs maps names to values, and is not {constexprs!r}", how=how)
    for name in unknown:
        close = suggestion(name, inspect.signature(compile).parameters)
        how = f"did you mean {close}?" if close else "see help(intent.compile)"
        raise error("E006", what=f"intent.compile is given {name}", how=how)
    chosen = resolve(target)
    compilation = Compilation(kernel, chosen, dict(constexprs or {}), options or CompileOptions())
    wanted = [*map(compilation.completed, classes), *map(compilation.class_of, examples)]
    compilation.validate()
    artifact = compilation.device_artifact(wanted) if chosen.is_gpu else compilation.host_artifact()
    return Reporting(artifact) if compilation.debug else artifact


def _kind(v: Any) -> str:
    """What was given in the place of a kernel."""
    if getattr(v, "is_helper", False):
        return "a helper, which kernels call"
    return "a Python function" if inspect.isroutine(v) else f"a {type(v).__name__}"


class Compilation:
    """One kernel on its way to one target; holds the arena of its terms."""

    def __init__(self, kernel: Any, target: Target, constexprs: dict[str, Any], options: CompileOptions) -> None:
        self.kernel, self.target, self.options, self.constexprs = kernel, target, options, constexprs
        self.arena, self.lock = Arena(), threading.Lock()
        self.texts: dict[str, str] = {}
        self.front = Trace()  # the passes that every variant shares
        self.remarks: dict[Remark, None] = {}
        self.used: Lines = {}  # permissions that changed the program
        self.blocked: set[str] = set()  # names of the axes that were given blocks
        self.debug: tuple[Statement, ...] = ()  # those that report
        self.rules = admitted(options.rules, options.without_rules)
        self.more_passes = passes_of(options.more_passes)
        with self.arena, using(self.rules):
            self.logical = kernel.capture(constexprs, options.permissions, target_term(target))
            self.texts["logical"] = show(self.logical)
            self.normal = None  # the reference executes the logical program itself
            for name in (*options.disable, *options.passes):
                by_name(name, self.steps)
            if target.name != "reference":
                self.normal = self.lowered(self.logical, stop_after=LAST_OF_ALL, trace=self.front)
                self.texts["normal"] = show(self.normal)
            self.plan: KernelPlan = kernel_plan(kernel, kernel.bind(constexprs), self.normal, self.logical)

    def lowered(self, program: Any, **run_options: Any) -> Any:
        """The program behind the passes that are asked for."""
        given: dict[str, dict[str, Any]] = {name: dict(values) for name, values in self.options.passes.items()}
        given.setdefault("form_groups", {}).setdefault("serial", self.options.serial)
        given.setdefault("report_debug", {}).setdefault("report", self.options.debug)
        for name, values in run_options.pop("options", {}).items():
            given[name] = {**values, **given.get(name, {})}
        left_out, check = set(self.options.disable), self.options.check
        watching = run_options.pop("observe", None)
        before = program

        def observed(step: Pass, result: Any) -> None:
            nonlocal before
            last, before = before, result
            if step.permission and result is not last:
                note(self.arena.used, step.permission, replaced(last, result))
            if step is report_debug:
                self.debug = debug_statements(last, result)
            elif step is form_groups:  # keep what it has to say to the author
                said = (r for g in result.groups for r in (serial_remarks(g) if g.serial else lone_loop_remarks(g)))
                self.remarks |= dict.fromkeys(said)
            elif step is emit:
                self.remarks |= dict.fromkeys(copy_remarks(result))
            elif step is block_axes:
                self.blocked |= {self.arena.names.get(a, "i") for a in find(last, Axis)}
            self.remarks |= self.arena.remarks
            if watching is not None:
                watching(step, result)

        with using(self.rules), adding(self.more_passes):
            return run(program, options=given, disable=left_out, check=check, observe=observed, **run_options)

    def completed(self, holds: VariantClass) -> VariantClass:
        """A class of calls, which says nothing of what debug statements report in."""
        unit: dict[str, int | None] = {**dict.fromkeys(v.name for v in self.plan.views), **dict(holds.unit)}
        return dataclasses.replace(holds, unit=tuple(sorted(unit.items())))

    def class_of(self, arguments: Any) -> VariantClass:
        """The class of arguments, which have nothing that debug statements report in."""
        return class_of(self.plan, (*arguments, *reports(self.plan)) if self.debug else arguments)

    @property
    def steps(self) -> tuple[Pass, ...]:
        """The pipeline of this compilation."""
        return extended(PIPELINE, self.more_passes)

    @property
    def facts(self) -> dict[str, Any]:
        """What the artifact is made by and from; the same in any process and folder."""
        digest = hashlib.sha256(self.texts["logical"].encode()).hexdigest()
        added = [r for t in self.rules.tables if t not in BUILTIN.tables for r in t.rules]
        rules = [f"{r.name}: {r.left} -> {r.right} {r.when}" for r in added] if self.options.rules else []
        more = [f"{p.name} after {p.after}: {inspect.getsource(p.function)}" for p in self.more_passes]
        told = {"rules": rules, "more_passes": more}
        options = {**self.options.facts, **{name: texts for name, texts in told.items() if texts}}
        made = {"intent_np": __version__, "source": f"sha256:{digest}", "options": options}
        return made | ({"debug": debug_json(self.debug)} if self.debug else {})

    def said(self, artifact: Artifact) -> Artifact:
        """The artifact, with the remarks of its compilation; E006 for a size that no axis took."""
        for name in self.options.passes.get("block_axes", {}).get("sizes", {}) if self.normal is not None else ():
            if name not in self.blocked:
                known = ", ".join(sorted(self.blocked)) or "none"
                what = f"block_axes.sizes has '{name}', and '{self.kernel.name}' has no axis of that name"
                raise error("E006", what=what, how=f"name one of its axes: {known}")
        if self.options.permissions and not self.used and "gpu" in artifact.levels:
            numerics = self.options.numerics
            text = f"no pass found anything that {numerics} allows: the program is that of numerics='strict'"
            artifact.remark("P004", text)
        for r in self.remarks:
            artifact.remark(r.code, r.text, r.span)
        return artifact

    def validate(self) -> None:
        """Execute every pass on generated calls if that is asked for; E711 for one that changes a result."""
        if not self.options.validate or self.normal is None:
            return
        from .testing.validated import wrong_pass

        plan, options = self.plan, self.options
        if self.debug:  # the machines have what is reported in, as they have workspaces
            plan = dataclasses.replace(plan, parameters=plan.parameters[:-2])
            options = dataclasses.replace(options, passes={"report_debug": {"report": True}, **options.passes})
        found = wrong_pass(self.kernel, plan, self.constexprs, options)
        if isinstance(found, IntentError):
            raise found
        if not found:
            text = "no generated call keeps the kernel's promises; intent-np bisect takes arguments of yours"
            self.remarks[Remark("P007", text)] = None

    # ---- NumPy targets

    def host_artifact(self) -> Artifact:
        """The artifact that NumPy executes, at the level of the target."""
        from .backends.host import executor, level
        from .runtime.host import HostArtifact

        program = self.logical
        if level(self.target) == "gpu":
            with self.arena:
                options = class_options(self.plan, generic_class(self.plan))
                trace = Trace()
                last = last_shared(self.steps)
                program = self.lowered(self.normal, options=options, trace=trace, stop_after=last, after=LAST_OF_ALL)
                self.texts |= levels(trace, self.steps)
        machine = executor(self.plan, self.target, program, self.arena, checking=self.options.check)
        facts = {**self.facts, "permitted": self.permitted()}
        return self.said(HostArtifact(self.plan, self.target, machine, texts=self.texts, facts=facts))

    # ---- GPU targets

    def device_artifact(self, classes: Iterable[VariantClass]) -> Artifact:
        """The artifact of a GPU: the generic variant, and one for each of these classes."""
        from .runtime.device import DeviceArtifact

        wanted = [generic_class(self.plan), *classes]
        variants = [self.variant(holds) for holds in dict.fromkeys(wanted)]
        return self.said(
            DeviceArtifact(self.plan, self.target, variants, self.variant, texts=self.texts, facts=self.facts)
        )

    def launch(self, holds: VariantClass) -> tuple[Any, dict[str, str]]:
        """The last term before text, for one class, and the texts of the levels behind the shared ones."""
        trace = Trace()
        options = class_options(self.plan, holds)
        with self.lock, self.arena:
            launch = self.lowered(self.normal, options=options, trace=trace, after=LAST_OF_ALL)
            return launch, levels(trace, self.steps)

    def permitted(self) -> dict[str, list[int]]:
        """Permissions that passes took up since this was asked last, with the author's lines."""
        found = {name: sorted(lines) for name, lines in sorted(self.arena.used.items())}
        for name, lines in found.items():
            note(self.used, name, lines)
        self.arena.used.clear()
        return found

    def variant(self, holds: VariantClass) -> Variant:
        """Compile one variant: from `bind_class` to a cubin."""
        from .backends.triton.compiler import compile_source
        from .backends.triton.printer import Printer

        launch, texts = self.launch(holds)
        with self.lock, self.arena:
            printer = Printer(launch.function, self.target.compute_capability)
            source = printer.module()
        registers = launch.function.registers
        with _folder() as folder:

            def made(registers: int) -> Any:
                return compile_source(
                    source, launch.function.name, signature(launch), constants(launch), divisibility(launch),
                    self.target, launch.function.num_warps, launch.function.num_stages, folder, spans=printer.spans,
                    options={"maxnreg": registers} if registers else {},
                )  # fmt: skip

            compiled = made(registers)
            if registers and compiled.stack_bytes > SPILLED:  # fewer than it needs: what spills costs more
                compiled = min(compiled, made(0), key=lambda one: one.stack_bytes)
        with self.lock, self.arena:
            plan = variant_plan(launch, holds, compiled, self.permitted())
        return Variant(plan, compiled.cubin, compiled.ptx, source, texts)


def levels(trace: Trace, steps: tuple[Pass, ...]) -> dict[str, str]:
    """The last program of each level behind the shared ones, as text."""
    last = {p.target.name: trace.programs[p.name] for p in steps if p.name in trace.programs}
    return {level: show(program) for level, program in last.items() if level not in SHARED_LEVELS}


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    """A folder for the lower compiler; it stays where E601 names the source in it."""
    folder, kept = tempfile.mkdtemp(prefix="intent-np-"), False
    try:
        yield folder
    except IntentError as problem:
        kept = problem.code == "E601"
        raise
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def last_shared(steps: tuple[Pass, ...]) -> str:
    """The last pass that stays above the provider."""
    return [p for p in steps if p.target.name == "gpu"][-1].name


LAST_OF_ALL: Final = "find_in_place"
"""The last pass that does not ask for the class of calls."""

LAST_SHARED: Final = last_shared(PIPELINE)

__all__ = ["Artifact", "Compilation", "CompileOptions", "compile"]
