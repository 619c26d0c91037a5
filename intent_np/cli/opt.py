"""`intent-np opt`: read a program of any level as text, run passes on it, print the result."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from intent_np.passes.base import Pass
    from intent_np.terms.language import Language

LEVELS = ("logical", "normal", "grouped", "blocked", "gpu", "triton", "launch", "index")


def opt(
    file: Annotated[Path, typer.Argument(help="A text form, such as `compile --print` prints; - is standard input.")],
    passes: Annotated[list[str] | None, typer.Option("--pass", "-p", help="A pass to run; repeat for several.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="PASS.key=value, an option of a pass.")] = None,
    level: Annotated[str, typer.Option(help="The language of the text, if neither pass nor suffix says it.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run passes on the text form of a program; without one, check it and print it again.

    The language is that of --level, else the one that the first pass reads, else the suffix: k.blocked.
    """
    from intent_np.cli.output import print_json
    from intent_np.terms.core import Arena
    from intent_np.terms.text import show

    chosen = [find_pass(name) for name in passes or ()]
    options = pass_options(option, chosen)
    language = _language(level or (chosen[0].source.name if chosen else file.suffix.removeprefix(".")))
    text = typer.get_text_stream("stdin").read() if str(file) == "-" else _read(file)
    with Arena():
        program = _parse(text, language, str(file))
        for step in chosen:
            if step.source.name != language.name:
                raise typer.BadParameter(
                    f"{step.name} reads {step.source.name}, not {language.name}", param_hint="--pass"
                )
            program = step(program, **options.get(step.name, {}))
            language = step.target
            check(program, language, f"after {step.name}")
        printed = show(program).rstrip()
    if as_json:
        print_json({"level": language.name, "passes": [step.name for step in chosen], "text": printed})
    else:
        print(printed)


def find_pass(name: str) -> Pass:
    """The pass of that name in the pipeline.  Raises `LanguageUseError` E703."""
    from intent_np.errors import error
    from intent_np.passes.pipeline import PIPELINE

    for step in PIPELINE:
        if step.name == name:
            return step
    raise error("E703", name=name, candidates=[step.name for step in PIPELINE])


def pass_options(texts: list[str] | None, chosen: list[Pass]) -> dict[str, dict[str, Any]]:
    """`PASS.key=value` by pass; each must be one of `chosen` and have that option.  A member of an option that is a
    mapping is `PASS.key.member=value`."""
    from intent_np.cli.arguments import scalars

    found: dict[str, dict[str, Any]] = {}
    known = {step.name: step.options for step in chosen}
    for name, value in scalars(texts, "--option").items():
        step, key, member = (*name.split(".", 2), "", "")[:3]
        if key not in known.get(step, {}):
            options = [f"{step}.{key}" for step, keys in known.items() for key in keys]
            raise typer.BadParameter(f"'{name}' is none of {', '.join(options) or 'no options'}", param_hint="--option")
        if member and isinstance(known[step][key], Mapping):
            found.setdefault(step, {}).setdefault(key, {})[member] = value
        elif member:
            raise typer.BadParameter(f"'{step}.{key}' has no members", param_hint="--option")
        else:
            found.setdefault(step, {})[key] = value
    return found


def _language(name: str) -> Language:
    if name not in LEVELS:
        from intent_np.errors import error

        how = "name the level of the program with --level, or give the file the suffix of its level"
        raise error("E704", name=name, expected=", ".join(LEVELS), fix=how, candidates=LEVELS)
    language: Language = getattr(import_module(f"intent_np.terms.{name}"), name.upper())
    return language


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except UnicodeDecodeError:
        raise typer.BadParameter(f"'{file}' is no text", param_hint="FILE") from None


def _parse(text: str, language: Language, file: str) -> Any:
    from intent_np.errors import Span, error
    from intent_np.terms.parse import ParseError, parse

    try:
        program = parse(text, language)
    except ParseError as problem:
        token = problem.token
        line = [*text.splitlines(), ""][token.line - 1]
        span = Span(file, token.line, token.column, token.column + max(len(token.text), 1), line)
        raise error(
            "E701", span, language=language.name, name=token.text, expected=problem.expected, found=problem.found,
            candidates=problem.candidates,
        ) from None  # fmt: skip
    check(program, language, f"in {file}")
    return program


def check(program: Any, language: Language, where: str) -> None:
    """Raise `CompileError` E702 with everything that makes `program` no member of `language`."""
    from intent_np.errors import error

    if problems := language.check(program):
        raise error(
            "E702", language=language.name, found=f"{len(problems)} problems {where}", detail="\n".join(problems)
        )
