"""Artifacts as folders of readable files.

    softmax/
      metadata.json           the declaration, the target, what made it, and the hash of every file below
      logical.txt ...         the levels that all variants share, numbered in pipeline order
      a4-x1-y1-N1024/         one folder a variant
        metadata.json         how it is launched
        gpu.txt ...           the levels that depend on the class of calls
        kernel.py             the generated Triton module
        kernel.ptx, kernel.cubin

Nothing in it is executed when it is loaded, and nothing is unpickled: JSON and texts are read, and the cubin goes
to the driver.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from intent_np import __version__
from intent_np.errors import IntentError, Remark, error
from intent_np.runtime.artifact import Artifact
from intent_np.runtime.debug import Reporting
from intent_np.runtime.device import DeviceArtifact
from intent_np.runtime.host import HostArtifact, Machine
from intent_np.runtime.plan import KernelPlan, kernel_from_json, to_json, variant_from_json
from intent_np.runtime.variants import Variant
from intent_np.target import Target

FORMAT: Final = 3
"""Raised when old artifacts can no longer be read."""

_METADATA: Final = "metadata.json"
_CODE: Final = ("kernel.py", "kernel.ptx", "kernel.cubin")

Revive = Callable[[KernelPlan, Target, Mapping[str, str]], Machine]
"""Makes the machine of a loaded artifact for `cpu` or `reference` from its texts."""


def files(artifact: Artifact) -> dict[str, bytes]:
    """The files of an artifact by relative path; the same artifact gives the same bytes."""
    made = {f"{level}.txt": text.encode() for level, text in artifact.texts.items()}
    for variant in artifact.variants:
        made |= {f"{variant.name}/{name}": content for name, content in variant_files(variant).items()}
    head = {
        "format": FORMAT,
        "kernel": to_json(artifact.kernel),
        "target": asdict(artifact.target),
        "levels": list(artifact.texts),
        "variants": [variant.name for variant in artifact.variants],
        "remarks": [{"code": remark.code, "text": remark.text} for remark in artifact.remarks],
        "facts": artifact.facts,
        "files": {path: _digest(content) for path, content in sorted(made.items())},
    }
    return {_METADATA: _json(head), **made}


def variant_files(variant: Variant) -> dict[str, bytes]:
    """The files of one variant's folder."""
    plan = {**to_json(variant.plan), "levels": list(variant.texts)}
    return {
        _METADATA: _json(plan),
        **{f"{level}.txt": text.encode() for level, text in variant.texts.items()},
        **dict(zip(_CODE, (variant.source.encode(), variant.ptx.encode(), variant.cubin), strict=True)),
    }


def save(artifact: Artifact, path: str | os.PathLike[str]) -> None:
    """Write the artifact to the folder `path`, replacing one that is there.

    It is written beside its place and renamed, so that there is never a folder with half of an artifact.  Any number of
    processes may save and load there at once.
    """
    place = _folder(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    _check_is_artifact(place)
    contents = files(artifact)
    with _beside(place) as scratch:
        new = Path(scratch, "new")
        for name, content in contents.items():
            file = new / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        while not _published(new, place):
            if _holds(place, contents):
                break  # the same artifact, which others may be reading
            _check_is_artifact(place)
            if _exchanged(new, place):
                break
            with contextlib.suppress(FileNotFoundError):  # another process has moved it away
                place.rename(tempfile.mkdtemp(dir=scratch))


def _published(new: Path, place: Path) -> bool:
    """Rename a folder to its place, unless that is taken."""
    try:
        new.rename(place)
    except OSError as problem:
        if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        return False
    return True


def _exchanged(new: Path, place: Path) -> bool:
    """Swap two folders in one step, so that there always is one: what Linux can do, and not on every file system."""
    swap = getattr(ctypes.CDLL(None), "renameat2", None)
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return swap is not None and swap(here, os.fsencode(new), here, os.fsencode(place), exchange) == 0


def _holds(place: Path, contents: Mapping[str, bytes]) -> bool:
    """Whether a folder has these files as they are."""
    try:
        return all((place / name).read_bytes() == content for name, content in contents.items())
    except OSError:
        return False


def _identity(place: Path) -> tuple[int, int] | None:
    """Tells what stands at a place from what is renamed to it later; None for nothing."""
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns


def _beside(place: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder to write in, beside the place; where there can be none, the error names the place."""
    try:
        return tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent)
    except OSError as problem:
        problem.filename = str(place)
        raise


def _folder(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise error("E006", what=f"an artifact's folder is a path, not {path!r}", how="name the folder") from None


def load(path: str | os.PathLike[str], *, revive: Revive | None = None) -> Artifact:
    """Read an artifact; every file is checked against its hash.

    revive:  makes the machine of an artifact for `cpu` or `reference`

    Raises `CallError` E705 when the folder is no artifact, is damaged, or has another format.
    """
    place = _folder(path)
    while True:
        found = _identity(place)
        try:
            return _read(place, revive)
        except IntentError:
            if _identity(place) == found:
                raise  # else it was replaced while it was read


def _read(place: Path, revive: Revive | None) -> Artifact:
    if not place.is_dir():
        found = "a file" if place.exists() else "nothing"
        raise error(
            "E705", path=str(place), expected="a folder", found=found, fix="name the folder of a saved artifact"
        )
    try:
        head = json.loads((place / _METADATA).read_text(encoding="utf-8"))
        if head["format"] != FORMAT:
            raise error(
                "E705",
                path=str(place),
                expected=f"format {FORMAT}, of intent_np {__version__}",
                found=f"format {head['format']}, of intent_np {head['facts'].get('intent_np', 'of another version')}",
            )
        contents = {name: _checked(place / name, digest) for name, digest in head["files"].items()}
        kernel = kernel_from_json(head["kernel"])
        target = Target(**{name: _tuple(value) for name, value in head["target"].items()})
        texts = {level: contents[f"{level}.txt"].decode() for level in head["levels"]}
        variants = [_variant(name, contents) for name in head["variants"]]
        remarks = [Remark(**one) for one in head["remarks"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise error("E705", path=str(place), found=_said(problem)) from problem
    described: dict[str, Any] = {"texts": texts, "remarks": remarks, "facts": head["facts"]}
    if target.is_gpu:
        return _complete(DeviceArtifact(kernel, target, variants, **described))
    if revive is None:
        raise error("E705", path=str(place), found=f"an artifact for {target}, which needs the compiler to run")
    try:
        machine = revive(kernel, target, texts)
    except (ValueError, KeyError) as problem:
        raise error("E705", path=str(place), found=_said(problem)) from problem
    return _complete(HostArtifact(kernel, target, machine, **described))


def _complete(artifact: Artifact) -> Artifact:
    """An artifact whose debug statements report is inside of another."""
    return Reporting(artifact) if "debug" in artifact.facts else artifact


def _variant(name: str, contents: Mapping[str, bytes]) -> Variant:
    plan = json.loads(contents[f"{name}/{_METADATA}"])
    levels = plan.pop("levels")
    source, ptx, cubin = (contents[f"{name}/{file}"] for file in _CODE)
    texts = {level: contents[f"{name}/{level}.txt"].decode() for level in levels}
    return Variant(variant_from_json(plan), cubin, ptx.decode(), source.decode(), texts)


def _checked(path: Path, digest: str) -> bytes:
    content = path.read_bytes()
    if _digest(content) != digest:
        raise ValueError(f"{path.name} is not the file that was saved")
    return content


def _said(problem: Exception) -> str:
    """An exception in words; the class says what a text alone does not."""
    return str(problem) if type(problem) is ValueError else f"{type(problem).__name__}: {problem}"


def _check_is_artifact(place: Path) -> None:
    """Refuse to replace a folder that is something else."""
    was = _identity(place)
    if was is None or (place / _METADATA).is_file():
        return
    folder, empty = place.is_dir(), False
    with contextlib.suppress(OSError):
        empty = not any(place.iterdir())
    if not empty and _identity(place) == was:
        found = "a folder of something else" if folder else "a file"
        wanted, fix = "an artifact to replace, or nothing", "name a new folder"
        raise error("E705", path=str(place), expected=wanted, found=found, fix=fix)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
