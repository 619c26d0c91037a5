"""`intent-np doctor`: what this machine can do, what is missing, and the command that mends it."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from intent_np import __version__
from intent_np.errors import IntentError

TRITON_OLDEST, TRITON_NEWEST = (3, 6), (3, 9)


class Finding(NamedTuple):
    """One line of the report.  `status` is `ok`, `warning`, `missing` (needed) or `absent` (optional)."""

    name: str
    status: str
    found: str
    fix: str = ""


class Gpu(NamedTuple):
    """A device as the driver describes it; memory in bytes."""

    name: str
    capability: tuple[int, int]
    memory: int


def doctor(
    artifact: Annotated[
        list[Path] | None, typer.Argument(metavar="[ARTIFACT]...", help="Saved artifacts to look at too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Say what this machine can do and what is missing, with the command that fixes it.

    Of a saved artifact: whether it can be loaded here, what made it, and whether this machine's GPU runs it.
    """
    from intent_np.cli import FAILED
    from intent_np.cli.output import print_json, print_table
    from intent_np.environment import VARIABLES

    cuda, gpus = driver()
    findings = [*examine(cuda, gpus), *(_artifact(path, gpus) for path in artifact or ())]
    healthy = all(finding.status != "missing" for finding in findings)
    cupy_works = any(finding.name == "cupy" and finding.status == "ok" for finding in findings)
    target = "sm_{}{}".format(*gpus[0].capability) if gpus and cupy_works else "cpu"
    environment = {name: os.environ.get(name) for name in VARIABLES}
    if as_json:
        print_json(
            {
                "ok": healthy,
                "target": target,
                "checks": [finding._asdict() for finding in findings],
                "environment": environment,
            }
        )
    else:
        print_table(Finding._fields, findings)
        print(f"\ntarget auto is {target}")
        for name, meaning in VARIABLES.items():
            print(f"{name}={environment[name] or ''}  ({meaning})")
    if not healthy:
        raise typer.Exit(FAILED)


def examine(cuda: tuple[int, int] | None, gpus: list[Gpu]) -> Iterator[Finding]:
    """All findings in the order of the stack, from Python up to the cache."""
    yield Finding("intent_np", "ok", __version__)
    yield _python()
    yield _platform()
    yield _package("numpy", (2, 3), "arrays and the NumPy machines")
    yield _interpreter()
    yield _package("ml_dtypes", (0, 5), "bf16 and fp8 arrays")
    yield _triton()
    yield _driver(cuda)
    if not gpus:
        yield Finding("gpu", "absent", "none: kernels run on the program machine, cubins can still be built")
    for gpu in gpus:
        major, minor = gpu.capability
        text = f"{gpu.name}, sm_{major}{minor}, {gpu.memory / 2**30:.0f} GiB"
        yield Finding("gpu", "ok" if major >= 8 else "warning", text, "" if major >= 8 else "use sm_80 or newer")
    yield _cupy(cuda, bool(gpus))
    yield _cache()


def _python() -> Finding:
    version = sys.version_info[:2]
    found = f"{platform.python_version()} ({sys.executable})"
    if version < (3, 11):
        return Finding("python", "missing", found, "install Python 3.11 or 3.12")
    if version > (3, 12):
        return Finding("python", "warning", f"{found}; tested are 3.11 and 3.12")
    return Finding("python", "ok", found)


def _platform() -> Finding:
    found = f"{platform.system()} {platform.machine()}"
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        return Finding("platform", "ok", found)
    return Finding("platform", "warning", f"{found}; tested is Linux x86_64")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """`2.3.5rc1` as (2, 3): only major and minor are compared."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _package(name: str, oldest: tuple[int, int], purpose: str) -> Finding:
    version = _version(name)
    fix = f"python -m pip install '{name}>={oldest[0]}.{oldest[1]}'"
    if version is None:
        return Finding(name, "missing", f"not installed; needed for {purpose}", fix)
    return Finding(
        name, "ok" if _numbers(version) >= oldest else "missing", version, "" if _numbers(version) >= oldest else fix
    )


def _interpreter() -> Finding:
    """Triton's interpreter, an oracle in tests, does not run on NumPy 2.4 or newer."""
    numpy = _version("numpy") or ""
    if _numbers(numpy) < (2, 4):
        return Finding("triton interpreter", "ok", f"usable with numpy {numpy}")
    text = f"not usable with numpy {numpy}; only the project's own tests need it"
    return Finding("triton interpreter", "absent", text, "python -m pip install 'numpy<2.4'")


def _triton() -> Finding:
    version = _version("triton")
    fix = "python -m pip install 'triton>=3.6'"
    if version is None:
        return Finding("triton", "missing", "not installed; needed to build for a GPU", fix)
    if _numbers(version) < TRITON_OLDEST:
        return Finding("triton", "missing", f"{version} is too old", fix)
    # find_spec does not import the package: the doctor answers quickly, and even if Triton is broken.
    spec = util.find_spec("triton")
    roots = spec.submodule_search_locations if spec and spec.submodule_search_locations else []
    if not any((Path(root) / "backends" / "nvidia" / "bin" / "ptxas").exists() for root in roots):
        return Finding("triton", "missing", f"{version} without ptxas", f"{fix} --force-reinstall")
    if _numbers(version) > TRITON_NEWEST:
        return Finding("triton", "warning", f"{version}; tested are 3.6 to 3.9")
    return Finding("triton", "ok", f"{version} with ptxas")


def driver() -> tuple[tuple[int, int] | None, list[Gpu]]:
    """Ask the NVIDIA driver itself: the CUDA version that it supports (None without a driver) and its devices."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None, []
    number, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    version = (number.value // 1000, number.value % 1000 // 10)
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return version, []
    return version, [_device(cuda, index) for index in range(count.value)]


def _device(cuda: Any, index: int) -> Gpu:
    major_attribute, minor_attribute = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
    device, name, memory = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_size_t()
    major, minor = ctypes.c_int(), ctypes.c_int()
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), major_attribute, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), minor_attribute, device)
    return Gpu(name.value.decode(), (major.value, minor.value), memory.value)


def _driver(cuda: tuple[int, int] | None) -> Finding:
    if cuda is None:
        return Finding("driver", "absent", "no NVIDIA driver (libcuda.so.1)")
    try:
        # "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ..."
        words = Path("/proc/driver/nvidia/version").read_text().split()
        release = next((word for word in words if word.count(".") >= 1 and word[0].isdigit()), "")
    except OSError:
        release = ""
    return Finding("driver", "ok", f"{release} CUDA {cuda[0]}.{cuda[1]}".strip())


def _cupy(cuda: tuple[int, int] | None, has_gpu: bool) -> Finding:
    extra = "cuda13" if cuda and cuda[0] >= 13 else "cuda12"
    fix = f"python -m pip install 'intent-np[{extra}]'"
    if util.find_spec("cupy") is None:
        if has_gpu:
            return Finding("cupy", "missing", "not installed; needed to launch on the GPU", fix)
        return Finding("cupy", "absent", "not installed; needed only to launch on a GPU", "")
    try:
        import cupy

        version = str(cupy.__version__)
        if has_gpu:
            cupy.cuda.runtime.getDeviceCount()
    except Exception as problem:
        return Finding("cupy", "missing" if has_gpu else "absent", f"does not work: {problem}", fix if has_gpu else "")
    return Finding("cupy", "ok", version)


def _artifact(path: Path, gpus: list[Gpu]) -> Finding:
    """A saved artifact: `missing` where it can't be loaded, `warning` where no GPU here runs it."""
    from intent_np.loading import load

    try:
        one = load(path)
    except IntentError as problem:
        return Finding(str(path), "missing", ": ".join(filter(None, (problem.title, problem.found))), problem.fix)
    made_by = f", made by {one.made_by}" if one.made_by else ""
    found = f"{one.kernel.name} for {one.target}, {len(one.variants)} variants{made_by}"
    if one.target.is_gpu and not any(one.target.runs_on(gpu.capability) for gpu in gpus):
        return Finding(str(path), "warning", found, f"no GPU here runs code for {one.target}: compile it for another")
    return Finding(str(path), "ok", found)


def _cache() -> Finding:
    """The cache can be written where its nearest existing parent can."""
    from intent_np.environment import cache_folder

    folder = cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    found = f"{folder}, {free / 2**30:.0f} GiB free"
    if not os.access(existing, os.W_OK):
        return Finding("cache", "warning", f"{found}, not writable", "export XDG_CACHE_HOME=/a/writable/folder")
    if free < 2**30:
        return Finding("cache", "warning", found, "free some disk space")
    return Finding("cache", "ok", found)
