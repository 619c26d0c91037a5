"""What a declared error consists of."""

from typing import NamedTuple

USE, COMPILE, CALL, CHECK, PROVIDER = "LanguageUseError", "CompileError", "CallError", "CheckError", "ProviderError"


class ErrorCode(NamedTuple):
    """One declared error.  `kind` names the exception class in `intent_np.errors`."""

    code: str
    kind: str
    title: str
    why: str
    fix: str
    expected: str = ""
