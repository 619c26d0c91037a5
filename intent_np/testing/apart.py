"""A function called in a child process, which may crash or hang without harm.

    apart(lambda: search(kernel), seconds=10.0)        # Ended("ok", value), "raised", "crashed", "timeout" or "memory"

The child is a fork: it starts in milliseconds with all that is loaded here, and what it changes nobody sees.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended: `ok` with its `value`, or in the words of `text`."""

    status: str
    value: Any = None
    text: str = ""


class TimeLimit(BaseException):
    """Raised in the child where it is when its time is over; no `except Exception` keeps it."""


GRACE = 5.0
"""Seconds until a child that its time limit could not interrupt is killed."""


def apart(function: Callable[[], Any], seconds: float) -> Ended:
    """Call `function` in a child process and end it after so many seconds.  Its value must survive pickling."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _serve(function, writing, seconds)
    os.close(writing)
    data, in_time = _read(reading, time.monotonic() + seconds + GRACE)
    os.close(reading)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    _, state = os.waitpid(child, 0)
    if not in_time:
        return Ended("timeout", text=f"ended after {seconds:g} s")
    if os.WIFSIGNALED(state):
        return Ended("crashed", text=f"the process died with signal {os.WTERMSIG(state)}")
    if not data:
        return Ended("crashed", text=f"the process died with exit code {os.waitstatus_to_exitcode(state)}")
    return pickle.loads(data)  # type: ignore[no-any-return]


def _late(*_: Any) -> None:
    raise TimeLimit("it took too long")


def _serve(function: Callable[[], Any], pipe: int, seconds: float) -> None:
    """The life of the child; it leaves without the parent's clean-up."""
    try:
        os.setsid()  # what it does to its process group is its own affair
        signal.signal(signal.SIGALRM, _late)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            ended = Ended("ok", function())
            data = pickle.dumps(ended)
        except TimeLimit:
            data = pickle.dumps(Ended("timeout", text=f"ended after {seconds:g} s"))
        except MemoryError:
            data = pickle.dumps(Ended("memory", text="the memory limit was reached"))
        except Exception:
            data = pickle.dumps(Ended("raised", text=traceback.format_exc()))
        signal.setitimer(signal.ITIMER_REAL, 0)
        with os.fdopen(pipe, "wb") as stream:
            stream.write(data)
    finally:
        os._exit(0)


def _read(pipe: int, deadline: float) -> tuple[bytes, bool]:
    """All that comes until the end of the pipe, and whether that was in time."""
    parts: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([pipe], [], [], max(0.0, left))
        if not ready:
            return b"", False
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts), True
        parts.append(part)
