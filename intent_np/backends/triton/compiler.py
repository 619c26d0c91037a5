"""Triton source -> PTX -> cubin, ahead of time and without a GPU.

The stages of Triton's compiler are driven one by one rather than through `triton.compile`: no files outside
the working directory, no cache keyed on the whole installation, a place for each failure, and PTX that can be
cleaned of paths before it is assembled.  So equal inputs give equal bytes in any directory and any process.
Compilations share nothing that is written, and may run in several threads; all but the front end runs at once.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from intent_np.backends.triton import ptx as ptx_text
from intent_np.backends.triton.cubin import resources
from intent_np.backends.triton.diagnostics import Places
from intent_np.backends.triton.short_integers import rewritten
from intent_np.errors import IntentError, Span, error
from intent_np.parsing import PARSER
from intent_np.target import Target

MODULE_FILE: Final = "kernel.py"
"""Name of the generated module in the working directory and in an artifact."""

_STAGES: Final = ("ttir", "ttgir", "llir", "ptx")
_SCRATCH_PARAMETERS: Final = 2  # global and profile scratch, after the arguments of every kernel


@dataclass(frozen=True, slots=True)
class Compiled:
    """One kernel, compiled.

    entry:           name of the kernel in the cubin
    num_warps:       as compiled; a block has `32 * num_warps` threads (warp specialization may raise it, and a fault of
                     Triton's lower it)
    shared_bytes:    dynamic shared memory of a block
    scratch_bytes:   global scratch memory of one program, with its alignment in bytes
    registers:       32-bit registers a thread
    stack_bytes:     local memory a thread, spills included
    metadata:        what identifies the lower compiler and its options, for the artifact
    """

    entry: str
    ptx: str
    cubin: bytes
    ttir: str
    ttgir: str
    num_warps: int
    num_stages: int
    shared_bytes: int
    scratch_bytes: int
    scratch_align: int
    registers: int
    stack_bytes: int
    metadata: dict[str, Any] = field(compare=False)


def compile_source(
    source: str,
    function: str,
    signature: Sequence[tuple[str, str]],
    constexprs: Mapping[str, Any],
    divisibility: Mapping[str, int],
    target: Target,
    num_warps: int,
    num_stages: int,
    workdir: str | os.PathLike[str],
    *,
    line_info: bool = False,
    spans: Mapping[int, Span] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Compiled:
    """Compile the `@triton.jit` function called `function` in the module text `source`.

    signature:     the runtime parameters in order with Triton types: `("x", "*fp16")`, `("N", "i32")`
    constexprs:    the values of the remaining parameters
    divisibility:  parameter -> power of two that divides it: bytes for a pointer, units for an integer
    workdir:       the module is written there as `kernel.py`; one directory for each concurrent compilation
    line_info:     keep a line table in the cubin, with relative names
    spans:         author's place for a line of `source`; errors name it instead of the generated line
    options:       further options of Triton's CUDA backend, such as `num_ctas` and `maxnreg`

    Where Triton finds no layouts for so many warps, there are half as many.
    The cubin takes the arguments of `signature` in order, then two pointers (global and profile scratch).
    Raises `ProviderError`: E601 with the line when a stage refuses the program, E605 when a block would need
    more shared memory than the target has, E603 when there is no Triton.
    """
    triton = _provider()
    path = Path(workdir, MODULE_FILE)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    places = Places(function, source, str(path), spans or {})
    asked = {"num_warps": num_warps, "num_stages": num_stages, **(options or {})}
    located = ptx_text.Located("", ())
    try:
        kernel = _load_function(triton, source, function, str(path))
        bound = _bind(triton, kernel, signature, constexprs, divisibility)
        with _reproducers(path.parent):
            while True:
                try:
                    lowering = _Lowering(triton, bound, target, asked)
                    break
                except _LayoutError:
                    if asked["num_warps"] == 1:
                        raise
                    asked["num_warps"] //= 2
        texts, facts = lowering.texts, lowering.facts
        if facts["shared"] > target.shared_per_block:
            raise places.shared(facts["shared"], target)
        located = ptx_text.clean(rewritten(texts["ptx"]), MODULE_FILE, line_info)
        with _quietly():
            cubin = lowering.stages["cubin"](located.text, facts)
        found = resources(cubin)
        expected = len(signature) + _SCRATCH_PARAMETERS
        if len(found.parameters) != expected:
            raise ValueError(f"the cubin has {len(found.parameters)} parameters instead of {expected}")
    except IntentError:
        raise
    except Exception as problem:
        raise places.error(problem, located.lines) from problem
    finally:
        linecache.cache.pop(str(path), None)
    return Compiled(
        entry=facts["name"],
        ptx=located.text,
        cubin=cubin,
        ttir=texts["ttir"],
        ttgir=texts["ttgir"],
        num_warps=facts.get("num_warps", asked["num_warps"]),
        num_stages=num_stages,
        shared_bytes=facts["shared"],
        scratch_bytes=facts.get("global_scratch_size") or 0,
        scratch_align=facts.get("global_scratch_align") or 1,
        registers=found.registers,
        stack_bytes=found.stack_bytes,
        metadata={
            "triton": triton.version,
            "ptxas": triton.get_ptxas(target.compute_capability).version,
            "target": target.name,
            "options": asked,
        },
    )


class _LayoutError(Exception):
    """Triton's passes over layouts failed, as they do for some programs in some numbers of warps: a value that is
    needed in two layouts is rematerialized in one of them and used in the other."""


class _Lowering:
    """One way through Triton, from its front end to PTX: `texts` and `facts` of the stages."""

    def __init__(self, triton: SimpleNamespace, bound: Any, target: Target, asked: Mapping[str, Any]) -> None:
        gpu = triton.GPUTarget("cuda", target.compute_capability, 32)
        backend = triton.make_backend(gpu)
        # Contraction to FMA is a rule of ours on terms; flushing subnormals is never allowed.
        chosen = backend.parse_options({**asked, "enable_fp_fusion": False, "enable_reflect_ftz": False})
        self.stages: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self.texts: dict[str, str] = {}
        backend.add_stages(self.stages, chosen, triton.Language.TRITON)
        context = triton.ir.context()
        context.printOpOnDiagnostic(False)  # the source is kept, and says more
        triton.ir.load_dialects(context)
        backend.load_dialects(context)
        with PARSER:  # the front end is Python, and would gain nothing from a second thread
            program = bound.make_ir(
                gpu, chosen, backend.get_codegen_implementation(chosen), backend.get_module_map(), context
            )
        for stage in _STAGES:
            try:
                program = self.stages[stage](program, self.facts)
            except RuntimeError as problem:
                if stage != "ttgir":
                    raise
                raise _LayoutError(str(problem)) from problem
            self.texts[stage] = program if isinstance(program, str) else program.str_nodebug()


@contextlib.contextmanager
def _reproducers(folder: Path) -> Iterator[None]:
    """What Triton would print of a program on which a pass fails, hundreds of lines, goes to a file in this folder."""
    name = "TRITON_REPRODUCER_PATH"
    before = os.environ.get(name)
    if before is None:
        os.environ[name] = str(folder / "reproducer")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)


def _load_function(triton: SimpleNamespace, source: str, function: str, path: str) -> Any:
    """Run the module text and return its JIT function.

    Triton reads the text of a function back through `linecache`.  The entry is made here, without a time
    stamp, so that a file that was rewritten within the clock's resolution is never read as its old self; and
    the module is run without the import system, which would keep bytecode and a name in `sys.modules`.
    """
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    namespace: dict[str, Any] = {"__name__": "kernel", "__file__": path}
    exec(compile(source, path, "exec"), namespace)
    kernel = namespace.get(function)
    if not isinstance(kernel, triton.JITFunction):
        raise TypeError(
            f"'{function}' is a {type(kernel).__name__}, not a JIT function; "
            "with TRITON_INTERPRET set, Triton interprets and cannot compile"
        )
    return kernel


def _bind(
    triton: SimpleNamespace,
    kernel: Any,
    signature: Sequence[tuple[str, str]],
    constexprs: Mapping[str, Any],
    divisibility: Mapping[str, int],
) -> Any:
    """The kernel with its types, values and facts, keyed by position as Triton wants them."""
    position = {name: index for index, name in enumerate(kernel.arg_names)}
    types = dict(signature)
    if [name for name, _ in signature] != [name for name in kernel.arg_names if name not in constexprs]:
        raise ValueError(f"the signature names {list(types)}, the function takes {kernel.arg_names}")
    return triton.ASTSource(
        kernel,
        {name: types.get(name, "constexpr") for name in kernel.arg_names},
        {(position[name],): value for name, value in constexprs.items()},
        {(position[name],): [["tt.divisibility", by]] for name, by in divisibility.items() if by > 1},
    )


# When ptxas fails, Triton prints the whole program before it raises what we report.  Its `print` is ours, and
# silent in the threads that are inside `_quietly`; for other users of Triton in the process nothing changes.
_thread = threading.local()


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    _thread.quiet = True
    try:
        yield
    finally:
        _thread.quiet = False


def _print(*values: object, **how: Any) -> None:
    if not getattr(_thread, "quiet", False):
        print(*values, **how)


@functools.cache
def _provider() -> SimpleNamespace:
    """The parts of Triton that are used, loaded at first use; `ProviderError` E603 when it is not installed."""
    try:
        import triton
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget, Language
        from triton.backends.nvidia import compiler as nvidia
        from triton.compiler.compiler import ASTSource, make_backend
        from triton.runtime.jit import JITFunction
    except ImportError as problem:
        raise error(
            "E603",
            package="triton",
            purpose="compiling for a GPU",
            command="pip install 'triton>=3.6' (Linux)",
            detail=str(problem),
        ) from problem
    nvidia.print = _print
    return SimpleNamespace(
        version=triton.__version__,
        ir=ir,
        GPUTarget=GPUTarget,
        Language=Language,
        ASTSource=ASTSource,
        make_backend=make_backend,
        get_ptxas=nvidia.get_ptxas,
        JITFunction=JITFunction,
    )
