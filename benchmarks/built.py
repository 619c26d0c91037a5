"""What was built of a case, and arguments for it on the device."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from intent_np.testing import Case, HostProgram, launching
from intent_np.testing.arguments import extent
from intent_np.testing.host import compiled_once

_TORCH = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
}  # fmt: skip


def folder(name: str, artifacts: Path) -> Path:
    """What was built of a case.  Raises `FileNotFoundError` if nothing was."""
    folders = sorted(artifacts.glob(f"*.{name}"))
    if not folders:
        raise FileNotFoundError(f"no artifact of {name} in {artifacts}")
    return folders[0]


def artifact(name: str, artifacts: Path) -> Any:
    """The artifact of a case that is a kernel."""
    import intent_np

    return intent_np.load(folder(name, artifacts))


def launcher(case: Case, artifacts: Path) -> Callable[..., Any]:
    """A function of all arguments in order: an artifact, or a host program over those of its kernels."""
    if not isinstance(case.kernel, HostProgram):
        return artifact(case.name, artifacts)  # type: ignore[no-any-return]
    door = compiled_once(_loader(case, artifacts))

    def run(*arguments: Any) -> None:
        with launching(door):
            case.kernel(*arguments, **case.constexprs)

    return run


def prepared(case: Case, artifacts: Path, arguments: Mapping[str, Any]) -> Callable[[], None]:
    """A function that launches a case on these tensors again and again: what is between the launches of a host program
    is done once, so that its time is that of its launches."""
    if not isinstance(case.kernel, HostProgram):
        return artifact(case.name, artifacts).prepare(*arguments.values())  # type: ignore[no-any-return]
    import cupy

    load = _loader(case, artifacts)
    launches: list[Callable[[], None]] = []

    def door(kernel: Any, given: tuple[Any, ...], constexprs: Mapping[str, Any]) -> None:
        launches.append(load(kernel, constexprs).prepare(*given))
        launches[-1]()

    given = [cupy.from_dlpack(a) if hasattr(a, "dtype") else a for a in arguments.values()]
    with launching(door):
        case.kernel(*given, **case.constexprs)

    def run() -> None:
        for one in launches:
            one()

    return run


def _loader(case: Case, artifacts: Path) -> Callable[[Any, Mapping[str, Any]], Any]:
    import intent_np

    built = {(*sorted(c.items()), k): n for n, (k, c) in enumerate(case.launches)}
    place = folder(case.name, artifacts)

    def loaded(kernel: Any, constexprs: Mapping[str, Any]) -> Any:
        number = built[(*sorted(constexprs.items()), kernel)]
        return intent_np.load(place / f"{number}.{kernel.name}")

    return loaded


def tensors(case: Case, extents: Mapping[str, int], kind: str = "normal") -> dict[str, Any]:
    """Contiguous torch tensors for a call, drawn on the device; outputs are NaN, scalars Python numbers."""
    import torch

    torch.manual_seed(0)
    names = {**case.constexprs, **extents}
    structured = case.structured(extents, np.random.default_rng(0))
    result: dict[str, Any] = {}
    for p in case.parameters:
        if p.kind == "scalar":
            result[p.name] = case.scalars[p.name]
            continue
        dtype, shape = getattr(torch, _TORCH[str(p.dtype)]), [extent(entry, names) for entry in p.shape]
        if p.name in structured:
            result[p.name] = torch.as_tensor(structured[p.name], device="cuda").to(dtype)
        elif p.mode == "out":
            result[p.name] = torch.full(shape, math.nan if dtype.is_floating_point else 0, dtype=dtype, device="cuda")
        elif dtype == torch.uint8:
            result[p.name] = torch.randint(0, 256, shape, device="cuda", dtype=dtype)
        elif kind == "integers" or not dtype.is_floating_point:
            result[p.name] = torch.randint(-8, 9, shape, device="cuda").to(dtype)
        else:
            result[p.name] = torch.randn(shape, device="cuda", dtype=dtype)
    return result
