"""The operations of the language, from their declarations."""

from __future__ import annotations

_CHAPTERS = {
    "domains": "Domains and records",
    "ragged": "Ragged relations",
    "pointwise": "Element by element",
    "shapes": "Shapes and constant tensors",
    "layout": "Joining, cutting and turning",
    "padding": "Padding",
    "reductions": "Reductions",
    "scans": "Scans, order and counts",
    "regions": "Regions",
    "contractions": "Contractions",
    "compressed": "Contractions of operands in fewer bits",
    "formats": "Formats",
    "memory": "Reading and writing at computed places",
    "atomics": "Atomic accesses",
    "random": "Random numbers",
    "promises": "Promises",
    "debug": "Looking inside",
}


def operations() -> str:
    """Every operation with its signature and meaning, by the module that declares it."""
    from intent_np.language import OPERATIONS

    lines: list[str] = []
    for module, chapter in _CHAPTERS.items():
        lines += [f"### {chapter}", ""]
        for operation in OPERATIONS.values():
            if operation.meaning.__module__.endswith(f".{module}"):
                about = " ".join(str(operation.__doc__).split())
                lines.append(f"* `{operation.usage}`: {about}")
        lines.append("")
    return "\n".join(lines).rstrip()
