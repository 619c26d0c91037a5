"""One self-contained HTML page about a build: a table of all kernels, and the texts of each below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

SHOWN: Final = ("logical.txt", "normal.txt", "gpu.txt", "kernel.py", "kernel.ptx")
LONGEST: Final = 400  # lines of a text; PTX of a large kernel would make the page unreadable

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #177245; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --good: #6fcf97; --bad: #ff8a80; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid var(--line); border-radius: 6px; font-size: 13px; }
summary { cursor: pointer; padding: .15rem 0; }
.ok { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
"""


def write_report(manifest: Mapping[str, Any], folder: Path) -> Path:
    """Write `folder/index.html` about the build that `manifest` describes, and return its path."""
    kernels = manifest["kernels"]
    body = [*_heading(manifest), *_table(kernels), *(line for entry in kernels for line in _section(entry, folder))]
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>intent_np: {len(kernels)} kernels</title><style>{_STYLE}</style></head><body>"
        + "\n".join(body)
        + "</body></html>\n"
    )
    path = folder / "index.html"
    path.write_text(page)
    return path


def _heading(manifest: Mapping[str, Any]) -> Iterator[str]:
    counts = ", ".join(f"{count} {escape(status)}" for status, count in manifest["summary"].items())
    yield "<h1>Kernels</h1>"
    yield f"<p>Target {escape(manifest['target'])}, intent_np {escape(manifest['version'])}: {counts}.</p>"


def _table(kernels: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "<table><thead><tr><th>kernel</th><th>variants</th><th>status</th><th>compiled in</th>"
    yield "<th>verified on</th><th>cases</th><th>largest error / bound</th></tr></thead><tbody>"
    for entry in kernels:
        checks = entry.get("checks", [])
        name = escape(f"{entry['module']}.{entry['kernel']}")
        cells = [
            f'<a href="#{_anchor(entry)}">{name}</a>',
            "<br>".join(map(escape, entry["variants"])),
            _status(entry["status"]),
            f"{entry['seconds']:.2f} s",
            "<br>".join(f"{escape(check['machine'])} {_status(check['status'])}" for check in checks),
            "<br>".join(str(check["cases"]) for check in checks),
            "<br>".join(f"{check['max_ratio']:.3g}" for check in checks),
        ]
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table>"


def _section(entry: Mapping[str, Any], folder: Path) -> Iterator[str]:
    title = f"{entry['module']}.{entry['kernel']}"
    yield f'<h2 id="{_anchor(entry)}">{escape(title)}</h2>'
    if entry.get("text"):
        yield f"<pre>{escape(entry['text'])}</pre>"
    for check in entry.get("checks", []):
        if check.get("text"):
            yield f"<pre>{escape(check['machine'])}: {escape(check['text'])}</pre>"
    for name in entry["files"]:
        if name.rpartition("/")[2] in SHOWN:
            text = (folder / entry["folder"] / name).read_text()
            yield f"<details><summary>{escape(name)}</summary><pre>{escape(_shortened(text))}</pre></details>"


def _shortened(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= LONGEST:
        return text
    return "\n".join([*lines[:LONGEST], f"… {len(lines) - LONGEST} lines more in the file"])


def _status(status: str) -> str:
    shown = {"ok": "ok", "reference only": ""}.get(status, "bad")
    return f'<span class="{shown}">{escape(status)}</span>'


def _anchor(entry: Mapping[str, Any]) -> str:
    return escape(f"{entry['module']}.{entry['kernel']}", quote=True)
