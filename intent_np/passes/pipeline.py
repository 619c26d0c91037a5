"""The table of contents of the compiler: every pass, in order.

Run it all, or stop after a pass; print, check or time after any; disable what is optional; set any option.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..errors import error
from ..terms.language import Language
from .apply_combines import apply_combines
from .base import Pass
from .bind_class import bind_class
from .block_axes import block_axes
from .choose_fills import choose_fills
from .choose_launch import choose_launch
from .choose_plan import choose_plan
from .compose_shapes import compose_shapes
from .contract_fma import contract_fma
from .copy_first import copy_first
from .drop_unread import drop_unread
from .emit import emit
from .expand_contractions import expand_contractions
from .find_in_place import find_in_place
from .form_groups import form_groups
from .forward_stores import forward_stores
from .inline_calls import inline_calls
from .keep_prefixes import keep_prefixes
from .keep_states import keep_states
from .keep_sums import keep_sums
from .lay_out_buffers import lay_out_buffers
from .legalize_dot import legalize_dot
from .legalize_reduce import legalize_reduce
from .legalize_updates import legalize_updates
from .lower_to_coordinates import lower_to_coordinates
from .lower_to_triton import lower_to_triton
from .make_abi import make_abi
from .name_repeated import name_repeated
from .narrow_ranges import narrow_ranges
from .online import online
from .order_fragments import order_fragments
from .order_programs import order_programs
from .rebind_carries import rebind_carries
from .report_debug import report_debug
from .share_traversals import share_traversals
from .split_reductions import split_reductions
from .spread_members import spread_members
from .stage_stores import stage_stores
from .start_apart import start_apart
from .step_algebra import fold_exponentials, scale_out_of_maximum
from .step_members import step_members
from .verify_memory import verify_memory

PIPELINE: tuple[Pass, ...] = (
    # logical
    inline_calls,
    report_debug,
    compose_shapes,
    lower_to_coordinates,
    # normal
    forward_stores,
    drop_unread,
    copy_first,
    find_in_place,
    bind_class,
    keep_states,
    step_members,
    keep_prefixes,
    stage_stores,
    form_groups,
    # grouped
    spread_members,
    split_reductions,
    choose_plan,
    online,
    expand_contractions,
    block_axes,
    # blocked
    lay_out_buffers,
    order_programs,
    choose_fills,
    share_traversals,
    narrow_ranges,
    apply_combines,
    scale_out_of_maximum,
    fold_exponentials,
    verify_memory,
    emit,
    # gpu
    contract_fma,
    legalize_dot,
    legalize_reduce,
    legalize_updates,
    order_fragments,
    lower_to_triton,
    # triton
    rebind_carries,
    name_repeated,
    keep_sums,
    start_apart,
    choose_launch,
    make_abi,
)


@dataclass(slots=True)
class Trace:
    """What a run recorded: the program after each pass, and each pass' seconds of the process, whatever runs beside."""

    programs: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


_added: ContextVar[tuple[Pass, ...]] = ContextVar("passes from outside", default=())


@contextmanager
def adding(passes: tuple[Pass, ...]) -> Iterator[None]:
    """Put passes from outside in force for what runs inside, each behind the pass that it names."""
    token = _added.set(passes)
    try:
        yield
    finally:
        _added.reset(token)


def steps() -> tuple[Pass, ...]:
    """The pipeline with the passes from outside that are in force."""
    return extended(PIPELINE, _added.get())


def extended(pipeline: tuple[Pass, ...], added: tuple[Pass, ...]) -> tuple[Pass, ...]:
    """A pipeline with more passes, each behind the pass that it names and in front of those added before it there.

    Raises E807 where one has no place: no pass of that name in front, another language there, or a name that is taken.
    """
    found = list(pipeline)
    for p in added:
        names = [q.name for q in found]
        at = names.index(p.after) + 1 if p.after in names else 0
        if not at:
            raise error("E807", name=p.name, found=f"after={p.after!r}", candidates=names)
        if p.name in names:
            raise error("E807", name=p.name, found="another pass of this name")
        if not found[at - 1].target is p.source is p.target:
            what = f"{p.source.name} to {p.target.name} behind {p.after}, which gives {found[at - 1].target.name}"
            raise error("E807", name=p.name, found=f"a pass from {what}")
        found.insert(at, p)
    return tuple(found)


def by_name(name: str, among: tuple[Pass, ...] = ()) -> Pass:
    """The pass called `name`, of these or of the pipeline in force; E703 with close names otherwise."""
    among = among or steps()
    for p in among:
        if p.name == name:
            return p
    raise error("E703", name=name, candidates=[p.name for p in among])


def run(
    program: Any,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    disable: frozenset[str] | set[str] = frozenset(),
    stop_after: str | None = None,
    check: bool = False,
    observe: Callable[[Pass, Any], None] | None = None,
    trace: Trace | None = None,
    after: str | None = None,
) -> Any:
    """Take `program` through the pipeline, from the first pass of its language, or from behind the pass `after`.

    `options[pass][key]` sets options; `disable` skips optional passes; `observe(pass, program)` sees each result;
    `check` verifies each result against its language and raises the first violation; E710 where `stop_after` is no
    pass that lies ahead.
    """
    options = options or {}
    for name in (*options, *disable, *((stop_after,) if stop_after else ()), *((after,) if after else ())):
        by_name(name)
    for name, given in options.items():  # those of passes that are not reached as well
        by_name(name).judge(given)
    language = language_of(program)
    known = steps()
    begin = known.index(by_name(after)) + 1 if after else 0
    begin = next((i for i, p in enumerate(known) if i >= begin and p.source is language), len(known))
    rest = known[begin:]
    if stop_after and by_name(stop_after) not in rest:
        raise error("E710", name=stop_after, found=f"a {language.name} program{f' behind {after}' if after else ''}")
    for p in rest:
        if p.source is not language:
            continue
        if p.name in disable:
            if not p.optional:
                raise error("E706", name=p.name, found=f"{p.name} {p.needed}")
        else:
            start = time.process_time()
            program = p(program, **options.get(p.name, {}))
            if trace is not None:
                trace.seconds[p.name] = time.process_time() - start
                trace.programs[p.name] = program
            if (check or p.after) and (problems := p.target.check(program)):  # a pass from outside is always checked
                raise error(
                    "E702",
                    language=p.target.name,
                    found=f"after {p.name}: {problems[0]}",
                    detail="\n".join(problems[:8]),
                )
            if observe:
                observe(p, program)
        language = p.target
        if p.name == stop_after:
            break
    return program


def language_of(program: Any) -> Language:
    """The language whose programs have this root."""
    for p in PIPELINE:
        for language in (p.source, p.target):
            if language.root is type(program):
                return language
    raise TypeError(f"{type(program).__name__} is the root of no language")
