"""The command line `intent-np`: one file a command, heavy imports inside the commands.

Exit codes: 0 all well; 1 a kernel is wrong, a check failed, or something needed is missing; 2 the command line
was wrong; 3 a lower compiler, the driver or an optional package failed.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from intent_np.errors import IntentError

OK, FAILED, USAGE, PROVIDER = 0, 1, 2, 3

_OF_FILES = {
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENOSPC, errno.EROFS,
    errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTEMPTY, errno.EFBIG, errno.EDQUOT,
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.  Our own errors print as advice, without a traceback unless `--debug`."""
    import typer

    from intent_np.cli.app import app
    from intent_np.errors import IntentError

    arguments = list(sys.argv[1:] if argv is None else argv)
    # Both flags are looked for wherever they stand, since an error can come from any depth of the command.
    debug = "--debug" in arguments
    as_json = "--json" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    wrong_usage = typer.BadParameter.__mro__[1]
    code = OK
    try:
        # For a person the usage stands above what is wrong; a program gets the latter alone, as any other error.
        code = app(arguments, prog_name="intent-np", standalone_mode=not as_json) or OK
    except wrong_usage as problem:  # type: ignore[misc]  # the class that BadParameter is derived from
        report(_of_usage(problem), as_json)
        sys.exit(USAGE)
    except IntentError as problem:
        if debug:
            raise
        report(problem, as_json)
        sys.exit(exit_code(problem))
    except (BrokenPipeError, KeyboardInterrupt) as stop:
        sys.exit(_stopped(stop))
    except Exception as problem:
        if debug:
            raise
        found = _of_file(problem) or _as_error(problem)
        report(found, as_json)
        sys.exit(exit_code(found))
    sys.exit(code)


def _stopped(stop: BaseException) -> int:
    if isinstance(stop, BrokenPipeError):
        # The reader of a pipe has left (`| head`): nothing is wrong, and there is no one to tell.
        sys.stderr.close()
        return OK
    return 130  # what a shell reports for an interrupt


def _of_usage(problem: Any) -> IntentError:
    """E011 for a command line that is not understood."""
    from intent_np.errors import error

    command = problem.ctx.command_path if problem.ctx else "intent-np"
    return error("E011", reason=problem.format_message(), command=command)


def _of_file(problem: Exception) -> IntentError | None:
    """E010 for what the system says of a file or folder that was named."""
    from intent_np.errors import error

    if not isinstance(problem, OSError) or problem.errno not in _OF_FILES:
        return None
    path = problem.filename if isinstance(problem.filename, str) else "an output"
    return error("E010", path=path, reason=problem.strerror or str(problem))


def _as_error(defect: Exception) -> IntentError:
    """An exception that nobody expected, as the defect of ours that it is."""
    import traceback

    from intent_np.errors import error

    frame = traceback.extract_tb(defect.__traceback__)[-1]
    # The place without its folder: the same in every checkout.
    where = f"{frame.filename.rpartition('intent_np/')[2]}:{frame.lineno}"
    return error("E901", where=where, found=f"{type(defect).__name__}: {defect}")


def report(problem: IntentError, as_json: bool) -> None:
    """Print an error: JSON to standard output for a program, advice to standard error for a person."""
    if as_json:
        import json

        print(json.dumps({"error": problem.as_json()}, indent=2))
    else:
        print(problem.render(), file=sys.stderr)


def exit_code(problem: IntentError) -> int:
    """The exit code that an error stands for."""
    from intent_np.errors import LanguageUseError, ProviderError

    if isinstance(problem, ProviderError):
        return PROVIDER
    return USAGE if isinstance(problem, LanguageUseError) and problem.span is None else FAILED
