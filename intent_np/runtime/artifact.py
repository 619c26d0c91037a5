"""What `compile` returns: a kernel bound to a target, ready to be called, printed and saved."""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from intent_np.errors import Remark, Span, error
from intent_np.runtime.arrays import ArrayInfo, Library
from intent_np.runtime.binding import adopt_arguments, bind, mismatch, output_shapes
from intent_np.runtime.plan import KernelPlan, VariantPlan
from intent_np.runtime.variants import Variant
from intent_np.target import Target

_log = logging.getLogger("intent_np")


class Artifact(ABC):
    """A compiled kernel.

        artifact(x, y)                                 all parameters in order; outputs are written in place
        y = artifact.run(x)                            outputs are allocated, in the library of the first array
        launch = artifact.prepare(x, y); launch()      for hot loops and CUDA graphs

    Calls may come from several threads.  Wrong arguments raise `CallError` before anything is written.
    """

    def __init__(
        self,
        kernel: KernelPlan,
        target: Target,
        *,
        texts: Mapping[str, str] | None = None,
        remarks: Sequence[Remark] = (),
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """texts: levels that all variants share, by name; facts: what it was made by and from, as JSON values: the
        version `intent_np`, the `options` that shaped it, and `source`, a digest of the logical program."""
        self.kernel, self.target = kernel, target
        self.texts = dict(texts or {})
        self.facts = dict(facts or {})
        self.remarks = list(remarks)

    # ---- calls

    @abstractmethod
    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Run the kernel on all its parameters, in declaration order without constexprs; E401 for names."""

    @abstractmethod
    def prepare(self, *arguments: Any, **named: Any) -> Callable[[], None]:
        """Check and bind the arguments once; the result runs the kernel on the same arrays again.

        It holds the arrays, and goes to the stream that is current when it is called.
        """

    def run(self, *arguments: Any, extents: Mapping[str, int] | None = None, **named: Any) -> Any:
        """Run with outputs allocated: returns none, one, or a tuple of them in declaration order.

        arguments:  all parameters but those of mode `out`
        extents:    values of extents that only outputs name

        Raises `CallError` before anything is launched: E401 for names, and what a call raises.
        """
        if named:
            raise mismatch(self.kernel, arguments, named, outputs=False)
        adopted, home = adopt_arguments(self.kernel.inputs, arguments)
        outputs = self._allocation(adopted, extents or {})()
        given, made = iter(adopted), iter(outputs)
        self(*[next(made) if one.mode == "out" else next(given) for one in self.kernel.parameters])
        if home is not None:
            outputs = [home.returned(one) for one in outputs]
        return None if not outputs else outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _allocation(self, arguments: Sequence[Any], extents: Mapping[str, int]) -> Callable[[], list[Any]]:
        """What allocates the outputs for the other arguments of a call; it does not hold them."""
        call = bind(self.kernel, arguments, outputs=False)
        shapes = output_shapes(call, extents)
        library, device = self._allocator(next(iter(call.arrays.values()), None))
        # An output holds small floats as an input of its dtype does: as such, or as bits.
        held = {self.kernel.view(name).dtype: info.dtype for name, info in call.arrays.items()}
        wanted = {
            one.name: (shapes[one.name], one.dtype, device, held.get(one.dtype))
            for one in self.kernel.views
            if one.mode == "out"
        }
        return lambda: [_allocated(library, name, *one) for name, one in wanted.items()]

    @abstractmethod
    def _allocator(self, first: ArrayInfo | None) -> tuple[Library, int]:
        """The library and device of outputs, from the first array of a call if it has one."""

    # ---- texts

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants compiled so far."""
        return ()

    @property
    def levels(self) -> tuple[str, ...]:
        """Names that `ir` takes, in the order of the pipeline."""
        shown = self._shown
        return (*self.texts, *(shown.texts if shown else ()), *(("source", "ptx") if shown else ()))

    @property
    def source(self) -> str:
        """The generated module of the first variant that is not the generic one; empty where nothing is generated."""
        return self._shown.source if self._shown else ""

    def ir(self, level: str) -> str:
        """The program at one level, as text; `LanguageUseError` E704 if there is no such level."""
        shown = self._shown
        everything = dict(self.texts)
        if shown is not None:
            everything |= {**shown.texts, "source": shown.source, "ptx": shown.ptx}
        if level not in everything:
            fix = "use one of the levels"
            if not self.target.is_gpu:
                fix += "; a GPU target, such as sm_90, has those behind gpu as well, source and ptx among them"
            raise error("E704", name=level, expected=", ".join(everything), fix=fix, candidates=everything)
        return everything[level]

    def explain(self) -> str:
        """What was compiled, and what was said about it."""
        lines = [self.kernel.signature, f"target {self.target}"]
        if self.made_by:
            lines.append(f"made by {self.made_by}")
        for variant in self.variants:
            plan = variant.plan
            lines.append(f"variant {plan.name}: grid {' * '.join(plan.grid)}, {plan.num_warps} warps")
            lines += [f"    {line}" for line in _described(plan)]
        lines += _permitted(self.facts.get("permitted", {}))
        lines += [remark.render() for remark in self.remarks]
        return "\n".join(lines)

    @property
    def made_by(self) -> str:
        """The compilers that made it, with their versions: `intent_np 0.1.0, triton 3.6.0, ptxas 12.8`."""
        facts = self._shown.plan.facts if self._shown else {}
        named = {"intent_np": self.facts.get("intent_np"), **{name: facts.get(name) for name in ("triton", "ptxas")}}
        return ", ".join(f"{name} {version}" for name, version in named.items() if version)

    @property
    def _shown(self) -> Variant | None:
        """The variant that stands for all: the first that is made for a class, else the generic one."""
        return min(self.variants, key=lambda one: one.plan.holds.is_generic, default=None)

    # ---- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a folder of readable files, replacing an artifact that is there; all of it or nothing."""
        from intent_np.runtime.storage import save

        save(self, path)

    def remark(self, code: str, text: str, span: Span | None = None) -> None:
        """Record and log a remark of this artifact, once for each code and place."""
        if all((old.code, old.span) != (code, span) for old in self.remarks):
            made = Remark(code, text, span)
            self.remarks.append(made)
            _log.warning("%s: %s", self.kernel.name, made.render())

    def __repr__(self) -> str:
        count = len(self.variants)
        held = f", {count} variant{'s' if count != 1 else ''}" if self.target.is_gpu else ""
        return f"<artifact {self.kernel.signature} for {self.target}{held}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """For notebooks: the explanation, and the generated source."""
        return {
            "text/plain": repr(self),
            "text/markdown": f"```\n{self.explain()}\n```\n\n```python\n{self.source}\n```",
        }


def _allocated(library: Library, name: str, shape: tuple[int, ...], *rest: Any) -> Any:
    """A new array for an output, or E419."""
    try:
        return library.empty(shape, *rest)
    except (MemoryError, ValueError, OverflowError) as problem:
        raise error("E419", parameter=name, found=f"shape {shape}", detail=str(problem)) from None


def _permitted(used: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Each permission that was taken up, with the author's lines that it was for."""
    for name, lines in used.items():
        yield f"{name} for line{'s'[: len(lines) > 1]} {', '.join(map(str, lines))}" if lines else f"{name} used"


def _described(plan: VariantPlan) -> Iterator[str]:
    """What a variant promises itself about its calls, and what it uses."""
    holds = plan.holds
    for view, dim in holds.unit:
        yield f"{view}: strides at runtime" if dim is None else f"{view}: axis {dim} contiguous"
    if holds.align > 1:
        yield f"aligned to {holds.align} bytes"
    for extent, by in holds.divisible:
        yield f"{extent} divisible by {by}"
    for extent, bound in holds.bucket:
        yield f"{extent} of any length" if bound is None else f"{extent} at most {bound}"
    for view, output in plan.identical:
        yield f"{view} may be {output}"
    if holds.copied:
        yield f"{', '.join(holds.copied)} copied first, where outputs share their memory"
    yield f"{holds.index_bits}-bit offsets, {plan.shared_bytes} bytes of shared memory a block"
    yield from _permitted(plan.facts.get("permitted", {}))
    if plan.facts:
        yield ", ".join(f"{name} {value}" for name, value in plan.facts.items() if not isinstance(value, dict))
