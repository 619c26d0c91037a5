"""Host programs run where they are told to, are verified and checked kernel by kernel, and say what they are."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.corpus import build
from intent_np.corpus import verify as verification
from intent_np.corpus.build import jobs, run_job
from intent_np.corpus.cases import Entry
from intent_np.corpus.verify import verify
from intent_np.corpus.workers import Outcome
from intent_np.errors import CallError, LanguageUseError, error
from intent_np.testing import Case, arguments, check_calls, host_program, launch, launching


@intent.kernel
def row_totals(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    y[:] = I.reduce.sum(x[:, :], axis=1)


@intent.kernel
def times(x: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)], FACTOR: I.Constexpr[int]):
    y[:] = x[:] * FACTOR


@intent.kernel
def picked(x: I.In[I.i32, ("M",)], p: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]):
    y[:] = I.cumsum(x[:], axis=0)[I.assume_in_bounds(p[:], x)]


@host_program
def scaled_totals(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)], FACTOR: I.Constexpr[int] = 3):
    """The sums of rows, twice multiplied."""
    total = np.empty_like(x, shape=x.shape[:1])
    launch(row_totals, x, total)
    launch(times, total, total, FACTOR=FACTOR)
    launch(times, total, y, FACTOR=2)


@host_program
def picked_twice(x: I.In[I.i32, ("M",)], p: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]):
    between = np.empty_like(y)
    launch(picked, x, p, between)
    launch(picked, between, p, y)


def _case(program: Any, oracle: Any, small: Any, **more: Any) -> Case:
    return Case(program.name, program, oracle, small, lambda e: 4, lambda e: 4, **more)


def _permuted(extents: Any, rng: np.random.Generator) -> dict[str, Any]:
    return {"p": rng.permutation(extents["M"])}


TOTALS = _case(
    scaled_totals, lambda x, FACTOR: {"y": x.sum(1) * FACTOR * 2}, ({"M": 5, "N": 3},), constexprs={"FACTOR": 7}
)
PICKED = _case(
    picked_twice, lambda x, p: {"y": np.cumsum(np.cumsum(x)[p])[p]}, ({"M": 6}, {"M": 0}), structured=_permuted
)


def entry(case: Case) -> Entry:
    return Entry(Path(__file__), "here", case.name, case.kernel, case.constexprs, case=case)


def test_it_runs_as_it_is() -> None:
    x, y = np.arange(6, dtype="i4").reshape(2, 3), np.zeros(2, "i4")
    scaled_totals(x, y, FACTOR=5)
    assert y.tolist() == [30, 120]


def test_a_wrong_call_is_told() -> None:
    x, y = np.ones((2, 3), np.int32), np.zeros(2, np.int32)
    with pytest.raises(CallError, match=r"E401 'scaled_totals' takes 2 arguments, not 1\n.*\n.*scaled_totals\(x, y\)"):
        scaled_totals(x)
    with pytest.raises(CallError, match="SPEED by name"):
        scaled_totals(x, y, SPEED=2)
    assert not y.any()


def test_launches_go_through_the_door() -> None:
    seen = []
    with launching(lambda kernel, given, constexprs: seen.append((kernel, len(given), dict(constexprs)))):
        scaled_totals(np.zeros((1, 1), "i4"), np.zeros(1, "i4"), FACTOR=5)
    assert seen == [(row_totals, 2, {}), (times, 2, {"FACTOR": 5}), (times, 2, {"FACTOR": 2})]


@pytest.mark.parametrize("machine", ["reference", "cpu", "normal", "gpu"])
def test_every_machine_executes_its_kernels(machine: str) -> None:
    verdict = verify(entry(TOTALS), machine)
    assert (verdict.status, verdict.cases) == ("ok", 5), verdict.text


def test_its_kernels_are_those_it_launches() -> None:
    assert TOTALS.launches == ((row_totals, {}), (times, {"FACTOR": 7}), (times, {"FACTOR": 2}))
    assert [one.title for one in entry(TOTALS).launches] == ["here.row_totals", "here.times", "here.times"]


def test_a_wrong_kernel_is_found() -> None:
    wrong = _case(scaled_totals, lambda x, FACTOR: {"y": x.sum(1) * FACTOR}, TOTALS.small, constexprs={"FACTOR": 7})
    assert verify(entry(wrong), "cpu").status == "failed"


def test_structured_arrays_are_what_the_case_says() -> None:
    for layout in ("contiguous", "negative"):
        given = arguments(PICKED, {"M": 6}, seed=3, layout=layout)
        assert sorted(given["p"].tolist()) == list(range(6))
        assert given["p"].dtype == np.int32


def test_checking_mode_looks_into_every_kernel() -> None:
    good = arguments(PICKED, {"M": 6})
    assert check_calls(picked_twice, [("good", good)]).ok
    bad = {**arguments(PICKED, {"M": 6}), "p": np.full(6, 6, "i4")}
    found = check_calls(picked_twice, [("bad", bad)]).findings
    assert found
    assert all("in the call bad" in one.detail for one in found)


def test_it_is_no_program() -> None:
    with pytest.raises(LanguageUseError, match=r"E009.*launches several kernels"):
        intent.compile(scaled_totals)


def test_a_build_holds_an_artifact_of_each_kernel(tmp_path: Path) -> None:
    (job,) = jobs([entry(TOTALS)], "sm_90", tmp_path, ("cpu",))
    job = replace(job, path=__file__)
    record = run_job(job)
    assert record["checks"][0]["status"] == "ok"
    assert (tmp_path / "here.scaled_totals" / "0.row_totals" / "generic" / "kernel.cubin").exists()
    assert "2.times/generic" in record["variants"]


def test_what_only_the_reference_executes_is_told_and_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> Any:
        raise error("E708", construct="I.later")

    for module in (build, verification):
        monkeypatch.setattr(module, "compiled", refused)
    verdict = verify(entry(TOTALS), "cpu")
    assert verdict.status == "reference only"
    assert verdict.text == "E708 I.later is executed by the reference alone so far"
    (job,) = jobs([entry(TOTALS)], "sm_90", tmp_path)
    assert run_job(replace(job, path=__file__))["text"] == verdict.text
    assert not (tmp_path / "here.scaled_totals").exists()
    record = build._record(Outcome(job, "ok", 0.0, {**build.NOTHING, "seconds": 0.0, "text": verdict.text}))
    assert record["status"] == "reference only"
    assert record["status"] in build.FINE


CASES = (TOTALS, PICKED)
