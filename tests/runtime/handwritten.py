"""A kernel written by hand in Triton, specialised as a compiler would: for tests of the runtime on a device."""

import tempfile

from intent_np.backends.triton.compiler import compile_source
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.plan import ITEM_BYTES, Argument, KernelPlan, ScalarPlan, VariantClass, VariantPlan, ViewPlan
from intent_np.runtime.variants import Variant
from intent_np.target import SM_90, Target
from intent_np.terms.launch import TRITON_NAMES

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def axpy(x, y, z, a, M, N, x_s0, x_s1, y_s0, y_s1, z_s0, z_s1, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    columns = tl.cdiv(N, BLOCK)
    m = pid // columns
    n = pid % columns * BLOCK + tl.arange(0, BLOCK)
    if WIDE:
        m = m.to(tl.int64)
        n = n.to(tl.int64)
    xs = tl.load(x + m * x_s0 + n * x_s1, mask=n < N).to(tl.float32)
    ys = tl.load(y + m * y_s0 + n * y_s1, mask=n < N).to(tl.float32)
    tl.store(z + m * z_s0 + n * z_s1, (a * xs + ys).to(z.dtype.element_ty), mask=n < N)
"""
BLOCK = 512


def kernel(dtype: str) -> KernelPlan:
    """z = a x + y, rounded once."""
    return KernelPlan(
        "axpy",
        (
            ViewPlan("x", dtype, "in", ("M", "N")),
            ScalarPlan("a", "f32"),
            ViewPlan("y", dtype, "in", ("M", "N")),
            ViewPlan("z", dtype, "out", ("M", "N")),
        ),
    )


def artifact(dtype: str, target: Target = SM_90) -> DeviceArtifact:
    plan = kernel(dtype)
    return DeviceArtifact(plan, target, specialize=lambda holds: specialize(plan, holds, target))


def specialize(plan: KernelPlan, holds: VariantClass, target: Target) -> Variant:
    dtype = plan.views[0].dtype
    integer = f"i{holds.index_bits}"
    arguments = [Argument(name, "pointer", name, "*" + TRITON_NAMES[dtype]) for name in "xyz"]
    arguments += [Argument("a", "scalar", "a", "fp32")]
    arguments += [Argument(name, "scalar", name, integer) for name in "MN"]
    constants: dict[str, object] = {"BLOCK": BLOCK, "WIDE": holds.index_bits == 64}
    divisible = dict(holds.divisible)
    for view in plan.views:
        unit = holds.unit_of(view.name)
        divisible[view.name] = holds.align_of(view)
        for dim in range(2):
            name = f"{view.name}_s{dim}"
            if dim == unit:
                constants[name] = 1
            else:
                arguments.append(Argument(name, "scalar", name, integer))
                divisible[name] = holds.align_of(view) // ITEM_BYTES[dtype]
    signature = [(one.name, one.type) for one in arguments]
    with tempfile.TemporaryDirectory() as folder:
        made = compile_source(SOURCE, "axpy", signature, constants, divisible, target, 4, 2, folder)
    grid = ("M", f"cdiv(N, {BLOCK})")
    same = (("x", "z"), ("y", "z"))
    launch = VariantPlan(
        holds, made.entry, tuple(arguments), grid, made.num_warps, 2, made.shared_bytes, slack=BLOCK, identical=same
    )
    return Variant(launch, made.cubin, made.ptx, SOURCE)
