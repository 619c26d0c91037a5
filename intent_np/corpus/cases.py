"""Finding kernels: `FOLDER`, `FILE.py` or `FILE.py:NAME` to the kernels and cases that they hold.

A file of a corpus lists its kernels with sizes and oracles in `CASES`; in any other file each kernel is taken as it
is.  Files are imported under their real package name, so that their relative imports work.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from intent_np.errors import IntentError, error, place_in


@dataclass(frozen=True)
class Entry:
    """A kernel to build: `module` and `name` say where it stands, `case` how to check it (None: no oracle).
    `example` are the arguments of a launch, of a kernel that a host program launches."""

    path: Path
    module: str
    name: str
    kernel: Any
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    case: Any = None
    example: tuple[Any, ...] = ()

    @property
    def title(self) -> str:
        """MODULE.NAME, which is given once in a corpus."""
        return f"{self.module}.{self.name}"

    @property
    def is_host_program(self) -> bool:
        """Whether it launches kernels and is none."""
        from intent_np.testing import HostProgram

        return isinstance(self.kernel, HostProgram)

    @property
    def launches(self) -> tuple[Entry, ...]:
        """The kernels that a host program launches, each an entry without a case; any other entry is its own."""
        if not self.is_host_program:
            return (self,)
        return tuple(replace(self.launching(*one), example=given) for one, given in self.case.calls)

    def launching(self, kernel: Any, constexprs: Mapping[str, Any]) -> Entry:
        """The entry of a kernel that this host program launches."""
        return replace(self, name=kernel.name, kernel=kernel, constexprs=constexprs, case=None)

    @property
    def sizes(self) -> tuple[Any, ...]:
        """What to compile for ahead of time: the extents that matter, else the last of the small ones, if any; the
        arguments of a launch by a host program."""
        return (self.case.large or self.case.small[-1:]) if self.case else (self.example,) if self.example else ()


def hosted(entry: Entry, launcher: Callable[[Entry], Callable[..., Any]]) -> Callable[..., None]:
    """A host program as a function of all arguments in order, each of its kernels made ready by `launcher`, once."""
    from intent_np.testing import launching
    from intent_np.testing.host import compiled_once

    door = compiled_once(lambda kernel, constexprs: launcher(entry.launching(kernel, constexprs)))

    def run(*arguments: Any) -> None:
        with launching(door):
            entry.kernel(*arguments, **entry.constexprs)

    return run


UNREADABLE: Final = "(file)"
"""The name of the entry that stands for a file which cannot be imported."""


def entries(places: Iterable[str], keep_going: bool = False) -> list[Entry]:
    """The kernels at all `places`, each once, in order.  Raises `LanguageUseError` E007 or E008.

    With `keep_going`, a file that cannot be imported gives an entry without a kernel, called `UNREADABLE`.
    """
    found: dict[tuple[Path, str], Entry] = {}
    for place in places:
        text, _, name = place.partition(":") if ".py:" in place else (place, "", "")
        path = Path(text)
        if not path.exists():
            raise error("E007", path=text, reason="there is no such file or folder")
        present = [entry for file in _files(path) for entry in _of_file(file, keep_going)]
        matching = [entry for entry in present if name in ("", entry.name)]
        if not matching:
            which = f"kernel '{name}'" if name else "kernel"
            raise error("E008", path=text, which=which, name=name, candidates=[entry.name for entry in present])
        found |= {(entry.path, entry.name): entry for entry in matching}
    return list(found.values())


def _files(path: Path) -> Iterator[Path]:
    """A file itself; of a folder its modules, in the order of `FAMILIES` if the package states one."""
    if path.is_file():
        yield path
        return
    present = {file.stem: file for file in sorted(path.glob("*.py")) if file.stem != "__init__"}
    families = getattr(load(path / "__init__.py"), "FAMILIES", ()) if (path / "__init__.py").exists() else ()
    yield from (present[stem] for stem in families if stem in present)
    yield from (file for stem, file in present.items() if stem not in families)


def _of_file(path: Path, keep_going: bool) -> Iterator[Entry]:
    try:
        module = load(path)
        cases = _cases(module, path)
    except IntentError:
        if not keep_going:
            raise
        yield Entry(path, path.stem, UNREADABLE, None)
        return
    if cases is not None:
        for case in cases:
            yield Entry(path, path.stem, case.name, case.kernel, case.constexprs, case.options, case)
        return
    from intent_np.language import Kernel

    for name, value in vars(module).items():
        # A kernel that the file imports belongs to the file that it comes from.
        if isinstance(value, Kernel) and value.function.__module__ == module.__name__:
            yield Entry(path, path.stem, name, value)


def _cases(module: ModuleType, path: Path) -> tuple[Any, ...] | None:
    """The cases that a file lists, None where it lists none; E007 for a list of anything else."""
    from intent_np.testing import Case

    listed = getattr(module, "CASES", None)
    if listed is None:
        return None
    others = [c for c in listed if not isinstance(c, Case)] if isinstance(listed, list | tuple) else [listed]
    if others:
        reason = f"CASES is a list of intent_np.testing.Case, and {others[0]!r} is none"
        raise error("E007", path=str(path), reason=reason, fix="write CASES = [Case(kernel, ...), ...]")
    return tuple(listed)


def load(path: Path) -> ModuleType:
    """The module in `path`, imported once under its dotted name from the folder above its outermost package.

    Our own errors pass; anything else that the file raises becomes E007 at its line, with what it calls behind it.
    """
    file = path.resolve()
    try:
        return _load(file)
    except IntentError:
        raise
    except SyntaxError as problem:
        span = place_in(problem.filename or str(file), problem)
        fix = "correct the text: Python can't read it"
        raise error("E007", span, path=str(path), reason=f"SyntaxError: {problem.msg}", fix=fix) from None
    except (Exception, SystemExit) as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        own = next((i for i, f in reversed([*enumerate(frames)]) if f.filename == str(file)), len(frames))
        detail = "".join(traceback.format_list(frames[own + 1 :]))
        span = place_in(str(file), problem)
        reason = f"{type(problem).__name__}: {problem}"
        fix = "correct the line: a file of kernels is imported, and executed by that" if span else ""
        raise error("E007", span, path=str(path), reason=reason, fix=fix, detail=detail) from problem


def _load(path: Path) -> ModuleType:
    parts = [] if path.stem == "__init__" else [path.stem]
    root = path.parent
    while (root / "__init__.py").exists():
        parts.insert(0, root.name)
        root = root.parent
    name = ".".join(parts)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    if len(parts) > 1 or path.stem == "__init__":
        if str(root) not in sys.path:
            sys.path.insert(0, str(root))
        return importlib.import_module(name)
    return _load_script(path, name)


def _load_script(path: Path, name: str) -> ModuleType:
    """A file outside any package.  Its folder goes last on the path: it must not hide an installed module."""
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    # A name of its own, so that a user's `select.py` does not take the place of a standard module.
    spec = importlib.util.spec_from_file_location(f"intent_np_script_{name}", path)
    if spec is None or spec.loader is None:
        raise error("E007", path=path.name, reason="it is no Python file")
    if spec.name in sys.modules and sys.modules[spec.name].__file__ == str(path):
        return sys.modules[spec.name]
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module
