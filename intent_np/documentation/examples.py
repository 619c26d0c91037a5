"""The examples of errors: for each code the smallest program, call or command that gives it, and what it says.

They stand in `intent_np/error_codes/examples/`, one file for each file of error codes:

    == E101
    @intent.kernel
    def square(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        y[:] = value[:] * value[:]

An example is a Python file `example.py` that knows `intent`, `I` and `np`; it is executed, then its kernels are
compiled for the reference.  Where a first line says so, it is another file, and a command:

    == E007
    $ intent-np compile example.py
    import nothing_of_this_name
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from intent_np.errors import IntentError

EXAMPLE: Final = "example.py"
_FILE: Final = re.compile(r"\bexample\.\w+")


@dataclass(frozen=True)
class Example:
    """An example of the error `code`: `text` stands in `file`; `command` runs it, where it is no Python."""

    code: str
    text: str
    command: str = ""

    @property
    def file(self) -> str:
        """The name of the file that a reader would give it."""
        found = _FILE.search(self.command)
        return found[0] if found else EXAMPLE

    def told(self) -> str:
        """What is said of it; a `ValueError` if nothing is, or not this error."""
        with _alone():
            said = _commanded(self) if self.command else _executed(self)
        if not re.search(rf'(?m)^(\S+: )?{self.code} |^ *"code": "{self.code}"', said):
            raise ValueError(f"the example of {self.code} gives {said or 'no error'}")
        return said


@cache
def examples() -> dict[str, Example]:
    """Every example by its code, in the order of the codes; a `ValueError` for two of one code."""
    found: dict[str, Example] = {}
    for file in files("intent_np.error_codes").joinpath("examples").iterdir():
        parts = re.split(r"(?m)^== (\w+)\n", file.read_text(encoding="utf-8"))
        for code, text in zip(parts[1::2], parts[2::2], strict=True):
            if code in found:
                raise ValueError(f"{code} has two examples")
            command, _, rest = text.partition("\n") if text.startswith("$ ") else ("", "", text)
            found[code] = Example(code, rest.strip("\n") + "\n" if rest.strip() else "", command.removeprefix("$ "))
    return dict(sorted(found.items()))


def _executed(example: Example) -> str:
    """The error of a Python example, or what it prints."""
    import numpy as np

    import intent_np as intent
    import intent_np.language as I
    from intent_np.language import Kernel

    linecache.cache[example.file] = (len(example.text), None, example.text.splitlines(keepends=True), example.file)
    space: dict[str, Any] = {"__name__": "example", "intent": intent, "I": I, "np": np}

    def run() -> None:
        exec(compile(example.text, example.file, "exec", dont_inherit=True), space)
        for value in [*space.values()]:
            if isinstance(value, Kernel):
                intent.compile(value, target="reference")

    try:
        return _printed(run)
    except IntentError as problem:
        return problem.render()
    finally:
        del linecache.cache[example.file]


def _commanded(example: Example) -> str:
    """What a command prints, its file being there."""
    from intent_np.cli import main

    Path(example.file).write_text(example.text)
    return _printed(lambda: main(example.command.split()[1:]))


def _printed(run: Callable[[], object]) -> str:
    """What is printed, to the end or an exit."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
        run()
    return (err.getvalue() or out.getvalue()).rstrip()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """An empty folder to stand in, with a cache of its own, and the process as it was behind it."""
    from intent_np.backends import cupy_runtime

    path = [*sys.path]
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        patch.dict(os.environ, XDG_CACHE_HOME=folder),
        patch.object(tempfile, "tempdir", folder),
    ):
        cupy_runtime._cupy.cache_clear()  # it is asked for once in a process, and may be there
        try:
            yield
        finally:
            sys.path[:] = path
            for name in [name for name in sys.modules if name == f"intent_np_script_{Path(EXAMPLE).stem}"]:
                del sys.modules[name]
