"""What the compiler tells the host: a kernel's declaration, and for each variant how it is launched.

Plain frozen data, the same in memory and in an artifact's JSON.  Expressions are texts of `expressions`, over
extents, integer scalar parameters and strides in elements (`x_s0` is the first stride of view `x`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

ITEM_BYTES: Final[dict[str, int]] = {
    "bool": 1, "i8": 1, "u8": 1, "f8e4m3fn": 1, "f8e5m2": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2,
    "i32": 4, "u32": 4, "f32": 4, "index": 8, "i64": 8, "u64": 8, "f64": 8,
}  # fmt: skip
"""Bytes of an element of each dtype."""


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """A view parameter.

    shape:    one expression an axis; a plain name binds the extent, anything else is checked against it
    strides:  promised strides in elements, `None` where nothing is promised; empty: no promise at all
    alias:    outputs of one group may be one array, where a variant is right for that
    noalias:  promised not to overlap any view that is written
    summed:   the dimensions that contractions sum over, where the view is an operand of some: its elements are loaded
              many times, by programs that compute much more
    """

    name: str
    dtype: str
    mode: Literal["in", "out", "inout"]
    shape: tuple[str, ...]
    strides: tuple[str | None, ...] = ()
    alias: str = ""
    noalias: bool = False
    summed: tuple[int, ...] = ()

    @property
    def operand(self) -> bool:
        """Whether a contraction reads it."""
        return bool(self.summed)

    @property
    def written(self) -> bool:
        """Whether the kernel may store into it."""
        return self.mode != "in"

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return ITEM_BYTES[self.dtype]

    def __str__(self) -> str:
        return f"{self.name}: {self.mode} {self.dtype}[{', '.join(self.shape)}]"


@dataclass(frozen=True, slots=True)
class ScalarPlan:
    """A scalar parameter, passed by value."""

    name: str
    dtype: str

    @property
    def mode(self) -> Literal["in"]:
        """Only read, as every scalar is."""
        return "in"

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}"


@dataclass(frozen=True)
class KernelPlan:
    """A kernel as its caller sees it, constexprs bound.

    parameters:      in declaration order, without constexprs
    constexprs:      the bound values; integers may be used in shapes
    resident:        extents of axes that variants hold whole in registers: their length is part of the class
    indices:         bounds of index arithmetic beyond extents and addresses, which narrow offsets have to hold
    workspaces:      extents of the memory of the kernel's own, which they have to reach
    short:           extents of axes of a matrix product: that there are few members is part of the class
    split:           expressions, 1 where a call has few instances that go through many members: whether any is, is part
                     of the class
    """

    name: str
    parameters: tuple[ViewPlan | ScalarPlan, ...]
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    resident: tuple[str, ...] = ()
    indices: tuple[str, ...] = ()
    workspaces: tuple[tuple[str, ...], ...] = ()
    short: tuple[str, ...] = ()
    split: tuple[str, ...] = ()

    @functools.cached_property
    def views(self) -> tuple[ViewPlan, ...]:
        """The parameters that are arrays, in order."""
        return tuple(one for one in self.parameters if isinstance(one, ViewPlan))

    @functools.cached_property
    def inputs(self) -> tuple[ViewPlan | ScalarPlan, ...]:
        """The parameters of `run`: all but the outputs that it allocates."""
        return tuple(one for one in self.parameters if one.mode != "out")

    @functools.cached_property
    def contracts(self) -> bool:
        """Whether some view is an operand of a contraction."""
        return any(view.operand for view in self.views)

    @property
    def signature(self) -> str:
        """The parameters as text, for messages."""
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    def view(self, name: str) -> ViewPlan:
        """The view called `name`, which there is."""
        return next(view for view in self.views if view.name == name)


@dataclass(frozen=True, slots=True)
class VariantClass:
    """The calls that one variant is right for.  Mappings are given as sorted pairs, so that a class is a key.

    unit:        view -> the dimension known to have stride 1, or None: all its strides are runtime values
    align:       bytes that divide the pointer and the other strides of every view with a unit dimension; a
                 view without one is aligned to its elements only, and so are those in `loose`
    divisible:   extent -> what is known to divide it; absent is 1
    bucket:      resident extent -> its largest value, or None: any length; absent for a short one that is long
    split:       reductions are split among instances, of which there would be few
    index_bits:  32 when every offset and extent fits a signed 32-bit integer, else 64
    copied:      inputs that share memory with an output in a way that the device code is not made for: the host
                 copies them before the launch.  All other inputs are disjoint from every output, or are the same
                 array as one and the variant is right for that (`VariantPlan.identical`)
    strided:     there are more points than a grid has programs, so that each program takes several
    """

    unit: tuple[tuple[str, int | None], ...]
    align: int = 1
    divisible: tuple[tuple[str, int], ...] = ()
    bucket: tuple[tuple[str, int | None], ...] = ()
    index_bits: Literal[32, 64] = 64
    loose: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    split: bool = False
    strided: bool = False

    def unit_of(self, view: str) -> int | None:
        """The dimension in which a view is contiguous; None where it is in none."""
        return dict(self.unit)[view]

    def align_of(self, view: ViewPlan) -> int:
        """Bytes known to divide the pointer and the strides of `view`, apart from its unit dimension."""
        if self.unit_of(view.name) is None or view.name in self.loose:
            return view.itemsize
        return max(self.align, view.itemsize)

    @property
    def name(self) -> str:
        """A short name, unique among the classes of a kernel, fit for a folder: `a16-x1-y1-N1024-copy_x`.

        A `_` stands for runtime strides, an `e` behind a dimension for alignment to elements.
        """
        copies = "-strided" * self.strided + "".join(f"-copy_{view}" for view in self.copied)
        if self.is_generic:
            return "generic" + copies
        parts = [f"a{self.align}"]
        parts += [f"{view}{'_' if dim is None else dim}{'e' if view in self.loose else ''}" for view, dim in self.unit]
        parts += [f"{extent}{'long' if bound is None else bound}" for extent, bound in self.bucket]
        parts += ["split"] if self.split else []
        return "-".join(parts) + ("-i64" if self.index_bits == 64 else "") + copies

    @property
    def is_generic(self) -> bool:
        """Whether it holds for every call; for every one that needs these copies."""
        unknown = all(dim is None for _, dim in self.unit) and all(bound is None for _, bound in self.bucket)
        return unknown and self.index_bits == 64 and not self.divisible and not self.split


MAX_PROGRAMS: Final = 2**31 - 1
"""Of one launch."""


def generic_class(kernel: KernelPlan) -> VariantClass:
    """The class of all calls."""
    return VariantClass(
        unit=tuple(sorted((view.name, None) for view in kernel.views)),
        bucket=tuple(sorted((name, None) for name in kernel.resident)),
    )


@dataclass(frozen=True, slots=True)
class Argument:
    """One runtime argument of the device function.

    kind:    `pointer` to the view `source`; `copy`: to a copy of the view `source` that is made before each launch;
             `workspace`: to `source` bytes (an expression) of the kernel's own, of any contents; `counter`: of zeros,
             as every launch leaves them; `scalar`: the expression or float parameter `source`
    type:    as Triton spells it: `*fp16`, `i32`, `fp32`
    """

    name: str
    kind: Literal["pointer", "copy", "scalar", "workspace", "counter"]
    source: str
    type: str


@dataclass(frozen=True)
class VariantPlan:
    """How one variant is launched.

    holds:          the calls that it is right for
    entry:          name of the function in the cubin
    arguments:      in order; two scratch pointers follow
    grid:           expressions whose product is the number of programs, at most 2^31 - 1
    num_warps:      a block has 32 times as many threads
    shared_bytes:   dynamic shared memory of a block
    scratch_bytes:  global scratch memory of one program
    slack:          how far past an extent the coordinate of a masked lane may be: the largest block extent
    identical:      `(view, output)` that may be one array: each element is read only by the instance that writes it,
                    and before it does
    facts:          registers; versions and options of the lower compiler
    """

    holds: VariantClass
    entry: str
    arguments: tuple[Argument, ...]
    grid: tuple[str, ...]
    num_warps: int
    num_stages: int = 1
    shared_bytes: int = 0
    scratch_bytes: int = 0
    slack: int = 0
    identical: tuple[tuple[str, str], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the class that the variant is for."""
        return self.holds.name


def to_json(plan: KernelPlan | VariantPlan) -> dict[str, Any]:
    """The plan as JSON values."""
    made: dict[str, Any] = asdict(plan)
    if isinstance(plan, KernelPlan):
        for parameter, values in zip(plan.parameters, made["parameters"], strict=True):
            values["kind"] = "view" if isinstance(parameter, ViewPlan) else "scalar"
    return made


def kernel_from_json(values: Mapping[str, Any]) -> KernelPlan:
    """The inverse of `to_json`; `KeyError` or `TypeError` for anything else."""
    kinds = {"view": ViewPlan, "scalar": ScalarPlan}
    parameters = [
        kinds[one["kind"]](**{name: _frozen(value) for name, value in one.items() if name != "kind"})
        for one in values["parameters"]
    ]
    plain = {name: _frozen(value) for name, value in values.items() if name not in ("parameters", "constexprs")}
    return KernelPlan(parameters=tuple(parameters), constexprs=dict(values["constexprs"]), **plain)


def variant_from_json(values: Mapping[str, Any]) -> VariantPlan:
    """The inverse of `to_json`."""
    holds = VariantClass(**{name: _frozen(value) for name, value in values["holds"].items()})
    arguments = tuple(Argument(**one) for one in values["arguments"])
    plain = {name: _frozen(value) for name, value in values.items() if name not in ("holds", "arguments", "facts")}
    return VariantPlan(holds=holds, arguments=arguments, facts=dict(values["facts"]), **plain)


def _frozen(value: Any) -> Any:
    """JSON arrays are tuples here."""
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value
