"""One bad job never stops the rest."""

import os
import signal
import time

from intent_np.corpus.workers import Outcome, run_isolated
from intent_np.errors import error


def act(job: str) -> str:
    if job == "crash":
        print("last words", flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if job == "hang":
        time.sleep(60)
    if job == "eat":
        return "x" * (1 << 40)
    if job == "wrong":
        raise error("E101", name="x")
    if job == "defect":
        raise ZeroDivisionError("surprise")
    return job.upper()


def run(jobs: list[str], **limits: float) -> dict[str, Outcome[str, str]]:
    return {outcome.job: outcome for outcome in run_isolated(act, jobs, workers=2, **limits)}


def test_each_way_to_fail_is_named_and_the_others_succeed() -> None:
    found = run(["a", "crash", "b", "eat", "wrong", "defect", "c"])
    assert {job: outcome.status for job, outcome in found.items()} == {
        "a": "ok",
        "b": "ok",
        "c": "ok",
        "crash": "crashed",
        "eat": "memory",
        "wrong": "failed",
        "defect": "defect",
    }
    assert found["a"].value == "A"
    assert found["crash"].text == "the process died with signal 11\nlast words"
    assert found["wrong"].error
    assert found["wrong"].error["code"] == "E101"
    assert "ZeroDivisionError: surprise" in found["defect"].text


def test_a_hanging_job_is_ended() -> None:
    start = time.monotonic()
    found = run(["hang", "a", "b"], time_limit=3.0)
    assert time.monotonic() - start < 20
    assert [found[job].status for job in ("hang", "a", "b")] == ["timeout", "ok", "ok"]


def test_no_jobs() -> None:
    assert run([]) == {}
