"""The pipeline, as Markdown: every pass with what it did to a kernel."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from intent_np.corpus.cases import Entry, entries
from intent_np.corpus.lowering import lower, reference_only
from intent_np.errors import IntentError

if TYPE_CHECKING:
    from intent_np.passes.base import Pass

Example = tuple[str, str, str]
"""The kernel's title, and the program as text before and after the pass."""


def pass_table(corpus: str, others: str) -> str:
    """The passes in order, each with its docstring, its options and the shortest kernel of `corpus` that it changes, or
    one of `others` where there is none."""
    from intent_np.passes.pipeline import PIPELINE

    examples: dict[str, Example] = {}
    for entry in (one for found in entries([corpus]) for one in found.launches):
        for name, example in _examples(entry):
            if name not in examples or len("".join(example[1:])) < len("".join(examples[name][1:])):
                examples[name] = example
    for entry in entries([others]):
        examples = {**dict(_examples(entry)), **examples}
    return "\n".join(
        line for number, step in enumerate(PIPELINE, 1) for line in _section(number, step, examples.get(step.name))
    )


def _section(number: int, step: Pass, example: Example | None) -> Iterator[str]:
    yield f"### {number}. {step.name} : {step.source.name} → {step.target.name}"
    yield ""
    yield step.doc
    yield ""
    if step.permission:
        yield f"*Needs the permission* `{step.permission}`"
        yield ""
    if step.options:
        yield "*Options:* " + ", ".join(f"`{key}={value}`" for key, value in step.options.items())
        yield ""
    if example:
        title, before, after = example
        if step.optional:
            changed = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
            # The first lines of a diff name files; those that open a hunk count lines.
            body = ["…" if line.startswith("@@") else line for line in list(changed)[2:]]
            yield from (f"On `{title}`:", "", "```diff", *body, "```", "")
        else:
            yield from (f"On `{title}`:", "", "```", before.rstrip(), "```", "", "becomes", "", "```", after.rstrip())
            yield from ("```", "")


def _examples(entry: Entry) -> Iterator[tuple[str, Example]]:
    """What each pass that changes this kernel makes of it."""
    from intent_np.terms.text import show

    steps: list[tuple[str, Any]] = []
    try:
        compilation, _ = lower(entry, lambda step, made: steps.append((step.name, made)))
    except IntentError as problem:
        if not reference_only(problem):
            raise
        return
    program = compilation.logical
    with compilation.arena:
        for name, made in steps:
            if made is not program:
                yield name, (entry.title, show(program), show(made))
            program = made
