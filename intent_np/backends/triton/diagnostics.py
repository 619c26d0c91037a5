"""Failures of Triton and ptxas, mapped to a line of the generated source and from there to the author's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intent_np.errors import IntentError, Span, error
from intent_np.target import Target


class Places:
    """The lines of one generated module.

    function, source, path:  the kernel, the module text and the file it was written to
    spans:                   author's place for a generated line, where one is known
    """

    def __init__(self, function: str, source: str, path: str, spans: Mapping[int, Span]) -> None:
        self.function, self.source, self.path, self.spans = function, source, path, spans

    def error(self, problem: BaseException, ptx_lines: Sequence[int]) -> IntentError:
        """E601 for an exception of a lower compiler.

        ptx_lines:  generated line of each PTX line; empty while there is no PTX
        """
        text = str(problem)
        assembler = re.search(r"\.ptx, line (\d+);", text)
        if type(problem).__name__ == "PTXASError":
            number = int(assembler[1]) if assembler else 0
            line = ptx_lines[number - 1] if 0 < number <= len(ptx_lines) else 0
            log = re.sub(r"ptxas \S*\.ptx, ", "", text.partition("stderr:\n")[2].partition("Repro command:")[0])
            return self._made("ptxas", line, 0, log)
        line, column, reason = self._in_front_end(problem)
        return self._made("Triton", line, column, reason or f"{type(problem).__name__}: {text}")

    def shared(self, needed: int, target: Target) -> IntentError:
        """E605: a block needs more shared memory than there is; it names the first product, else the first load."""
        rows = self.source.splitlines()
        known = sorted(n for n in self.spans if 0 < n <= len(rows))
        asked = (next((n for n in known if call in rows[n - 1]), 0) for call in ("tl.dot(", "tl.load("))
        return error(
            "E605",
            self.spans.get(next(filter(None, asked), 0)),
            kernel=self.function,
            target=target.name,
            expected=f"at most {target.shared_per_block} bytes",
            found=f"{needed} bytes",
        )

    def _in_front_end(self, problem: BaseException) -> tuple[int, int, str]:
        """Line, column and reason of a front-end error: the innermost place that is in this module.

        An error inside a library function has its own text, and the call in this module that led to it is
        further out in the chain of causes.
        """
        if isinstance(problem, SyntaxError):
            return problem.lineno or 0, problem.offset or 0, str(problem)
        line = column = 0
        reason = ""
        for one in _chain(problem):
            reason = getattr(one, "error_message", None) or (reason if hasattr(one, "node") else str(one))
            node: Any = getattr(one, "node", None)
            text = getattr(one, "src", None)
            start = self.source.find(text) if text else -1
            if start >= 0 and hasattr(node, "lineno"):
                line = self.source.count("\n", 0, start) + node.lineno
                column = node.col_offset + 1
        return line, column, reason

    def _made(self, provider: str, line: int, column: int, detail: str) -> IntentError:
        generated = self._span(line, column)
        author = self.spans.get(line)
        related = [("generated line", generated)] if author and generated else []
        return error(
            "E601",
            author or generated,
            provider=provider,
            kernel=self.function,
            detail=detail.strip(),
            related=related,
            fix=f"report it with the generated source, {self.path}",
        )

    def _span(self, line: int, column: int) -> Span | None:
        rows = self.source.splitlines()
        if not 0 < line <= len(rows):
            return None
        text = rows[line - 1]
        begin = column or len(text) - len(text.lstrip()) + 1
        return Span(self.path, line, begin, len(text) + 1, text)


def _chain(problem: BaseException | None) -> Iterator[Any]:
    """The exception and its causes, from the outermost inwards."""
    while problem is not None:
        yield problem
        problem = problem.__cause__
