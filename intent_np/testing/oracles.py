"""A kernel held against every machine that is here; what differs, crashes or is refused is a `Failure`.

    outcome = examine(kernel, recipes(kernel, count=3), ("reference", "machine", "text"))

The reference executes each call in checking mode: what the call leaves unspecified is not compared, and a call that the
kernel has no meaning for is passed over.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ..errors import CallError, IntentError
from .apart import TimeLimit
from .arguments import Arguments
from .captured import captured
from .checked import Recipe, made
from .compare import Expected, compare
from .shared import separated, twins
from .validated import classes_of, wanted_of
from .validation import LaunchClass, Stages, shared_stages, validate

ORACLES: Final = {
    "reference": "the language's meaning, in checking mode",
    "machine": "the program behind the last pass, executed by NumPy",
    "text": "each level printed and parsed back",
    "triton": "the printed Triton in Triton's interpreter",
    "cubin": "the printed Triton through Triton to a cubin for sm_90",
    "device": "the cubin on this machine's GPU",
}
DEFAULT: Final = ("reference", "machine", "text")
COMPILED: Final = frozenset(("text", "cubin"))
"""Those that execute nothing."""
RULES: Final = 24
"""So many rules that fired are tried one by one for being the cause of a difference."""


@dataclass(frozen=True)
class Failure:
    """What went wrong.

    stage:    `capture`, `compile`, or the oracle
    code:     of the error, or the class of an exception, `different`, `crashed`, `timeout`
    place:    the pass, or the place in the compiler
    rule:     the rule without which the difference is gone
    recipe:   the call that shows it, and the launch class that it was compiled for
    """

    stage: str
    code: str
    place: str = ""
    rule: str = ""
    message: str = ""
    recipe: Recipe | None = None
    holds: str = ""

    @property
    def key(self) -> str:
        """Failures with one key are one finding: numbers and names of the message do not matter."""
        shape = "" if self.code in ("different", "KeyError") else _shape(self.message)  # a key is any term
        return " ".join(filter(None, (self.stage, self.code, self.place, self.rule, shape)))

    @property
    def title(self) -> str:
        """One line for a person."""
        place = f" in {self.place}" if self.place else ""
        rule = f" by the rule {self.rule}" if self.rule else ""
        return f"{self.stage}: {self.code}{place}{rule}"


def _shape(message: str) -> str:
    first = message.strip().partition("\n")[0]
    return re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", re.sub(r"[-+]?\d[\d.e+-]*", "#", first))[:120]


@dataclass
class Outcome:
    """How a kernel fared.  `status` is `ok`, `finding`, `reference only` (`constructs` are not lowered yet), or
    `no call` (the kernel has no meaning for any of them); `calls` were compared; `seconds` by stage; `slow` is the
    stage that took too long on larger calls."""

    status: str = "ok"
    failure: Failure | None = None
    constructs: tuple[str, ...] = ()
    calls: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    slow: str = ""


class _Found(Exception):
    """Carries a failure out of an examination."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.title)
        self.failure = failure


class Examination:
    """One kernel under examination.  `options` are `CompileOptions`."""

    def __init__(
        self, kernel: Any, options: Any = None, each_pass: bool = False, only: str = "", causes: bool = True,
        watch: Callable[[str], None] = lambda stage: None,
    ) -> None:  # fmt: skip
        from ..compiler import CompileOptions

        self.kernel, self.each_pass, self.only, self.causes, self.watch = kernel, each_pass, only, causes, watch
        self.options = options or CompileOptions(check=True)
        self.outcome = Outcome()
        self.lowered: Any = None
        self.made: dict[str, Stages] = {}
        self.launches: dict[str, Any] = {}

    def run(
        self, recipes: Iterable[Recipe], oracles: Sequence[str], arguments: Callable[[Any, Recipe], Arguments]
    ) -> None:
        with self.stage("capture"):
            captured(self.kernel)
        lowered = None
        with self.stage("compile"):
            self.lowered = lowered = self.compilation(self.options)
        tried = 0
        for recipe in recipes:
            given = wanted = None
            tried += 1
            with self.stage("reference", recipe):
                given = arguments(self.kernel, recipe)
                compiled_alone = bool(oracles) and COMPILED.issuperset(oracles)
                wanted = {} if compiled_alone else wanted_of(self.kernel, {}, given, bool(self.options.permissions))
            if given is None or not isinstance(wanted, dict):
                continue
            self.outcome.calls += 1
            if lowered is None:
                continue
            for oracle in oracles:
                if oracle in CHECKS and (oracle != "text" or self.outcome.calls == 1):
                    CHECKS[oracle](self, recipe, given, wanted)
        if tried and not self.outcome.calls and self.outcome.status == "ok":
            self.outcome.status = "no call"

    def stage(self, name: str, recipe: Recipe | None = None, holds: str = "") -> _Stage:
        return _Stage(self, name, recipe, holds)

    def classes(self, given: Arguments) -> Iterator[LaunchClass]:
        chosen = classes_of(self.lowered.plan, given)
        return (c for c in chosen if not self.only or kind_of(c.name) == kind_of(self.only))

    def compilation(self, options: Any) -> Any:
        from ..compiler import Compilation
        from ..target import SM_90

        return Compilation(self.kernel, SM_90, {}, options)

    def programs(self, which: LaunchClass) -> Stages:
        if which.name not in self.made:
            self.made[which.name] = shared_stages(self.lowered, which)
        return self.made[which.name]

    # ---- oracles

    def machine(self, recipe: Recipe, given: Arguments, wanted: Mapping[str, Expected]) -> None:
        for which in self.classes(given):
            every = None
            with self.stage("compile", recipe, which.name):
                every = self.programs(which)
            if every is None:
                continue
            last = dict(list(every.programs.items())[-1:])
            shown = every if self.each_pass else replace(every, programs=last)
            with self.stage("machine", recipe, which.name):
                found = validate(self.kernel, given, made=shown, expected=wanted)
                if not found:
                    first = validate(self.kernel, given, made=every, expected=wanted)
                    self.differs("machine", found if first else first, recipe, which, given, wanted)

    def differs(
        self,
        stage: str,
        found: Any,
        recipe: Recipe,
        which: LaunchClass,
        given: Arguments,
        wanted: Mapping[str, Expected],
    ) -> None:
        """Raise the failure of a validation that did not pass."""
        if not found.output:
            code, _, message = str(found.found).partition(": ")
            raise _Found(Failure(stage, code, found.wrong, "", message, recipe, which.name))
        where = f"{found.output}[{', '.join(map(str, found.at))}]"
        message = f"{where} is {found.found}, and {found.expected} was expected"
        rule = self.cause(which, given, wanted) if self.causes else ""
        raise _Found(Failure(stage, "different", found.wrong, rule, message, recipe, which.name))

    def cause(self, which: LaunchClass, given: Arguments, wanted: Mapping[str, Expected]) -> str:
        """The first rule without which the results are right, if one rule is to blame."""
        from ..rules.rule_set import observing

        names: dict[str, None] = {}
        with observing(lambda rule, before, after: names.setdefault(rule)):
            shared_stages(self.compilation(self.options), which)
        for name in list(names)[:RULES]:
            without = replace(self.options, without_rules=(*self.options.without_rules, name))
            try:
                made = shared_stages(self.compilation(without), which)
            except Exception:
                continue
            if validate(self.kernel, given, made=made, expected=wanted):
                return name
        return ""

    def text(self, recipe: Recipe, given: Arguments, wanted: Mapping[str, Expected]) -> None:
        from ..passes.pipeline import language_of
        from ..terms.parse import parse
        from ..terms.text import show

        for which in self.classes(given):
            with self.stage("text", recipe, which.name):
                every = self.programs(which)
                levels = {language_of(p).name: p for p in every.programs.values()}
                with every.space:
                    for level, program in levels.items():
                        if parse(show(program), language_of(program)) is not program:
                            raise _Found(Failure("text", "different", level, "", "another term comes back", recipe))

    def holds(self, given: Arguments) -> Any:
        """The class of a call."""
        from ..runtime.binding import bind
        from ..runtime.classes import classify

        plan = self.lowered.plan
        return classify(plan, bind(plan, tuple(given.values())).facts())

    def launch(self, given: Arguments) -> tuple[Any, Any]:
        """The launch that the class of a call is compiled to, with its class."""
        holds = self.holds(given)
        if holds.name not in self.launches:
            self.launches[holds.name] = self.lowered.launch(holds)[0]
        return self.launches[holds.name], holds

    def triton(self, recipe: Recipe, given: Arguments, wanted: Mapping[str, Expected]) -> None:
        from ..backends.triton.printer import print_triton
        from ..terms.launch import PointerArgument
        from ..terms.normal import same_arrays
        from .triton_interpreter import interpret

        launch: Any = None
        source = None
        with self.stage("triton compile", recipe):
            launch, _ = self.launch(given)
            with self.lowered.arena:
                source = print_triton(launch.function)
        if source is None:
            return
        with self.stage("triton", recipe), self.lowered.arena:
            copies = twins(given)
            modes = {p.name: p.mode for p in self.kernel.parameters if p.kind == "view"}
            safe = same_arrays(a.view for a in launch.arguments if isinstance(a, PointerArgument))
            views, own = separated(safe, {n: v for n, v in copies.items() if n in modes}, modes)
            known = {**recipe.extents, **{n: v for n, v in copies.items() if n not in views}}
            interpret(launch, source, views, known)
            for n in own:
                copies[n][...] = views[n]
            self.compared("triton", copies, wanted, recipe)

    def cubin(self, recipe: Recipe, given: Arguments, wanted: Mapping[str, Expected]) -> None:
        """Every other call compiles the generic variant, the others that of their class."""
        from ..runtime.plan import generic_class

        with self.stage("cubin", recipe):
            holds = generic_class(self.lowered.plan) if recipe.seed % 2 else self.holds(given)
            if self.launches.setdefault(f"cubin {holds.name}", True) is True:
                self.launches[f"cubin {holds.name}"] = self.lowered.variant(holds)

    def device(self, recipe: Recipe, given: Arguments, wanted: Mapping[str, Expected]) -> None:
        """The first call runs the generic variant, which is compiled in any case, the others those of their classes."""
        with self.stage("device", recipe):
            if "device" not in self.launches:
                self.launches["device"] = self.on_device()
            generic, specialized = self.launches["device"]
            copies = twins(given)
            (generic if self.outcome.calls == 1 else specialized)(*copies.values())
            self.compared("device", copies, wanted, recipe)

    def on_device(self) -> tuple[Any, Any]:
        """The kernel on this machine's GPU: its generic variant alone, and with variants of the classes of calls."""
        import intent_np

        from ..runtime.device import DeviceArtifact

        made = intent_np.compile(self.kernel, "auto", options=self.options)
        assert isinstance(made, DeviceArtifact), "there is no GPU"
        return DeviceArtifact(made.kernel, made.target, made.variants, texts=made.texts, facts=made.facts), made

    def compared(self, stage: str, given: Arguments, wanted: Mapping[str, Expected], recipe: Recipe) -> None:
        for name, one in wanted.items():
            if not (result := compare(given[name], one)):
                raise _Found(Failure(stage, "different", "", "", f"{name}: {result.message}", recipe))


CHECKS: Final[dict[str, Callable[..., None]]] = {
    n: getattr(Examination, n) for n in ("machine", "text", "triton", "cubin", "device")
}


class _Stage:
    """Times a stage, and makes failures of its errors; what is not lowered yet ends the stage quietly."""

    def __init__(self, owner: Examination, name: str, recipe: Recipe | None, holds: str) -> None:
        self.owner, self.name, self.recipe, self.holds = owner, name, recipe, holds

    def __enter__(self) -> None:
        self.owner.watch(self.name)
        self.began = time.perf_counter()

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> bool:
        outcome = self.owner.outcome
        outcome.seconds[self.name] = outcome.seconds.get(self.name, 0.0) + time.perf_counter() - self.began
        if problem is None or isinstance(problem, _Found) or not isinstance(problem, Exception | TimeLimit):
            return False
        if isinstance(problem, CallError) and self.name == "reference":
            return True  # the call does not fit: no argument of ours keeps to what the signature asks for
        if isinstance(problem, IntentError) and any(e.code == "E708" for e in problem.errors):
            new = (construct(e) for e in problem.errors if e.code == "E708")
            outcome.constructs = tuple(dict.fromkeys([*outcome.constructs, *new]))
            outcome.status = "reference only" if self.name == "compile" else outcome.status
            return True
        raise _Found(failure_of(self.name, problem, self.recipe, self.holds)) from problem


def construct(problem: IntentError) -> str:
    """What is not lowered, without the names of the program."""
    return _shape(problem.title)


def failure_of(stage: str, problem: BaseException, recipe: Recipe | None = None, holds: str = "") -> Failure:
    """An exception as a failure: an error of ours by its code, any other by its class and where it arose."""
    step, place = "", ""
    trace = problem.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_qualname == "Pass.__call__":
            step = trace.tb_frame.f_locals["self"].name
        if "intent_np" in code.co_filename:
            place = f"{Path(code.co_filename).stem}.{code.co_qualname}"
        trace = trace.tb_next
    if isinstance(problem, TimeLimit):
        return Failure(stage, "timeout", step, "", str(problem), recipe, holds)
    if isinstance(problem, IntentError):
        first = problem.errors[0]
        message = "\n".join([first.title, *(filter(None, (first.found, first.detail)))])
        return Failure(stage, first.code, step, "", message, recipe, holds)
    return Failure(stage, type(problem).__name__, f"{step} {place}".strip(), "", _told(problem), recipe, holds)


def _told(problem: BaseException) -> str:
    """The message; of one that is a traceback the last line goes first."""
    text = str(problem).strip()
    return f"{text.splitlines()[-1]}\n{text}" if text.startswith("Traceback") else text


def kind_of(holds: str) -> str:
    """The kind of a launch class, whatever the call: `small blocks`, or `for` a call."""
    return "for" if holds.startswith("for ") else holds


def examine(
    kernel: Any,
    recipes: Iterable[Recipe],
    oracles: Sequence[str] = DEFAULT,
    *,
    options: Any = None,
    each_pass: bool = False,
    only: str = "",
    arguments: Callable[[Any, Recipe], Arguments] = made,
    causes: bool = True,
    watch: Callable[[str], None] = lambda stage: None,
) -> Outcome:
    """Hold a kernel against the oracles on these calls, up to the first failure.

    each_pass:  execute the program behind each pass, not behind the last alone
    only:       the one kind of launch class to compile for
    arguments:  what makes the arguments of a call
    causes:     look for the rule that makes a difference
    watch:      is told of each stage that begins
    """
    one = Examination(kernel, options, each_pass, only, causes, watch)
    try:
        one.run(recipes, oracles, arguments)
    except _Found as found:
        one.outcome.status, one.outcome.failure = "finding", found.failure
    return one.outcome


__all__ = ["DEFAULT", "ORACLES", "Examination", "Failure", "Outcome", "examine", "failure_of"]
