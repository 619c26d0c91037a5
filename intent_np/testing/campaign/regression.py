"""A finding as a test that pytest runs: the kernel, the arguments, and what was wrong.

The file is a test of its own: it passes once the defect is mended.  `holds` is what it calls.
"""

from __future__ import annotations

import hashlib
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..arguments import Arguments
from ..checked import Recipe, made
from ..oracles import DEFAULT, examine


def holds(
    kernel: Any,
    extents: Mapping[str, int] | None = None,
    arrays: Mapping[str, Any] | None = None,
    *,
    layout: str = "contiguous",
    values: str = "normal",
    seed: int = 0,
    oracles: Sequence[str] = DEFAULT,
    numerics: str = "strict",
) -> None:
    """AssertionError unless a kernel compiles and every oracle agrees on a call.

    extents:  sizes of the call; without them the kernel is compiled alone
    arrays:   values of arguments; the others are made from `layout`, `values` and `seed`
    oracles:  names of `intent_np.testing.oracles.ORACLES`
    """
    from ...compiler import CompileOptions

    given = dict(arrays or {})

    def arguments(one: Any, recipe: Recipe) -> Arguments:
        result = made(one, recipe)
        for name, value in given.items():
            if hasattr(result[name], "shape"):
                result[name][...] = value
            else:
                result[name] = value
        return result

    calls = [] if extents is None else [Recipe(extents, layout, values, seed)]
    options = CompileOptions(check=True, numerics=numerics)
    outcome = examine(kernel, calls, oracles, options=options, each_pass=True, arguments=arguments)
    if outcome.failure is not None:
        raise AssertionError(f"{outcome.failure.title}\n{outcome.failure.message}")


def name_of(key: str) -> str:
    """A name for the file of a finding: words of its key, and a hash of it."""
    words = re.sub(r"\W+", "_", key).strip("_").lower()[:48].strip("_")
    return f"test_{words}_{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def test_text(line: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """The text of the test of a reduced failure, from its line of the journal."""
    failure = line["failure"]
    stage, recipe = failure["stage"], failure["recipe"]
    place = f" in {failure['place']}" if failure["place"] else ""
    rule = f" by the rule {failure['rule']}" if failure["rule"] else ""
    told = textwrap.indent(failure["message"].strip()[:2000].replace("\\", "\\\\").replace('"""', "'''"), "    ")
    seed = f"Seed {line['seed']} of `intent-np fuzz`"
    why = f"  It was not reduced: {line['why'].splitlines()[0]}." if line.get("why") else ""
    lines = [f'"""{seed}, {stage}: {failure["code"]}{place}{rule}.{why}', "", told, '"""', ""]
    if not re.search(r"^def ", line["text"], re.M):
        module, _, name = settings["generator"].partition(":")
        return "\n".join(
            [
                *lines,
                f"from {module} import {name}",
                "",
                "",
                "def test_it_is_made():",
                f"    {name}({line['seed']})",
                "",
            ]
        )
    body = (
        line["text"].replace("import intent_np as intent\n", "", 1).replace("import intent_np.language as I\n", "", 1)
    )
    if line.get("arrays"):
        lines += ["import numpy as np", ""]
    lines += [
        "import intent_np as intent",
        "import intent_np.language as I",
        "from intent_np.testing.campaign import holds",
    ]
    lines += ["", "", body.strip(), "", "", "def test_it_holds():"]
    kernel = re.findall(r"^def (\w+)\(", body, re.M)[-1:] or ["kernel"]
    arguments = [kernel[0]]
    if recipe is not None:
        arguments.append(repr(dict(recipe["extents"])))
        if line.get("arrays"):
            lines.append("    arrays = {")
            lines += [f"        {n!r}: {_array(v)}," for n, v in line["arrays"].items()]
            lines.append("    }")
            arguments.append("arrays")
        else:
            arguments += [f"{n}={recipe[n]!r}" for n in ("layout", "values", "seed")]
    if list(settings["oracles"]) != list(DEFAULT):
        arguments.append(f"oracles={tuple(settings['oracles'])!r}")
    if settings["numerics"] != "strict":
        arguments.append(f"numerics={settings['numerics']!r}")
    return "\n".join([*lines, f"    holds({', '.join(arguments)})", ""])


def _array(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    elements = ", ".join(value["elements"])
    shape = tuple(value["shape"])
    elements = elements.replace("nan", "np.nan").replace("inf", "np.inf")
    reshaped = f".reshape({shape!r})" if len(shape) != 1 else ""
    kind = "float" if value["dtype"] not in _WHOLE else value["dtype"].replace("bool", "bool_")
    return f"np.array([{elements}], np.{kind.replace('float', 'float64')}){reshaped}"


_WHOLE = ("bool", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)))


def save(folder: Path, line: Mapping[str, Any], settings: Mapping[str, Any]) -> Path:
    """Write the test of a reduced failure, at once and whole."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name_of(line['reduced'])}.py"
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(test_text(line, settings))
    os.replace(part, path)
    return path
