"""Compiling: each choice is right on its own, an artifact is there as a whole or not at all, and what fails says where,
what the limit is, and what to change."""

import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.backends.triton.printer import print_triton
from intent_np.cli import main
from intent_np.compiler import Compilation
from intent_np.corpus.build import build, jobs, stage_of
from intent_np.corpus.cases import entries
from intent_np.corpus.verify import calls, launcher
from intent_np.corpus.workers import run_isolated
from intent_np.errors import IntentError, ProviderError
from intent_np.runtime.binding import bind
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90
from intent_np.testing import Case, check
from intent_np.testing.triton_interpreter import interpret, unavailable

# ---- choices: a kernel that changes its argument runs once a call, and each way to run it alone does everything


@intent.kernel
def raised(x: I.InOut[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    old = x[:, :]
    x[:, :] = old + 1
    y[:, :] = old * 2


CHOICES: dict[str, dict[str, Any]] = {
    "as planned": {},
    "the second plan": {"choose_plan": {"rank": 1}},
    "the third plan": {"choose_plan": {"rank": 2}},
    "rules of thumb": {"choose_plan": {"policy": "directed"}},
    "small blocks": {"choose_plan": {"policy": "directed"}, "block_axes": {"sizes": {"d": 4, "d1": 4, "n": 4, "m": 4}}},
    "few instances": {"lower_to_triton": {"instances": 2}},
    "from the last one on": {"lower_to_triton": {"descending": True}},
    "more warps": {"choose_launch": {"num_warps": 8}},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_each_choice_alone_changes_an_argument_once_and_leaves_no_output_out(choice):
    """Two choices that each did half of it would look right if one ran behind the other on the same arrays."""
    if reason := unavailable():
        pytest.skip(reason)
    compilation = Compilation(raised, SM_90, {}, intent.CompileOptions(passes=CHOICES[choice]))
    launch, _ = compilation.launch(generic_class(compilation.plan))
    x = np.arange(5 * 37, dtype=np.int32).reshape(5, 37)
    arrays = {"x": x.copy(), "y": np.full_like(x, -77)}
    extents = bind(compilation.plan, tuple(arrays.values())).values()
    with compilation.arena:
        interpret(launch, print_triton(launch.function), arrays, dict(extents))
    np.testing.assert_array_equal(arrays["x"], x + 1)
    np.testing.assert_array_equal(arrays["y"], x * 2)


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_no_call_is_tried_out_on_the_arguments(target):
    """Neither the first call, which compiles, nor `prepare`, nor a call of another class."""
    x, y = np.zeros((4, 6), np.int32), np.zeros((4, 6), np.int32)
    compiled = intent.jit(raised.function, target=target)
    compiled(x, y)
    assert (x == 1).all()
    again = compiled.prepare(x, y)
    assert (x == 1).all()
    again()
    assert (x == 2).all()
    compiled(x.T, y.T)
    assert (x == 3).all()


def halves(first: bool):
    @intent.kernel
    def half(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
        for i in I.parallel(I.domain(0, x.shape[0])):
            if (i % 2 == 0) == first:
                y[i] = x[i] * 2

    return half


def test_two_ways_that_do_half_each_are_both_found_wrong():
    for first in (True, False):
        half = halves(first)
        nothing = lambda _: 0  # noqa: E731
        case = Case("half", half, lambda x: {"y": x * 2}, small=({"N": 8},), bytes=nothing, flops=nothing)
        assert not check(case, intent.compile(half, target="reference"), {"N": 8}).ok


# ---- artifacts: any number of processes make the same one in a folder that was not there


@intent.kernel
def scaled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], FACTOR: I.Constexpr[int] = 2):
    y[:] = x[:] * FACTOR


def _saves_and_loads(folder: str, factor: int, times: int, problems: Any) -> None:
    made = intent.compile(scaled, target="cpu", constexprs={"FACTOR": factor})
    x = np.ones(3, np.float32)
    try:
        for _ in range(times):
            made.save(folder)
            found = intent.load(folder).run(x).tolist()
            if found not in ([2.0] * 3, [3.0] * 3):
                problems.put(f"half of one and half of another: {found}")
    except Exception as problem:
        problems.put(repr(problem))


@pytest.mark.parametrize("same", [True, False])
def test_processes_that_share_a_folder_all_succeed(same, tmp_path):
    context = multiprocessing.get_context("spawn")
    problems = context.Queue()
    factors = (2,) * 4 if same else (2, 2, 3, 3)
    workers = [context.Process(target=_saves_and_loads, args=(str(tmp_path / "a"), f, 60, problems)) for f in factors]
    for w in workers:
        w.start()
    for w in workers:
        w.join(120)
    assert [w.exitcode for w in workers] == [0] * 4
    assert problems.empty(), problems.get()
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_an_equal_artifact_stays_as_it_is_for_who_reads_it(tmp_path):
    made = intent.compile(scaled, target="cpu")
    made.save(tmp_path / "a")
    before = (tmp_path / "a").stat().st_ino
    made.save(tmp_path / "a")
    assert (tmp_path / "a").stat().st_ino == before
    file = next((tmp_path / "a").glob("*.txt"))
    file.write_text("damaged")
    made.save(tmp_path / "a")
    assert file.read_text() != "damaged"


# ---- limits of time, and lower compilers that die: told with the kernel's line, the stage and the limit

SLOW = """
import multiprocessing, os, signal, time

import intent_np as intent
import intent_np.language as I
from intent_np.passes import choose_launch

@intent.kernel
def right(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[:] = x[:] + 1.0

def stuck(function):
    {act}

if multiprocessing.parent_process():  # where it is compiled, and not where it is only looked for
    choose_launch.gather = stuck
"""


def compiled_apart(tmp_path: Path, act: str, limit: float) -> dict[str, Any]:
    file = tmp_path / "slow.py"
    file.write_text(SLOW.format(act=act))
    (record,) = build(jobs(entries([f"{file}:right"]), "sm_90", tmp_path / "out"), time_limit=limit)
    return record


def test_a_compilation_that_takes_too_long_names_its_stage(tmp_path):
    record = compiled_apart(tmp_path, "time.sleep(600)", 15.0)
    assert record["status"] == "timeout"
    assert record["text"] == f"ended after 15 s in the pass choose_launch, of {tmp_path / 'slow.py'}:9"


def test_a_compiler_that_dies_names_its_stage_and_the_kernel(tmp_path):
    record = compiled_apart(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)", 60.0)
    assert record["status"] == "crashed"
    assert record["text"] == f"the process died with signal 11 in the pass choose_launch, of {tmp_path / 'slow.py'}:9"


def test_a_stage_of_the_lower_compiler_is_named():
    """The innermost call is the first line of a stack; what Python was in called it."""
    stack = 'Thread 0x1:\n  File "/x/triton/{}", line 9 in make_ttgir\n  File "/x/y.py", line 1 in f'
    assert stage_of(stack.format("backends/nvidia/compiler.py")) == "the stage ttgir of Triton"
    assert stage_of('  File "/x/z.py", line 9 in make_ttgir\n') == ""


def test_a_limit_of_memory_is_named():
    (outcome,) = run_isolated(_eat, ["all"], memory_limit=2 << 30)
    assert (outcome.status, outcome.text) == ("memory", "the memory limit of 2048 MiB was reached")


def _eat(job: str) -> str:
    return "x" * (1 << 40)


@intent.kernel
def product(a: I.In[I.f16, ("M", "K")], b: I.In[I.f16, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)


THUMB = {"choose_plan": {"policy": "directed"}}
TOO_MUCH = {
    "shared memory": ({"m": 128, "n": 128, "k": 256}, {"num_stages": 4}, "232448 bytes"),
    "elements": ({"m": 4096, "n": 4096}, {}, "1048576"),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_a_lower_compiler_that_refuses_names_the_line_and_the_limit(what):
    pytest.importorskip("triton")
    sizes, launch, limit = TOO_MUCH[what]
    passes = {**THUMB, "block_axes": {"sizes": sizes}, "choose_launch": launch}
    options = intent.CompileOptions(passes=passes)
    with pytest.raises(ProviderError) as caught:
        intent.compile(product, "sm_90", options=options, examples=[dict.fromkeys("MNK", 4096)])
    problem = caught.value
    assert problem.span is not None
    assert problem.span.line > 0
    assert limit in problem.render()
    assert "Unknown location" not in problem.render()
    if what == "shared memory":  # where a line of the author's is known, it is that one
        assert problem.span.file == __file__
        assert "I.matmul" in problem.span.text


# ---- messages: one line that says what is wrong, and one that says what to change; and no noise beside results


@pytest.mark.parametrize(
    ("target", "fix"), [("sm_70", "choose one of the known targets"), ("gpu", "choose one of the known targets")]
)
def test_a_device_that_is_not_known_is_told_in_a_line(target, fix):
    with pytest.raises(IntentError) as caught:
        intent.compile(scaled, target=target)
    first, *rest = str(caught.value).splitlines()
    assert first == f"E602 the target '{target}' is not supported"
    assert any(line.strip().startswith("fix:") and fix in line for line in rest)


def test_a_defect_of_the_compiler_is_no_traceback(tmp_path, capsys, monkeypatch):
    from intent_np.passes import choose_launch

    def wrong(function: Any) -> Any:
        raise AssertionError("an invariant of ours")

    monkeypatch.setattr(choose_launch, "gather", wrong)
    file = tmp_path / "mine.py"
    file.write_text(SLOW.partition("def stuck")[0])
    with pytest.raises(SystemExit) as stopped:
        main(["compile", str(file), "--target", "sm_90"])
    told = capsys.readouterr().err
    assert stopped.value.code
    assert told.startswith("E901 the compiler failed in ")
    assert "Traceback" not in told
    assert "fix:" in told


def test_nothing_is_printed_beside_results(capfd):
    pytest.importorskip("triton")
    made = intent.compile(product, "sm_90")
    assert len(made.variants) >= 1
    assert intent.compile(scaled, target="cpu").run(np.ones(3, np.float32)).tolist() == [2, 2, 2]
    assert capfd.readouterr() == ("", "")


# ---- what compiles for a GPU is executed by every machine for NumPy

REACHED = Path(__file__).parents[1] / "corpus" / "golden" / "reaches_triton.txt"
"""The kernels that another test holds to compile for a GPU."""


def executed_by_machines(entry: Any) -> None:
    call = next(iter(calls(entry.case)))
    for machine in ("reference", "cpu"):
        report = check(entry.case, launcher(entry, machine), call.extents, call.seed, call.layout, call.values)
        assert report.ok, f"{machine}, {call}: {report}"


def reaching(jagged: bool) -> list[Any]:
    listed = REACHED.read_text().split()
    every = [e for e in entries(["kernels"]) if e.title in listed]
    return [e for e in every if (e.module in ("ragged", "segments", "moe", "tables")) is jagged]


@pytest.mark.parametrize("entry", reaching(True), ids=lambda e: e.title)
def test_what_is_ragged_and_compiles_is_executed_by_every_machine(entry):
    executed_by_machines(entry)


@pytest.mark.slow
@pytest.mark.parametrize("entry", reaching(False), ids=lambda e: e.title)
def test_what_compiles_is_executed_by_every_machine(entry):
    executed_by_machines(entry)
