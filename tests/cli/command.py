"""The command line in this process."""

import pytest

from intent_np.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `intent-np ARGUMENTS`."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    captured = capsys.readouterr()
    return int(stopped.value.code or 0), captured.out, captured.err
