"""The commands, in the order of a working day; each stands in a file of its name."""

from __future__ import annotations

from typing import Annotated

import typer

from intent_np.cli.bisect import bisect
from intent_np.cli.build import build
from intent_np.cli.check import check
from intent_np.cli.compile import compile
from intent_np.cli.docs import docs
from intent_np.cli.doctor import doctor
from intent_np.cli.fuzz import fuzz
from intent_np.cli.opt import opt
from intent_np.cli.passes import passes
from intent_np.cli.rules import rules
from intent_np.cli.run import run
from intent_np.cli.verify import verify

app = typer.Typer(
    help="Compile logical array programs to GPU kernels.  Exit codes: 0 all well, 1 a kernel is wrong or a check "
    "failed, 2 wrong command line, 3 a lower compiler or device failed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def intent_np(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options of every command; `main` reads `--debug` wherever it stands."""


app.command()(compile)
app.command()(run)
app.command()(check)
app.command()(bisect)
app.command()(fuzz)
app.command()(build)
app.command()(verify)
app.command()(opt)
app.command()(passes)
app.command()(doctor)
app.add_typer(rules, name="rules")
app.command(hidden=True)(docs)
