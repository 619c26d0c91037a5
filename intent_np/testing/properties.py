"""Properties of kernels, passes and rules as tests: two kernels that agree, a pass that keeps meaning, rules that hold.

@intent.equivalent(fast, plain)
def test_they_agree(): ...

def test_my_pass(check_pass):       # a fixture of the package's pytest plugin
    check_pass(my_pass)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..errors import error
from .arguments import Arguments, launched
from .checked import SIZES, Recipe, check_kernel, extent_names, made
from .compare import Expected, compare
from .validated import wanted_of
from .views import LAYOUTS, twin

VALUES: Final = ("integers", "normal", "negative", "special", "extreme")


# ---- two kernels


def equivalent(
    first: Any,
    second: Callable[..., Any],
    *,
    cases: int = 25,
    constexprs: Mapping[str, Any] | None = None,
    extents: Mapping[str, int] | None = None,
    values: Sequence[str] = VALUES,
    layouts: Sequence[str] = tuple(LAYOUTS),
    ulps: float = 4.0,
) -> Callable[[Callable[..., Any]], Callable[[], None]]:
    """A decorator that makes a function the property test of two kernels, or of a kernel and any callable.

    second:     a kernel with the same parameters, or a callable that takes the arguments in order and writes the
                outputs in place, or returns them (one, or a tuple)
    cases:      so many calls, of all kinds of extents, layouts and values; the failing one is shrunk
    constexprs: values of the constexprs of both
    extents:    extents that are fixed
    ulps:       how far, in units of the last place, a result of a callable may be off beside what the operations of
                `first` explain

    Outputs are equal where nothing is rounded, and within the bounds of both where it is.  What `first` leaves
    unspecified is not compared, and calls on which it has no meaning are passed over.  The function itself, where it
    takes a parameter, is given the arguments of each call by name, to change or to judge them (`hypothesis.assume`)
    before the comparison.
    """
    constants = dict(constexprs or {})
    _kernel(first)

    def decorate(function: Callable[..., Any]) -> Callable[[], None]:
        prepares = bool(inspect.signature(function).parameters)
        hypothesis = _hypothesis()

        def one(recipe: Recipe) -> None:
            given = made(first, recipe, constants)
            if prepares:
                function(given)
            wanted = wanted_of(first, constants, given, relaxed=False)
            if isinstance(wanted, dict):
                differs(first, second, given, wanted, str(recipe), constants, ulps)
            else:
                hypothesis.reject()

        checked = hypothesis.given(_calls(first, constants, extents or {}, values, layouts))(one)
        phase, health = hypothesis.Phase, list(hypothesis.HealthCheck)
        phases = (phase.explicit, phase.reuse, phase.generate, phase.shrink)
        rules = hypothesis.settings(max_examples=cases, deadline=None, suppress_health_check=health, phases=phases)
        run = rules(checked)

        def test() -> None:
            run()

        functools.update_wrapper(test, function)
        test.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        return test

    return decorate


def differs(
    first: Any, second: Any, given: Arguments, wanted: Mapping[str, Expected], call: str,
    constants: Mapping[str, Any], ulps: float,
) -> None:  # fmt: skip
    """AssertionError where the outputs of `second` are not what `first` may give."""
    names = [p.name for p in launched(first)]
    results = _results(
        first, second, {n: twin(v) if isinstance(v, np.ndarray) else v for n, v in given.items()}, constants
    )
    own = _bounds(second, names, given, constants)
    for name, one in wanted.items():
        slack = own[name].bound if own else _places(one.value, given[name].dtype, ulps) + np.asarray(one.bound)
        total = np.asarray(one.bound) + slack
        found = compare(results[name], replace(one, bound=np.where(np.isnan(total), np.inf, total)))
        if not found:
            shown = "\n".join(
                f"  {n} = {np.array2string(np.asarray(v), threshold=64)}" for n, v in given.items() if n not in wanted
            )
            other = getattr(second, "name", getattr(second, "__name__", repr(second)))
            raise AssertionError(f"{first.name} and {other} differ in {name}: {found.message}\n  call: {call}\n{shown}")


def _results(first: Any, second: Any, copies: Arguments, constants: Mapping[str, Any]) -> Mapping[str, Any]:
    """The outputs of the second side by the names of the first's parameters."""
    parameters = launched(first)
    outputs = [p.name for p in parameters if p.kind == "view" and p.mode != "in"]
    if hasattr(second, "capture"):
        theirs = [p.name for p in launched(second)]
        if len(theirs) != len(parameters):
            what = f"{second.name} has {len(theirs)} parameters, and {first.name} has {len(parameters)}"
            raise error("E006", what=what, how="compare kernels that are called alike")
        checked = check_kernel(second, dict(zip(theirs, copies.values(), strict=True)), constants)
        checked.raise_if_any()
        return {n: copies[n] for n in outputs}
    back = second(*copies.values(), **constants)
    if back is not None:
        several = back if isinstance(back, tuple) else (back,)
        copies |= {n: np.asarray(v).astype(copies[n].dtype) for n, v in zip(outputs, several, strict=True)}
    return {n: np.asarray(copies[n]) for n in outputs}


def _bounds(second: Any, names: list[str], given: Arguments, constants: Mapping[str, Any]) -> dict[str, Expected]:
    """What a kernel may give; nothing of any other callable."""
    if not hasattr(second, "capture"):
        return {}
    from .bounds import expected

    theirs = [p.name for p in launched(second)]
    found = expected(second, dict(zip(theirs, given.values(), strict=True)), constants)
    return {n: found[t] for n, t in zip(names, theirs, strict=True) if t in found}


def _places(value: Any, dtype: np.dtype[Any], ulps: float) -> Any:
    """So many units of the last place of each value; 0 for what is no float."""
    from .formats import FORMATS, element_type

    form = FORMATS.get(element_type(np.empty(0, dtype)))
    if form is None:
        return 0.0
    with np.errstate(all="ignore"):
        return np.where(
            np.isfinite(value), ulps * np.maximum(np.abs(value) * 2.0 ** (1 - form.precision), form.smallest), 0.0
        )


def _calls(kernel: Any, constants: Mapping[str, Any], fixed: Mapping[str, int], values: Any, layouts: Any) -> Any:
    """A strategy of calls; the simplest are empty, contiguous and of small integers."""
    st = _hypothesis().strategies
    names = [n for n in extent_names(kernel) if n not in {p.name for p in kernel.constexprs}]
    sizes = {n: st.just(fixed[n]) if n in fixed else st.sampled_from(sorted(SIZES)) for n in names}
    return st.builds(
        Recipe, st.fixed_dictionaries(sizes), st.sampled_from(layouts), st.sampled_from(values), st.integers(0, 2**16)
    )


def _kernel(value: Any) -> None:
    if not hasattr(value, "capture"):
        raise error("E005", name=getattr(value, "__name__", repr(value)))


def _hypothesis() -> Any:
    try:
        import hypothesis
        import hypothesis.strategies
    except ImportError as problem:
        raise error(
            "E603", package="hypothesis", purpose="a property test", command="pip install hypothesis"
        ) from problem
    return hypothesis


# ---- a pass


def check_pass(
    step: Any,
    *,
    after: str = "",
    instead_of: str = "",
    kernels: int = 30,
    seed: int = 0,
    options: Any = None,
    generator: str = "",
) -> int:
    """AssertionError with the smallest kernel whose results a pass changes; else how many calls were compared.

    step:        a pass (`intent_np.passes.base.nanopass`), or a function from a program to a program of the same level
    after:       the pass of the pipeline behind which it stands; where its source language begins unless given
    instead_of:  the pass of the pipeline whose place it takes
    kernels:     so many random kernels, from `seed` on
    """
    from .campaign import Settings
    from .campaign.jobs import Reduce, Seed, examined, ready
    from .campaign.minimal import reduced_failure
    from .campaign.regression import test_text

    given = {"generator": generator} if generator else {}
    settings = Settings(oracles=("machine",), each_pass=True, attempts=120, **given)  # type: ignore[arg-type]
    ready(settings)
    compared = 0
    with placed(step, after, instead_of) as name:
        for s in range(seed, seed + kernels):
            outcome = examined(Seed(settings, s))
            compared += outcome.calls
            failure = outcome.failure
            if failure is None or name not in failure.place.split():
                continue  # what the compiler itself does wrong is another finding
            line = reduced_failure(Reduce(settings, s, failure))
            told = line["failure"]["message"]
            raise AssertionError(
                f"the pass {name} is wrong: {failure.code}\n{told}\n\n{test_text(line, settings.as_json())}"
            )
    return compared


@contextmanager
def placed(step: Any, after: str = "", instead_of: str = "") -> Iterator[str]:
    """The pipeline with one more pass, or with another in the place of one, inside; the name of the pass."""
    from ..passes import pipeline
    from ..passes.base import Pass

    before = pipeline.PIPELINE
    if instead_of:
        old = pipeline.by_name(instead_of)
        at, rest = before.index(old), before.index(old) + 1
        new = Pass(_named(step, old.name), old.source, old.target, old.needed, old.permission)
    else:
        if not isinstance(step, Pass) and not after:
            raise error(
                "E006", what="the pass is a function without languages", how="declare it with @nanopass, or say after="
            )
        at = rest = before.index(pipeline.by_name(after)) + 1 if after else _first(before, step.source)
        level = step.source if isinstance(step, Pass) else before[at - 1].target
        if level.name not in ("logical", "normal", "grouped", "blocked", "gpu"):
            raise error("E006", what=f"no machine executes {level.name} programs", how="check passes up to gpu")
        new = step if isinstance(step, Pass) else Pass(_named(step, step.__name__), level, level)
    pipeline.PIPELINE = (*before[:at], new, *before[rest:])
    try:
        yield new.name
    finally:
        pipeline.PIPELINE = before


def _first(steps: Sequence[Any], source: Any) -> int:
    """Where programs of a language begin."""
    if steps[0].source is source:
        return 0
    return next(i for i, p in enumerate(steps) if p.target is source and p.source is not source) + 1


def _named(step: Any, name: str) -> Callable[..., Any]:
    """The function of a pass, under a name."""
    function = getattr(step, "function", step)

    @functools.wraps(function)
    def renamed(*args: Any, **options: Any) -> Any:
        return function(*args, **options)

    renamed.__name__ = name
    return renamed


# ---- rules


def check_rules(*given: Any) -> None:
    """AssertionError with a program that shows it for a rule that is wrong.

    given:  rules (`intent_np.rules.pattern.rule`), or paths of files that declare RULES
    """
    from ..rules.loading import load
    from ..rules.pattern import Rule
    from ..rules.rule_set import RuleSet, Table
    from ..rules.tables import BUILTIN
    from .rules import needed
    from .rules.verdict import judge

    needed()
    rules = tuple(r for r in given if isinstance(r, Rule))
    tables = [Table("given", rules)] if rules else []
    tables += [load(str(path)) for path in given if not isinstance(path, Rule)]
    names = [r.name for t in tables for r in t.rules]
    everything: RuleSet = BUILTIN.extended(*tables)
    for verdict in judge(everything, names):
        if not verdict.ok:
            raise AssertionError(f"the rule {verdict.rule} is wrong: {verdict.detail}\n\n{verdict.program}")


__all__ = ["check_pass", "check_rules", "equivalent", "placed"]
