"""The grammar of a language, as Markdown."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from intent_np.terms.language import Language


def grammar(name: str) -> str:
    """The language called `name`: what it is, what it changes of its base, and each term with its text and meaning."""
    language: Language = getattr(import_module(f"intent_np.terms.{name}"), name.upper())
    lines = [inspect.cleandoc(language.about), ""]
    if language.base:
        lines += [
            f"Extends `{language.base.name}`: adds {_names(language.added)}; removes {_names(language.removed)}.",
            "",
        ]
    sorts: dict[str, list[Any]] = {}
    for term in language.terms:
        sorts.setdefault(term.__bases__[0].__name__, []).append(term)
    for sort, terms in sorts.items():
        lines += [f"### {sort}", ""]
        for term in terms:
            meaning = " ".join(inspect.cleandoc(term.__doc__ or "").split())
            text = production(term)
            shown = f"\n```\n{text}\n```" if "\n" in text else f" `` {text} ``  "
            lines += [f"**{term.__name__}**{shown}", meaning, ""]
    return "\n".join(lines)


def operators() -> str:
    """The pointwise operators as a table."""
    from intent_np.terms.operators import OPERATORS

    kinds = {"f": "floats", "i": "integers", "b": "bool"}
    results = {"same": "as the operands", "bool": "bool"}
    lines = ["| operator | text | operands | result | meaning |", "|---|---|---|---|---|"]
    for op in OPERATORS.values():
        text = f"a {op.infix} b" if op.infix else f"{op.name}({', '.join('abc'[: op.arity])})"
        operands = ", ".join(kinds[kind] for kind in op.operands)
        cells = (op.name, f"`{text}`", operands, results[op.result], op.about)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _names(terms: tuple[type[Any], ...]) -> str:
    return ", ".join(f"`{term.__name__}`" for term in terms) or "nothing"


_OWN_TEXT = {
    "Const": "<value: Literal>[:<dtype: DType>]",
    "Apply": "<args: Value*> around the operator's symbol, or <op: Op>(<args: Value*>)",
}
"""What the printer writes without a template."""


def production(term: Any) -> str:
    """The text form of a term as a grammar: fields as `<name: Sort>`, `*` for several, optional groups in `[ ]`."""
    from intent_np.terms.template import Block, Hole, Text, parts

    if term.__name__ in _OWN_TEXT:
        return _OWN_TEXT[term.__name__]
    fields = {field.name: field for field in term.fields}

    def spelled(part: Any) -> str:
        if isinstance(part, Text):
            return part.text
        if isinstance(part, Hole):
            return _field(fields[part.field])
        if isinstance(part, Block):
            return f"\n  {_field(fields[part.field])}\n"
        inside = "".join(map(spelled, part.before))
        # A flag is present or not; it has no text of its own.
        middle = "" if fields[part.field].sort is bool else _field(fields[part.field])
        return f"[{inside}{middle}{''.join(map(spelled, part.after))}]"

    return "".join(map(spelled, parts(term)))


def _field(field: Any) -> str:
    sort = getattr(field.sort, "__name__", str(field.sort))
    return f"<{field.name}: {sort}{'*' if field.kind == 'terms' else ''}>"
