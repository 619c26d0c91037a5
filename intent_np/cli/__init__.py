"""The command line `intent-np`: one file a command, heavy imports inside the commands.

Exit codes: 0 all well; 1 a kernel is wrong, a check failed, or something needed is missing; 2 the command line
was wrong; 3 a lower compiler, the driver or an optional package failed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

OK, FAILED, USAGE, PROVIDER = 0, 1, 2, 3


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit.  Our own errors print as advice, without a traceback unless `--debug`."""
    from intent_np.cli.app import app
    from intent_np.errors import IntentError

    arguments = list(sys.argv[1:] if argv is None else argv)
    # Both flags are looked for wherever they stand, since an error can come from any depth of the command.
    debug = "--debug" in arguments
    as_json = "--json" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        app(arguments, prog_name="intent-np")
    except IntentError as problem:
        if debug:
            raise
        report(problem, as_json)
        sys.exit(exit_code(problem))
    except BrokenPipeError:
        # The reader of a pipe has left (`| head`): nothing is wrong, and there is no one to tell.
        sys.stderr.close()
        sys.exit(OK)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(OK)


def report(problem: BaseException, as_json: bool) -> None:
    """Print an error: JSON to standard output for a program, advice to standard error for a person."""
    from intent_np.errors import IntentError

    assert isinstance(problem, IntentError)
    if as_json:
        import json

        print(json.dumps({"error": problem.as_json()}, indent=2))
    else:
        print(problem.render(), file=sys.stderr)


def exit_code(problem: BaseException) -> int:
    """The exit code that an error stands for."""
    from intent_np.errors import IntentError, LanguageUseError, ProviderError

    if isinstance(problem, ProviderError):
        return PROVIDER
    if isinstance(problem, LanguageUseError):
        return USAGE
    return FAILED if isinstance(problem, IntentError) else PROVIDER
