"""The arguments of a call against the kernel's declaration: everything is checked before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from intent_np.errors import IntentError, counted, error
from intent_np.runtime.arrays import ACCEPTED, CARRIERS, HOST, ArrayInfo, Foreign, adopt, library_of
from intent_np.runtime.classes import CallFacts, ViewFacts
from intent_np.runtime.expressions import Expression, expression
from intent_np.runtime.plan import KernelPlan, ScalarPlan, ViewPlan
from intent_np.runtime.scalars import scalar_value


@dataclass(frozen=True, slots=True)
class Call:
    """The bound arguments of one call.

    arrays:   by view name; without the outputs that are yet to be allocated
    scalars:  by name: Python int, float or bool
    extents:  by name, the integer constexprs included
    device:   CUDA device of the arrays, or `HOST` when all are in host memory
    """

    kernel: KernelPlan
    arrays: Mapping[str, ArrayInfo]
    scalars: Mapping[str, int | float]
    extents: Mapping[str, int]
    device: int

    def facts(self) -> CallFacts:
        """What the class of the call depends on."""
        views = {}
        for view in self.kernel.views:
            info = self.arrays[view.name]
            steps = (
                step // view.itemsize if extent > 1 else 0
                for extent, step in zip(info.shape, info.strides, strict=True)
            )
            views[view.name] = ViewFacts(info.shape, tuple(steps), info.pointer & 15)
        known = self._known()
        indices = tuple(expression(text)(known) for text in self.kernel.indices)
        own = tuple(tuple(expression(text)(known) for text in shape) for shape in self.kernel.workspaces)
        split = any(expression(text)(known) for text in self.kernel.split)
        return CallFacts(views, self.extents, indices, own, split)

    def values(self) -> dict[str, int]:
        """What expressions may name: extents, integer scalars, and strides in elements as `x_s0`."""
        found = self._known()
        for name, facts in self.facts().views.items():
            found |= {f"{name}_s{dim}": stride for dim, stride in enumerate(facts.strides)}
        return found

    def _known(self) -> dict[str, int]:
        """Extents and integer scalars."""
        return dict(self.extents) | {name: value for name, value in self.scalars.items() if isinstance(value, int)}


def bind(kernel: KernelPlan, arguments: Sequence[Any], *, outputs: bool = True) -> Call:
    """Bind positional arguments.  With `outputs` false, those of mode `out` are left out, as in `run`.

    Raises `CallError` E401 to E417 naming the parameter.
    """
    wanted = kernel.parameters if outputs else kernel.inputs
    if len(arguments) != len(wanted):
        raise mismatch(kernel, arguments, outputs=outputs)
    arrays: dict[str, ArrayInfo] = {}
    scalars: dict[str, int | float] = {}
    for parameter, argument in zip(wanted, arguments, strict=True):
        if isinstance(parameter, ScalarPlan):
            scalars[parameter.name] = scalar_value(parameter, argument)
        else:
            arrays[parameter.name] = _array(parameter, argument)
    devices = {info.device for info in arrays.values()} - {HOST}
    device = next((info.device for info in arrays.values() if info.device != HOST), HOST)
    if len(devices) > 1:
        name = next(name for name, info in arrays.items() if info.device not in (HOST, device))
        raise error("E405", parameter=name, expected=f"cuda:{device}", found=f"cuda:{arrays[name].device}")
    extents = _extents(kernel, arrays)
    call = Call(kernel, arrays, scalars, extents, device)
    _check_strides(call)
    return call


def mismatch(
    kernel: KernelPlan, arguments: Sequence[Any], named: Mapping[str, Any] = MappingProxyType({}), outputs: bool = True
) -> IntentError:
    """E401 for too few or too many arguments, or for some by name."""
    wanted = kernel.parameters if outputs else kernel.inputs
    signature = kernel.signature if outputs else f"run({', '.join(map(str, kernel.inputs))})"
    takes, fix = counted(len(wanted), "argument"), ""
    if named:
        takes, signature = f"{takes} by position", f"{signature}, all by position; @intent.jit takes names"
    constant = [n for n in named if n in kernel.constexprs] if named else list(kernel.constexprs)
    if constant and len(arguments) >= len(wanted):
        fix = f"choose {', '.join(constant)} where it is compiled: intent.compile({kernel.name}, constexprs={{...}})"
    found = f"{', '.join(named)} by name"
    return error(
        "E401",
        kernel=kernel.name,
        takes=takes,
        given=found if named else len(arguments),
        signature=signature,
        found=found if named else "",
        fix=fix,
    )


def adopt_arguments(
    parameters: Sequence[ViewPlan | ScalarPlan], arguments: Sequence[Any]
) -> tuple[list[Any], Foreign | None]:
    """The arguments with arrays of unknown libraries as NumPy or CuPy arrays of the same memory.

    Also the library of the first array, if it is one of those.  What is no array is left for `bind` to refuse.
    """
    adopted = list(arguments)
    homes: list[Foreign | None] = []
    for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=False)):
        if isinstance(parameter, ScalarPlan) or (found := adopt(argument)) is None:
            continue
        adopted[index], home = found
        homes.append(home)
        if home is not None and parameter.written and not home.writable(argument):
            raise error("E406", parameter=parameter.name, found=f"a read-only {home.name} array")
    return adopted, homes[0] if homes else None


def output_shapes(call: Call, extents: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shapes of the outputs that a call leaves out; `extents` gives those that nothing else names.

    Raises `CallError` E410 when one is not known, E404 when `extents` contradicts an array.
    """
    if not isinstance(extents, Mapping):
        what = f"extents is a mapping, not {extents!r}"
        raise error("E006", what=what, how="write extents={'N': 1024}")
    known = dict(call.extents)
    named = {n for view in call.kernel.views for text in view.shape for n in expression(text).names}
    for name, value in extents.items():
        if name not in named:
            found = f"extents={{'{name}': ...}}; the extents are {', '.join(sorted(named)) or 'none'}"
            raise error("E410", name=name, found=found, fix="leave it out, or correct the name")
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < 2**63:
            found, fix = f"extents={{'{name}': {value!r}}}", "give it a whole number of 0 or more"
            raise error("E410", name=name, expected="a whole number of 0 or more", found=found, fix=fix)
        if known.setdefault(name, int(value)) != value:
            found, fix = f"extents={{'{name}': {value}}}", f"leave {name} out of extents: the arrays say it"
            raise error("E412", kernel=call.kernel.name, expected=f"{name} = {known[name]}", found=found, fix=fix)
    shapes = {}
    for view in call.kernel.views:
        if view.name in call.arrays:
            continue
        try:
            shapes[view.name] = tuple(expression(text)(known) for text in view.shape)
        except KeyError as missing:
            raise error("E410", name=missing.args[0], parameter=view.name) from None
    return shapes


def _array(view: ViewPlan, argument: Any) -> ArrayInfo:
    library = library_of(argument)
    if library is None:
        raise error("E409", parameter=view.name, found=type(argument).__name__)
    if isinstance(argument, np.ma.MaskedArray):
        fix = "pass what stands below the mask, array.data, or array.filled(value)"
        raise error("E409", parameter=view.name, found="a masked array, whose mask a kernel would not see", fix=fix)
    info = library.read(argument)
    carried = library.carries_bits and info.dtype == CARRIERS.get(view.dtype)
    if info.dtype not in ACCEPTED[view.dtype] and not carried:
        raise error("E402", parameter=view.name, expected=view.dtype, found=info.dtype)
    if len(info.shape) != len(view.shape):
        raise error(
            "E403",
            parameter=view.name,
            expected=f"rank {len(view.shape)}, {view}",
            found=f"rank {len(info.shape)}, shape {info.shape}",
        )
    if view.written and not info.writable:
        raise error("E406", parameter=view.name, found=f"a read-only {library.name} array")
    # Nothing is read at the strides of an array without elements, so they may be anything.
    steps = [step for extent, step in zip(info.shape, info.strides, strict=True) if extent > 1 and 0 not in info.shape]
    if info.pointer % view.itemsize or any(step % view.itemsize for step in steps):
        raise error(
            "E413",
            parameter=view.name,
            expected=f"an address and strides that {view.itemsize} bytes divide",
            found=f"address {info.pointer:#x}, strides {info.strides} bytes",
        )
    if view.written and 0 not in info.shape and _overlaps_itself(info.shape, info.strides, view.itemsize):
        raise error("E414", parameter=view.name, found=f"shape {info.shape}, strides {info.strides} bytes")
    return info


def _overlaps_itself(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether two elements may share memory: some axis steps less far than the finer axes reach together.

    Exact for what slicing and transposing make; an interleaving made by hand may be refused.
    """
    reach = itemsize
    for step, extent in sorted((abs(step), extent) for step, extent in zip(strides, shape, strict=True) if extent > 1):
        if step < reach:
            return True
        reach += step * (extent - 1)
    return False


def _extents(kernel: KernelPlan, arrays: Mapping[str, ArrayInfo]) -> dict[str, int]:
    """Bind the names in shapes: plain names first, then those that an expression determines; check the rest."""
    known = {
        name: int(value)
        for name, value in kernel.constexprs.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }
    origin = dict.fromkeys(known, "a constexpr")
    later = []
    for name, info in arrays.items():
        for axis, (text, extent) in enumerate(zip(kernel.view(name).shape, info.shape, strict=True)):
            if not text.isidentifier():
                later.append((name, axis, text, extent))
            elif text not in known:
                known[text] = extent
                origin[text] = f"axis {axis} of {name}"
            elif known[text] != extent:
                expected = f"{text} = {known[text]}, from {origin[text]}"
                raise error("E404", parameter=name, axis=axis, expected=expected, found=str(extent))
    for name, axis, text, extent in later:
        shape = expression(text)
        if solved := shape.solve(extent, known):
            missing, value = solved
            if value >= 0:
                known[missing] = value
                origin[missing] = f"axis {axis} of {name}"
        if not shape.names <= known.keys():
            _solvable(shape, known, name, axis, extent)
            continue  # an output names the rest, or `extents` of `run`
        if shape(known) != extent:
            given = ", ".join(f"{part} = {known[part]}" for part in sorted(shape.names))
            expected = f"{text} = {shape(known)}, for {given}" if given else text
            raise error("E404", parameter=name, axis=axis, expected=expected, found=str(extent))
    return known


def _solvable(shape: Expression, known: Mapping[str, int], name: str, axis: int, extent: int) -> None:
    """E404 where no value of the one name that is missing gives the extent: `2 * N` of five elements."""
    missing = shape.names - known.keys()
    if len(missing) != 1:
        return
    (unknown,) = missing
    try:
        start, first, second, far = (shape({**known, unknown: n}) for n in (0, 1, 2, 1_000_003))
    except ArithmeticError:
        return
    step = first - start
    straight = step > 0 and second == start + 2 * step and far == start + 1_000_003 * step
    if straight and (extent < start or (extent - start) % step):
        expected = f"{shape.text}, for some {unknown} of 0 or more"
        raise error("E404", parameter=name, axis=axis, expected=expected, found=str(extent))


def _check_strides(call: Call) -> None:
    values: dict[str, int] = dict(call.extents)
    for view in call.kernel.views:
        if not view.strides or view.name not in call.arrays:
            continue
        info = call.arrays[view.name]
        for axis, (text, extent, step) in enumerate(zip(view.strides, info.shape, info.strides, strict=True)):
            if text is None or extent <= 1 or 0 in info.shape:
                continue
            # A name that nothing else binds is the stride that comes first under it.
            promised = values.setdefault(text, step // view.itemsize) if text.isidentifier() else None
            promised = expression(text)(values) if promised is None else promised
            if promised * view.itemsize != step:
                raise error(
                    "E407",
                    parameter=view.name,
                    axis=axis,
                    expected=("" if text == str(promised) else f"{text} = ") + counted(promised, "element"),
                    found=counted(step // view.itemsize, "element"),
                )
