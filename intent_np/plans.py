"""What the host has to know of a kernel and of a variant, read off their programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .language.signature import Scalar, ViewParameter, shape_terms
from .passes.blocks import sides
from .passes.groups import groups
from .passes.keep_prefixes import keep_prefixes
from .passes.keep_states import keep_states, too_long
from .passes.report_debug import reported
from .passes.roles import axes, resident_limit
from .passes.split_reductions import found
from .passes.step_members import step_members
from .rules.magnitude import large_indices
from .rules.simplify import substitute
from .runtime.classes import RESIDENT_LIMIT
from .runtime.debug import Statement
from .runtime.plan import Argument, KernelPlan, ScalarPlan, VariantClass, VariantPlan, ViewPlan
from .target import Target
from .terms.core import arena, find
from .terms.index import Extent, Param, Physical, Stride, Value, const, is_const
from .terms.launch import CopyArgument, Launch, PointerArgument, WorkspaceArgument, signature
from .terms.logical import Assert, LogicalProgram, element, shape_of
from .terms.normal import Contract, Load, Program, Region, View, processors_of, same_arrays
from .terms.normal import Target as BoundTarget
from .terms.text import Printer

STRIDED = 1 << 20
"""Instances of a launch that has more points than a grid may have: many more than a device runs at once."""

UNBOUNDED = str(2**63)  # the bound of an index that has none


def expression(t: Value) -> str:
    """A launch expression as text; physical parameters are the numbers that they are bound to."""
    blocks = {p: const(p.value) for p in find(t, Physical)}
    t = substitute(t, blocks, everywhere=True)
    printer = Printer(t, share=False)
    # the host's names, which the text form may have to change since some are its words
    printer.names = {x: x.name for x in find(t, (Extent, Param, Stride))}  # type: ignore[arg-type]
    return printer.expression(t, 0, 0)


def target_term(target: Target) -> BoundTarget:
    """What passes may ask about the target; part of the program from the start."""
    return BoundTarget(target.name, target.compute_capability, target.sms, target.shared_per_block)


def kernel_plan(
    kernel: Any, constexprs: Mapping[str, Any], program: Program | None, logical: LogicalProgram
) -> KernelPlan:
    """The kernel as its caller sees it; `program` is its normal form, None for a target that is not lowered to one."""
    views = {v.name: v for v in logical.parameters if isinstance(v, View)}
    summed: dict[str, set[int]] = {}
    for t in find(() if program is None else program, Contract):
        for load in find((t.left, t.right), Load):
            dims = {d for d, i in enumerate(load.index) if t.axis in i.lanes}
            summed[load.view.name] = summed.get(load.view.name, set()) | dims
    parameters: list[ViewPlan | ScalarPlan] = []
    for p in kernel.parameters:
        if isinstance(p, ViewParameter):
            limits = p.constraints
            strides = tuple(None if s is None else str(s) for s in limits.strides or ())
            declared = shape_terms(p, constexprs)
            shape = tuple(
                str(e) if now is before else expression(now)  # where I.require_equal made it another extent
                for e, before, now in zip(p.shape, declared, views[p.name].shape, strict=True)
            )
            mode: Any = p.mode
            sums = tuple(sorted(summed.get(p.name, ())))
            parameters.append(
                ViewPlan(p.name, p.dtype.name, mode, shape, strides, limits.alias or "", limits.noalias, sums)
            )
        elif isinstance(p, Scalar):
            parameters.append(ScalarPlan(p.name, p.dtype.name))
    for v in () if program is None else program.parameters:  # what debug statements report in
        if isinstance(v, View) and v.mode == "report":
            parameters.append(ViewPlan(v.name, v.dtype.name, "inout", tuple(map(expression, v.shape))))
    values = {n: getattr(v, "name", v) for n, v in constexprs.items()}
    if program is None:
        return KernelPlan(kernel.name, tuple(parameters), values)
    return KernelPlan(
        kernel.name,
        tuple(parameters),
        values,
        resident=resident_extents(program),
        short=short_extents(program),
        split=splitting_calls(program),
        indices=tuple(UNBOUNDED if t is None else expression(t) for t in large_indices(program.effects)),
        workspaces=tuple(tuple(map(expression, v.shape)) for v in _workspaces(program)),
    )


def debug_statements(before: LogicalProgram, program: LogicalProgram) -> tuple[Statement, ...]:
    """What the host has to know of the debug statements that a program reports, which were those of `before`."""
    views = [v for v in program.parameters if isinstance(v, View) and v.mode == "report"]
    if not views:
        return ()
    names = arena().names
    found = []
    for site in reported(before, views[-1].shape[-1].value).sites:  # type: ignore[attr-defined]
        loops = tuple((a.place, tuple(_called(c, names) for c in a.coordinates)) for a in site.around)
        values = tuple((element(v.type).name, len(shape_of(v))) for v in getattr(site.statement, "values", ()))
        span = next(iter(arena().spans.get(site.statement, ())), None)
        kind = "assert" if isinstance(site.statement, Assert) else "print"
        found.append(Statement(kind, site.statement.text, span, loops, site.place, values))
    return tuple(found)


def _called(coordinate: Value, names: Mapping[Any, str]) -> str:
    return names.get(coordinate, names.get(getattr(coordinate, "domain", coordinate), "point"))


def _workspaces(program: Program) -> Iterator[View]:
    """Memory of the kernel's own, with what passes keep in it, which short extents need not."""
    states = [memory.view for memory in too_long(program).values()]
    kept = keep_prefixes(step_members(keep_states(program) if states else program))
    own = [v for v in program.parameters if isinstance(v, View) and v.mode == "workspace"] + states
    yield from own
    known = {v.shape for v in own}
    yield from (v for v in kept.parameters if isinstance(v, View) and v.mode == "workspace" and v.shape not in known)


def resident_extents(program: Program) -> tuple[str, ...]:
    """Extents of inner axes that a fragment can hold whole, so that their length matters to the code."""
    names = [
        a.hi.name
        for g in groups(program.effects)
        for a in axes(g.effects)
        if a not in g.workset and isinstance(a.hi, Extent) and is_const(a.lo, 0)
        and resident_limit(a, g.effects) == RESIDENT_LIMIT
    ]  # fmt: skip
    # what is carried in a fragment where it is short
    held = (a for memory in too_long(program).values() for a in memory.inner)
    names += [a.hi.name for a in held if isinstance(a.hi, Extent) and is_const(a.lo, 0)]
    return tuple(dict.fromkeys(names))


def short_extents(program: Program) -> tuple[str, ...]:
    """Extents of the rows and columns of a matrix product, a few of which ask for other blocks than many."""
    products = [(g, t) for g in groups(program.effects) for t in find(g.effects, Contract)]
    if any(find(program.effects, Region)) or len(products) != 1:
        return ()
    ((group, product),) = products
    both = sides(group, product)
    names = [
        a.hi.name
        for a in both
        if a is not None and a in group.workset and isinstance(a.hi, Extent) and is_const(a.lo, 0)
    ]
    return tuple(dict.fromkeys(names)) if None not in both else ()


def splitting_calls(program: Program) -> tuple[str, ...]:
    """For each group whose reductions could be split among instances, whether that is worth it, as an expression."""
    processors = processors_of(program.target)
    splits = (found(g) for g in groups(program.effects))
    worth = (s.pays(processors) for s in splits if s is not None)
    return tuple(expression(w) for w in worth if not is_const(w, False))


def class_options(plan: KernelPlan, holds: VariantClass) -> dict[str, dict[str, Any]]:
    """The options of passes for a class."""
    return {
        "bind_class": bound_class(plan, holds),
        "split_reductions": {"split": holds.split},
        "lower_to_triton": {"index_bits": holds.index_bits, "instances": STRIDED if holds.strided else 0},
    }


def bound_class(plan: KernelPlan, holds: VariantClass) -> dict[str, Any]:
    """The options of `bind_class` for a class."""
    unit = {name: dim for name, dim in holds.unit if dim is not None}
    return {
        "unit": unit,
        "aligned": {v.name: holds.align_of(v) for v in plan.views if v.name in unit},
        "bounds": {name: bound for name, bound in holds.bucket if bound is not None},
        "multiples": dict(holds.divisible),
    }


def arguments(launch: Launch) -> tuple[Argument, ...]:
    """The runtime arguments of the device function."""
    types = dict(signature(launch))
    out = []
    for a in launch.arguments:
        if isinstance(a, PointerArgument):
            out.append(Argument(a.name, "pointer", a.view.name, types[a.name]))
        elif isinstance(a, CopyArgument):
            out.append(Argument(a.name, "copy", a.view.source, types[a.name]))
        elif isinstance(a, WorkspaceArgument):
            kind: Any = "counter" if a.zeroed else "workspace"
            out.append(Argument(a.name, kind, expression(a.size), types[a.name]))
        else:
            out.append(Argument(a.name, "scalar", expression(a.value), types[a.name]))  # type: ignore[attr-defined]
    return tuple(out)


def variant_plan(launch: Launch, holds: VariantClass, compiled: Any, permitted: dict[str, list[int]]) -> VariantPlan:
    """How a variant is launched, from its ABI and what the lower compiler made of it; permissions that it uses."""
    return VariantPlan(
        holds=holds,
        entry=compiled.entry,
        arguments=arguments(launch),
        grid=tuple(expression(g) for g in launch.grid),
        num_warps=compiled.num_warps,
        num_stages=compiled.num_stages,
        shared_bytes=compiled.shared_bytes,
        scratch_bytes=compiled.scratch_bytes,
        slack=max((p.value for p in launch.constexprs), default=0),
        identical=same_arrays(a.view for a in launch.arguments if isinstance(a, PointerArgument)),
        facts={
            "registers": compiled.registers,
            "stack": compiled.stack_bytes,
            **compiled.metadata,
            "permitted": permitted,
        },
    )
