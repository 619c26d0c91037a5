"""A nanopass term-rewriting compiler from logical array programs to GPU kernels.

    import intent_np as intent
    import intent_np.language as I

Every name is resolved at its first use, so that importing the package loads neither a compiler nor NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from intent_np.errors import (
    CallError,
    CheckError,
    CompileError,
    IntentError,
    LanguageUseError,
    ProviderError,
    Remark,
    Span,
)

if TYPE_CHECKING:
    from intent_np.compiler import CompileOptions, compile
    from intent_np.language import fn, jit, kernel
    from intent_np.loading import load
    from intent_np.runtime.artifact import Artifact
    from intent_np.target import Target
    from intent_np.testing.properties import equivalent

__version__: Final = "0.1.0"

_HOMES: Final = {
    "kernel": "intent_np.language",
    "fn": "intent_np.language",
    "jit": "intent_np.language",
    "compile": "intent_np.compiler",
    "equivalent": "intent_np.testing.properties",
    "load": "intent_np.loading",
    "Artifact": "intent_np.runtime.artifact",
    "CompileOptions": "intent_np.compiler",
    "Target": "intent_np.target",
}

__all__ = [
    "Artifact",
    "CallError",
    "CheckError",
    "CompileError",
    "CompileOptions",
    "IntentError",
    "LanguageUseError",
    "ProviderError",
    "Remark",
    "Span",
    "Target",
    "compile",
    "equivalent",
    "fn",
    "jit",
    "kernel",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'intent_np' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # the next use does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
