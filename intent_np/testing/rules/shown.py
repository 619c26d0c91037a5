"""A counterexample over terms as a Python program: both sides as text of their language, parsed and executed.

Terms need no spelling of an author's for that, and whoever runs the file sees what each side gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...terms.language import Language
from ...terms.text import show


class Call(NamedTuple):
    """A program that leaves its result in `out`, with what it is called with."""

    program: Any
    arrays: Mapping[str, Any]
    scalars: Mapping[str, Any]

    @property
    def dtype(self) -> Any:
        """The element type of its result."""
        return next(p.dtype for p in self.program.parameters if p.name == "out")


RUN = """\
import ml_dtypes
import numpy as np

from {machine} import run
from intent_np.terms.core import Arena
from {module} import {language}
from intent_np.terms.parse import parse


def printed(text, arrays, scalars):
    with Arena(), np.errstate(all="ignore"):
        run(parse(text, {language}), arrays, scalars)
    print(arrays["out"].tolist())
"""
MACHINES = {"logical": "intent_np.backends.reference.logical", "normal": "intent_np.backends.program"}
"""What executes the programs of a language."""


def shown(calls: Iterable[Call], language: Language) -> str:
    """A program that prints what each of these calls leaves, one below the other."""
    module = f"intent_np.terms.{language.name}"
    lines = [RUN.format(machine=MACHINES[language.name], module=module, language=language.name.upper())]
    for call in calls:
        lines += ["", 'printed(\n    """\\', f'{show(call.program)}""",', "    {"]
        for name, a in call.arrays.items():
            elements = f'np.frombuffer(bytes.fromhex("{a.tobytes().hex()}"), np.dtype("{a.dtype.name}"))'
            lines.append(f"        {name!r}: {elements}.reshape({a.shape}).copy(),")
        lines += ["    },", f"    {dict(call.scalars)},", ")"]
    return "\n".join(lines) + "\n"
