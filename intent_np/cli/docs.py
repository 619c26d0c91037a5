"""`intent-np docs`: write the generated parts of the specification again, or check that they are current.

A part stands in a hand-written page between `<!-- generated: NAME -->` and `<!-- end -->`.  Add one by putting the
two marks into a page and a row into `PARTS`; its function returns Markdown.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from intent_np.cli.opt import LEVELS


class Part(NamedTuple):
    """One generated part: the page below `specs/`, the name in its marks, and `module:function` that makes it of
    `arguments`."""

    page: str
    name: str
    maker: str
    arguments: tuple[str, ...] = ()


TRITON: Final = "intent_np.documentation.triton:triton_source"

SHOWN: Final = (
    "kernels/softmax.py:softmax",
    "kernels/norms.py:layer_norm",
    "kernels/matmul.py:matmul_f16",
    "kernels/attention.py:attention_causal",
    "kernels/attention.py:attention_causal_relaxed",
    "kernels/losses.py:cross_entropy",
    "kernels/scans.py:cumsum",
    "kernels/ragged.py:grouped_matmul",
)
"""The kernels whose Triton is shown in the specification."""

NUMBERS: Final = (
    "float types", "operators", "promises", "special values", "special powers", "conversions", "accumulators", "codecs",
)  # fmt: skip
"""The tables of numbers, named as the functions that make them."""

PARTS: Final = (
    Part("language.md", "operations", "intent_np.documentation.language:operations"),
    Part("index.md", "operators", "intent_np.documentation.grammar:operators"),
    *(Part("numbers.md", name, f"intent_np.documentation.numbers:{name.replace(' ', '_')}") for name in NUMBERS),
    Part("errors.md", "codes", "intent_np.documentation.errors:error_index"),
    Part("corpus.md", "kernels", "intent_np.documentation.corpus:corpus_table", ("kernels",)),
    Part("rules.md", "catalogue", "intent_np.documentation.rules:catalogue"),
    Part("passes.md", "passes", "intent_np.documentation.passes:pass_table", ("kernels", "specs/small_programs.py")),
    Part("../README.md", "softmax", TRITON, ("kernels/softmax.py:softmax",)),
    Part("tickets.md", "sum_all", TRITON, ("benchmarks/cases.py:sum_all",)),
    *(Part("generated.md", place.partition(":")[2], TRITON, (place,)) for place in SHOWN),
    *(Part(f"{name}.md", "grammar", "intent_np.documentation.grammar:grammar", (name,)) for name in (*LEVELS, "plan")),
)


def docs(
    folder: Annotated[Path, typer.Option(help="The folder of the pages.")] = Path("specs"),
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail if a part is out of date.")] = False,
) -> None:
    """Write the generated parts of the specification again."""
    from intent_np.cli import FAILED

    stale = []
    for page in sorted({part.page for part in PARTS}):
        path = folder / page
        old = path.read_text()
        new = regenerate(page, old)
        if new != old:
            stale.append(page)
            if not check:
                path.write_text(new)
    for page in stale:
        print(f"{page} {'is out of date' if check else 'written'}")
    if stale and check:
        raise typer.Exit(FAILED)


def regenerate(page: str, text: str) -> str:
    """The text of `page` with each of its parts made anew; `ValueError` if a part's marks are not there."""
    for part in PARTS:
        if part.page == page:
            text = _replace(text, part.name, _make(part))
    return text


def _make(part: Part) -> str:
    module, _, function = part.maker.partition(":")
    return str(getattr(import_module(module), function)(*part.arguments)).strip()


def _replace(text: str, name: str, new: str) -> str:
    marks = re.compile(rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    # A function as the replacement: the Markdown may hold backslashes.
    replaced, count = marks.subn(lambda match: f"{match[1]}{new}\n{match[2]}", text)
    if count != 1:
        raise ValueError(f"the page has {count} parts named '{name}', not one")
    return replaced
