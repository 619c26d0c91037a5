"""Run jobs in processes of their own, so that a crash, a hang or a memory leak costs one job and no more.

A worker serves many jobs one after the other, since starting one means importing a compiler.  It is replaced when it
dies, or is ended when its job exceeds the time limit.  Functions and jobs must survive pickling.
"""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from intent_np.errors import IntentError

Job = TypeVar("Job")
Value = TypeVar("Value")

LOOKS = 50
"""How often in a second the answer of a worker that was asked where it is is looked for."""

_END: Any = object()
_TELL = signal.SIGUSR1  # asks it, whatever it is in
_SAFE = "PYTHONSAFEPATH"
# A fresh interpreter: a fork would copy the locks of this process's threads, such as a progress bar's.
_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Job, Value]):
    """How a job ended.  `status` is `ok`, `failed` (an error of ours), `defect` (any other exception), `crashed`,
    `timeout` or `memory`; `value` is what the function returned, `text` tells a person what went wrong, `stack` where
    a process was that died or was ended, the innermost call first."""

    job: Job
    status: str
    seconds: float
    value: Value | None = None
    text: str = ""
    error: dict[str, Any] | None = None
    stack: str = ""


@dataclass(slots=True)
class _Worker:
    """A process, the pipe to it, the files that its output and its stack go to, and what it is doing since when."""

    process: Any
    pipe: Connection
    log: Any
    stack: Any
    started: float = 0.0

    def place(self) -> str:
        """Where the process is, or was when it died: the stacks of its threads."""
        if self.process.is_alive():
            os.kill(self.process.pid, _TELL)
        for _ in range(LOOKS):
            if os.fstat(self.stack.fileno()).st_size or not self.process.is_alive():
                break
            time.sleep(1 / LOOKS)
        self.stack.seek(0)
        return str(self.stack.read().decode(errors="replace"))

    def last_words(self) -> str:
        """The end of what the process and its lower compilers printed."""
        size = os.fstat(self.log.fileno()).st_size
        self.log.seek(max(0, size - 4000))
        return str(self.log.read().decode(errors="replace")).strip()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.log.close()
        self.stack.close()


def run_isolated(
    function: Callable[[Job], Value],
    jobs: Iterable[Job],
    *,
    workers: int = 2,
    time_limit: float = 300.0,
    memory_limit: int = 8 << 30,
) -> Iterator[Outcome[Job, Value]]:
    """Yield the outcome of `function(job)` for each job as it ends, in any order.

    A job is taken from `jobs` when a worker is free for it, so that outcomes may decide what is left to do.
    `time_limit` is in seconds a job, `memory_limit` in bytes of private memory a worker.
    """
    waiting = iter(jobs)
    idle: list[_Worker] = []
    busy: dict[Connection, _Worker] = {}
    doing: dict[Connection, Job] = {}
    try:
        while True:
            while len(busy) < workers and (one := next(waiting, _END)) is not _END:
                worker = idle.pop() if idle else _start(function, memory_limit)
                worker.started = time.monotonic()
                busy[worker.pipe], doing[worker.pipe] = worker, one  # type: ignore[assignment]
                worker.pipe.send(one)
            if not busy:
                break
            oldest = min(worker.started for worker in busy.values())
            ready = wait(list(busy), max(0.0, oldest + time_limit - time.monotonic()))
            now = time.monotonic()
            late = [pipe for pipe, worker in busy.items() if pipe not in ready and now - worker.started >= time_limit]
            for pipe in [*ready, *late]:
                assert isinstance(pipe, Connection)
                worker = busy.pop(pipe)
                job, seconds = doing.pop(pipe), now - worker.started
                stack = ""
                try:
                    answer = pipe.recv() if pipe in ready else None
                except EOFError:
                    worker.process.join()
                    stack = worker.place()
                    answer = ("crashed", None, _death(worker.process.exitcode, worker.last_words()), None)
                if answer is None:
                    stack = worker.place()
                    answer = ("timeout", None, f"ended after {time_limit:g} s\n{worker.last_words()}".strip(), None)
                status, value, text, error = answer
                if status in ("crashed", "timeout", "memory"):
                    worker.end()
                else:
                    idle.append(worker)
                yield Outcome(job, status, seconds, value, text, error, stack)
    finally:
        for worker in [*idle, *busy.values()]:
            worker.end()


def _start(function: Callable[[Any], Any], memory_limit: int) -> _Worker:
    log, stack = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - they live as long as the worker
    ours, theirs = _CONTEXT.Pipe()
    # Files go by their paths in /proc: a spawned process inherits no descriptors.
    paths = [f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (log, stack)]
    process = _CONTEXT.Process(target=_serve, args=(theirs, function, memory_limit, *paths), daemon=True)
    with _apart_from_the_working_directory():
        process.start()
    theirs.close()  # so that the death of the worker is an end of file on our side
    return _Worker(process, ours, log, stack)


@contextlib.contextmanager
def _apart_from_the_working_directory() -> Iterator[None]:
    """Started here, an interpreter imports no file of the working directory, such as somebody's `select.py`, in the
    place of a module of Python."""
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE]


def _death(code: int | None, words: str) -> str:
    cause = f"signal {-code}" if code and code < 0 else f"exit code {code}"
    return f"the process died with {cause}\n{words}".strip()


def _serve(pipe: Connection, function: Callable[[Any], Any], memory_limit: int, log: str, stack: str) -> None:
    """The life of a worker: answer jobs until the pipe closes."""
    import resource

    os.environ.pop(_SAFE, None)  # it was for this process alone
    resource.setrlimit(resource.RLIMIT_DATA, (memory_limit, memory_limit))
    output = os.open(log, os.O_WRONLY | os.O_APPEND)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(output, stream.fileno())
    told = os.open(stack, os.O_WRONLY | os.O_APPEND)
    faulthandler.enable(told)
    faulthandler.register(_TELL, told)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        pipe.send(_answer(function, job, memory_limit))


def _answer(function: Callable[[Any], Any], job: Any, memory_limit: int) -> tuple[str, Any, str, dict[str, Any] | None]:
    try:
        return "ok", function(job), "", None
    except IntentError as problem:
        return "failed", None, problem.render(), problem.as_json()
    except MemoryError:
        return "memory", None, f"the memory limit of {memory_limit >> 20} MiB was reached", None
    except Exception:
        return "defect", None, traceback.format_exc(), None
