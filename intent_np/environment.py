"""The few environment variables that are read, and the folder that caches live in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

VARIABLES: Final[dict[str, str]] = {
    "XDG_CACHE_HOME": "where the cache folder intent-np lies; ~/.cache if unset",
    "NO_COLOR": "set to anything: plain text without colours",
}


def cache_folder() -> Path:
    """The folder of everything that can be made again; not created here."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says that a relative path is to be ignored.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "intent-np"
